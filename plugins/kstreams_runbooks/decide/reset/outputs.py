"""Whether the records of outputs may be deleted, and what the plan and its approval show of it.

Only the application itself may have written them, every reader must have read them, and brokers must be able to delete
them. What nothing undoes is shown: tables that others build from an output keep the keys of its deleted records.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from kstreams_runbooks.decide.fleet_graph import downstream, readers_of, writers_of
from kstreams_runbooks.model.fleet_entry import DeclaredApplication
from kstreams_runbooks.model.fleet_graph import FleetGraph
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.reset_outputs import OutputFacts, OutputProducer, UnreadBelow
from kstreams_runbooks.model.readings.states import is_empty
from kstreams_runbooks.model.runs.object_stages import DeleteRecords
from kstreams_runbooks.model.times import utc_second
from kstreams_runbooks.model.verdicts import Finding, Outcome, Verdict
from kstreams_runbooks.wording import first_of, outside

_DELETE = "delete"
# Transactional ids of Kafka Streams behind `<application.id>-`: a process and a thread (exactly_once_v2), or a task
# (exactly_once). Source: StreamsProducer, ActiveTaskCreator (Apache Kafka).
_OF_STREAMS = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}-\d+|\d+_\d+")
_SOURCE = "Apache Kafka documentation, topic configs, cleanup.policy; KIP-107 (deleteRecords)"
_DOCS = "docs/blast_radius.md"


@dataclass(frozen=True, slots=True)
class CleanedOutputs:
    """The application, its outputs (declared, and by its topologies), those of them to clean, and what it reads."""

    declared: DeclaredApplication
    known: frozenset[str]
    topics: tuple[str, ...]
    read: frozenset[str] = frozenset()


def may_clean(asked: CleanedOutputs, facts: OutputFacts, graph: FleetGraph, *, planned: bool) -> Verdict:
    """Whether the records before the cuts of these outputs may be deleted; with findings for the approval.

    At the plan (`planned`) a group with members may still have unread records: it reads on, and the same decision right
    before the deletion waits for it. Of any other group they refuse, with their number. Inconclusive if a fact is
    unknown.
    """
    refused = tuple(dict.fromkeys(_refused(asked, facts, graph)))
    unknown = tuple(dict.fromkeys(_unknown(asked, facts)))
    findings = tuple(_findings(asked, facts, graph, planned=planned))
    if refused:
        return Verdict(Outcome.REFUSE, (*refused, *unknown), findings)
    if unknown:
        return Verdict(Outcome.INCONCLUSIVE, unknown, findings)
    if not planned and (waits := tuple(_behind(one) for one in facts.unread if one.group_id in _working(facts))):
        return Verdict(Outcome.WAIT, waits, findings)
    offsets = sum(one.offsets for one in facts.partitions)
    return Verdict(Outcome.PROCEED, (f"{first_of(asked.topics)}: {offsets:,} offsets below the cuts may go",), findings)


def cuts(facts: OutputFacts) -> dict[tuple[str, int], int]:
    """The first offset to keep, by topic and partition; partitions with an unknown end have none."""
    return {(one.topic, one.partition): one.cut for one in facts.partitions if isinstance(one.cut, int)}


def direct_readers(asked: CleanedOutputs, graph: FleetGraph) -> tuple[str, ...]:
    """The entries of the fleet that read these outputs themselves: an approver of each is asked."""
    name = asked.declared.name
    return tuple(one.entry for one in downstream(graph, name, asked.topics) if one.steps == 1)


def clean_stage(asked: CleanedOutputs, graph: FleetGraph) -> DeleteRecords:
    """The stage that deletes the records, still without its number."""
    return DeleteRecords(0, asked.topics, shown=True, readers=direct_readers(asked, graph))


def is_own(transactional_id: str, application_id: str) -> bool:
    """Whether Kafka Streams gives this transactional id to a producer of this application."""
    prefix, rest = transactional_id[: len(application_id) + 1], transactional_id[len(application_id) + 1 :]
    return prefix == f"{application_id}-" and _OF_STREAMS.fullmatch(rest) is not None


def _refused(asked: CleanedOutputs, facts: OutputFacts, graph: FleetGraph) -> Iterator[str]:
    name, cluster = asked.declared.name, asked.declared.cluster
    for topic in asked.topics:
        if topic not in asked.known:
            listed = first_of(sorted(asked.known)) or "none"
            yield f"output {outside(topic)}: is not an output of {name} (its outputs: {listed}); name one of them"
        if topic in asked.read or topic in asked.declared.inputs:
            yield (
                f"output {outside(topic)}: {name} reads it itself (expected: an output that it only writes): records "
                "that it has not processed yet would be deleted; leave it out"
            )
        policy = facts.policies.get(topic, _DELETE)
        if _DELETE not in policy.split(","):
            yield (
                f"output {topic}: is only compacted (cleanup.policy={policy}, expected one with {_DELETE}): brokers "
                "keep all its records; leave it out"
            )
        running = (one.entry for one in facts.others if one.topic == topic and one.writes)
        if others := [one for one in dict.fromkeys((*writers_of(graph, cluster, topic), *running)) if one != name]:
            yield (
                f"output {topic}: is written by {first_of(others)} too (expected: by {name} alone), whose records "
                "would be deleted; leave it out"
            )
    for one in _foreign(asked, facts):
        if one.is_open and one.transactional_id is not None:
            yield (
                f"output {one.name}: {outside(one.transactional_id, 80)} has a transaction open on it (expected: "
                f"{name} alone writes it); find its owner, and leave the output out until then"
            )
    working = _working(facts)
    for behind in facts.unread:
        if not isinstance(behind.records, Missing) and behind.group_id not in working:
            yield _behind(behind)


def _behind(one: UnreadBelow) -> str:
    at = "no committed offset" if one.committed is None else f"committed {one.committed:,}"
    count = "an unknown number of" if isinstance(one.records, Missing) else f"{one.records:,}"
    return (
        f"output {one.name}: group {one.group_id} has not read {'at least ' if one.at_least else ''}{count} records "
        f"below the cut ({at}; limit 0); let it read them, or leave the output out"
    )


def _unknown(asked: CleanedOutputs, facts: OutputFacts) -> Iterator[str]:
    yield from facts.problems
    for topic in asked.topics:
        if topic in asked.known and not facts.of(topic):
            yield f"output {topic}: its partitions were not read"
        elif topic not in facts.policies:
            yield f"output {topic}: cleanup.policy is not visible; grant this login DescribeConfigs on Topic {topic}"
    for one in facts.partitions:
        yield from (f"output {one.name}: {end.missing}" for end in (one.start, one.cut) if isinstance(end, Missing))
    for behind in facts.unread:
        if isinstance(behind.records, Missing):
            yield (
                f"output {behind.name}: how many records group {behind.group_id} has not read is not known: "
                f"{behind.records.missing}"
            )


def _findings(asked: CleanedOutputs, facts: OutputFacts, graph: FleetGraph, *, planned: bool) -> Iterator[Finding]:
    for topic in asked.topics:
        if not (rows := facts.of(topic)):
            continue
        cut = first_of([f"{one.name} below {one.cut:,}" for one in rows if isinstance(one.cut, int)])
        yield Finding(
            "outputs-cleaned",
            "danger",
            topic,
            f"{sum(one.offsets for one in rows):,} offsets are deleted ({cut}) and do not come back; read by "
            f"{first_of(_readers(asked, facts, graph, topic)) or 'no other group or entry that is known'}; a reader "
            "without a group is not seen",
            _SOURCE,
        )
        if entries := _entries(asked, facts, graph, topic):
            yield Finding(
                "downstream-keeps-keys",
                "warning",
                topic,
                f"tables that {first_of(entries)} may build from it keep the keys of the deleted records: no "
                "tombstone comes for them; reset these tables too if they must not",
                _DOCS,
            )
    if suspects := list(dict.fromkeys(_suspect(one) for one in _foreign(asked, facts) if not one.is_open)):
        yield Finding(
            "outputs-suspect-writer",
            "warning",
            first_of(asked.topics),
            f"brokers list producers that are not known to be {asked.declared.name}'s: "
            f"{first_of(suspects, between='; ')} (a producer is listed for a day after its last record, one without "
            "idempotence never); approve only if "
            f"{asked.declared.name} alone writes these outputs",
            "KIP-664",
        )
    working = _working(facts)
    behind = [one for one in facts.unread if planned and one.group_id in working]
    if behind:
        yield Finding(
            "outputs-unread",
            "warning",
            first_of(asked.topics),
            f"not read yet: {first_of([_count(one) for one in behind], between='; ')}; the outputs are cleaned only "
            "once these groups have read everything below the cuts",
            _DOCS,
        )


def _readers(asked: CleanedOutputs, facts: OutputFacts, graph: FleetGraph, topic: str) -> list[str]:
    """Entries with their owners, then groups that are not those of an entry."""
    ids = {one.application_id for one in graph.entries if one.cluster == asked.declared.cluster}
    groups = dict.fromkeys(one.group_id for one in facts.users if one.topic == topic and one.group_id not in ids)
    return [*_entries(asked, facts, graph, topic), *(f"group {one}" for one in groups)]


def _entries(asked: CleanedOutputs, facts: OutputFacts, graph: FleetGraph, topic: str) -> list[str]:
    """Entries that read a topic, as declared, as they run, and by their group; with the owner of each."""
    name, cluster = asked.declared.name, asked.declared.cluster
    ids = {one.application_id: one.name for one in graph.entries if one.cluster == cluster}
    declared = readers_of(graph, cluster, topic)
    running = (one.entry for one in facts.others if one.topic == topic and not one.writes)
    groups = (ids[one.group_id] for one in facts.users if one.topic == topic and one.group_id in ids)
    found = dict.fromkeys((*declared, *running, *groups))
    return [f"{one} (owner {facts.owners.get(one, 'not declared')})" for one in found if one != name]


def _foreign(asked: CleanedOutputs, facts: OutputFacts) -> Iterator[OutputProducer]:
    """The producers that Kafka Streams does not name after this application."""
    for one in facts.producers:
        if one.transactional_id is None or not is_own(one.transactional_id, asked.declared.application_id):
            yield one


def _suspect(one: OutputProducer) -> str:
    who = f"producer {one.producer_id}" if one.transactional_id is None else outside(one.transactional_id, 80)
    return f"{who} on {one.name}, last record of {utc_second(one.last_ms)}"


def _count(one: UnreadBelow) -> str:
    records = one.records.missing if isinstance(one.records, Missing) else f"{one.records:,} records"
    return f"{one.name} by group {one.group_id}: {records}"


def _working(facts: OutputFacts) -> frozenset[str]:
    """Groups with members."""
    return frozenset(one.group_id for one in facts.users if not is_empty(one.state))
