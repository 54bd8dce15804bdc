"""A forecast of the keys of topics that get more partitions.

Partitions count from 0; a key is its bytes, as the serializer wrote them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from kstreams_runbooks.model.readings.partitioning import PlacedKey, StateKind
from kstreams_runbooks.model.readings.readings import Missing, Taken

# How the keys of a forecast topic begin: those of records, or those of a changelog.
ForecastKind = Literal["input"] | StateKind
# What a few examples are given of.
ForecastCase = Literal["moved", "several", "misplaced"]


@dataclass(frozen=True, slots=True)
class KeyShare:
    """Keys, and their records and bytes (of keys and values, without headers); of a changelog its live rows."""

    keys: int = 0
    records: int = 0
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class PartitionLoad:
    """What one partition has, before a growth or after it."""

    partition: int
    share: KeyShare


@dataclass(frozen=True, slots=True)
class HotKey:
    """One of the keys with the most records or bytes, and its partition before and after."""

    key: str
    records: int
    bytes: int
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class TopicForecast:
    """What a growth of `topic` from `before` to `after` partitions does to the keys that it has.

    A key is in `kept` or in `moved`: murmur2 gives it the same number of a partition, or another one. Keys that are in
    `several` partitions, or `misplaced` (not, or not only, where murmur2 puts them today), are also one of both, by
    their first partition. Records without a key keep the number of their partition. `short` are records of a changelog
    whose key is too short for its kind.

    `loads_before` and `loads_after` have each partition with a record; `most_records` and `most_bytes` the keys with
    the most of either, the first first.
    """

    topic: str
    kind: ForecastKind
    before: int
    after: int
    kept: KeyShare
    moved: KeyShare
    null_keys: KeyShare
    several: int = 0
    misplaced: int = 0
    short: int = 0
    loads_before: tuple[PartitionLoad, ...] = ()
    loads_after: tuple[PartitionLoad, ...] = ()
    most_records: tuple[HotKey, ...] = ()
    most_bytes: tuple[HotKey, ...] = ()
    examples: Mapping[ForecastCase, tuple[PlacedKey, ...]] = field(default_factory=dict)

    @property
    def keyed(self) -> KeyShare:
        """All records with a key."""
        return KeyShare(*(getattr(self.kept, name) + getattr(self.moved, name) for name in KeyShare.__slots__))


@dataclass(frozen=True, slots=True)
class ForecastTopic:
    """One topic whose keys are forecast, with offsets of all its partitions together, as in `ComparedTopic`."""

    name: str
    kind: ForecastKind
    before: int
    after: int
    offsets: int
    deleted: int
    open: int


@dataclass(frozen=True, slots=True)
class ForecastReading:
    """The forecast of a growth; `topics` is why Spark has not answered, if it was not asked (a limit, no record)."""

    taken: Taken
    asked: tuple[ForecastTopic, ...]
    topics: tuple[TopicForecast, ...] | Missing
