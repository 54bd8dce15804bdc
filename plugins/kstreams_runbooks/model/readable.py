"""What of a range of offsets can be read: offsets are no records, markers and aborted records have offsets too."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

# Offsets that a consumer counts in a moment; more are worth asking Spark.
MOST_AT_ONCE: Final = 10_000

# Who processes each record once reads what was committed; whoever else, what was aborted too. Nobody gets a marker.
Isolation = Literal["read_committed", "read_uncommitted"]

# How records were counted: not at all (nothing to read), by a consumer at once, or by Spark.
CountedBy = Literal["nothing", "consumer", "spark"]


@dataclass(frozen=True, slots=True)
class Readable:
    """Records that can be read, their bytes (keys and values), and the oldest timestamp (Unix ms, None: none).

    `at_least`: a part of the range was read, because it has more offsets than are ever scanned.
    """

    records: int = 0
    bytes: int = 0
    oldest_ms: int | None = None
    at_least: bool = False


@dataclass(frozen=True, slots=True)
class Counted:
    """What can be read by topic and partition, and by whom it was counted.

    `remarks` are sentences for the person who waits: why not by Spark, and how long it takes instead.
    """

    readable: Mapping[tuple[str, int], Readable]
    by: CountedBy
    remarks: tuple[str, ...] = ()

    @property
    def records(self) -> int:
        """Over all partitions; at least so many where one of them is `at_least`."""
        return sum(one.records for one in self.readable.values())

    @property
    def at_least(self) -> bool:
        """Whether only a part was read, of one partition or of more."""
        return any(one.at_least for one in self.readable.values())
