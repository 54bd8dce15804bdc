"""The end of a wait, on a real SQLite ledger: it is one for as long as the run holds something."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.steps.run import until
from kstreams_runbooks.steps.run.ending import BEGUN, reported
from kstreams_runbooks.steps.run.poll import Pace, poll
from kstreams_runbooks.steps.run.run import Run, now_ms
from kstreams_runbooks.steps.run.until import Until, waits_until_ms

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


@pytest.mark.parametrize(("left_s", "over"), [(660, False), (599, True)])
def test_a_wait_ends_before_airflow_ends_the_run(run: Run, left_s: int, *, over: bool) -> None:
    """Airflow would skip `conclude`; it has ten minutes."""
    run.keep("note", BEGUN, {"what": "waits", "run_ends_ms": now_ms() + left_s * 1000})
    ends = Until(run, "ceiling/x", LENGTH_S)
    assert ends.is_over() is over
    assert ends.note == ("; cut short: a run of library_bump ends after 72 h, before it conclude needs its time")
    run.keep("note", BEGUN, {"what": "waits", "run_ends_ms": now_ms() + 10 * 3_600_000})
    assert Until(run, "ceiling/y", LENGTH_S).note == ""


def test_a_step_keeps_when_its_run_ends(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """By Airflow's own time of its start, which a clear of an ended run sets again."""
    monkeypatch.setattr(Run, "begin", classmethod(lambda *_: run))
    started = datetime(2026, 11, 20, tzinfo=UTC)
    with reported({"dag_run": SimpleNamespace(dag_id="library_bump", start_date=started), "params": {}}, "waits"):
        pass
    ends_ms = int((started + timedelta(hours=72)).timestamp() * 1000)
    assert waits_until_ms(run) == ends_ms - 600_000


def test_the_time_waited_is_shown_with_its_limit(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """`12 of 300 s`; another try under the same hold counts on."""
    hold(run)
    at_ms = now_ms()
    monkeypatch.setattr(until, "now_ms", lambda: at_ms)
    assert Until(run, "ceiling/w", 300).waited == "0 of 300 s"
    monkeypatch.setattr(until, "now_ms", lambda: at_ms + 12_000)
    assert Until(cleared(run), "ceiling/w", 300).waited == "12 of 300 s"
    monkeypatch.setattr(until, "now_ms", lambda: at_ms + 400_000)
    assert Until(cleared(run), "ceiling/w", 300).waited == "300 of 300 s"
