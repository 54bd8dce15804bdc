"""Whether a topic has the records of another one: by what differs, and by what was not read."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kstreams_runbooks.decide.outputs.equal import can_be_compared, outputs_are_equal
from kstreams_runbooks.ledger.codec import call_again, encode_call
from kstreams_runbooks.model.readings.outputs import (
    ComparedOutput,
    CompareLimits,
    CompareMode,
    OutputComparison,
    OutputRange,
    OutputsReading,
    RecordsRead,
    ShownRecord,
    SkippedRecords,
    UnlikeKeys,
    UnlikePartition,
    UnlikeRecord,
)
from kstreams_runbooks.model.readings.readings import Taken
from kstreams_runbooks.model.verdicts import Outcome

LIMITS = CompareLimits(1_000, 1_000_000, 60.0)
WHOLE = OutputRange(0, 0, 10, 0, 10, 10, 10)
READ = (RecordsRead(0, 10),)
SAME = OutputComparison(READ, READ)
KEYS = UnlikeKeys(equal=5)


def output(name: str, *ranges: OutputRange, compacted: bool | None = False) -> ComparedOutput:
    return ComparedOutput(name, f"id of {name}", compacted, ranges or (WHOLE,))


def reading(
    comparison: OutputComparison | None = SAME,
    first: ComparedOutput | None = None,
    second: ComparedOutput | None = None,
    mode: CompareMode = "record",
) -> OutputsReading:
    return OutputsReading(
        Taken(1, "kafka b:1"),
        mode,
        (),
        output("orders") if first is None else first,
        output("copy") if second is None else second,
        LIMITS,
        500,
        comparison,
    )


def shown(offset: int, key: str | None = "k") -> ShownRecord:
    return ShownRecord(0, offset, 1, key, "v", ())


def unlike(*partitions: UnlikePartition, examples: tuple[UnlikeRecord, ...] = ()) -> OutputComparison:
    return replace(SAME, partitions=partitions, examples=examples)


@pytest.mark.parametrize(
    ("mode", "comparison", "sentence"),
    [
        (
            "record",
            SAME,
            "proceed: 10 records in 1 partitions of orders and copy are equal in key, value, headers and timestamp, "
            "and in the same order",
        ),
        (
            "by-key",
            replace(SAME, keys=KEYS),
            "proceed: 10 records of orders and copy are equal in key, value, headers and timestamp: those of 5 keys in "
            "the same order, those without a key in the same partition",
        ),
        (
            "latest",
            replace(SAME, keys=KEYS),
            "proceed: the last values of 5 keys of orders and copy are equal in key, value, headers and timestamp",
        ),
    ],
)
def test_equal_topics_proceed_with_what_was_compared(
    mode: CompareMode, comparison: OutputComparison, sentence: str
) -> None:
    verdict = outputs_are_equal(reading(comparison, mode=mode))
    assert verdict.sentence == sentence


def test_parts_that_were_not_compared_are_named() -> None:
    verdict = outputs_are_equal(replace(reading(), ignored=("headers", "timestamp")))
    assert verdict.reasons[0].endswith(
        "are equal in key and value, and in the same order (headers and timestamp not compared)"
    )


def test_a_difference_is_refused_with_counts_place_and_both_records() -> None:
    example = UnlikeRecord("changed", 0, 3, ("value",), shown(4), shown(7))
    verdict = outputs_are_equal(reading(unlike(UnlikePartition(0, 1, 2, 3, 3), examples=(example,))))
    assert verdict.sentence == (
        "refuse: partition 0 differs: 10 records in orders, 10 in copy: 1 missing, 2 extra, 3 changed (limit 0); first "
        "difference at record 3: orders-0@4 (key k) and copy-0@7 (key k) (value differs)"
    )


def test_many_partitions_that_differ_are_summed_up() -> None:
    ranges = tuple(replace(WHOLE, partition=number) for number in range(9))
    read = tuple(replace(READ[0], partition=number) for number in range(9))
    comparison = OutputComparison(read, read, tuple(UnlikePartition(number, 1, 0, 1, 0) for number in range(9)))
    verdict = outputs_are_equal(reading(comparison, output("orders", *ranges), output("copy", *ranges)))
    assert len(verdict.reasons) == 4
    assert verdict.reasons[-1] == (
        "6 more partitions differ: 12 records missing from copy, 6 extra (a changed record is both)"
    )


def test_the_order_alone_is_a_difference() -> None:
    verdict = outputs_are_equal(reading(unlike(UnlikePartition(0, 0, 0, 0, 3))))
    assert verdict.outcome is Outcome.REFUSE
    assert "the same records in another order (limit 0); first difference at record 3: no example" in verdict.reasons[0]


@pytest.mark.parametrize(
    ("keys", "outcome", "words"),
    [
        (UnlikeKeys(equal=5, missing=1), "refuse", "1 of 6 keys differ (limit 0): 1 missing from copy; no example"),
        (UnlikeKeys(equal=5, extra=1, changed=2), "refuse", "3 of 8 keys differ (limit 0): 1 extra, 2 changed"),
        (UnlikeKeys(equal=5, reordered=1), "refuse", "1 in another order"),
        (UnlikeKeys(equal=5, split=1), "inconclusive", "1 keys are in several partitions of orders or copy"),
        (UnlikeKeys(equal=5, split=1, changed=1), "refuse", "1 of 7 keys differ"),
    ],
)
@pytest.mark.parametrize("mode", ["by-key", "latest"])
def test_keys(mode: CompareMode, keys: UnlikeKeys, outcome: str, words: str) -> None:
    verdict = outputs_are_equal(reading(replace(SAME, keys=keys), mode=mode))
    assert verdict.outcome == outcome
    assert words in verdict.reasons[0]


def test_records_without_a_key_have_no_last_value() -> None:
    comparison = replace(SAME, keys=replace(KEYS, null_keys=2))
    assert outputs_are_equal(reading(comparison, mode="by-key")).outcome is Outcome.PROCEED
    verdict = outputs_are_equal(reading(comparison, mode="latest"))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "2 records have no key (limit 0)" in verdict.reasons[0]


def test_records_without_a_key_that_differ_are_named_by_their_partition() -> None:
    example = UnlikeRecord("missing", 0, None, (), shown(4, None), None)
    comparison = replace(unlike(UnlikePartition(0, 1, 0, 0, None), examples=(example,)), keys=KEYS)
    verdict = outputs_are_equal(reading(comparison, mode="by-key"))
    assert verdict.reasons == (
        "records without a key differ in partition 0 (limit 0): 1 missing from copy, 0 extra; orders-0@4 (no key) and "
        "no record",
    )


FEWER = (RecordsRead(0, 7),)
DELETED, OPEN = replace(WHOLE, log_start=4), replace(WHOLE, stable=6)
GROWN = replace(WHOLE, grown_to=12)


@pytest.mark.parametrize("side", ["first", "second"])
@pytest.mark.parametrize(
    ("mode", "changed", "comparison", "words"),
    [
        ("record", output("it", DELETED), SAME, "it-0 begins at offset 4 (compared from 0)"),
        ("latest", output("it", DELETED), replace(SAME, keys=KEYS), "it-0 begins at offset 4 (compared from 0)"),
        ("record", output("it", OPEN), SAME, "it-0 can be read up to offset 6 (compared up to 10)"),
        ("record", output("it", compacted=True), OutputComparison(FEWER, FEWER), "it is compacted, and it-0 has 7"),
        (
            "record",
            output("it", compacted=None),
            OutputComparison(FEWER, FEWER),
            "whether it is compacted is not known",
        ),
        ("by-key", output("it", compacted=True), OutputComparison(FEWER, FEWER, keys=KEYS), "compare with mode latest"),
        ("latest", output("it", GROWN, compacted=True), replace(SAME, keys=KEYS), "it-0 has grown to offset 12 behind"),
    ],
)
def test_what_was_cut_is_never_equal_and_explains_any_difference(
    mode: CompareMode, changed: ComparedOutput, comparison: OutputComparison, words: str, side: str
) -> None:
    at = reading(comparison, changed if side == "first" else None, changed if side == "second" else None, mode=mode)
    verdict = outputs_are_equal(at)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert words in verdict.reasons[0]
    keys = None if comparison.keys is None else replace(comparison.keys, changed=1)
    partitions = (UnlikePartition(0, 1, 0, 0, 9),) if keys is None else ()
    worse = outputs_are_equal(replace(at, comparison=replace(comparison, partitions=partitions, keys=keys)))
    assert worse.outcome is Outcome.INCONCLUSIVE
    assert len(worse.reasons) == 2


@pytest.mark.parametrize(
    ("mode", "same"),
    [
        # Gaps of transactions, in a topic that is not compacted.
        ("record", reading(OutputComparison(FEWER, FEWER))),
        # Every offset is a record: nothing was compacted.
        ("record", reading(first=output("orders", compacted=True))),
        # Last values may lack older ones.
        ("latest", reading(OutputComparison(FEWER, FEWER, keys=KEYS), output("orders", compacted=True))),
        # A topic that is not compacted may grow.
        ("latest", reading(replace(SAME, keys=KEYS), output("orders", GROWN))),
        # A range that begins where the log does, or ends before an open transaction.
        ("record", reading(first=output("orders", replace(DELETED, start=4)))),
        ("record", reading(first=output("orders", replace(OPEN, end=6)))),
        # An empty range before the log's start has lost nothing.
        ("record", reading(first=output("orders", replace(DELETED, start=2, end=2)))),
    ],
)
def test_near_misses_are_equal(mode: CompareMode, same: OutputsReading) -> None:
    assert outputs_are_equal(replace(same, mode=mode)).outcome is Outcome.PROCEED


@pytest.mark.parametrize(
    ("above", "words"),
    [
        ({"limits": replace(LIMITS, records=19)}, "orders and copy have 20 offsets to compare (limit 19)"),
        ({"limits": replace(LIMITS, bytes=499)}, "orders and copy have 500 bytes on disk to compare (limit 499)"),
    ],
)
def test_a_limit_is_never_equal(above: dict[str, CompareLimits], words: str) -> None:
    at = replace(reading(None), **above)  # type: ignore[arg-type]
    assert not can_be_compared(at)
    verdict = outputs_are_equal(at)
    assert (verdict.outcome, words in verdict.reasons[0]) == (Outcome.INCONCLUSIVE, True)
    exactly = replace(reading(None), limits=CompareLimits(20, 500, 1))
    assert can_be_compared(exactly)
    assert can_be_compared(replace(exactly, bytes=None))


def test_other_partition_counts_are_refused_record_by_record_alone() -> None:
    wide = output("copy", WHOLE, replace(WHOLE, partition=1))
    at = reading(None, second=wide)
    assert not can_be_compared(at)
    verdict = outputs_are_equal(at)
    assert (verdict.outcome, "orders has 1 partitions and copy has 2" in verdict.reasons[0]) == (Outcome.REFUSE, True)
    assert can_be_compared(replace(at, mode="by-key"))


EMPTY = replace(WHOLE, end=0, stable=0, log_end=0, grown_to=0)


@pytest.mark.parametrize(
    "empty",
    [
        reading(None, output("orders", EMPTY), output("copy", EMPTY)),
        # Aborted records and markers alone.
        reading(OutputComparison((RecordsRead(0, 0),), (RecordsRead(0, 0),))),
    ],
)
def test_two_topics_without_a_record_are_equal_if_that_is_accepted(empty: OutputsReading) -> None:
    verdict = outputs_are_equal(empty)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "have no record in the ranges (expected some): nothing was compared" in verdict.reasons[0]
    accepted = outputs_are_equal(empty, may_be_empty=True)
    assert accepted.sentence == (
        "proceed: orders and copy have no record in the ranges: both are empty, nothing was compared"
    )


def test_a_topic_without_a_record_is_not_equal_to_one_with_records() -> None:
    comparison = replace(SAME, second=(RecordsRead(0, 0),), partitions=(UnlikePartition(0, 10, 0, 0, 0),))
    at = reading(comparison, second=output("copy", EMPTY))
    assert outputs_are_equal(at, may_be_empty=True).outcome is Outcome.REFUSE


def test_records_that_the_other_topic_has_deleted_are_named() -> None:
    """Of each topic the sum over its partitions; next to a difference too."""
    skipped = (SkippedRecords(0, 3, 0), SkippedRecords(1, 0, 4), SkippedRecords(2, 5, 0))
    verdict = outputs_are_equal(reading(replace(SAME, skipped=skipped)))
    assert verdict.outcome is Outcome.PROCEED
    assert verdict.reasons[1:] == (
        "8 records at the front of orders are not compared: copy has deleted its records there",
        "4 records at the front of copy are not compared: orders has deleted its records there",
    )
    worse = replace(SAME, skipped=skipped[:1], partitions=(UnlikePartition(0, 1, 0, 0, 3),))
    verdict = outputs_are_equal(reading(worse))
    assert (verdict.outcome, "3 records at the front" in verdict.reasons[-1]) == (Outcome.REFUSE, True)


@pytest.mark.parametrize("may_be_empty", [True, False])
def test_records_of_which_the_other_topic_has_none_left_are_not_equal(*, may_be_empty: bool) -> None:
    """Neither topic is empty: that they may be is no answer."""
    none = OutputComparison((RecordsRead(0, 0),), (RecordsRead(0, 0),), skipped=(SkippedRecords(0, 3, 0),))
    verdict = outputs_are_equal(reading(none), may_be_empty=may_be_empty)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "no partition of orders and copy has a record left in both (expected some)" in verdict.reasons[0]


def test_a_comparison_that_was_not_made_is_never_equal() -> None:
    """Also if nothing explains why."""
    verdict = outputs_are_equal(reading(None), may_be_empty=True)
    assert verdict.sentence == "inconclusive: orders and copy were not compared (expected an answer of Spark); repeat"


numbers = st.integers(0, 20)
ranges = st.builds(
    lambda start, end, log_start, stable, log_end, grown: OutputRange(
        0, *sorted((start, end)), *sorted((log_start, stable, log_end, grown))
    ),
    *[numbers] * 6,
)
outputs = st.builds(
    ComparedOutput, st.just("orders"), st.just("id"), st.sampled_from([True, False, None]), st.tuples(ranges)
)
comparisons = st.builds(
    OutputComparison,
    *[st.tuples(st.builds(RecordsRead, st.just(0), numbers))] * 2,
    st.sampled_from([(), (UnlikePartition(0, 1, 0, 0, 3),)]),
    st.builds(UnlikeKeys, *[st.integers(0, 2)] * 7),
)


@given(st.sampled_from(["record", "by-key", "latest"]), outputs, outputs, comparisons, st.booleans())
def test_equal_is_only_what_was_read_in_full(
    mode: CompareMode, first: ComparedOutput, second: ComparedOutput, comparison: OutputComparison, may_be_empty: bool
) -> None:
    """Whatever the reading: no gap, no difference, no undecided key."""
    at = reading(comparison, first, second, mode)
    verdict = outputs_are_equal(at, may_be_empty=may_be_empty)
    assert verdict.reasons
    if verdict.outcome is not Outcome.PROCEED:
        return
    for one in (*first.ranges, *second.ranges):
        assert one.start >= min(one.log_start, one.end)
        assert one.end <= one.stable
        assert one.readable_from == one.start
    assert not comparison.partitions
    if mode != "record" and any(comparison.records):
        keys = comparison.keys or UnlikeKeys()
        assert (keys.unlike, keys.split) == (0, 0)
    assert may_be_empty or any(comparison.records)
    call = encode_call(outputs_are_equal, {"reading": at, "may_be_empty": may_be_empty}, verdict)
    assert call_again(outputs_are_equal, call) == call["result"]
