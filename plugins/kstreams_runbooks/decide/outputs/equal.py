"""Whether a topic has the records of another one."""

from collections.abc import Iterator, Sequence

from kstreams_runbooks.model.readings.outputs import (
    ComparedOutput,
    OutputComparison,
    OutputRange,
    OutputsReading,
    RecordsRead,
    ShownRecord,
    UnlikeKeys,
    UnlikePartition,
    UnlikeRecord,
)
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.wording import first_of, outside

_LONGEST_KEY = 80
_SHOWN_PARTITIONS = 3


def can_be_compared(reading: OutputsReading) -> bool:
    """Whether Spark has something to read that is within the limits, and partitions that fit."""
    return not (_other_counts(reading) or next(above_limits(reading), None)) and reading.offsets > 0


def outputs_are_equal(reading: OutputsReading, *, may_be_empty: bool = False) -> Verdict:
    """Whether the second topic has exactly the records of the first one, in the sense of the mode.

    Proceed: every record of the ranges was read, and all are equal. Refuse: a difference that nothing else explains.
    Inconclusive: a part of a range was deleted, compacted or is behind an open transaction; a limit was reached; keys
    have no order; or there is no record, unless `may_be_empty`. A difference proves nothing if a part was cut.

    Source: Apache Kafka documentation, "Log Compaction" and "Message Delivery Semantics" (read_committed).
    """
    if refused := _other_counts(reading):
        return Verdict(Outcome.REFUSE, (refused,))
    unread, differences = tuple(_unread(reading)), tuple(_differences(reading))
    undecided = tuple(_undecided(reading, may_be_empty=may_be_empty))
    if unread:
        return Verdict(Outcome.INCONCLUSIVE, (*unread, *differences, *undecided))
    skipped = tuple(left_out(reading))
    if differences:
        return Verdict(Outcome.REFUSE, (*differences, *undecided, *skipped))
    if undecided:
        return Verdict(Outcome.INCONCLUSIVE, (*undecided, *skipped))
    return Verdict(Outcome.PROCEED, (_equal(reading), *skipped))


def _other_counts(reading: OutputsReading) -> str:
    first, second = reading.first, reading.second
    if reading.mode != "record" or len(first.ranges) == len(second.ranges):
        return ""
    return (
        f"{first.name} has {len(first.ranges)} partitions and {second.name} has {len(second.ranges)} (expected the "
        "same number): partitions cannot be compared one by one; compare with mode by-key"
    )


def _unread(reading: OutputsReading) -> Iterator[str]:
    """What is missing from the comparison, and may explain any difference."""
    above = tuple(above_limits(reading))
    yield from above
    for output in (reading.first, reading.second):
        yield from cut(output, "compare what is left with --from-log-start, or give ranges that exist")
    if reading.comparison is None:
        if lacks_answer(reading) and not above:
            topics = f"{reading.first.name} and {reading.second.name}"
            yield f"{topics} were not compared (expected an answer of Spark); repeat"
        return
    for output, read in ((reading.first, reading.comparison.first), (reading.second, reading.comparison.second)):
        if output.compacted is not False:
            yield from _compacted(reading, output, _by_partition(read))


def lacks_answer(reading: OutputsReading) -> bool:
    """Whether there was something to compare, and Spark has not done so."""
    return reading.comparison is None and reading.offsets > 0


def above_limits(reading: OutputsReading) -> Iterator[str]:
    """The limits that a comparison is above."""
    limits = reading.limits
    topics = f"{reading.first.name} and {reading.second.name}"
    if reading.offsets > limits.records:
        yield (
            f"{topics} have {reading.offsets:,} offsets to compare (limit {limits.records:,}): nothing was compared; "
            "raise the limit of records, or compare smaller ranges"
        )
    if reading.bytes is not None and limits.bytes is not None and reading.bytes > limits.bytes:
        yield (
            f"{topics} have {reading.bytes:,} bytes on disk to compare (limit {limits.bytes:,}): nothing was compared; "
            "raise the limit of bytes, or compare smaller ranges"
        )


