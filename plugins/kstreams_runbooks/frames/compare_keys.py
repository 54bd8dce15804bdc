"""Two topics compared by their keys: the records of each key in their order.

A key is found in any partition of either topic. Its records have an order in one partition alone: a key in several
partitions of a topic is `split`. Records without a key are compared as a multiset, by the number of their partition.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from kstreams_runbooks.frames.compare_examples import ExampleSpot, Spot
from kstreams_runbooks.frames.compare_records import examples_of, multiset, unlike_partition
from kstreams_runbooks.frames.compare_rows import ComparedSource, key_digest, records_read
from kstreams_runbooks.frames.ranges import OffsetRange
from kstreams_runbooks.model.readings.outputs import OutputComparison, UnlikeKeys, UnlikeKind, UnlikePartition

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, Row

_LOW: Final = 0xFFFFFFFF
UNLIKE: Final[tuple[UnlikeKind, ...]] = ("missing", "extra", "changed", "reordered", "repeated")
_LEAST: Final = ("oldest_", "at_")
# Keys that are shown as examples of one kind of difference; which ones is left to chance.
_SAMPLED: Final = 3


def compare_by_key(source: ComparedSource) -> tuple[OutputComparison, list[ExampleSpot]]:
    """Whether each key has the same records in the same order."""
    rows = summary(_ordered(_numbered(source)))
    numbers = sorted({_partition(row) for row in rows if row.no_key and row.kind in UNLIKE})
    without_key, examples = _without_key(source, numbers)
    unlike = [(row.kind, row.example) for row in rows if row.kind in UNLIKE and not row.no_key]
    return comparison(source, rows, without_key), [*_first_unlike(source, unlike), *examples]


def keyed(source: ComparedSource, ranges: Sequence[OffsetRange], *, values: bool = False) -> "DataFrame":
    """The rows of both topics: digest `k` of the key (of the partition, without one), `d` of the record.

    With `keys_by_partition` the digest of a key contains the partition too.

    `at_ms` is its timestamp; with `values` also `value`.
    """
    from pyspark.sql import functions as F  # noqa: N812 - the name that every Spark program gives it

    no_key = F.isnull("key")
    of_key = F.xxhash64(F.isnull("key"), "key", "partition") if source.question.keys_by_partition else key_digest()
    return source.rows(ranges).select(
        *("is_first", "partition", "offset"),
        no_key.alias("no_key"),
        F.when(no_key, F.xxhash64(F.lit(True), "partition")).otherwise(of_key).alias("k"),
        F.xxhash64(*source.content()).alias("d"),
        F.isnull("value").alias("deleted"),
        F.unix_millis("timestamp").alias("at_ms"),
        *(("value",) if values else ()),
    )


def _numbered(source: ComparedSource, only: Sequence[int] = ()) -> "DataFrame":
    """The rows with the number of each record among those of its key and topic, from 1; of the keys `only`, if given.

    Records without a key are numbered by their content: equal multisets then have equal rows.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812

    rows = keyed(source, source.question.ranges)
    if only:
        rows = rows.where(F.col("k").isin(list(only)))
    order = (F.when(F.col("no_key"), F.col("d")), F.col("partition"), F.col("offset"))
    # The topics share a key's shuffle: one exchange serves the window and the aggregation after it.
    shuffled = rows.repartition("k")
    return shuffled.withColumn("place", F.row_number().over(Window.partitionBy("k", "is_first").orderBy(*order)))


def _ordered(numbered: "DataFrame") -> "DataFrame":
    """A row a key (a partition, of records without one) with what `_kinds` and `_comparison` need."""
    from pyspark.sql import functions as F  # noqa: N812

    is_first, digest = F.col("is_first"), F.col("d")
    signed: Callable[[Column], Column] = lambda part: F.when(is_first, part).otherwise(-part)  # noqa: E731
    low = digest.bitwiseAND(F.lit(_LOW))
    high = F.shiftrightunsigned(digest, 32)
    return (
        numbered.groupBy("k", "no_key")
        .agg(
            *of_both(lambda side: F.bit_xor(F.when(side, F.xxhash64("place", "d"))), "chain"),
            *places(F.lit(True)),
            F.sum(signed(low)).alias("low"),
            F.sum(signed(high)).alias("high"),
        )
        .withColumn("alike", (F.col("low") == 0) & (F.col("high") == 0) & (F.col("count_0") == F.col("count_1")))
        .withColumn("equal", F.col("alike") & F.col("chain_0").eqNullSafe(F.col("chain_1")))
        .withColumn("present_0", F.col("count_0") > 0)
        .withColumn("present_1", F.col("count_1") > 0)
        .withColumn("undecided", several() & F.col("alike"))
        .withColumn("repeated", F.lit(False))
    )


def of_both(make: "Callable[[Column], Column]", name: str) -> list["Column"]:
    """A column of each topic, `name_0` and `name_1`, from the condition that a row is of it."""
    from pyspark.sql import functions as F  # noqa: N812

    is_first = F.col("is_first")
    return [make(side).alias(f"{name}_{number}") for number, side in enumerate((is_first, ~is_first))]


def places(counts: "Column", *, newest: bool = False) -> list["Column"]:
    """Of both topics: the records of a key, its first and last partition, and the offset of an example.

    Only of the rows that `counts`.
    """
    from pyspark.sql import functions as F  # noqa: N812

    pick = F.max if newest else F.min
    return [
        *of_both(lambda side: F.count_if(side & counts), "count"),
        *of_both(lambda side: F.min(F.when(side & counts, F.col("partition"))), "from"),
        *of_both(lambda side: F.max(F.when(side & counts, F.col("partition"))), "to"),
        *of_both(lambda side: pick(F.when(side & counts, F.col("offset"))), "at"),
    ]


