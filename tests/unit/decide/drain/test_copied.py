"""How far a copier has copied, and that it has ended exactly where the application stands."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.drain.copied import copied_exactly, ends_of_copy, nearly_copied, offsets_unmoved
from kstreams_runbooks.model.readings.lag import PartitionLag
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.model.writes import CommittedOffset, SavedOffsets

_ROW = PartitionLag(
    "orders",
    0,
    "source",
    "ok",
    committed=90,
    log_start_offset=0,
    last_stable_offset=100,
    log_end_offset=100,
    records=10,
)
_UNTIL = (CommittedOffset("orders", 0, 100), CommittedOffset("orders", 1, 7))


def saved(*offsets: int, metadata: str = "") -> SavedOffsets:
    """Committed offsets of partitions 0, 1 and so on."""
    return SavedOffsets("group", 0, tuple(CommittedOffset("orders", n, at, metadata) for n, at in enumerate(offsets)))


@pytest.mark.parametrize(("most", "outcome"), [(10, Outcome.PROCEED), (9, Outcome.WAIT), (0, Outcome.WAIT)])
def test_the_copy_is_near_its_end_at_a_limit_of_records(most: int, outcome: Outcome) -> None:
    """At the limit it is."""
    assert nearly_copied((_ROW,), most, 0, None).outcome is outcome


@pytest.mark.parametrize(
    "rows",
    [
        Missing("the group is hidden"),
        (replace(_ROW, records=None, state="unknown", why="its end cannot be read"),),
        (replace(_ROW, committed=None, state="never_committed"),),
    ],
)
def test_an_unknown_rest_is_never_near_the_end(rows: tuple[PartitionLag, ...] | Missing) -> None:
    """Nor is a partition without the offset at which this run has begun."""
    assert nearly_copied(rows, 10, 0, None).outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize(("took_ms", "outcome"), [(500, Outcome.PROCEED), (501, Outcome.REFUSE)])
def test_a_compacted_input_limits_the_copy(took_ms: int, outcome: Outcome) -> None:
    """A tombstone that is compacted away before it is copied would leave its key; also if the rest is not known."""
    assert nearly_copied((_ROW,), 10, took_ms, 500).outcome is outcome
    if outcome is Outcome.REFUSE:
        assert nearly_copied(Missing("x"), 10, took_ms, 500).outcome is outcome


def test_the_copy_ends_at_the_offsets_of_the_application() -> None:
    """Behind it, where the copier is past markers alone, at the copier's; a global input at its end."""
    read = (CommittedOffset("orders", 0, 100, "time"), CommittedOffset("orders", 1, 5))
    copied = (CommittedOffset("orders", 0, 90), CommittedOffset("orders", 1, 7), CommittedOffset("rates", 0, 1))
    assert ends_of_copy(read, {("rates", 0): 4}, copied) == (*_UNTIL, CommittedOffset("rates", 0, 4))


@pytest.mark.parametrize(
    ("now", "outcome", "said"),
    [
        (saved(100, 7), Outcome.PROCEED, "no further"),
        (saved(99, 7), Outcome.WAIT, "orders-0 (99 of 100)"),
        (saved(100), Outcome.WAIT, "orders-1 (none of 7)"),
        (saved(101, 7), Outcome.REFUSE, "orders-0 (101, expected 100)"),
        (saved(101, 3), Outcome.REFUSE, "past the offsets of the application"),
    ],
)
def test_the_copier_has_to_end_exactly_there(now: SavedOffsets, outcome: Outcome, said: str) -> None:
    """A record more would never be read by the application."""
    verdict = copied_exactly(_UNTIL, now)
    assert verdict.outcome is outcome
    assert said in verdict.reasons[0]


@pytest.mark.parametrize(
    ("now", "outcome"),
    [
        (saved(100, 7), Outcome.PROCEED),
        (saved(100, 8), Outcome.REFUSE),
        (saved(100), Outcome.REFUSE),
        (saved(100, 7, metadata="another time"), Outcome.REFUSE),
    ],
)
def test_the_application_starts_on_the_offsets_of_the_run_alone(now: SavedOffsets, outcome: Outcome) -> None:
    """Another offset, none, and another stream time mean that something has run in between."""
    assert offsets_unmoved(_UNTIL, now).outcome is outcome