def cut(output: ComparedOutput, cure: str) -> Iterator[str]:
    """Offsets of the ranges that are deleted, with the cure of that, or that cannot be read yet."""
    if deleted := [one for one in output.ranges if one.start < min(one.log_start, one.end)]:
        worst = max(deleted, key=lambda one: one.log_start - one.start)
        yield (
            f"{names_of(output, deleted)}: records are deleted: {output.name}-{worst.partition} begins at offset "
            f"{worst.log_start:,} (compared from {worst.start:,}); {cure}"
        )
    if behind := [one for one in output.ranges if one.end > one.stable]:
        worst = max(behind, key=lambda one: one.end - one.stable)
        yield (
            f"{names_of(output, behind)}: records are behind an open transaction: {output.name}-{worst.partition} can "
            f"be read up to offset {worst.stable:,} (compared up to {worst.end:,}); compare again once the transaction "
            "has ended"
        )


def _compacted(reading: OutputsReading, output: ComparedOutput, read: dict[int, int]) -> Iterator[str]:
    """Partitions in which compaction may have removed a record that the comparison is about."""
    policy = "it is compacted" if output.compacted else "whether it is compacted is not known"
    if reading.mode == "latest":
        if grown := [one for one in output.ranges if one.grown_to > one.end]:
            worst = max(grown, key=lambda one: one.grown_to - one.end)
            yield (
                f"{names_of(output, grown)}: {policy}, and {output.name}-{worst.partition} has grown to offset "
                f"{worst.grown_to:,} behind the end {worst.end:,} of the comparison: the last value of a key below the "
                "end may be removed; compare while nothing is written to it"
            )
        return
    gaps = [one for one in output.ranges if read.get(one.partition, 0) < one.readable_to - one.readable_from]
    if gaps:
        worst = max(gaps, key=lambda one: one.readable_to - one.readable_from - read.get(one.partition, 0))
        offsets = worst.readable_to - worst.readable_from
        yield (
            f"{names_of(output, gaps)}: {policy}, and {output.name}-{worst.partition} has "
            f"{read.get(worst.partition, 0):,} records on {offsets:,} offsets: compaction may have removed the others; "
            "compare with mode latest"
        )


def _differences(reading: OutputsReading) -> Iterator[str]:
    found = reading.comparison
    if found is None:
        return
    if reading.mode == "record":
        yield from _of_partitions(reading, found)
        return
    if found.keys is not None and found.keys.unlike:
        yield _of_keys(reading, found, found.keys)
    if found.partitions:
        numbers = first_of([f"partition {one.partition}" for one in found.partitions])
        missing, extra = _sums(found.partitions)
        yield (
            f"records without a key differ in {numbers} (limit 0): {missing:,} missing from {reading.second.name}, "
            f"{extra:,} extra; {_example(reading, found, found.partitions[0].partition)}"
        )


def _of_partitions(reading: OutputsReading, found: OutputComparison) -> Iterator[str]:
    first, second = (_by_partition(one) for one in (found.first, found.second))
    for one in found.partitions[:_SHOWN_PARTITIONS]:
        number = one.partition
        counts = f"{first.get(number, 0):,} records in {reading.first.name}, {second.get(number, 0):,} in "
        what = (
            f"{one.missing:,} missing, {one.extra:,} extra, {one.changed:,} changed"
            if one.missing or one.extra or one.changed
            else "the same records in another order"
        )
        place = "" if one.first_place is None else f"; first difference at record {one.first_place:,}"
        yield (
            f"partition {number} differs: {counts}{reading.second.name}: {what} (limit 0){place}: "
            f"{_example(reading, found, number)}"
        )
    if rest := found.partitions[_SHOWN_PARTITIONS:]:
        missing, extra = _sums(rest)
        yield (
            f"{len(rest):,} more partitions differ: {missing:,} records missing from {reading.second.name}, "
            f"{extra:,} extra (a changed record is both)"
        )


def _of_keys(reading: OutputsReading, found: OutputComparison, keys: UnlikeKeys) -> str:
    counts = (
        (keys.missing, f"missing from {reading.second.name}"),
        (keys.extra, "extra"),
        (keys.changed, "changed"),
        (keys.reordered, "in another order"),
    )
    words = ", ".join(f"{number:,} {what}" for number, what in counts if number)
    compared = keys.equal + keys.unlike + keys.split
    return f"{keys.unlike:,} of {compared:,} keys differ (limit 0): {words}; {_example(reading, found)}"