def several() -> "Column":
    """Whether a key is in several partitions of a topic."""
    from pyspark.sql import functions as F  # noqa: N812

    sides = (F.coalesce(F.col(f"from_{side}") < F.col(f"to_{side}"), F.lit(False)) for side in (0, 1))
    return ~F.col("no_key") & (next(sides) | next(sides))


def of_kind(keys: "DataFrame") -> "DataFrame":
    """The keys with their kind: equal, absent (deleted in both topics), split, or how they differ."""
    from pyspark.sql import functions as F  # noqa: N812

    first, second = F.col("present_0"), F.col("present_1")
    kind = (
        F.when(F.col("undecided"), "split")
        .when(F.col("repeated"), "repeated")
        .when(~first & ~second, "absent")
        .when(first & ~second, "missing")
        .when(~first & second, "extra")
        .when(F.col("equal"), "equal")
        .when(F.col("alike"), "reordered")
        .otherwise("changed")
    )
    return keys.withColumn("kind", kind)


def summary(keys: "DataFrame", behind: Sequence[str] = ()) -> list["Row"]:
    """A few rows: keys by kind and by their partitions, with an example of each kind that differs.

    `behind` are columns to add up, or to take the least of (`oldest_…`, `at_…`).
    """
    from pyspark.sql import functions as F  # noqa: N812

    sample = F.when(F.col("kind").isin(list(UNLIKE)), F.pmod("k", F.lit(_SAMPLED))).otherwise(0)
    return (
        of_kind(keys)
        .groupBy("kind", "no_key", "from_0", "from_1", sample.alias("sample"))
        .agg(
            F.count(F.lit(1)).alias("keys"),
            *(F.sum(name).alias(name) for name in ("count_0", "count_1")),
            *((F.min if name.startswith(_LEAST) else F.sum)(name).alias(name) for name in behind),
            F.min(F.struct("k", "from_0", "at_0", "from_1", "at_1")).alias("example"),
        )
        .collect()
    )


def comparison(
    source: ComparedSource, rows: Sequence["Row"], without_key: tuple[UnlikePartition, ...] = ()
) -> OutputComparison:
    """The sums of a summary. The records of a split key count in the first of its partitions."""
    read: tuple[Counter[int], Counter[int]] = (Counter(), Counter())
    kinds: Counter[str] = Counter()
    null_keys = 0
    for row in rows:
        for side, totals in enumerate(read):
            if (partition := row[f"from_{side}"]) is not None:
                totals[partition] += row[f"count_{side}"]
        if row.no_key:
            null_keys += row.count_0 + row.count_1
        elif row.kind != "absent":
            kinds[row.kind] += row["keys"]
    first, second = (
        records_read(ranges, totals)
        for ranges, totals in zip((source.question.first, source.question.second), read, strict=True)
    )
    return OutputComparison(first, second, without_key, UnlikeKeys(**kinds, null_keys=null_keys))


def _partition(row: "Row") -> int:
    """The partition of records without a key."""
    number: int = row.from_1 if row.from_0 is None else row.from_0
    return number


def _without_key(
    source: ComparedSource, numbers: Sequence[int]
) -> tuple[tuple[UnlikePartition, ...], list[ExampleSpot]]:
    """The differences among the records without a key of these partitions."""
    from pyspark.sql import functions as F  # noqa: N812

    if not numbers:
        return (), []
    ranges = [one for one in source.question.ranges if one.partition in numbers]
    counted = multiset(source, source.rows(ranges).where(F.isnull("key")))
    return (
        tuple(unlike_partition(number, counted.get(number), None) for number in numbers),
        [one for number in numbers for one in examples_of(number, counted.get(number))],
    )


def _first_unlike(source: ComparedSource, keyed: Sequence[tuple[UnlikeKind, Any]]) -> list[ExampleSpot]:
    """Of these keys the first record that differs, by its place among those of its key, from 0."""
    from pyspark.sql import functions as F  # noqa: N812

    if not keyed:
        return []
    keyed = keyed[: source.question.examples]
    found = (
        _numbered(source, [example.k for _, example in keyed])
        .groupBy("k", "place")
        .agg(
            *of_both(lambda side: F.max(F.when(side, F.col("d"))), "d"),
            *of_both(lambda side: F.max(F.when(side, F.col("partition"))), "from"),
            *of_both(lambda side: F.max(F.when(side, F.col("offset"))), "at"),
        )
        .where(~F.col("d_0").eqNullSafe(F.col("d_1")))
        .groupBy("k")
        .agg(F.min(F.struct("place", "from_0", "at_0", "from_1", "at_1")).alias("least"))
        .collect()
    )
    kinds: dict[int, UnlikeKind] = {example.k: kind for kind, example in keyed}
    return [
        ExampleSpot(kinds[row.k], None, row.least.place - 1, _spot(row.least, 0), _spot(row.least, 1))
        for row in sorted(found, key=lambda row: list(kinds).index(row.k))
    ]


def _spot(example: Any, side: int) -> Spot | None:
    partition, offset = example[f"from_{side}"], example[f"at_{side}"]
    return None if offset is None else (partition, offset)
