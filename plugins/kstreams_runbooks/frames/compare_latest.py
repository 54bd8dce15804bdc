"""Two topics compared by the last value of each key, and how often each has a window.

1. One read has digests alone: the kind of each key, and what is behind the ends. If all keys are equal, that is all.
2. A second read has the last values of the keys that differ: the fields that differ without ignored paths, their
   numbers, and examples.
3. If retention has deleted the front of a partition, one more read counts the keys that this explains.

Compaction removes all records of a key that are older than a newer one, and never the newest. So a newer record behind
the ends explains a key that one topic alone has below them. It explains another value below them only if compaction
ran between two reads. A copy has the order of its source: a key whose last record comes after one that both topics
still have was not deleted from the front.

Source: Apache Kafka documentation, "Log Compaction".
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Final

from kstreams_runbooks.frames.compare_examples import ExampleSpot
from kstreams_runbooks.frames.compare_fields import unlike_fields
from kstreams_runbooks.frames.compare_keys import UNLIKE, comparison, keyed, of_both, of_kind, places, several, summary
from kstreams_runbooks.frames.compare_rows import ComparedSource, value_of
from kstreams_runbooks.model.readings.outputs import (
    BehindEnds,
    ExplainedKeys,
    FieldChanges,
    OutputComparison,
    UnlikeKeys,
    UnlikeKind,
)

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, Row

# Above any offset.
_LAST_OFFSET: Final = (1 << 63) - 1
# The most fields that are counted, the most frequent first.
_MOST_FIELDS: Final = 50
_BEHIND: Final = ("only_0", "only_1", "oldest_0", "oldest_1", "superseded", "copied", "changed")
_FIRST_PLACES: Final = ("at_0", "at_1")
# Keys whose value one topic alone has, and whether the first topic is the one that lacks it.
_ALONE: Final[tuple[tuple[UnlikeKind, bool], ...]] = (("missing", False), ("extra", True))


def compare_latest(source: ComparedSource) -> tuple[OutputComparison, list[ExampleSpot]]:
    """Whether each key has the same last value; a tombstone is an absent key.

    In mode `windows` a key with more than one record in a topic is `repeated`.
    """
    has_behind = any(one.offsets for one in source.question.behind)
    rows = summary(_latest(source), (*_FIRST_PLACES, *(_BEHIND if has_behind else ())))
    behind = _behind(rows) if has_behind else None
    newer, (deleted, copied) = _newer(rows) if has_behind else ExplainedKeys(), _deleted(source, rows)
    explained = replace(newer, deleted=deleted, copied=newer.copied - copied)
    found = replace(comparison(source, rows), behind=behind, explained=explained)
    keys = found.keys or UnlikeKeys()
    if not keys.unlike:
        return found, []
    equal, fields, spots = _details(source)
    # Of these only ignored paths differ.
    keys = replace(keys, changed=keys.changed - equal, equal=keys.equal + equal)
    return replace(found, keys=keys, fields=fields), spots


def _latest(source: ComparedSource, *, values: bool = False) -> "DataFrame":
    """A row a key (a partition, of records without one) with the last value of each topic below the ends.

    With `values` also `newest_0` and `newest_1`: the partition, the offset and the value of its last records.
    """
    from pyspark.sql import functions as F  # noqa: N812 - the name that every Spark program gives it

    offset, alive = F.col("offset"), F.when(~F.col("deleted"), F.col("d"))
    newest = F.struct("partition", "offset", "value") if values else None
    windows = source.question.mode == "windows"
    repeated = (F.col("count_0") > 1) | (F.col("count_1") > 1)
    behind = () if values else tuple(one for one in source.question.behind if one.offsets)
    rows = keyed(source, source.question.ranges, values=values).withColumn("behind", F.lit(False))
    if behind:
        rows = rows.unionByName(keyed(source, behind).withColumn("behind", F.lit(True)))
    below = ~F.col("behind")
    wanted = places(below, newest=True)
    wanted += of_both(lambda side: F.max_by(alive, F.when(side & below, offset)), "last")
    if newest is not None:
        wanted += of_both(lambda side: F.max_by(newest, F.when(side & below, offset)), "newest")
    if behind:
        wanted += of_both(lambda side: F.count_if(side & ~below), "later")
        wanted += of_both(lambda side: F.min(F.when(side & ~below, F.col("at_ms"))), "oldest")
    found = (
        rows.groupBy("k", "no_key")
        .agg(*wanted)
        .withColumn("present_0", F.isnotnull("last_0"))
        .withColumn("present_1", F.isnotnull("last_1"))
        .withColumn("equal", F.col("last_0") == F.col("last_1"))
        .withColumn("alike", F.lit(False))
        .withColumn("undecided", several())
        .withColumn("repeated", ~F.col("no_key") & repeated if windows else F.lit(False))
    )
    for side in (0, 1) if behind else ():
        only = (F.col(f"later_{side}") > 0) & (F.col(f"count_{side}") == 0)
        found = found.withColumn(f"only_{side}", only.cast("int"))
    if behind:
        in_first, in_second = F.col("later_0") > 0, F.col("later_1") > 0
        explained = {
            "superseded": _is_alone() & in_first,
            "copied": _is_alone() & ~in_first & in_second,
            "changed": ~_is_alone() & in_first,
        }
        found = found.withColumns({name: is_so.cast("int") for name, is_so in explained.items()})
    return found


def _is_alone() -> "Column":
    """Whether one topic alone has a record of a key below the ends; a tombstone is one."""
    from pyspark.sql import functions as F  # noqa: N812 - the name that every Spark program gives it

    return (F.col("count_0") == 0) | (F.col("count_1") == 0)


def _behind(rows: Sequence["Row"]) -> tuple[BehindEnds, BehindEnds]:
    """The sums of a summary."""
    first, second = (
        BehindEnds(
            sum(row[f"only_{side}"] for row in rows if not row.no_key),
            min((row[f"oldest_{side}"] for row in rows if row[f"oldest_{side}"] is not None), default=None),
        )
        for side in (0, 1)
    )
    return first, second


def _newer(rows: Sequence["Row"]) -> ExplainedKeys:
    """The keys that differ and have a newer record behind the ends, from a summary."""
    unlike = [row for row in rows if not row.no_key and row.kind in UNLIKE]
    return ExplainedKeys(
        superseded=sum(row.superseded for row in unlike),
        copied=sum(row.copied for row in unlike),
        changed=sum(row.changed for row in unlike),
    )


def _deleted(source: ComparedSource, rows: Sequence["Row"]) -> tuple[int, int]:
    """The keys that retention has deleted in one topic, without a newer record in the first, and the `copied` of them.

    In the topic that has such a key, its last record is before all that both topics have in its partition.
    """
    from pyspark.sql import functions as F  # noqa: N812 - the name that every Spark program gives it

    deleted = source.question.deleted_offsets
    unlike = {row.kind for row in rows if not row.no_key}
    wanted = []
    for kind, lacks in _ALONE:
        side = 0 if kind == "missing" else 1
        partitions = [partition for is_first, partition in deleted if is_first is lacks]
        if kind in unlike and partitions:
            kept = _first_kept(rows, side)
            before = {number: kept.get(number, _LAST_OFFSET) for number in partitions}
            wanted.append((F.col("kind") == kind) & (F.col(f"at_{side}") < value_of(before, F.col(f"from_{side}"))))
    if not wanted:
        return 0, 0
    keys = of_kind(_latest(source)).where(~F.col("no_key") & _is_alone() & reduce(or_, wanted))
    if not any(one.offsets for one in source.question.behind):
        return keys.count(), 0
    keys = keys.where(F.col("superseded") == 0)
    return keys.count(), keys.where(F.col("copied") == 1).count()


def _first_kept(rows: Sequence["Row"], side: int) -> dict[int, int]:
    """By partition the first offset, in a topic, of a last value that both topics have."""
    found: dict[int, int] = {}
    for row in rows:
        if row.kind == "equal" and not row.no_key:
            number, at = row[f"from_{side}"], row[f"at_{side}"]
            found[number] = min(at, found.get(number, at))
    return found


def _details(source: ComparedSource) -> tuple[int, tuple[FieldChanges, ...], list[ExampleSpot]]:
    """Keys in which only ignored paths differ, the changed keys by field, and examples of each kind."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812

    ignored = source.question.ignored_paths
    none = F.array().cast("array<string>")
    fields = F.when(
        F.col("kind") == "changed", unlike_fields(F.col("newest_0.value"), F.col("newest_1.value"), ignored)
    ).otherwise(none)
    is_equal = (F.col("kind") == "changed") & (F.size("fields") == 0)
    unlike = (
        of_kind(_latest(source, values=True))
        .where(F.col("kind").isin(list(UNLIKE)) & ~F.col("no_key"))
        .withColumn("fields", fields)
        .select(
            *("k", "fields"),
            F.when(is_equal, "equal").otherwise(F.col("kind")).alias("kind"),
            *(
                F.col(f"newest_{side}.{name}").alias(f"{name}_{side}")
                for side in (0, 1)
                for name in ("partition", "offset")
            ),
        )
        .persist()
    )
    try:
        counted = (
            unlike.select(F.explode(F.when(F.col("kind") == "equal", F.array(F.lit(""))).otherwise(F.col("fields"))))
            .groupBy("col")
            .count()
            .orderBy(F.col("col") != "", F.desc("count"), "col")
            .limit(_MOST_FIELDS + 1)
            .collect()
        )
        number = F.row_number().over(Window.partitionBy("kind").orderBy("k"))
        shown = (
            unlike.where(F.col("kind") != "equal")
            .withColumn("number", number)
            .where(F.col("number") <= source.question.examples)
            .orderBy("number", "kind")
            .limit(source.question.examples)
            .collect()
            if source.question.examples
            else []
        )
    finally:
        unlike.unpersist()
    changes = tuple(FieldChanges(row["col"], row["count"]) for row in counted if row["col"])
    spots = [
        ExampleSpot(
            row.kind,
            None,
            None,
            None if row.offset_0 is None else (row.partition_0, row.offset_0),
            None if row.offset_1 is None else (row.partition_1, row.offset_1),
            tuple(row.fields),
        )
        for row in shown
    ]
    return sum(row["count"] for row in counted if not row["col"]), changes[:_MOST_FIELDS], spots
