"""Two topics compared: what was read of each, and what differs.

The first topic is the one that the second should equal: a record is missing if the first topic alone has it, extra if
the second alone has it. A place counts from 0 among the readable records of a range, behind those that are skipped:
offsets have gaps where transactions ended or were aborted.
"""

from dataclasses import dataclass
from typing import Final, Literal

from kstreams_runbooks.model.readings.readings import Taken

# `record`: each partition, record by record. `by-key`: the records of each key in their order, in any partition.
# `latest`: the last value of each key; a tombstone is an absent key. `windows`: the same, and each key at most once.
CompareMode = Literal["record", "by-key", "latest", "windows"]
# Those of any two topics, and those of two sides' outputs.
MODES: Final[tuple[CompareMode, ...]] = ("record", "by-key", "latest")
SIDE_MODES: Final[tuple[CompareMode, ...]] = ("latest", "windows")
# Parts of a record that a comparison may leave out.
IgnoredPart = Literal["headers", "timestamp"]
IGNORED: Final[tuple[IgnoredPart, ...]] = ("headers", "timestamp")
# `reordered`: both topics have the same records in another order. `repeated`: a topic has a window more than once.
UnlikeKind = Literal["missing", "extra", "changed", "reordered", "repeated"]


@dataclass(frozen=True, slots=True)
class ShownRecord:
    """A record as text: hexadecimal digits if it cannot be printed, `***` in place of what is masked.

    `value` is None for a tombstone, `key` for a record without a key.
    """

    partition: int
    offset: int
    timestamp_ms: int
    key: str | None
    value: str | None
    headers: tuple[tuple[str, str | None], ...]


@dataclass(frozen=True, slots=True)
class UnlikeRecord:
    """An example of a difference; `place` is that of the record in its partition, or among the records of its key.

    `parts` are the parts in which both records differ: key, value, headers, timestamp; empty if one topic alone has a
    record. In the modes `latest` and `windows` a key has no place, and `fields` are those of both values that differ.
    """

    kind: UnlikeKind
    partition: int | None
    place: int | None
    parts: tuple[str, ...]
    first: ShownRecord | None
    second: ShownRecord | None
    fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordsRead:
    """The readable records of a partition, without those in `SkippedRecords`."""

    partition: int
    records: int


@dataclass(frozen=True, slots=True)
class UnlikePartition:
    """Differences of a partition, in records; `changed` are pairs of a missing and an extra record of one key.

    All three are 0 if the same records are in another order. `first_place` is the first place at which the topics
    differ; None for records without a key in mode `by-key`, which have no order.
    """

    partition: int
    missing: int
    extra: int
    changed: int
    first_place: int | None


@dataclass(frozen=True, slots=True)
class UnlikeKeys:
    """Keys of either topic, each counted once in `equal` … `split`.

    `missing` and `extra`: in one topic alone. `changed`: with other records. `reordered`: with the same records in
    another order. `split`: in several partitions of a topic, so their records have no order. `repeated`: of a window
    that a topic has more than once.

    In the modes `latest` and `windows` a key whose last value is a tombstone is absent, and `null_keys` are records
    without a key, which such a topic cannot have a last value of.
    """

    equal: int = 0
    missing: int = 0
    extra: int = 0
    changed: int = 0
    reordered: int = 0
    repeated: int = 0
    split: int = 0
    null_keys: int = 0

    @property
    def unlike(self) -> int:
        """Keys that are proven to differ."""
        return self.missing + self.extra + self.changed + self.reordered + self.repeated


@dataclass(frozen=True, slots=True)
class FieldChanges:
    """A field of JSON values ($.amount), and the keys in whose last values it differs; `$` is a value as a whole."""

    field: str
    keys: int


@dataclass(frozen=True, slots=True)
class BehindEnds:
    """What a topic has behind the ends of a comparison.

    `only_there` are keys without a record below the ends: new ones, or keys whose older records compaction has removed.
    `oldest_ms` is the oldest timestamp there, None without a record.
    """

    only_there: int = 0
    oldest_ms: int | None = None


@dataclass(frozen=True, slots=True)
class SkippedRecords:
    """Records at the front of a partition that were not compared: the other topic has deleted what equals them.

    One of both numbers is 0. Neither is above the offsets that the other topic has deleted there.
    """

    partition: int
    first: int
    second: int


