"""Internal topics that an application stopped reading."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.drain.marks import dropped_topics, nothing_left, read_up_to, up_to_marks
from kstreams_runbooks.model.readings.lag import PartitionLag, Readable, with_counts
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.verdicts import Outcome
from world.samples import partition, reading

AUDIT = "orders-audit-repartition"
LEFT = partition(topic=AUDIT)


def test_only_internal_topics_count() -> None:
    """An input that is no longer read was taken out on purpose."""
    own = partition(topic="orders-control")
    before = reading(partitions=(partition(), LEFT, partition(topic="returns"), own))
    assert dropped_topics(before, reading(), "orders") == ("orders-audit-repartition",)
    assert dropped_topics(before, before, "orders") == ()


def test_what_cannot_be_read_is_not_nothing() -> None:
    """Missing data is never OK, on either side."""
    blind = reading(partitions=Missing("timed out"))
    for before, after in ((blind, reading()), (reading(), blind)):
        dropped = dropped_topics(before, after, "orders")
        assert isinstance(dropped, Missing)
        assert nothing_left(dropped).outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize(
    ("left", "outcome", "sentence"),
    [
        ((), Outcome.PROCEED, "nothing is left"),
        ((LEFT,), Outcome.PROCEED, "nothing is left"),
        (
            (partition(100, 111, topic=AUDIT), partition(7, 8, 1, topic=AUDIT)),
            Outcome.REFUSE,
            "12 offsets are left unread in topics that the application no longer reads (expected 0): "
            "orders-audit-repartition-0 (11), orders-audit-repartition-1 (1)",
        ),
        ((partition(stable=Missing("timed out"), topic=AUDIT),), Outcome.INCONCLUSIVE, "timed out"),
        (
            (partition(101, topic=AUDIT),),
            Outcome.INCONCLUSIVE,
            "orders-audit-repartition-0: committed 101 is past its end",
        ),
        (
            (replace(partition(98, topic=AUDIT), records=2, exact=True), LEFT),
            Outcome.REFUSE,
            "2 records are left unread in topics that the application no longer reads (expected 0): "
            "orders-audit-repartition-0 (2)",
        ),
        ((replace(partition(98, topic=AUDIT), records=0, exact=True),), Outcome.PROCEED, "nothing is left"),
        (
            (replace(LEFT, log_end_offset=103),),
            Outcome.INCONCLUSIVE,
            "transactions are open in topics that the application no longer reads: orders-audit-repartition-0 (from "
            "100) (expected none); once they have ended, clear this step",
        ),
        (
            (partition(90, topic=AUDIT, log_start=100),),
            Outcome.PROCEED,
            "not all of it was read: orders-audit-repartition-0 (10 offsets were deleted before they were read",
        ),
    ],
)
def test_everything_has_to_have_been_read(left: tuple[PartitionLag, ...], outcome: Outcome, sentence: str) -> None:
    """To the last record of every partition; what cannot be read, or is not committed yet, is not 0."""
    verdict = nothing_left(left)
    assert verdict.outcome is outcome
    assert sentence in verdict.sentence


MARKS = ((f"{AUDIT}-0", 100),)


@pytest.mark.parametrize(
    ("row", "count", "outcome"),
    [
        (partition(98, 120, topic=AUDIT), 0, Outcome.PROCEED),
        (partition(98, 120, topic=AUDIT), 1, Outcome.WAIT),
        (partition(None, 120, topic=AUDIT), 0, Outcome.PROCEED),
        (partition(None, 120, topic=AUDIT), 1, Outcome.INCONCLUSIVE),
        (partition(98, 120, topic=AUDIT, log_start=100), None, Outcome.PROCEED),
        (partition(98, 120, topic=AUDIT, log_start=99), None, Outcome.WAIT),
        (partition(110, 120, topic=AUDIT), None, Outcome.PROCEED),
        (partition(121, 120, topic=AUDIT), None, Outcome.INCONCLUSIVE),
    ],
)
def test_a_mark_is_reached_where_no_record_is_before_it(row: PartitionLag, count: int | None, outcome: Outcome) -> None:
    """Markers and deleted offsets before the mark are nothing; records behind it are others."""
    [left] = up_to_marks((row, partition()), MARKS)
    if count is not None:
        [left] = with_counts((left,), {(AUDIT, 0): Readable(count)})
    assert read_up_to((left,), MARKS, "orders").outcome is outcome


def test_no_count_passes_an_open_transaction() -> None:
    """Its records are before the mark, and come if it commits."""
    row = replace(partition(98, 98, topic=AUDIT), log_end_offset=100, exact=True)
    assert up_to_marks((row,), MARKS) == (row,)
    assert read_up_to((row,), MARKS, "orders").sentence.endswith("at 98 of 100, where a transaction is open at 98")
