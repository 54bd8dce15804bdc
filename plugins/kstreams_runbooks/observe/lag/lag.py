"""The lag of many applications of one cluster, in a handful of batched calls however many there are.

Committed offsets come first and ends after them, so that no reading shows a group ahead of the log
(observe/kafka/offsets.py says why each client is asked what it is asked).
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from kstreams_runbooks.decide.topology.names import internal_by_id, is_changelog
from kstreams_runbooks.model.readings.lag import ApplicationLag, LagRole, LagState, PartitionLag
from kstreams_runbooks.model.readings.lag_snapshot import LagSnapshot
from kstreams_runbooks.model.readings.readings import Missing, TopicReading
from kstreams_runbooks.observe.kafka.cluster import ClusterReader
from kstreams_runbooks.observe.kafka.groups import unknown_group
from kstreams_runbooks.observe.kafka.offsets import Committed, Ends, GroupOffsets, Place, read_ends
from kstreams_runbooks.observe.kafka.partition_time import partition_time


@dataclass(frozen=True, slots=True)
class LagAsked:
    """One application: `reads` are the topics of its topology by full name with their role, None where it is not known.

    Without a topology its topics are those that its group has offsets on, and internal ones by their names. `lacking`
    says why not all of them are known; with it any topic that the group has an offset on may be one. `keeps` are names
    of changelogs that it may have. One that is not `exactly_once` processes the records of aborted transactions too.
    """

    application: str
    application_id: str
    reads: Mapping[str, LagRole] | None = None
    lacking: str = ""
    keeps: Collection[str] = ()
    exactly_once: bool = True


def read_lag(reader: ClusterReader, cluster: str, asked: Sequence[LagAsked]) -> LagSnapshot:
    """One snapshot; Unreachable where no broker answers, and a problem with the application where only a part does."""
    taken = reader.taken()
    groups = {group: (kind, state) for group, kind, state in reader.groups()}
    ids = [one.application_id for one in asked]
    committed = reader.committed([one for one in ids if one in groups])
    unlisted = reader.unlisted([one for one in ids if one not in groups])
    names = reader.names()
    # Of a neighbour whose id begins with one of these, too: its topics are its own.
    internal = internal_by_id(names.visible, {*ids, *groups})
    reads = {
        one.application_id: topics_read(
            one, committed.get(one.application_id, {}), internal.get(one.application_id, ())
        )
        for one in asked
    }
    read = {name for each in reads.values() for name in each}
    kept = {name for one in asked for name in one.keeps}
    topics = {topic.name: topic for topic in reader.topics((read | kept) & names.visible)}
    places = [(name, number) for name in sorted(read & topics.keys()) for number in range(topics[name].partitions)]
    ends = read_ends(reader.librdkafka, places)
    # Changelogs among them: one that is not visible is no reason to say that it is gone.
    hidden = names.unseen((read | kept) - topics.keys())
    return LagSnapshot(
        taken,
        cluster,
        tuple(
            lag_of(one, groups, committed, reads[one.application_id], topics, ends, hidden, unlisted) for one in asked
        ),
    )


def topics_read(asked: LagAsked, committed: GroupOffsets | Missing, internal: Iterable[str]) -> dict[str, LagRole]:
    """Topics that the application reads, and those on which its group has offsets that nothing reads any more.

    `internal` are its internal topics by their names.
    """
    offsets = set() if isinstance(committed, Missing) else {topic for topic, _ in committed}
    if asked.reads is not None:
        # Where not all that it reads is known, nobody can say that nothing reads a topic.
        other: LagRole = "source" if asked.lacking else "orphaned"
        return {**dict.fromkeys(offsets, other), **asked.reads}
    read = (name for name in internal if not is_changelog(name))
    return {**dict.fromkeys(offsets, "source"), **dict.fromkeys(read, "repartition")}


def lag_of(
    asked: LagAsked,
    groups: Mapping[str, tuple[str, str]],
    committed: Mapping[str, GroupOffsets | Missing],
    reads: Mapping[str, LagRole],
    topics: Mapping[str, TopicReading],
    ends: Mapping[Place, Ends],
    hidden: Mapping[str, str] = MappingProxyType({}),
    unlisted: Mapping[str, str] = MappingProxyType({}),
) -> ApplicationLag:
    """One application's lag from what was read: groups by id (type, state), offsets, topics that are seen, and ends.

    `hidden` are topics that exist, or may exist, and are not visible to this login, `unlisted` groups that are not
    among `groups`, each with a sentence.
    """
    found = committed.get(asked.application_id, {})
    # What stands against the group is against each of its partitions; what stands against its topics is not.
    of_group = tuple(_of_group(asked, groups, found, unlisted))
    offsets = {} if isinstance(found, Missing) else found
    kind, state = groups.get(asked.application_id, (None, None))
    rows = (
        row
        for topic in sorted(reads)
        for row in _rows(topic, reads[topic], topics.get(topic), hidden.get(topic), offsets, ends, of_group)
    )
    seen = [name for name in sorted(asked.keeps) if name not in hidden]
    return ApplicationLag(
        asked.application,
        asked.application_id,
        kind,
        state,
        tuple(rows),
        (*of_group, *_of_topics(asked, reads)),
        tuple((name, topics[name].topic_id if name in topics else None) for name in seen),
        asked.exactly_once,
        unseen=tuple(hidden[name] for name in sorted(asked.keeps) if name in hidden),
    )


def _of_group(
    asked: LagAsked,
    groups: Mapping[str, tuple[str, str]],
    committed: GroupOffsets | Missing,
    unlisted: Mapping[str, str],
) -> Iterator[str]:
    """What of the group is not known."""
    if asked.application_id not in groups:
        yield unlisted.get(asked.application_id) or unknown_group(asked.application_id)
    if isinstance(committed, Missing):
        yield committed.missing


def _of_topics(asked: LagAsked, reads: Mapping[str, LagRole]) -> Iterator[str]:
    """What of its topics is not known."""
    if asked.lacking:
        yield asked.lacking
    if all(role == "orphaned" for role in reads.values()):
        yield (
            f"no topic is known that {asked.application} reads (expected at least one); start one of its instances, or "
            "grant this login Describe on its topics"
        )


def _rows(
    name: str,
    role: LagRole,
    topic: TopicReading | None,
    hidden: str | None,
    offsets: GroupOffsets,
    ends: Mapping[Place, Ends],
    problems: tuple[str, ...],
) -> Iterator[PartitionLag]:
    """One row for each partition of a topic, or one for a topic that is not seen."""
    if topic is None:
        yield _absent(name, role, hidden)
        return
    for number in range(topic.partitions):
        place = (name, number)
        yield _partition(place, role, topic.topic_id, offsets.get(place), ends[place], problems)


def _absent(topic: str, role: LagRole, hidden: str | None) -> PartitionLag:
    """One row for a topic that is not seen."""
    if hidden is not None:
        return PartitionLag(topic, 0, role, "unknown", why=hidden)
    return PartitionLag(topic, 0, role, "missing", why="the topic does not exist on the cluster")


def _partition(
    place: Place, role: LagRole, topic_id: str, committed: Committed | None, ends: Ends, problems: tuple[str, ...]
) -> PartitionLag:
    """One row; what could not be read is None, and the state says why."""
    start, stable, end = (None if isinstance(value, Missing) else value for value in ends)
    offset = None if committed is None else committed.offset
    # A partition that was never committed has all of its log to read.
    since = start if offset is None else offset
    unknown = next((value.missing for value in ends if isinstance(value, Missing)), None) or next(iter(problems), None)
    # Ends are read after offsets, so this is no race: what lies in the log now was never read by this offset.
    if offset is not None and end is not None and offset > end:
        unknown = unknown or (
            f"committed {offset:,} is past its end {end:,}: the topic was created again or cut off, or the offset was "
            "set by hand"
        )
    state: LagState = (
        "unknown" if unknown else "orphaned" if role == "orphaned" else "never_committed" if offset is None else "ok"
    )
    return PartitionLag(
        *place,
        role,
        state,
        topic_id=topic_id,
        committed=offset,
        log_start_offset=start,
        last_stable_offset=stable,
        log_end_offset=end,
        stream_time_ms=None if committed is None else partition_time(committed.metadata),
        records=None if unknown else _between(since, start, stable),
        why=unknown or _told(offset, start, role),
    )


def _told(committed: int | None, start: int | None, role: LagRole) -> str:
    """What is remarkable about an offset that could be read."""
    if committed is None:
        return "never committed"
    # Of a repartition topic Streams itself deletes what is committed, and may have done so since the offset was read.
    if start is not None and committed < start and role != "repartition":
        return f"{start - committed:,} offsets were deleted before they were read, by retention or by hand"
    return ""


def _between(since: int | None, start: int | None, stable: int | None) -> int | None:
    """Offsets from where the group stands, or where the log begins if that is later, up to the last stable offset."""
    return None if since is None or start is None or stable is None else max(0, stable - max(since, start))
