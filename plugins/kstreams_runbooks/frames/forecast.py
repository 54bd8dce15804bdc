"""What a growth of partitions does to keys: those that move, and the load of each partition before and after it.

Spark evaluates expressions alone: a cluster needs no Python for it. Records become one row a key, and only these rows
are hashed. Sums, the keys with the most records or bytes, and a few examples leave Spark: a topic may have any number
of keys.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, Final

from kstreams_runbooks.frames.murmur2 import key_hash
from kstreams_runbooks.frames.partitioning import shown
from kstreams_runbooks.frames.ranges import OffsetRange
from kstreams_runbooks.frames.source import read_ranges
from kstreams_runbooks.model.readings.growth import (
    ForecastCase,
    ForecastKind,
    HotKey,
    KeyShare,
    PartitionLoad,
    TopicForecast,
)
from kstreams_runbooks.model.readings.partitioning import KEY_SUFFIX, PlacedKey

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

# Keys that are shown with their records and bytes.
MOST_KEYS: Final = 20
_EXAMPLES: Final = 3
# Bytes of a key that an example has.
_SHOWN: Final = 64
_CASES: Final[tuple[ForecastCase, ...]] = ("moved", "several", "misplaced")
KINDS: Final[tuple[ForecastKind, ...]] = ("input", *KEY_SUFFIX)


@dataclass(frozen=True, slots=True)
class ForecastQuestion:
    """One topic: a range of each of its partitions, empty ones included, and the number of them after the growth."""

    kind: ForecastKind
    after: int
    ranges: tuple[OffsetRange, ...]

    @property
    def topic(self) -> str:
        """Its name."""
        return self.ranges[0].topic

    @property
    def before(self) -> int:
        """The number of its partitions today."""
        return len(self.ranges)

    @property
    def filled(self) -> tuple[OffsetRange, ...]:
        """The ranges with an offset."""
        return tuple(one for one in self.ranges if one.offsets)


def forecast(
    session: "SparkSession", kafka: Mapping[str, str], questions: Sequence[ForecastQuestion]
) -> tuple[TopicForecast, ...]:
    """The forecast of each topic; `kafka` are the settings of a Java client. One of the topics has a range to read.

    Records that expire while they are read end in an error, never in fewer keys; but Kafka Streams deletes records of a
    repartition topic all the time, so what is gone of one is left out.
    """
    rows = [
        _rows(read_ranges(session, kafka, one.filled, gaps=one.kind == "repartition"), number, one.kind)
        for number, one in enumerate(questions)
        if one.filled
    ]
    counted = cells(reduce(lambda first, second: first.union(second), rows), questions).collect()
    return tuple(
        topic_forecast(one, [row for row in counted if row.topic_number == number])
        for number, one in enumerate(questions)
    )


def _rows(records: "DataFrame", number: int, kind: ForecastKind) -> "DataFrame":
    """A row a record, or a live row of a changelog: its key, partition and bytes.

    `is_short`: a row of a changelog without a whole key of its kind; its key is null.
    """
    from pyspark.sql import functions as F  # noqa: N812 - the name that every Spark program gives it

    size = F.coalesce(F.octet_length("key"), F.lit(0)) + F.coalesce(F.octet_length("value"), F.lit(0))
    rows = records.select("key", "partition", "offset", size.alias("bytes"), F.isnotnull("value").alias("is_live"))
    suffix = 0 if kind == "input" else KEY_SUFFIX[kind]
    is_state = kind not in {"input", "repartition"}
    if kind == "versioned":
        # It keeps values from before a deletion.
        rows = rows.where("is_live")
    elif is_state:
        last = F.max_by(F.struct("bytes", "is_live"), "offset").alias("last")
        rows = rows.groupBy("key", "partition").agg(last).where("last.is_live").withColumn("bytes", F.col("last.bytes"))
    is_whole = F.coalesce(F.octet_length("key") >= suffix, F.lit(False)) if is_state else F.lit(True)
    key = F.substring("key", F.lit(1), F.octet_length("key") - suffix) if suffix else F.col("key")
    return rows.select(
        F.lit(number).alias("topic_number"),
        F.when(is_whole, key).alias("key"),
        "partition",
        F.col("bytes").cast("long").alias("bytes"),
        (~is_whole).alias("is_short"),
    )


def cells(rows: "DataFrame", questions: Sequence[ForecastQuestion]) -> "DataFrame":
    """A few rows that `topic_forecast` adds up: keys by their partition before and after, and by what is true of them.

    Each key is in one row of `is_after` and in one of the others.
    """
    from pyspark.sql import functions as F  # noqa: N812

    def count(numbers: Sequence[int]) -> Any:
        return F.array(*map(F.lit, numbers))[F.col("topic_number")]

    # Records without a key have only their partition.
    lone = F.when(F.isnull("key"), F.col("partition")).alias("lone")
    keys = (
        rows.groupBy("topic_number", "key", lone, "is_short")
        .agg(
            F.min("partition").alias("first"),
            F.max("partition").alias("last"),
            F.count(F.lit(1)).alias("records"),
            F.sum("bytes").alias("bytes"),
        )
        .withColumn("hash", key_hash(F.col("key")))
        .withColumn("home", (F.col("hash") % count([one.before for one in questions])).cast("int"))
        .withColumn("moves_to", (F.col("hash") % count([one.after for one in questions])).cast("int"))
        # A record without a key keeps the number of its partition.
        .withColumn("next", F.coalesce("moves_to", "first"))
    )
    no_key, first, last, home = F.isnull("key"), F.col("first"), F.col("last"), F.col("home")
    shown_key = F.substring("key", 1, _SHOWN).alias("key")
    hot = F.struct(shown_key, "records", "bytes", "first", "next")
    sides = F.array(
        F.struct(F.lit(False).alias("is_after"), first.alias("number")),
        F.struct(F.lit(True).alias("is_after"), F.col("next").alias("number")),
    )
    is_hot = F.col("side.is_after") & ~F.col("no_key")
    return (
        keys.select(
            *("topic_number", "is_short", "first", "last", "next", "records", "bytes", "key"),
            no_key.alias("no_key"),
            (F.col("next") != first).alias("moved"),
            (first < last).alias("several"),
            F.coalesce((first != home) | (last != home), F.lit(False)).alias("misplaced"),
            F.explode(sides).alias("side"),
        )
        .groupBy(
            *("topic_number", "no_key", "is_short", "moved", "several", "misplaced"),
            F.col("side.is_after").alias("is_after"),
            F.col("side.number").alias("number"),
        )
        .agg(
            F.count(F.lit(1)).alias("keys"),
            F.sum("records").alias("records"),
            F.sum("bytes").alias("bytes"),
            # A null order is left out.
            F.max_by(hot, F.when(is_hot, F.struct("records", "key")), MOST_KEYS).alias("most_records"),
            F.max_by(hot, F.when(is_hot, F.struct("bytes", "key")), MOST_KEYS).alias("most_bytes"),
            F.min(F.struct(shown_key, "first", "last")).alias("example"),
        )
    )


def topic_forecast(question: ForecastQuestion, rows: Sequence["Row"]) -> TopicForecast:
    """The sums of the rows of `cells` of one topic."""
    shares: defaultdict[str, KeyShare] = defaultdict(KeyShare)
    counts: defaultdict[str, int] = defaultdict(int)
    loads: defaultdict[tuple[bool, int], KeyShare] = defaultdict(KeyShare)
    examples: defaultdict[ForecastCase, set[PlacedKey]] = defaultdict(set)
    for row in rows:
        if row.is_short:
            counts["short"] += 0 if row.is_after else row.records
            continue
        keys = 0 if row.no_key else row["keys"]
        loads[row.is_after, row.number] = _sum(loads[row.is_after, row.number], row, keys)
        if row.is_after:
            continue
        name = "null_keys" if row.no_key else "moved" if row.moved else "kept"
        shares[name] = _sum(shares[name], row, keys)
        for case in () if row.no_key else _CASES:
            if row[case]:
                counts[case] += keys
                examples[case].add(_placed(row.example))
    return TopicForecast(
        topic=question.topic,
        kind=question.kind,
        before=question.before,
        after=question.after,
        kept=shares["kept"],
        moved=shares["moved"],
        null_keys=shares["null_keys"],
        several=counts["several"],
        misplaced=counts["misplaced"],
        short=counts["short"],
        loads_before=_loads(loads, is_after=False),
        loads_after=_loads(loads, is_after=True),
        most_records=_most(rows, "records"),
        most_bytes=_most(rows, "bytes"),
        examples={
            case: tuple(sorted(placed, key=lambda one: one.key)[:_EXAMPLES])
            for case, placed in sorted(examples.items())
        },
    )


def _sum(share: KeyShare, row: "Row", keys: int) -> KeyShare:
    return KeyShare(share.keys + keys, share.records + row.records, share.bytes + row.bytes)


def _loads(loads: Mapping[tuple[bool, int], KeyShare], *, is_after: bool) -> tuple[PartitionLoad, ...]:
    return tuple(PartitionLoad(number, share) for (after, number), share in sorted(loads.items()) if after is is_after)


def _most(rows: Sequence["Row"], by: str) -> tuple[HotKey, ...]:
    found = sorted(_hot(rows, f"most_{by}"), key=lambda one: (-one[by], bytes(one.key)))
    return tuple(
        HotKey(shown(bytes(one.key)), one.records, one.bytes, one["first"], one.next) for one in found[:MOST_KEYS]
    )


def _hot(rows: Sequence["Row"], name: str) -> Iterator[Any]:
    for row in rows:
        if row.is_after and not row.no_key:
            yield from (one for one in row[name] or () if one is not None)


def _placed(example: Any) -> PlacedKey:
    return PlacedKey(shown(bytes(example.key)), tuple(sorted({example["first"], example["last"]})), ())
