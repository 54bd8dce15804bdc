"""Two topics compared partition by partition, record by record, in one read if they are equal.

1. Each partition is cut into blocks of records by their place. One digest a block has the content and the place of each
   record. Blocks with other digests differ, and no other record is looked at again.
2. Of the blocks from the first to the last that differ, the records are counted as a multiset: missing, extra, changed.
3. The first block that differs has the first place at which the topics differ.

If retention has deleted the front of a partition in a topic, a read before that counts the records of both. The other
topic then begins behind its surplus, at most as many records as offsets are deleted: both are aligned at their ends.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kstreams_runbooks.errors import Inconclusive
from kstreams_runbooks.frames.compare_examples import ExampleSpot, Spot
from kstreams_runbooks.frames.compare_rows import ComparedSource, key_digest, records_read, value_of
from kstreams_runbooks.frames.ranges import OffsetRange
from kstreams_runbooks.model.readings.outputs import OutputComparison, SkippedRecords, UnlikeKind, UnlikePartition

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row

# Records in a block, as a power of two: a topic of 20 million records has 5,000.
_BLOCK_BITS: Final = 12
# The kinds of difference that a multiset has.
COUNTED: Final[tuple[UnlikeKind, ...]] = ("missing", "extra", "changed")


@dataclass(frozen=True, slots=True)
class _Block:
    """The records of one topic in a block: their number, digest, and first and last offset."""

    records: int
    digest: int
    first: int
    last: int


# By partition and number of the block: that of the first topic and that of the second, None without a record.
_Blocks = dict[tuple[int, int], list[_Block | None]]


def compare_records(source: ComparedSource) -> tuple[OutputComparison, list[ExampleSpot]]:
    """What differs in which partition, and where an example of each difference is."""
    skipped = _skipped(source)
    blocks = _blocks(source, skipped)
    first, second = (
        records_read(ranges, _totals(blocks, side))
        for side, ranges in enumerate((source.question.first, source.question.second))
    )
    unlike = [place for place, (one, other) in sorted(blocks.items()) if not _same(one, other)]
    if not unlike:
        return OutputComparison(first, second, skipped=skipped), []
    spans: dict[int, tuple[int, int]] = {}
    for partition, number in unlike:
        spans[partition] = (spans.get(partition, (number, 0))[0], number)
    places = _first_places(source, blocks, {one: (low, low) for one, (low, _) in spans.items()})
    if places.keys() != spans.keys():
        raise Inconclusive(
            "records of the ranges changed while they were compared (compaction, or a topic created again); repeat"
        )
    counted = multiset(source, source.rows(_ranges(source, blocks, spans)))
    partitions: list[UnlikePartition] = []
    examples: list[ExampleSpot] = []
    for partition, (place, first_at, second_at) in sorted(places.items()):
        differences = unlike_partition(partition, counted.get(partition), place)
        partitions.append(differences)
        kind: UnlikeKind = next((one for one in COUNTED if getattr(differences, one)), "reordered")
        examples.append(ExampleSpot(kind, partition, place, _spot(partition, first_at), _spot(partition, second_at)))
        examples += examples_of(partition, counted.get(partition))
    return OutputComparison(first, second, tuple(partitions), skipped=skipped), examples


def _skipped(source: ComparedSource) -> tuple[SkippedRecords, ...]:
    """The records that the other topic has deleted, by partition: the surplus at the front, as far as that explains it.

    More than the offsets that are deleted there is a difference.
    """
    deleted = source.question.deleted_offsets
    numbers = {partition for _, partition in deleted}
    ranges = [one for one in source.question.ranges if one.partition in numbers and one.offsets]
    if not ranges:
        return ()
    rows = source.rows(ranges).groupBy("is_first", "partition").count().collect()
    counted = {(row.is_first, row.partition): row["count"] for row in rows}
    found = []
    for number in sorted(numbers):
        first, second = (counted.get((is_first, number), 0) for is_first in (True, False))
        skipped = SkippedRecords(
            number,
            max(0, min(first - second, deleted.get((False, number), 0))),
            max(0, min(second - first, deleted.get((True, number), 0))),
        )
        found += [skipped] if skipped.first or skipped.second else []
    return tuple(found)


def _without(rows: "DataFrame", skipped: tuple[SkippedRecords, ...]) -> "DataFrame":
    """The rows behind the skipped ones, whose places begin at 0 there."""
    from pyspark.sql import functions as F  # noqa: N812 - the name that every Spark program gives it

    if not skipped:
        return rows
    # By partition and side: one map, however many partitions there are.
    fronts = {
        2 * one.partition + side: records for one in skipped for side, records in enumerate((one.first, one.second))
    }
    front = value_of(fronts, F.col("partition") * 2 + (~F.col("is_first")).cast("int"))
    return rows.withColumn("place", F.col("place") - F.coalesce(front, F.lit(0))).where(F.col("place") >= 0)


def _blocks(source: ComparedSource, skipped: tuple[SkippedRecords, ...]) -> _Blocks:
    from pyspark.sql import functions as F  # noqa: N812 - the name that every Spark program gives it

    rows = _without(source.rows(source.question.ranges, split=False), skipped).select(
        *("is_first", "partition", "offset"),
        F.shiftright("place", _BLOCK_BITS).alias("block"),
        # Each place is another one: two equal records of a block do not cancel each other.
        F.xxhash64("place", *source.content()).alias("digest"),
    )
    found: _Blocks = defaultdict(lambda: [None, None])
    for row in (
        rows.groupBy("is_first", "partition", "block")
        .agg(
            F.count(F.lit(1)).alias("records"),
            F.bit_xor("digest").alias("digest"),
            F.min("offset").alias("first"),
            F.max("offset").alias("last"),
        )
        .collect()
    ):
        block = _Block(row.records, row.digest, row["first"], row["last"])
        found[row.partition, row.block][0 if row.is_first else 1] = block
    if any(block is not None and block.records > 1 << _BLOCK_BITS for pair in found.values() for block in pair):
        raise Inconclusive("Spark read a partition in several tasks, which number its records twice; compare by key")
    return found


def _same(one: _Block | None, other: _Block | None) -> bool:
    return one is not None and other is not None and (one.records, one.digest) == (other.records, other.digest)


def _totals(blocks: _Blocks, side: int) -> dict[int, int]:
    totals: Counter[int] = Counter()
    for (partition, _), pair in blocks.items():
        if (block := pair[side]) is not None:
            totals[partition] += block.records
    return totals


def _ranges(source: ComparedSource, blocks: _Blocks, spans: dict[int, tuple[int, int]]) -> list[OffsetRange]:
    """The offsets of the blocks of each partition, the last one included, in both topics."""
    ranges = []
    for side, topic in enumerate((source.question.first[0].topic, source.question.second[0].topic)):
        for partition, (low, high) in spans.items():
            inside = [
                block
                for (other, number), pair in blocks.items()
                if other == partition and low <= number <= high and (block := pair[side]) is not None
            ]
            if inside:
                start, end = min(one.first for one in inside), max(one.last for one in inside)
                ranges.append(OffsetRange(topic, partition, start, end + 1))
    return ranges


def _first_places(
    source: ComparedSource, blocks: _Blocks, spans: dict[int, tuple[int, int]]
) -> dict[int, tuple[int, int | None, int | None]]:
    """By partition the first place that differs, and the offset of it in both topics, None without a record."""
    from pyspark.sql import functions as F  # noqa: N812

    digest, offset = F.xxhash64(*source.content()), F.col("offset")
    sides = (F.col("is_first"), ~F.col("is_first"))
    found = (
        source.rows(_ranges(source, blocks, spans), split=False)
        .groupBy("partition", "place")
        .agg(
            *(F.max(F.when(side, digest)).alias(f"digest_{number}") for number, side in enumerate(sides)),
            *(F.max(F.when(side, offset)).alias(f"offset_{number}") for number, side in enumerate(sides)),
        )
        .where(~F.col("digest_0").eqNullSafe(F.col("digest_1")))
        .groupBy("partition")
        .agg(F.min(F.struct("place", "offset_0", "offset_1")).alias("least"))
        .collect()
    )
    return {
        row.partition: (
            (spans[row.partition][0] << _BLOCK_BITS) + row.least.place,
            row.least.offset_0,
            row.least.offset_1,
        )
        for row in found
    }


def multiset(source: ComparedSource, rows: "DataFrame") -> dict[int, "Row"]:
    """By partition the records that one topic alone has, in any order; a partition without any is left out.

    A missing and an extra record of one key are a changed one.
    """
    from pyspark.sql import functions as F  # noqa: N812

    is_first, balance = F.col("is_first"), F.col("balance")
    # Of each content how many more the first topic has.
    contents = (
        rows.select(
            *("is_first", "partition", "offset"), key_digest().alias("k"), F.xxhash64(*source.content()).alias("d")
        )
        .groupBy("partition", "k", "d")
        .agg(
            F.sum(F.when(is_first, 1).otherwise(-1)).alias("balance"),
            F.max(F.when(is_first, F.col("offset"))).alias("offset_0"),
            F.max(F.when(~is_first, F.col("offset"))).alias("offset_1"),
        )
        .where(balance != 0)
    )
    keys = contents.groupBy("partition", "k").agg(
        F.sum(F.greatest(balance, F.lit(0))).alias("first"),
        F.sum(F.greatest(-balance, F.lit(0))).alias("second"),
        F.min(F.when(balance > 0, F.col("offset_0"))).alias("offset_0"),
        F.min(F.when(balance < 0, F.col("offset_1"))).alias("offset_1"),
    )
    changed = F.least("first", "second")
    numbers = {"missing": F.col("first") - changed, "extra": F.col("second") - changed, "changed": changed}
    found = (
        keys.groupBy("partition")
        .agg(
            *(F.sum(number).alias(name) for name, number in numbers.items()),
            *(
                F.min(F.when(number > 0, F.struct("offset_0", "offset_1"))).alias(f"{name}_at")
                for name, number in numbers.items()
            ),
        )
        .collect()
    )
    return {row.partition: row for row in found}


def unlike_partition(partition: int, counted: "Row | None", place: int | None) -> UnlikePartition:
    """The counts of `multiset` for a partition whose first difference is at `place`."""
    if counted is None:
        return UnlikePartition(partition, 0, 0, 0, place)
    return UnlikePartition(partition, counted.missing, counted.extra, counted.changed, place)


def examples_of(partition: int, counted: "Row | None") -> Iterator[ExampleSpot]:
    """A record of each kind of difference in a partition."""
    for kind in COUNTED:
        if counted is not None and (at := counted[f"{kind}_at"]) is not None:
            first = None if kind == "extra" else _spot(partition, at.offset_0)
            second = None if kind == "missing" else _spot(partition, at.offset_1)
            yield ExampleSpot(kind, partition, None, first, second)


def _spot(partition: int, offset: int | None) -> Spot | None:
    return None if offset is None else (partition, offset)