def _undecided(reading: OutputsReading, *, may_be_empty: bool) -> Iterator[str]:
    """Why equal records do not prove equal topics; none of it explains a difference."""
    found = reading.comparison
    if (found is None and not reading.offsets) or (found is not None and not any(found.records)):
        if found is not None and found.skipped:
            yield (
                f"no partition of {reading.first.name} and {reading.second.name} has a record left in both (expected "
                "some): nothing was compared"
            )
        elif not may_be_empty:
            yield (
                f"{reading.first.name} and {reading.second.name} have no record in the ranges (expected some): nothing "
                "was compared; compare once they have records, or accept it with --may-be-empty"
            )
        return
    keys = None if found is None else found.keys
    if keys is None:
        return
    if keys.split:
        yield (
            f"{keys.split:,} keys are in several partitions of {reading.first.name} or {reading.second.name} (limit "
            "0): their records have no order, and no last value; compare with mode record, or write each key to one "
            "partition"
        )
    if keys.null_keys and reading.mode == "latest":
        yield (
            f"{keys.null_keys:,} records have no key (limit 0): they have no last value; compare with mode record or "
            "by-key"
        )


def left_out(reading: OutputsReading) -> Iterator[str]:
    """Records that were read and not compared: the other topic has deleted its own."""
    skipped = () if reading.comparison is None else reading.comparison.skipped
    sums = (sum(one.first for one in skipped), sum(one.second for one in skipped))
    for output, other, records in zip(
        (reading.first, reading.second), (reading.second, reading.first), sums, strict=True
    ):
        if records:
            yield (
                f"{records:,} records at the front of {output.name} are not compared: {other.name} has deleted its "
                "records there"
            )


def _equal(reading: OutputsReading) -> str:
    first, second, found = reading.first, reading.second, reading.comparison
    if found is None or not any(found.records):
        return f"{first.name} and {second.name} have no record in the ranges: both are empty, nothing was compared"
    parts = [part for part in ("key", "value", "headers", "timestamp") if part not in reading.ignored]
    without = f" ({_listed(reading.ignored)} not compared)" if reading.ignored else ""
    inside = _listed(parts)
    records = found.records[0]
    if reading.mode == "record":
        return (
            f"{records:,} records in {len(first.ranges)} partitions of {first.name} and {second.name} are equal in "
            f"{inside}, and in the same order{without}"
        )
    keys = found.keys or UnlikeKeys()
    if reading.mode == "by-key":
        return (
            f"{records:,} records of {first.name} and {second.name} are equal in {inside}: those of {keys.equal:,} "
            f"keys in the same order, those without a key in the same partition{without}"
        )
    return f"the last values of {keys.equal:,} keys of {first.name} and {second.name} are equal in {inside}{without}"


def _example(reading: OutputsReading, found: OutputComparison, partition: int | None = None) -> str:
    """An example of a difference: of a partition, or of keys."""
    example = next((one for one in found.examples if one.partition == partition), None)
    return "no example is shown" if example is None else _shown(reading, example)


def _shown(reading: OutputsReading, example: UnlikeRecord) -> str:
    first, second = (
        "no record" if record is None else _record(output.name, record)
        for output, record in ((reading.first, example.first), (reading.second, example.second))
    )
    parts = f" ({_listed(example.parts)} differ{'s' if len(example.parts) == 1 else ''})" if example.parts else ""
    return f"{first} and {second}{parts}"


def _record(topic: str, record: ShownRecord) -> str:
    key = "no key" if record.key is None else f"key {outside(record.key, _LONGEST_KEY)}"
    return f"{topic}-{record.partition}@{record.offset} ({key})"


def _listed(parts: Sequence[str]) -> str:
    """`key, value and headers`."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def names_of(output: ComparedOutput, ranges: Sequence[OutputRange]) -> str:
    """The first of these partitions."""
    return first_of([f"{output.name}-{one.partition}" for one in ranges])


def _by_partition(read: Sequence[RecordsRead]) -> dict[int, int]:
    return {one.partition: one.records for one in read}


def _sums(partitions: Sequence[UnlikePartition]) -> tuple[int, int]:
    """Records that are missing and extra, with those that changed."""
    return sum(one.missing + one.changed for one in partitions), sum(one.extra + one.changed for one in partitions)
