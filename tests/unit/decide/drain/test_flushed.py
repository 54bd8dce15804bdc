"""What is left to read once an application is down, and whether its inputs are still held."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.drain.flushed import flushed, swap_holds
from kstreams_runbooks.model.readings.lag import PartitionLag
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.model.writes import CommittedOffset, SavedOffsets

_HELD = (CommittedOffset("orders", 0, 7, "AQ=="), CommittedOffset("orders", 1, 0, ""))


_ROW = PartitionLag(
    "app-x-repartition",
    0,
    "orphaned",
    "ok",
    committed=9,
    last_stable_offset=10,
    log_end_offset=10,
    records=0,
    exact=True,
)


def test_offsets_of_a_last_marker_are_not_records() -> None:
    """A clean stop may commit once more."""
    assert flushed((_ROW,)).outcome is Outcome.PROCEED


def test_one_record_voids_the_certificate() -> None:
    """It names the partition and the number."""
    verdict = flushed((replace(_ROW, records=1),))
    assert verdict.outcome is Outcome.REFUSE
    assert "1 records left to read since (limit 0): app-x-repartition-0 (1)" in verdict.reasons[0]


@pytest.mark.parametrize("left", [Missing("not counted"), (replace(_ROW, records=None, why="no leader"),)])
def test_what_is_not_counted_is_inconclusive(left: tuple[PartitionLag, ...] | Missing) -> None:
    """Missing data is never zero."""
    assert flushed(left).outcome is Outcome.INCONCLUSIVE


def test_a_swap_holds_while_offsets_and_ends_stay() -> None:
    """Offsets that brokers have forgotten meanwhile are set back later."""
    for now in (_HELD, _HELD[:1], ()):
        verdict = swap_holds(_HELD, SavedOffsets("app", 1, now), {"empty-0": 0}, {"empty-0": 0})
        assert verdict.outcome is Outcome.PROCEED


@pytest.mark.parametrize(
    ("now", "ends", "said"),
    [
        ((replace(_HELD[0], offset=8), _HELD[1]), {"empty-0": 0}, "has committed 8 (held at 7)"),
        ((replace(_HELD[0], metadata="BQ=="), _HELD[1]), {"empty-0": 0}, "has committed 7 (held at 7)"),
        (_HELD, {"empty-0": 2}, "empty-0: 2 offsets were written to the empty topic (limit 0)"),
        (_HELD, {}, "empty-0: is gone"),
    ],
)
def test_a_swap_that_no_longer_holds_is_refused(
    now: tuple[CommittedOffset, ...], ends: dict[str, int | Missing], said: str
) -> None:
    """An instance that has read the input, and records in the empty topic."""
    verdict = swap_holds(_HELD, SavedOffsets("app", 1, now), {"empty-0": 0}, ends)
    assert verdict.outcome is Outcome.REFUSE
    assert said in verdict.reasons[0]


def test_an_end_that_cannot_be_read_is_inconclusive() -> None:
    """A topic that may have got a record."""
    verdict = swap_holds(_HELD, SavedOffsets("app", 1, _HELD), {"empty-0": 0}, {"empty-0": Missing("no leader")})
    assert verdict.outcome is Outcome.INCONCLUSIVE
