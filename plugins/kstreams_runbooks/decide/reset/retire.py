"""Whether internal topics may be deleted for good: those that runs left behind, or those of an application out of use.

Nothing goes by its name alone: a topic is in the ledger as left behind, with its id, or a topology that may have run
last makes it. One that anything else uses never goes.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kstreams_runbooks.decide.fleet_graph import readers_of, writers_of
from kstreams_runbooks.model.fleet_entry import DeclaredApplication
from kstreams_runbooks.model.fleet_graph import FleetGraph
from kstreams_runbooks.model.readings.readings import Deployment, GroupReading, Missing, StreamsReading, TopicReading
from kstreams_runbooks.model.readings.retire import RetiredTopic, RetireFacts, RetireWhat
from kstreams_runbooks.model.readings.states import is_down, is_empty, is_up
from kstreams_runbooks.model.times import DAY_MS, utc_second
from kstreams_runbooks.model.verdicts import Finding, Outcome, Verdict
from kstreams_runbooks.wording import first_of

_SOURCE = "Kafka Streams developer guide, Managing Streams Application Topics; docs/orphans.md"


@dataclass(frozen=True, slots=True)
class Retirement:
    """What is asked for: the application, what of it, and how long a topic has to be left behind before it goes.

    `topics` are those of a plan, with their ids: each is decided again right before it goes. None at the plan.
    """

    declared: DeclaredApplication
    what: RetireWhat
    quarantine_days: float
    topics: tuple[tuple[str, str], ...] = ()


def may_retire(asked: Retirement, facts: RetireFacts, graph: FleetGraph) -> Verdict:
    """Refuse what is in use, and a retirement of nothing; inconclusive if a fact is unknown.

    With proceed, `retired_topics` are those that go; the findings name them and the topics that stay, with the reasons.
    """
    rows = retired_topics(asked, facts, graph)
    refused = (*_refused(asked, facts, graph), *_changed(asked, facts, rows))
    if not asked.topics and not facts.problems and not any(one.goes for one in rows) and _needs_topics(asked, facts):
        refused = (*refused, _nothing(asked, rows))
    if refused:
        return Verdict(Outcome.REFUSE, (*refused, *facts.problems))
    if unknown := tuple(dict.fromkeys(_unknown(asked, facts))):
        return Verdict(Outcome.INCONCLUSIVE, unknown)
    count = sum(1 for one in rows if one.goes)
    return Verdict(
        Outcome.PROCEED,
        (f"{count:,} internal {'topic' if count == 1 else 'topics'} of {asked.declared.name} may go",),
        tuple(_findings(asked, facts, rows)),
    )


def retired_topics(asked: Retirement, facts: RetireFacts, graph: FleetGraph) -> tuple[RetiredTopic, ...]:
    """Every topic that is named as an internal one of the application, by name: those that go, and those that stay."""
    rows = sorted(facts.internal, key=lambda one: one.name)
    if asked.what == "orphans":
        unread = {(one.topic, one.topic_id) for one in facts.orphans}
        rows = [one for one in rows if (one.name, one.topic_id) in unread]
    return tuple(_row(asked, facts, graph, one) for one in rows)


def stayed_gone(deleted: Mapping[str, str], seen: tuple[TopicReading, ...], watched_s: float) -> Verdict:
    """Whether deleted topics (their ids by name) are still gone after they were watched for so long.

    A client whose metadata is older than the deletion may create one again, if brokers create topics automatically: it
    refreshes it after metadata.max.age.ms at the latest.
    """
    back = tuple(
        f"topic {one.name}: created again (id {one.topic_id}) after it was deleted (id {deleted[one.name]}); find the "
        "client that creates it (auto.create.topics.enable), stop it, then delete the topic with kafka-topics"
        for one in seen
        if one.name in deleted
    )
    if back:
        return Verdict(Outcome.REFUSE, back)
    return Verdict(Outcome.PROCEED, (f"{first_of(sorted(deleted))}: still gone after {watched_s:,.0f} s",))


def retirement_verified(
    deleted: Mapping[str, str],
    groups: tuple[str, ...],
    seen: tuple[TopicReading, ...],
    listed: tuple[str, ...] | Missing,
) -> Verdict:
    """Whether topics (their ids by name) and groups that a run deleted are still gone at its end.

    `listed` are the groups that brokers list.
    """
    if back := [one for one in seen if one.name in deleted]:
        return stayed_gone(deleted, tuple(back), 0)
    if isinstance(listed, Missing):
        if groups:
            return Verdict(Outcome.INCONCLUSIVE, (listed.missing,))
        listed = ()
    if again := sorted(set(groups) & set(listed)):
        return Verdict(
            Outcome.REFUSE,
            (f"group {again[0]}: exists again after it was deleted: a client uses it; find and stop that client",),
        )
    return Verdict(Outcome.PROCEED, (f"gone: {first_of([*sorted(deleted), *(f'group {one}' for one in groups)])}",))


def _row(asked: Retirement, facts: RetireFacts, graph: FleetGraph, topic: TopicReading) -> RetiredTopic:
    if users := tuple(_users(asked, facts, graph, topic.name)):
        return RetiredTopic(topic, goes=False, why=first_of(users))
    left = {(one.topic, one.topic_id): one for one in facts.orphans}.get((topic.name, topic.topic_id))
    since = None if left is None or left.since_ms is None else f"left behind by run {left.run}"
    if asked.what == "application":
        if not isinstance(facts.made, Missing) and topic.name in facts.made:
            return RetiredTopic(topic, goes=True, why="a topology that may have run last makes it")
        if since is not None:
            return RetiredTopic(topic, goes=True, why=since)
        return RetiredTopic(topic, goes=False, why="no topology that may have run last makes it, and no run left it")
    if left is None or left.since_ms is None:
        return RetiredTopic(topic, goes=False, why="which run left it behind is not in the ledger")
    ends_ms = left.since_ms + int(asked.quarantine_days * DAY_MS)
    if facts.at_ms < ends_ms:
        until = f"in quarantine until {utc_second(ends_ms)} (orphan_quarantine_days {asked.quarantine_days:g})"
        return RetiredTopic(topic, goes=False, why=f"{since}, {until}")
    return RetiredTopic(topic, goes=True, why=f"{since}, not read since {utc_second(left.since_ms)}")


def _users(asked: Retirement, facts: RetireFacts, graph: FleetGraph, topic: str) -> Iterator[str]:
    """Others that use a topic: entries as declared and as they run, and groups."""
    cluster, name = asked.declared.cluster, asked.declared.name
    for entry in dict.fromkeys((*readers_of(graph, cluster, topic), *writers_of(graph, cluster, topic))):
        if entry != name:
            yield f"{entry} declares it"
    for use in facts.others:
        if use.topic == topic and use.entry != name:
            yield f"{use.entry} {'writes' if use.writes else 'reads'} it"
    for user in facts.users:
        if user.topic == topic and user.group_id != asked.declared.application_id:
            yield f"group {user.group_id} {'reads it' if user.assigned else 'has offsets on it'}"


def _refused(asked: Retirement, facts: RetireFacts, graph: FleetGraph) -> Iterator[str]:
    if asked.what != "application":
        return
    name = asked.declared.name
    for topic in facts.internal:
        if users := tuple(_users(asked, facts, graph, topic.name)):
            yield (
                f"topic {topic.name}: {first_of(users)} (expected: {name} alone uses its internal topics); stop that "
                "use first"
            )
    group = facts.group
    if isinstance(group, GroupReading) and (group.members or not is_empty(group.state)):
        yield (
            f"group {group.group_id}: {group.state} with {len(group.members):,} members (expected EMPTY): {name} is "
            "still in use; stop it, and keep it stopped"
        )
    for one in facts.instances:
        deployment = one.deployment
        up = isinstance(deployment, Deployment) and is_up(deployment.process)
        if up or isinstance(one.streams, StreamsReading):
            yield f"{one.instance}: it runs (expected: every instance of {name} down for good); stop it first"
        elif isinstance(deployment, Deployment) and deployment.autorestart is True:
            yield (
                f"{one.instance}: its deployer starts it again (autorestart, expected off); switch that off, or take "
                "the instance out of its configuration"
            )


def _changed(asked: Retirement, facts: RetireFacts, rows: tuple[RetiredTopic, ...]) -> Iterator[str]:
    """The topics of a plan that may not go any more; one that is gone is done."""
    goes = {(one.topic.name, one.topic.topic_id) for one in rows if one.goes}
    why = {one.topic.name: one.why for one in rows if not one.goes}
    there = {one.name: one.topic_id for one in facts.internal}
    for name, topic_id in asked.topics:
        now = there.get(name)
        if now is not None and now != topic_id:
            yield f"topic {name}: has id {now} (in the plan {topic_id}): it is another topic; trigger a new run"
        elif now is not None and (name, topic_id) not in goes:
            reason = why.get(name, "a topology reads it again")
            yield f"topic {name}: {reason}, so it is not deleted; trigger a new run, which shows what may go now"


def _needs_topics(asked: Retirement, facts: RetireFacts) -> bool:
    """Whether there is nothing to do without a topic: a group may be left."""
    return asked.what == "orphans" or not isinstance(facts.group, GroupReading)


def _nothing(asked: Retirement, rows: tuple[RetiredTopic, ...]) -> str:
    kept = first_of([f"{one.topic.name}: {one.why}" for one in rows], between="; ")
    what = "no run left a topic behind" if asked.what == "orphans" else "it has neither internal topics nor a group"
    return f"{asked.declared.name}: nothing to retire ({kept or what}); see `kstreams-runbooks orphans`"


def _unknown(asked: Retirement, facts: RetireFacts) -> Iterator[str]:
    yield from facts.problems
    for orphan in facts.orphans:
        if orphan.exists is None:
            yield f"topic {orphan.topic}: whether it still exists is not known"
    if asked.what != "application":
        return
    if isinstance(facts.made, Missing):
        yield f"topology of {asked.declared.name}: {facts.made.missing}"
    if isinstance(facts.group, Missing):
        yield f"group {asked.declared.application_id}: {facts.group.missing}"
    for one in facts.instances:
        if isinstance(one.deployment, Missing):
            yield f"{one.instance}: whether it runs is not known: {one.deployment.missing}"
        elif one.deployment.stated or not is_down(one.deployment.process):
            yield f"{one.instance}: whether it runs was not observed (its process is {one.deployment.process})"


def _findings(asked: Retirement, facts: RetireFacts, rows: tuple[RetiredTopic, ...]) -> Iterator[Finding]:
    name = asked.declared.name
    if goes := [one for one in rows if one.goes]:
        listed = [
            f"{one.topic.name} (id {one.topic.topic_id}, {_size(facts, one.topic.name)}; {one.why})" for one in goes
        ]
        yield Finding(
            "topics-retired",
            "danger",
            name,
            f"deleted with their records, which do not come back: {first_of(listed, len(listed), '; ')}",
            _SOURCE,
        )
    if stays := [f"{one.topic.name} ({one.why})" for one in rows if not one.goes]:
        yield Finding("topics-not-retired", "info", name, f"stay: {first_of(stays, between='; ')}", _SOURCE)
    if asked.what == "application":
        yield Finding(
            "application-retired",
            "danger",
            name,
            f"group {asked.declared.application_id} is deleted with all its offsets: a later start begins every input "
            "at auto.offset.reset, without state; its outputs stay, and its readers get no more results",
            _SOURCE,
        )


def _size(facts: RetireFacts, topic: str) -> str:
    size = None if isinstance(facts.sizes, Missing) else facts.sizes.get(topic)
    return "size not known" if size is None else f"{size:,} bytes"
