"""What a plan may be made from."""

import pytest
from kstreams_runbooks.decide.instances.check import ready_for_change
from kstreams_runbooks.errors import Refused
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.steps.plan.plan import _judged
from kstreams_runbooks.steps.run.run import Run, now_ms
from world.samples import declared, reading


def observed(run: Run, age_s: int = 0) -> None:
    """A reading of `observe`, this old."""
    now = reading(at_ms=now_ms() - age_s * 1000)
    run.ledger.record(run.key, "observe", 1, "reading", "application", encode(now), now_ms())


def checked(run: Run) -> None:
    """The verdict on the newest reading, reached while it was fresh."""
    run.decide(ready_for_change, reading=run.observed(), declared=declared(), age_ms=0, max_age_ms=30_000)


@pytest.fixture(autouse=True)
def limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reading may be 30 s old."""
    monkeypatch.setattr(Run, "limit", lambda _, name: {"max_reading_age_s": 30.0}[name])


def test_a_plan_is_made_from_the_reading_that_was_checked(run: Run) -> None:
    """Also where the scheduler took its time between the two steps."""
    observed(run, age_s=45)
    checked(run)
    assert _judged(run, run.observed()).outcome is Outcome.PROCEED


def test_a_reading_that_was_not_checked_makes_no_plan(run: Run) -> None:
    """`check` marked successful manually, or `observe` cleared alone: the verdict is about another reading."""
    observed(run)
    with pytest.raises(Refused, match="`check` has not judged the newest reading of `observe`"):
        _judged(run, run.observed())
    checked(run)
    observed(run, age_s=1)
    with pytest.raises(Refused, match="clear `observe` and what follows it"):
        _judged(run, run.observed())


def test_an_old_reading_makes_no_plan(run: Run) -> None:
    """`plan` cleared alone much later would plan on what the application was."""
    observed(run, age_s=301)
    checked(run)
    with pytest.raises(
        Refused, match=r"reading of orders: 30\d s old \(limit 300 s to plan from it\); clear `observe`"
    ):
        _judged(run, run.observed())
