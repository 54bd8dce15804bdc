"""A control topic is proven while both topics grow, by what retention and compaction have left below the ends."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.outputs.proven import AGAIN, BACK, copy_is_proven
from kstreams_runbooks.model.readings.outputs import (
    ComparedOutput,
    CompareLimits,
    ExplainedKeys,
    OutputComparison,
    OutputRange,
    OutputsReading,
    RecordsRead,
    SkippedRecords,
    UnlikeKeys,
    UnlikePartition,
)
from kstreams_runbooks.model.readings.readings import Taken
from kstreams_runbooks.model.verdicts import Outcome, Verdict

WHOLE = OutputRange(0, 0, 10, 0, 10, 10, 10)
EQUAL = OutputComparison((RecordsRead(0, 8),), (RecordsRead(0, 8),))


def output(name: str, *, grown_to: int = 10, start: int = 0) -> ComparedOutput:
    """A compacted topic of one partition."""
    ranges = (OutputRange(0, 0, 10, start, grown_to, grown_to, grown_to),)
    return ComparedOutput(name, f"id of {name}", compacted=True, ranges=ranges)


def reading(keys: UnlikeKeys | None = None, why: ExplainedKeys | None = None, **second: int) -> OutputsReading:
    """Two compacted topics, compared by the last value of each key; the second one differs as given."""
    read = ((RecordsRead(0, 8),), (RecordsRead(0, 7),))
    return OutputsReading(
        Taken(0, "test"),
        "latest",
        (),
        output("customers"),
        output("customers-control", **second),
        CompareLimits(100, 1_000, 60),
        10,
        OutputComparison(*read, keys=keys or UnlikeKeys(equal=5), explained=why or ExplainedKeys()),
    )


def records(
    comparison: OutputComparison | None = EQUAL, first: OutputRange = WHOLE, second: OutputRange = WHOLE
) -> OutputsReading:
    """Two topics that are not compacted, compared record by record."""
    inputs, copies = (
        ComparedOutput(name, f"id of {name}", compacted=False, ranges=(range_,))
        for name, range_ in (("orders", first), ("orders-control", second))
    )
    limits = CompareLimits(20, None, 900)
    return OutputsReading(Taken(0, "test"), "record", (), inputs, copies, limits, 50_000_000_000, comparison)


def judged(at: OutputsReading, outcome: Outcome, *words: str) -> Verdict:
    """The verdict, whose text has all these words."""
    verdict = copy_is_proven(at)
    assert verdict.outcome is outcome, verdict.sentence
    for one in words:
        assert one in verdict.sentence
    return verdict


def test_equal_topics_at_rest_are_proven() -> None:
    """Nothing more has to be said."""
    assert len(judged(reading(), Outcome.PROCEED).reasons) == 1
    assert len(judged(records(), Outcome.PROCEED).reasons) == 1


def test_growth_behind_the_ends_is_proven() -> None:
    """A comparison without a difference is one, whatever comes after."""
    judged(reading(grown_to=20), Outcome.PROCEED, "the last values of 5 keys")
    assert copy_is_proven(records(second=replace(WHOLE, log_end=20, grown_to=30))).outcome is Outcome.PROCEED


@pytest.mark.parametrize("grown_to", [10, 20])
def test_a_difference_that_nothing_explains_is_refused(grown_to: int) -> None:
    """Also while both topics grow: the key has no newer record; another comparison finds the same."""
    verdict = judged(reading(UnlikeKeys(equal=4, missing=1), grown_to=grown_to), Outcome.REFUSE, "1 of 5 keys differ")
    assert verdict.reasons[-1] == BACK


def test_keys_with_a_newer_record_behind_the_ends_are_not_compared() -> None:
    """Compaction has removed the older one in one topic earlier than in the other."""
    keys, why = UnlikeKeys(equal=4, missing=2, extra=1), ExplainedKeys(superseded=3)
    verdict = judged(reading(keys, why), Outcome.PROCEED, "last values of 4 keys", "3 keys have a newer record behind")
    assert len(verdict.reasons) == 2


def test_one_wrong_key_among_superseded_ones_is_refused() -> None:
    """What is explained is named next to it."""
    keys, why = UnlikeKeys(equal=4, missing=2, changed=1), ExplainedKeys(superseded=2)
    verdict = judged(reading(keys, why), Outcome.REFUSE, "3 of 7 keys differ", "2 keys have a newer record")
    assert verdict.reasons[-1] == BACK


@pytest.mark.parametrize("why", [ExplainedKeys(copied=1), ExplainedKeys(changed=1)])
def test_what_compaction_explains_only_while_it_runs_is_compared_again(why: ExplainedKeys) -> None:
    """A deleted key until it has run in both topics; another value below the ends never for long."""
    keys = UnlikeKeys(equal=4, extra=1)
    verdict = judged(reading(keys, why), Outcome.INCONCLUSIVE, "1 of 5 keys differ", "explains that while it runs")
    assert verdict.reasons[-1] == AGAIN
    worse = judged(reading(replace(keys, missing=1), why), Outcome.REFUSE)
    assert worse.reasons[-1] == BACK
    assert "while it runs" not in worse.sentence


def test_keys_of_a_deleted_front_are_not_compared() -> None:
    """A topic that is compacted and has a retention: the last value of a key may be deleted."""
    keys = UnlikeKeys(equal=4, missing=2)
    at = reading(keys, ExplainedKeys(deleted=2), start=3)
    judged(at, Outcome.PROCEED, "3 offsets of customers-control (customers-control-0) are deleted", "2 keys are in one")
    judged(reading(keys, ExplainedKeys(deleted=1), start=3), Outcome.REFUSE)


def test_nothing_left_of_any_key() -> None:
    """It is said, and is no reason to wait: the older records do not come back."""
    judged(
        reading(UnlikeKeys(missing=2), ExplainedKeys(superseded=2)),
        Outcome.PROCEED,
        "nothing is left to compare of customers and customers-control",
    )


def test_records_without_a_key_stay_undecided() -> None:
    """No other comparison decides it."""
    keys = UnlikeKeys(equal=4, missing=1, null_keys=1)
    verdict = judged(reading(keys, ExplainedKeys(superseded=1)), Outcome.INCONCLUSIVE, "1 records have no key")
    assert verdict.reasons[-1] == BACK


@pytest.mark.parametrize("side", ["first", "second"])
def test_deleted_records_are_not_compared(side: str) -> None:
    """What is left is equal: how much is gone is said, and where."""
    deleted = replace(WHOLE, log_start=4)
    skipped = (SkippedRecords(0, 0, 3) if side == "first" else SkippedRecords(0, 3, 0),)
    at = records(replace(EQUAL, skipped=skipped), **{side: deleted})
    name, other = ("orders", "orders-control")[:: 1 if side == "first" else -1]
    judged(
        at,
        Outcome.PROCEED,
        "8 records in 1 partitions of orders and orders-control are equal",
        f"4 offsets of {name} ({name}-0) are deleted since the copy began",
        f"3 records at the front of {other} are not compared",
    )


def test_a_difference_in_what_is_left_is_refused() -> None:
    """Retention deletes from the front alone."""
    unlike = replace(EQUAL, partitions=(UnlikePartition(0, 1, 0, 0, 7),))
    verdict = judged(records(unlike, second=replace(WHOLE, log_start=4)), Outcome.REFUSE, "partition 0 differs")
    assert verdict.reasons[-1] == BACK


GONE = replace(WHOLE, log_start=12, log_end=12, grown_to=12, stable=12)
NONE = OutputComparison((RecordsRead(0, 0),), (RecordsRead(0, 0),), skipped=(SkippedRecords(0, 8, 0),))


def test_topics_of_which_nothing_is_left() -> None:
    """Deleted to the end in one topic, or in both: there is nothing to wait for."""
    words = "nothing is left to compare of orders and orders-control"
    judged(records(None, GONE, GONE), Outcome.PROCEED, words, "10 offsets of orders (orders-0) are deleted")
    judged(records(NONE, WHOLE, GONE), Outcome.PROCEED, words, "8 records at the front of orders are not compared")


def test_nothing_compared_that_deletion_to_the_end_does_not_explain() -> None:
    """Something is left in both, and no record of it."""
    at = records(NONE, WHOLE, replace(WHOLE, log_start=9))
    verdict = judged(at, Outcome.INCONCLUSIVE, "nothing was compared", "9 offsets of orders-control")
    assert verdict.reasons[-1] == AGAIN


@pytest.mark.parametrize(
    ("at", "cure"),
    [
        (records(first=replace(WHOLE, stable=6)), AGAIN),
        (records(None), AGAIN),
        (records(None, replace(WHOLE, end=6, stable=4), replace(WHOLE, end=0)), AGAIN),
        (records(NONE, replace(WHOLE, stable=9), GONE), AGAIN),
        # A policy that was changed after the plan: no comparison by record can decide any more.
        (replace(records(), first=replace(records().first, compacted=True)), BACK),
    ],
)
def test_what_another_comparison_may_decide_is_compared_again(at: OutputsReading, cure: str) -> None:
    """An open transaction ends, and Spark answers; compacted records do not come back."""
    assert judged(at, Outcome.INCONCLUSIVE).reasons[-1] == cure


def test_two_topics_without_a_record_are_equal() -> None:
    """An input that nothing has written to."""
    empty = replace(WHOLE, end=0, stable=0, log_end=0, grown_to=0)
    judged(records(None, empty, empty), Outcome.PROCEED, "both are empty")


def test_no_size_is_a_limit() -> None:
    """The reading has more bytes on disk than any limit of the command; an own limit still counts."""
    judged(records(), Outcome.PROCEED)
    above = replace(records(None), limits=CompareLimits(19, None, 900))
    judged(above, Outcome.INCONCLUSIVE, "limit 19")
