"""The lag of a group, per partition: an unknown value is None, and `why` has the reason.

Offsets are log offsets (ends are exclusive), times Unix milliseconds. `log_end_offset` (LEO) is the end of the log,
`last_stable_offset` (LSO) the offset up to which a read_committed consumer can read: the first open transaction begins
there.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal

# As many offsets as a consumer counts in a moment; for more, Spark is worth its start.
MOST_AT_ONCE: Final = 10_000

# Exactly-once applications read committed records; all others read aborted ones too. No consumer gets a marker.
Isolation = Literal["read_committed", "read_uncommitted"]

# How records were counted: not at all (nothing to read), by a consumer at once, or by Spark.
CountedBy = Literal["nothing", "consumer", "spark"]


@dataclass(frozen=True, slots=True)
class Readable:
    """Records that can be read, their bytes (keys and values), and the oldest timestamp (Unix ms, None: none).

    `at_least`: only a part of the range was read, because it has more offsets than a scan may read. `newest_ms` is the
    newest timestamp, `step_back_ms` the most that a record is older than one before it; None if the counter is Spark,
    which reads no order.
    """

    records: int = 0
    bytes: int = 0
    oldest_ms: int | None = None
    at_least: bool = False
    newest_ms: int | None = field(default=None, compare=False)
    step_back_ms: int | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Counted:
    """What can be read by topic and partition, and which counter counted it.

    `remarks` are sentences for the person who waits: why Spark did not count, and how long the consumer takes.
    """

    readable: Mapping[tuple[str, int], Readable]
    by: CountedBy
    remarks: tuple[str, ...] = ()

    @property
    def records(self) -> int:
        """Over all partitions; a minimum if one of them is `at_least`."""
        return sum(one.records for one in self.readable.values())

    @property
    def at_least(self) -> bool:
        """Whether only a part was read, of one partition or of more."""
        return any(one.at_least for one in self.readable.values())


LagRole = Literal["source", "repartition", "orphaned"]
# `orphaned`: the group has an offset on a topic that nothing of the application reads any more. `missing`: there is no
# such topic. `unknown`: the topic is hidden, the group or an end could not be read, or the offset is past the end.
LagState = Literal["ok", "never_committed", "missing", "orphaned", "unknown"]


@dataclass(frozen=True, slots=True)
class PartitionLag:
    """One partition of one group.

    `committed_since_ms` is when a reading first found this committed offset: brokers do not record commit times, it is
    at least that old. `stream_time_ms` is in the metadata of the committed offset (None: none there, or of another
    length or version). `records` are the offsets from the committed one to the LSO, or with `exact` the number of
    readable records: markers and aborted records have offsets too; with `at_least` only a part was scanned.

    `oldest_unread_ms` is the timestamp of the first unread record. `none_until` is how far the log was searched: no
    readable record comes before that offset, and one is at it if `oldest_unread_ms` is known; None without a search.
    `lost`: such a record was deleted unread; `perhaps_lost`: unsearched offsets were. `age_why` is why it is unknown
    when its unread records are deleted.
    """

    topic: str
    partition: int
    role: LagRole
    state: LagState
    topic_id: str | None = None
    committed: int | None = None
    log_start_offset: int | None = None
    last_stable_offset: int | None = None
    log_end_offset: int | None = None
    stream_time_ms: int | None = None
    records: int | None = None
    exact: bool = False
    at_least: bool = False
    oldest_unread_ms: int | None = None
    retention_ms: int | None = None
    none_until: int | None = None
    committed_since_ms: int | None = None
    lost: bool = False
    perhaps_lost: bool = False
    why: str = ""
    age_why: str = ""

    @property
    def name(self) -> str:
        """The name of the partition, `orders-3`."""
        return f"{self.topic}-{self.partition}"

    @property
    def offsets(self) -> int | None:
        """Offsets from the committed one, or from the start of the log if that is later, to the LSO."""
        if self.state in {"unknown", "missing"} or self.last_stable_offset is None or self.log_start_offset is None:
            return None
        return max(0, self.last_stable_offset - max(self.committed or 0, self.log_start_offset))

    @property
    def open_transaction(self) -> bool | None:
        """Whether a transaction is open on it, None if an end is not known."""
        if self.last_stable_offset is None or self.log_end_offset is None:
            return None
        return self.last_stable_offset < self.log_end_offset

    @property
    def retention_left_ms(self) -> int | None:
        """How long after `oldest_unread_ms` that record may be deleted; None if either is not known or unlimited."""
        if self.retention_ms is None or self.oldest_unread_ms is None or self.retention_ms < 0:
            return None
        return self.oldest_unread_ms + self.retention_ms


def unread_ranges(rows: Iterable[PartitionLag]) -> dict[tuple[str, int], tuple[int, int]]:
    """The unread range of each partition that has one, [start, end) by topic and number."""
    return {
        (one.topic, one.partition): (one.last_stable_offset - one.records, one.last_stable_offset)
        for one in rows
        if one.records is not None and one.last_stable_offset is not None
    }


def with_counts(rows: Iterable[PartitionLag], counts: Mapping[tuple[str, int], Readable]) -> tuple[PartitionLag, ...]:
    """The rows with records in place of offsets, if they were counted.

    A part of a range that was scanned and found empty proves nothing about the rest: its offsets stay.
    """
    return tuple(_counted(one, counts.get((one.topic, one.partition))) for one in rows)


def _counted(row: PartitionLag, count: Readable | None) -> PartitionLag:
    if count is None or (count.at_least and not count.records):
        return row
    return replace(row, records=count.records, exact=True, at_least=count.at_least, oldest_unread_ms=count.oldest_ms)


@dataclass(frozen=True, slots=True)
class ApplicationLag:
    """One application's group at one time; `problems` are readings that could not be taken, one sentence each.

    `group_type` is classic, consumer or streams, None if no broker knows the group. `kept` are its changelogs with
    their topic ids, None for one that does not exist: the group reads none of them, but they hold the state. Without
    `exactly_once` the application processes the records of aborted transactions too. `unseen` has a sentence for each
    changelog that is not visible to the login that read: it is not among `kept`, and whether it exists is not known.
    """

    application: str
    application_id: str
    group_type: str | None
    group_state: str | None
    partitions: tuple[PartitionLag, ...]
    problems: tuple[str, ...] = ()
    kept: tuple[tuple[str, str | None], ...] = ()
    exactly_once: bool = True
    unseen: tuple[str, ...] = ()

    @property
    def read(self) -> Iterator[PartitionLag]:
        """Partitions that the application reads: orphaned ones are in no total."""
        return (one for one in self.partitions if one.role != "orphaned")

    @property
    def orphaned(self) -> Iterator[PartitionLag]:
        """Partitions that nothing of the application reads any more, and its group has offsets on."""
        return (one for one in self.partitions if one.role == "orphaned")

    @property
    def unread(self) -> int | None:
        """Unread records over all partitions that it reads, None while one of them, or all of them, is not known."""
        counts = [one.records for one in self.read]
        return None if self.problems or not counts or None in counts else sum(count or 0 for count in counts)
