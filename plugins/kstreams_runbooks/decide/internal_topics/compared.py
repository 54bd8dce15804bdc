"""Compares the internal topics of a version with those of the cluster, and names the ones to create."""

from collections.abc import Collection, Iterable, Iterator, Mapping

from kstreams_runbooks.decide.internal_topics.settings import POLICY
from kstreams_runbooks.decide.topology.names import is_changelog
from kstreams_runbooks.decide.topology.partitions import repartition_topics
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.topology.change import Undeclared
from kstreams_runbooks.model.topology.internal_topics import (
    Difference,
    InternalAnswer,
    InternalRow,
    InternalSeen,
    InternalThere,
    InternalTopics,
    MadeTopic,
    MissingSource,
)
from kstreams_runbooks.model.topology.topology import Topology
from kstreams_runbooks.model.verdicts import Finding
from kstreams_runbooks.model.writes import TopicShape
from kstreams_runbooks.wording import first_of

_GUIDE = "Kafka Streams developer guide, Managing Streams Application Topics"
_NAMED = 5
_NO_WRITER = "no entry of the fleet writes it"


def sources_of(topology: Topology) -> frozenset[str]:
    """The topics that a version reads and does not make itself, those of global stores too; patterns left out."""
    return frozenset(
        topic for sub in topology.subtopologies for source in sub.sources for topic in source.topics
    ) - repartition_topics(topology)


def compared_topics(
    topology: Topology,
    wanted: InternalTopics,
    seen: InternalSeen,
    owner: str,
    writers: Mapping[str, tuple[str, str]],
) -> InternalAnswer:
    """Each internal topic next to the cluster, and each source topic that does not exist.

    `owner` answers for the application and its internal topics. `writers` has, for the topics that another entry of
    the fleet writes, that entry and its owner.
    """
    names = {one.name for one in wanted.topics}
    rows = [_row(one, wanted.replication, seen) for one in wanted.topics]
    rows += [_orphaned(one) for name, one in sorted(seen.there.items()) if name not in names]
    missing = tuple(
        MissingSource(name, *writers.get(name, ("", _NO_WRITER)))
        for name in sorted(sources_of(topology) - seen.inputs.keys() - seen.hidden.keys())
    )
    gone = {f"topics.{one.name}.partitions" for one in missing}
    unknown = (
        *(_asked(one) for one in wanted.unknown if str(one) not in gone),
        *(seen.hidden[name] for name in sorted(seen.hidden)),
    )
    findings = (*map(_of_source, missing), *(found for row in rows for found in _of_row(row, owner)))
    worst = {"danger": 0, "warning": 1, "info": 2}
    return InternalAnswer(
        tuple(rows),
        missing,
        tuple(dict.fromkeys(unknown)),
        tuple(sorted(findings, key=lambda one: worst[one.severity])),
    )


def topics_to_create(wanted: InternalTopics, kept: Collection[str] = ()) -> tuple[TopicShape, ...] | Missing:
    """The topics to create before a start of this version, by name; Missing, with every field, if one is not known.

    `kept` are the full names of those that exist then: a reset deletes the others first. For a stage `CreateTopics`.
    """
    if wanted.unknown or len(wanted.shapes) < len(wanted.topics):
        fields = [_asked(one) for one in wanted.unknown]
        return Missing(
            "internal topics are not created before the start, as not all of their facts are known: "
            f"{first_of(fields, _NAMED, '; ')}; declare them, or read them from the program (docs/facts.md)"
        )
    return tuple(one for one in wanted.shapes if one.name not in kept)


def _asked(one: Undeclared) -> str:
    return f"{one} ({one.reason})" if one.reason else str(one)


def _row(one: MadeTopic, replication: int | None, seen: InternalSeen) -> InternalRow:
    if one.name in seen.hidden:
        return InternalRow(one.name, one.kind, "unknown", one, None, why=seen.hidden[one.name])
    there = seen.there.get(one.name)
    if there is None:
        if one.certain:
            return InternalRow(one.name, one.kind, "missing", one, None)
        return InternalRow(one.name, one.kind, "unknown", one, None, why="whether its store has a changelog")
    differ = tuple(_differences(one, replication, there))
    if any(each.what == "partitions" for each in differ):
        return InternalRow(one.name, one.kind, "partitions", one, there, differ)
    if differ:
        return InternalRow(one.name, one.kind, "settings", one, there, differ)
    if not one.certain or one.partitions is None or one.settings is None:
        return InternalRow(one.name, one.kind, "unknown", one, there, why="not all of its facts")
    return InternalRow(one.name, one.kind, "present", one, there)


def _orphaned(there: InternalThere) -> InternalRow:
    return InternalRow(there.name, "changelog" if is_changelog(there.name) else "repartition", "orphaned", None, there)


def _differences(wanted: MadeTopic, replication: int | None, there: InternalThere) -> Iterator[Difference]:
    if wanted.partitions not in {None, there.partitions}:
        yield Difference("partitions", str(there.partitions), str(wanted.partitions))
    if replication is not None and replication > 0 and replication != there.replication:
        yield Difference("replication", str(there.replication), str(replication))
    if wanted.settings is None:
        return
    settings = dict(wanted.settings)
    for name, value in wanted.settings:
        found = there.effective.get(name, there.own.get(name))
        if found is None or _value(name, found) != _value(name, value):
            yield Difference(name, found, value)
    for name in sorted(there.own.keys() - settings.keys()):
        yield Difference(name, there.own[name], None)


def _value(name: str, value: str) -> object:
    """The value as brokers compare it: a list of policies has no order."""
    return frozenset(part.strip() for part in value.split(",")) if name == POLICY else value.strip()


def _of_source(one: MissingSource) -> Finding:
    who = f"{one.owner} ({one.writer} writes it)" if one.writer else f"its producer: {one.owner}"
    message = f"source topic {one.name} does not exist; it is not created here, ask {who}"
    return Finding("source-topic-missing", "danger", one.name, message, _GUIDE)


def _of_row(row: InternalRow, owner: str) -> Iterable[Finding]:
    differ = first_of(
        [f"{one.what} {one.there or 'not set'} (Kafka Streams: {one.wanted or 'not set'})" for one in row.differences],
        _NAMED,
        "; ",
    )
    if row.state == "missing":
        message = (
            "does not exist: Kafka Streams creates it in the first rebalance; create it before the start with the same "
            f"settings ({owner})"
        )
        return [Finding("internal-topic-missing", "warning", row.name, message, _GUIDE)]
    if row.state == "partitions":
        message = f'has {differ}: instances end in ERROR ("invalid partitions"); {owner} has to reset it, or grow it'
        return [Finding("internal-topic-partitions", "danger", row.name, message, _GUIDE)]
    if row.state == "settings":
        message = f"has {differ}: Kafka Streams never changes an existing topic; {owner} has to set it or to keep it"
        return [Finding("internal-topic-settings", "warning", row.name, message, _GUIDE)]
    if row.state == "orphaned":
        message = f"is an internal topic that this version does not make ({owner}): `kstreams-runbooks orphans`"
        return [Finding("internal-topic-unread", "info", row.name, message, _GUIDE)]
    return []
