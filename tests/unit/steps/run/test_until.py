"""The end of a wait, on a real SQLite ledger: it is one for as long as the run holds something."""

from dataclasses import replace

import pytest
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.steps.run import until
from kstreams_runbooks.steps.run.poll import Pace, poll
from kstreams_runbooks.steps.run.run import Run, now_ms
from kstreams_runbooks.steps.run.until import Until

LENGTH_S, HELD = 600, ("application:demo:orders",)


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that looks eleven minutes later."""
    monkeypatch.setattr(until, "now_ms", lambda: now_ms() + 660_000)


def cleared(run: Run) -> Run:
    """The same task after a person cleared it."""
    return replace(run, try_number=run.try_number + 1)


def hold(run: Run, at_ms: int = 1) -> None:
    run.ledger.take_hold(run.key, HELD, "demo", 1, at_ms, lambda _: False)


def test_under_a_hold_a_cleared_task_does_not_begin_again(run: Run, request: pytest.FixtureRequest) -> None:
    """What the run holds is kept from others for no longer than the ceiling, however often the task is cleared."""
    hold(run)
    assert not Until(run, "ceiling/x", LENGTH_S).is_over()
    request.getfixturevalue("later")
    assert Until(run, "ceiling/x", LENGTH_S).is_over()
    hold(run, 2)
    assert Until(cleared(run), "ceiling/x", LENGTH_S).is_over()
    assert not Until(cleared(run), "ceiling/y", LENGTH_S).is_over()


def test_a_new_hold_begins_a_new_wait(run: Run, request: pytest.FixtureRequest) -> None:
    """The run had ended and given everything back: nobody was kept waiting in between."""
    hold(run)
    assert not Until(run, "ceiling/x", LENGTH_S).is_over()
    request.getfixturevalue("later")
    run.ledger.release_holds(run.key)
    hold(run, 3)
    assert not Until(cleared(run), "ceiling/x", LENGTH_S).is_over()


def test_without_a_hold_each_try_has_its_own(run: Run, request: pytest.FixtureRequest) -> None:
    """Waiting keeps nobody from anything."""
    assert not Until(run, "ceiling/x", LENGTH_S).is_over()
    request.getfixturevalue("later")
    assert Until(run, "ceiling/x", LENGTH_S).is_over()
    assert not Until(cleared(run), "ceiling/x", LENGTH_S).is_over()


@pytest.mark.usefixtures("later")
def test_a_wait_in_a_worker_ends_with_it(run: Run) -> None:
    """Its own clock would begin again with each clear."""
    hold(run)
    ends = Until(run, "drain/1/0", LENGTH_S)
    looks = iter(enumerate([Verdict(Outcome.WAIT, (str(number),)) for number in range(5)]))
    assert poll(run, Pace(0.0, 60.0), lambda: next(looks), lambda _: False, _Over(ends, after=2)) == 2


class _Over(Until):
    """The same, over at the third question."""

    def __init__(self, ends: Until, after: int) -> None:
        vars(self).update(vars(ends))
        self._left = after

    def is_over(self) -> bool:
        self._left -= 1
        return self._left < 0
