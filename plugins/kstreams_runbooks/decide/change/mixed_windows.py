"""How long results mix the windows of two versions, and whether that is over: by the stream time of each partition.

An aggregation keeps its results under the start of a window. A result that the old version began is updated with
records of the new windows until stream time has passed the longest of both windows with its grace, and the retention.
Source: S. Blee-Goldman, guide to Kafka Streams upgrades (Responsive, Kafka Streams 101), window size of aggregations.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kstreams_runbooks.decide.comparison.facts import lasts_ms, shape_of
from kstreams_runbooks.model.readings.lag import PartitionLag
from kstreams_runbooks.model.topology.declaration import Declaration, Window

TopicPart = tuple[str, int]


@dataclass(frozen=True, slots=True)
class WindowChange:
    """An aggregation whose window changes; `mixed_ms` is how long results mix both, in stream time (None: unknown)."""

    store: str
    before: Window
    after: Window
    mixed_ms: int | None

    @property
    def has_sessions(self) -> bool:
        """Whether a window is a session: one from before the change goes on for as long as its key gets records."""
        return "session" in {self.before.kind, self.after.kind}


@dataclass(frozen=True, slots=True)
class MixedPartition:
    """One partition in front of a store: its stream time at the change, now, and the one that ends the mixture.

    All are Unix ms of event time, None if unknown. `over` is None if one is missing, and `why` is the reason then.
    `never_read`: no record was ever in it.
    """

    topic: str
    partition: int
    since_ms: int | None = None
    until_ms: int | None = None
    stream_time_ms: int | None = None
    over: bool | None = None
    why: str = ""
    never_read: bool = False

    @property
    def name(self) -> str:
        """`orders-3`."""
        return f"{self.topic}-{self.partition}"


@dataclass(frozen=True, slots=True)
class MixedStore:
    """One changed store with the partitions that lead to it; `why` is the reason if they are unknown."""

    change: WindowChange
    partitions: tuple[MixedPartition, ...]
    why: str = ""

    @property
    def over(self) -> bool | None:
        """False if a partition certainly still mixes, None if one is unknown, or if a session may still go on."""
        read = [one for one in self.partitions if not one.never_read]
        unknown = self.why or not self.partitions or (self.change.has_sessions and read)
        return every([None if unknown else True, *(one.over for one in self.partitions)])


def every(answers: list[bool | None]) -> bool | None:
    """False if one is False, None if none is and one is unknown."""
    return False if False in answers else None if None in answers else True


def window_changes(before: Declaration, after: Declaration) -> tuple[WindowChange, ...]:
    """Aggregations of one name with another window in the new version; a join keeps records and mixes nothing."""
    found = []
    for store in sorted(before.stores.keys() & after.stores.keys()):
        was, now = before.stores[store], after.stores[store]
        if was.window is None or now.window is None or "join" in {was.window.kind, now.window.kind}:
            continue
        if shape_of(was) != shape_of(now):
            found.append(WindowChange(store, was.window, now.window, lasts_ms(was, now)))
    return tuple(found)


def mixed_store(
    change: WindowChange,
    topics: frozenset[str] | str,
    since: Mapping[TopicPart, int] | int,
    rows: tuple[PartitionLag, ...],
) -> MixedStore:
    """Whether the windows of one store still mix.

    `topics` lead to the store, by full name (a text: why they are unknown). `since` is the stream time of the change by
    topic and partition, or one for all; `rows` are the partitions now.
    """
    if isinstance(topics, str):
        return MixedStore(change, (), topics)
    read = [row for row in rows if row.topic in topics]
    if lacking := sorted(topics - {row.topic for row in read}):
        return MixedStore(change, (), f"no partition of {lacking[0]} was read")
    return MixedStore(change, tuple(_partitions(change, since, read)))


def _partitions(
    change: WindowChange, since: Mapping[TopicPart, int] | int, rows: list[PartitionLag]
) -> Iterator[MixedPartition]:
    for row in rows:
        began = since if isinstance(since, int) else since.get((row.topic, row.partition))
        until = None if began is None or change.mixed_ms is None else began + change.mixed_ms
        now = row.stream_time_ms
        over = None if until is None or now is None else now > until
        why = "" if over is not None else _why(change, began, row)
        # No version has ever read a record there.
        if never := row.log_end_offset == 0:
            over, why = True, ""
        yield MixedPartition(row.topic, row.partition, began, until, now, over, why, never)


def _why(change: WindowChange, began: int | None, row: PartitionLag) -> str:
    if change.mixed_ms is None:
        return "how long the store keeps its results is not declared"
    if began is None:
        return "its stream time at the change is not known; give --since"
    return (
        row.why or "its committed offset has no stream time (Kafka Streams commits it with a record it has processed)"
    )
