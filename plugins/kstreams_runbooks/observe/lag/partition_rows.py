"""Lag, one row for each partition: the one place where offsets and ends become a `PartitionLag`.

Committed offsets come first and ends after them: no reading can show a group ahead of the log (observe/kafka/offsets.py
has the reasons for the order and the clients).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from kstreams_runbooks.model.readings.lag import LagRole, LagState, PartitionLag
from kstreams_runbooks.model.readings.readings import Missing, TopicReading
from kstreams_runbooks.observe.kafka.cluster import ClusterReader
from kstreams_runbooks.observe.kafka.ends import ends_of, places_of
from kstreams_runbooks.observe.kafka.offsets import Committed, Ends, GroupOffsets, Place
from kstreams_runbooks.observe.kafka.partition_time import partition_time


@dataclass(frozen=True, slots=True)
class ClusterLook:
    """What one pass over a cluster found.

    `groups` are those that are listed (type and state by id), `committed` the offsets of each, `topics` those that are
    visible, `ends` those of what is read. `hidden` has a sentence for each topic that exists, or may
    exist, and is not visible to this login; `unlisted` one for each group that is not among `groups`.
    """

    committed: Mapping[str, GroupOffsets | Missing]
    topics: Mapping[str, TopicReading]
    ends: Mapping[Place, Ends]
    groups: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    hidden: Mapping[str, str] = field(default_factory=dict)
    unlisted: Mapping[str, str] = field(default_factory=dict)

    def offsets(self, group_id: str) -> GroupOffsets:
        """What the group has committed; nothing if that could not be read."""
        found = self.committed.get(group_id, {})
        return {} if isinstance(found, Missing) else found

    def topic_id(self, name: str) -> str | None:
        """Id of a topic, None for one that is not visible."""
        return self.topics[name].topic_id if name in self.topics else None


def read_partitions(
    reader: ClusterReader, group_id: str, roles: Mapping[str, LagRole], topics: Iterable[TopicReading]
) -> tuple[PartitionLag, ...] | Missing:
    """Rows of the topics in `roles`, in four batched calls; a topic that is not among `topics` is missing.

    Missing if the group's offsets cannot be read; Unreachable if no broker answers.
    """
    committed = reader.committed([group_id])
    if isinstance(offsets := committed[group_id], Missing):
        return offsets
    found = {topic.name: topic for topic in topics if topic.name in roles}
    look = ClusterLook(committed, found, ends_of(reader, found.values()))
    return tuple(partition_rows(group_id, roles, look))


def partition_rows(
    group_id: str, roles: Mapping[str, LagRole], look: ClusterLook, problems: tuple[str, ...] = ()
) -> Iterator[PartitionLag]:
    """One row for each partition of the topics in `roles`, or one for a topic that is not visible.

    `problems` are what is not known of the group: with one no row of it is known.
    """
    offsets = look.offsets(group_id)
    for name in sorted(roles):
        topic, role = look.topics.get(name), roles[name]
        if topic is None:
            yield _absent(name, role, look.hidden.get(name))
            continue
        for place in places_of([topic]):
            yield partition_row(place, role, topic.topic_id, offsets.get(place), look.ends[place], problems)


def _absent(topic: str, role: LagRole, hidden: str | None) -> PartitionLag:
    """One row for a topic that is not visible."""
    if hidden is not None:
        return PartitionLag(topic, 0, role, "unknown", why=hidden)
    return PartitionLag(topic, 0, role, "missing", why="the topic does not exist on the cluster")


def partition_row(
    place: Place,
    role: LagRole,
    topic_id: str,
    committed: Committed | None,
    ends: Ends,
    problems: tuple[str, ...] = (),
) -> PartitionLag:
    """One row; what could not be read is None, and the state and `why` give the reason."""
    start, stable, end = (None if isinstance(value, Missing) else value for value in ends)
    offset = None if committed is None else committed.offset
    unknown = _unknown(offset, ends, problems)
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
        records=None if unknown else _between(offset, start, stable),
        why=unknown or _remark(offset, start, role),
    )


def _unknown(committed: int | None, ends: Ends, problems: tuple[str, ...]) -> str:
    """Why the lag is not known, empty if it is known."""
    if lacking := next((value.missing for value in ends if isinstance(value, Missing)), ""):
        return lacking
    if problems:
        return problems[0]
    # Ends are read after offsets, which excludes a race: this offset never passed the records in the log now.
    if committed is not None and isinstance(ends.end, int) and committed > ends.end:
        return (
            f"committed {committed:,} is past its end {ends.end:,}: the topic was created again or cut off, or the "
            "offset was set manually"
        )
    return ""


def _remark(committed: int | None, start: int | None, role: LagRole) -> str:
    """A remark on an offset that could be read, empty for none."""
    if committed is None:
        return "never committed"
    # Streams itself deletes committed records of a repartition topic, perhaps since the offset was read.
    if start is not None and committed < start and role != "repartition":
        return f"{start - committed:,} offsets were deleted before they were read, by retention or manually"
    return ""


def _between(committed: int | None, start: int | None, stable: int | None) -> int | None:
    """Offsets from the committed one, or from the log's start if that is later, up to the last stable offset.

    A partition without a commit is unread from the start of its log.
    """
    if start is None or stable is None:
        return None
    return max(0, stable - max(committed or 0, start))
