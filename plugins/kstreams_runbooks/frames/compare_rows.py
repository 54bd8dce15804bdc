"""The rows that topics are compared by: the place of each record, and digests of its content.

Spark evaluates expressions alone. A digest has 64 bits (xxHash64): two records that differ have the same one with a
chance of 1 in 1.8e19. It contains a flag for each null and the number of headers: a null is not empty.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kstreams_runbooks.frames.ranges import OffsetRange
from kstreams_runbooks.frames.source import read_ranges
from kstreams_runbooks.model.readings.outputs import CompareMode, IgnoredPart, RecordsRead

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

# The bits of a row's number in its task (`monotonically_increasing_id`).
_ROW_NUMBER: Final = (1 << 33) - 1
# In place of a header's null value; no header has this text.
_NULL: Final = "\x00null 5b0e1a5e-6f0f-4a0e-8d7e-0a3c1f1f9c55\x00"


# The most examples of differences, and the most seconds, unless others are given.
EXAMPLES: Final = 10
MOST_SECONDS: Final = 900.0


@dataclass(frozen=True, slots=True)
class CompareQuestion:
    """What Spark compares: a range of each partition of both topics, empty ones included.

    `masked` are paths whose values no example shows (`compare_examples`), `examples` the most examples. In the modes
    `latest` and `windows` `ignored_paths` are paths of JSON values that are not compared, and `behind` are ranges
    behind the ends of a topic: the keys there are counted, not compared.

    `deleted` are ranges in front of those of `first` and `second` that no longer exist. What equals their records is
    left out of the other topic: mode `record` aligns such a partition at its end. With `keys_by_partition` a key counts
    once in each of its partitions, as in a copy that keeps them.
    """

    first: tuple[OffsetRange, ...]
    second: tuple[OffsetRange, ...]
    mode: CompareMode
    ignored: tuple[IgnoredPart, ...] = ()
    masked: tuple[str, ...] = ()
    examples: int = EXAMPLES
    ignored_paths: tuple[str, ...] = ()
    behind: tuple[OffsetRange, ...] = ()
    deleted: tuple[OffsetRange, ...] = ()
    keys_by_partition: bool = False

    @property
    def ranges(self) -> tuple[OffsetRange, ...]:
        """All ranges."""
        return (*self.first, *self.second)

    @property
    def topic(self) -> str:
        """The name of the first topic."""
        return self.first[0].topic

    @property
    def deleted_offsets(self) -> dict[tuple[bool, int], int]:
        """By whether it is the first topic, and the partition: how many offsets are deleted, if any are."""
        return {(one.topic == self.topic, one.partition): one.offsets for one in self.deleted if one.offsets}


@dataclass(frozen=True, slots=True)
class ComparedSource:
    """The session, the settings of a Java client, and the question: everything that a read needs."""

    session: "SparkSession"
    kafka: Mapping[str, str]
    question: CompareQuestion

    def rows(self, ranges: Sequence[OffsetRange], *, split: bool = True) -> "DataFrame":
        """is_first, partition, offset, key, value, timestamp and (unless ignored) headers of the readable records.

        Without `split` also `place`: the number of a record among those of its range, from 0. One task then reads a
        range in the order of its offsets, and numbers its rows.
        """
        from pyspark.sql import functions as F  # noqa: N812 - the name that every Spark program gives it

        headers = () if "headers" in self.question.ignored else ("headers",)
        filled = [one for one in ranges if one.offsets]
        records = read_ranges(self.session, self.kafka, filled, headers=bool(headers), split=split)
        number = F.monotonically_increasing_id().bitwiseAND(F.lit(_ROW_NUMBER))
        return records.select(
            (F.col("topic") == self.question.topic).alias("is_first"),
            *("partition", "offset", "key", "value", "timestamp", *headers),
            *(() if split else (number.alias("place"),)),
        )

    def content(self) -> list["Column"]:
        """What a digest of a record is made of, without its place."""
        from pyspark.sql import functions as F  # noqa: N812

        parts = [F.isnull("key"), F.col("key"), F.isnull("value"), F.col("value")]
        if "timestamp" not in self.question.ignored:
            parts.append(F.col("timestamp"))
        if "headers" not in self.question.ignored:
            names, values = (F.col("headers")[field] for field in ("key", "value"))
            # A hash skips nulls: the text has the place of each. No lambda: it would end the generated code.
            places = F.array_join(values.cast("array<string>"), ",", _NULL)
            parts += [F.coalesce(F.size("headers"), F.lit(0)), names, values, places]
        return parts


def key_digest() -> "Column":
    """The digest of a record's key; records without a key share one."""
    from pyspark.sql import functions as F  # noqa: N812

    return F.xxhash64(F.isnull("key"), "key")


def value_of(values: Mapping[int, int], number: "Column") -> "Column":
    """The value of a number, null without one; of at least one value."""
    from pyspark.sql import functions as F  # noqa: N812

    pairs = ((F.lit(name), F.lit(value).cast("long")) for name, value in values.items())
    return F.try_element_at(F.create_map(*(part for pair in pairs for part in pair)), number)


def records_read(ranges: Sequence[OffsetRange], counts: Mapping[int, int]) -> tuple[RecordsRead, ...]:
    """The number of records of each partition of a topic; `counts` has those with a record."""
    return tuple(RecordsRead(one.partition, counts.get(one.partition, 0)) for one in ranges)