@dataclass(frozen=True, slots=True)
class ExplainedKeys:
    """Keys that differ in mode `latest`, by what may explain it; each is counted once.

    A newer record behind the ends lets compaction remove the older ones. `superseded`: one topic alone has the key
    below the ends, and the first topic has a newer record. `copied`: as that, and the second topic alone has a newer
    one. `changed`: both have the key, and the first topic has a newer record; compaction explains that only while it
    runs. `deleted`: one topic alone has the key, the first topic has no newer record, and all of the records that both
    topics have come after it: retention has deleted it in the other one.
    """

    superseded: int = 0
    copied: int = 0
    changed: int = 0
    deleted: int = 0


@dataclass(frozen=True, slots=True)
class OutputComparison:
    """The answer of Spark; `partitions` are those that differ, `keys` is None in mode `record`.

    In mode `by-key` `partitions` are about records without a key. In the modes `latest` and `windows` `fields` count
    the changed keys by their fields, the most frequent first, and `behind` is what each topic has behind its ends
    (None: nothing was read there). `skipped` are partitions of mode `record` that were aligned at their ends.
    """

    first: tuple[RecordsRead, ...]
    second: tuple[RecordsRead, ...]
    partitions: tuple[UnlikePartition, ...] = ()
    keys: UnlikeKeys | None = None
    examples: tuple[UnlikeRecord, ...] = ()
    fields: tuple[FieldChanges, ...] = ()
    behind: tuple[BehindEnds, BehindEnds] | None = None
    skipped: tuple[SkippedRecords, ...] = ()
    explained: ExplainedKeys = ExplainedKeys()

    @property
    def records(self) -> tuple[int, int]:
        """Records of both that were compared."""
        return sum(one.records for one in self.first), sum(one.records for one in self.second)


@dataclass(frozen=True, slots=True)
class OutputRange:
    """The offsets [start, end) of a partition that were asked for, and what its log had.

    `log_start`, `stable` (the last stable offset) and `log_end` were read before the comparison, `grown_to` is its end
    after it.
    """

    partition: int
    start: int
    end: int
    log_start: int
    stable: int
    log_end: int
    grown_to: int

    @property
    def readable_from(self) -> int:
        """The first offset of the range that still exists."""
        return min(max(self.start, self.log_start), self.readable_to)

    @property
    def readable_to(self) -> int:
        """The end of the range, as far as committed records can be read."""
        return max(self.start, min(self.end, self.stable))

    @property
    def deleted(self) -> int:
        """Offsets at the front of the range that no longer exist."""
        return max(0, min(self.log_start, self.end) - self.start)


@dataclass(frozen=True, slots=True)
class ComparedOutput:
    """One of the two topics; `compacted`: its cleanup.policy compacts it, None if that is not known.

    `lag_ms` is its min.compaction.lag.ms: for that long after its timestamp compaction leaves a record, and those that
    it replaces. None: not known.
    """

    name: str
    topic_id: str
    compacted: bool | None
    ranges: tuple[OutputRange, ...]
    lag_ms: int | None = None

    @property
    def offsets(self) -> int:
        """Offsets that can be read, in all partitions together."""
        return sum(one.readable_to - one.readable_from for one in self.ranges)


@dataclass(frozen=True, slots=True)
class CompareLimits:
    """What a comparison may read: offsets and bytes of both topics together (None: any), and seconds."""

    records: int
    bytes: int | None
    seconds: float


@dataclass(frozen=True, slots=True)
class OutputsReading:
    """The comparison of two topics; it is None if it was not made: the topics cannot be compared, or are too large.

    `bytes` is the share of the ranges in the topics' size on disk, None if brokers do not report it. `ignored_paths`
    are paths of JSON values that are not compared.
    """

    taken: Taken
    mode: CompareMode
    ignored: tuple[IgnoredPart, ...]
    first: ComparedOutput
    second: ComparedOutput
    limits: CompareLimits
    bytes: int | None
    comparison: OutputComparison | None = None
    ignored_paths: tuple[str, ...] = ()

    @property
    def offsets(self) -> int:
        """Offsets of both topics that can be read."""
        return self.first.offsets + self.second.offsets
