"""The partitions of each key of an input, next to those of its state.

Spark evaluates expressions alone. Only counts and a few examples leave it: a topic may have any number of keys.
"""

import codecs
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from kstreams_runbooks.frames.murmur2 import default_partition
from kstreams_runbooks.frames.ranges import OffsetRange
from kstreams_runbooks.frames.source import read_ranges
from kstreams_runbooks.model.readings.partitioning import KEY_SUFFIX, KeyCase, KeyCounts, PlacedKey, StateKind

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, Row, SparkSession

# One task per so many offsets keeps its keys in memory; each task more costs a file per task before it.
_OFFSETS_PER_TASK: Final = 500_000
_FEWEST_TASKS, _MOST_TASKS = 8, 2_000

_EXAMPLES = 3
# Bytes of a key that an example has.
_SHOWN = 64


def compared(
    session: "SparkSession",
    kafka: Mapping[str, str],
    given: Sequence[OffsetRange],
    state: Sequence[OffsetRange],
    kind: StateKind,
) -> KeyCounts:
    """The partitions of keys in the input's ranges `given` and in those of the `state`; one range per partition each.

    Both have a range that is not empty. Records that expire while they are read end in an error, never in fewer keys.
    """
    records = read_ranges(session, kafka, [one for one in given if one.offsets])
    changes = read_ranges(session, kafka, [one for one in state if one.offsets])
    return as_counts(counted(placed(records, changes, kind), len(given)).collect())


def tasks_for(ranges: Iterable[OffsetRange]) -> int:
    """How many tasks compare the keys of these ranges."""
    return min(max(_FEWEST_TASKS, sum(one.offsets for one in ranges) // _OFFSETS_PER_TASK), _MOST_TASKS)


def placed(records: "DataFrame", changes: "DataFrame", kind: StateKind) -> "DataFrame":
    """A row per key: first and last partition of the input and of the state, null where it is in none, and records.

    Both have the columns of Spark's Kafka source. A key whose newest change in a partition is null has no state there:
    it was deleted. A versioned store keeps values from before a deletion, and a repartition topic no state. The row of
    the null key counts records without a key, and changes whose key is too short for `kind`.
    """
    from pyspark.sql import functions as F  # noqa: N812 - the name that every Spark program gives it

    nowhere = F.lit(None).cast("int")
    read = records.select("key", F.col("partition").alias("read"), nowhere.alias("kept"), nowhere.alias("deleted"))
    alive: Column = F.max_by(F.isnotnull("value"), "offset")
    if kind == "versioned":
        alive = F.max(F.isnotnull("value"))
    elif kind == "repartition":
        # A left join repartitions records without a key too (KIP-962).
        changes = changes.where(F.isnotnull("key"))
        alive = F.max(F.lit(True))
    suffix = KEY_SUFFIX[kind]
    long_enough = F.octet_length("key") >= suffix
    kept = (
        changes.groupBy("key", "partition")
        .agg(alive.alias("alive"))
        .select(
            F.when(long_enough, F.substring("key", F.lit(1), F.octet_length("key") - suffix)).alias("key"),
            nowhere.alias("read"),
            F.when(F.col("alive"), F.col("partition")).alias("kept"),
            F.when(~F.col("alive"), F.col("partition")).alias("deleted"),
        )
    )
    return (
        read.union(kept)
        .groupBy("key")
        .agg(
            F.min("read").alias("read"),
            F.max("read").alias("read_last"),
            F.count("read").alias("records"),
            F.min("kept").alias("kept"),
            F.max("kept").alias("kept_last"),
            F.count("deleted").alias("deleted"),
            (F.count("kept") + F.count("deleted")).alias("changes"),
        )
    )


def counted(keys: "DataFrame", partitions: int) -> "DataFrame":
    """A few rows that `as_counts` adds up: keys by where they are, each with an example; `partitions` of the input."""
    from pyspark.sql import functions as F  # noqa: N812

    read, last, kept, kept_last = (F.col(name) for name in ("read", "read_last", "kept", "kept_last"))
    default = F.col("default")
    example = F.struct(F.substring("key", 1, _SHOWN).alias("key"), "read", "read_last", "kept", "kept_last")
    return (
        keys.withColumn("default", default_partition(F.col("key"), partitions))
        .groupBy(
            F.isnull("key").alias("no_key"),
            F.isnotnull(read).alias("in_input"),
            F.isnotnull(kept).alias("in_state"),
            (F.col("deleted") > 0).alias("was_deleted"),
            F.coalesce(read < last, F.lit(False)).alias("several"),
            F.coalesce((read == kept) & (last == kept_last) & (read == last), F.lit(False)).alias("same"),
            F.coalesce((read != default) | (last != default), F.lit(False)).alias("read_elsewhere"),
            F.coalesce((kept != default) | (kept_last != default), F.lit(False)).alias("kept_elsewhere"),
            # A few groups of keys, by chance: an example of each.
            F.pmod(F.xxhash64("key"), F.lit(_EXAMPLES)).alias("sort"),
        )
        .agg(
            F.count(F.lit(1)).alias("keys"),
            F.sum("records").alias("records"),
            F.sum("changes").alias("changes"),
            F.min(example).alias("example"),
        )
    )


def as_counts(rows: Sequence["Row"]) -> KeyCounts:
    """The sums of the rows of `counted`."""
    found: defaultdict[str, int] = defaultdict(int)
    examples: dict[KeyCase, list[PlacedKey]] = {}
    for row in rows:
        if row.no_key:
            found["null_keys"] += row.records
            found["short_keys"] += row.changes
            continue
        for name, case in _cases(row):
            found[name] += row["keys"]
            if case is not None:
                examples.setdefault(case, []).append(_example(row.example))
    return KeyCounts(
        **found,
        examples={
            case: tuple(sorted(each, key=lambda one: one.key)[:_EXAMPLES]) for case, each in sorted(examples.items())
        },
    )


def _cases(row: "Row") -> list[tuple[str, KeyCase | None]]:
    """What a row's keys count as, and the case that they are an example of."""
    cases: list[tuple[str, KeyCase | None]] = []
    if row.in_input and row.in_state:
        cases.append(("same", None) if row.same else ("elsewhere", "elsewhere"))
    elif row.in_input:
        cases.append(("new", None))
        if row.read_elsewhere:
            cases.append(("new_elsewhere", "new_elsewhere"))
    elif row.in_state:
        cases.append(("absent", "absent"))
        if row.kept_elsewhere:
            cases.append(("absent_elsewhere", None))
    if row.was_deleted and not row.in_state:
        cases.append(("deleted", None))
    if row.several:
        cases.append(("several", "several"))
    if row.kept_elsewhere:
        cases.append(("other_state", None))
    return cases


def _example(found: Any) -> PlacedKey:
    return PlacedKey(
        shown(bytes(found.key)), _partitions(found["read"], found.read_last), _partitions(found.kept, found.kept_last)
    )


def _partitions(first: int | None, last: int | None) -> tuple[int, ...]:
    return () if first is None or last is None else tuple(sorted({first, last}))


def shown(key: bytes) -> str:
    """The beginning of a key as text if it can be printed, else in hexadecimal digits."""
    try:
        # A character that the cut goes through is left out.
        text = codecs.getincrementaldecoder("utf-8")().decode(key)
    except UnicodeDecodeError:
        text = ""
    return text if text and text.isprintable() else f"0x{key.hex()}"
