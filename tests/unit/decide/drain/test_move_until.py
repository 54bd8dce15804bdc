"""Until when a group that a person moves may come, and what is said once that is over."""

from typing import Any

import pytest
from kstreams_runbooks.decide.drain.move_until import may_still_move, time_to_move
from kstreams_runbooks.model.readings.cutover import KeptFor
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.verdicts import Outcome

OFFSETS = KeptFor("offsets.retention.minutes", 600_000)
TOTALS = KeptFor("retention.ms of totals", 90_000)
FOR_EVER = KeptFor("retention.ms of totals-v2", None)
SEAM_MS = 1_795_850_000_000


@pytest.mark.parametrize(
    ("kept", "time"),
    [
        ((FOR_EVER,), None),
        ((OFFSETS, FOR_EVER), (300_000, "half of offsets.retention.minutes, 600 s")),
        ((OFFSETS, TOTALS), (45_000, "half of retention.ms of totals, 90 s")),
        ((TOTALS, KeptFor("offsets.retention.minutes", Missing("no answer"))), "offsets.retention.minutes: no answer"),
        ((), "how long brokers keep its offsets was not read"),
    ],
)
def test_half_of_the_smallest_time_is_left(kept: tuple[KeptFor, ...], time: Any) -> None:
    """What is not known could be the smallest."""
    left = time_to_move(kept)
    assert (left.missing if isinstance(left, Missing) else left) == time


def test_it_may_come_until_the_deadline() -> None:
    """To the millisecond; then a new seam is needed."""
    for now_ms in (SEAM_MS, SEAM_MS + 45_000):
        verdict = may_still_move("billing", SEAM_MS, now_ms, (OFFSETS, TOTALS))
        assert verdict.outcome is Outcome.PROCEED
        assert verdict.text == (
            "billing may move until 2026-11-28 07:14 UTC (half of retention.ms of totals, 90 s, from the seam on)"
        )
    late = may_still_move("billing", SEAM_MS, SEAM_MS + 45_001, (OFFSETS, TOTALS))
    assert late.outcome is Outcome.REFUSE
    assert late.text == (
        "billing did not move until 2026-11-28 07:14 UTC (the limit: half of retention.ms of totals, 90 s, from the "
        "seam on): what it goes on from may be deleted before it is read; a new seam is needed: undo this run, then "
        "trigger a new one"
    )


def test_a_time_that_is_not_known_is_no_deadline() -> None:
    """Not fine; but what has no limit has none."""
    unknown = may_still_move("billing", SEAM_MS, SEAM_MS, (KeptFor("retention.ms of totals", Missing("hidden")),))
    assert unknown.outcome is Outcome.INCONCLUSIVE
    assert unknown.text == "until when billing may move is not known: retention.ms of totals: hidden"
    assert may_still_move("billing", SEAM_MS, 2 * SEAM_MS, (FOR_EVER,)).outcome is Outcome.PROCEED
