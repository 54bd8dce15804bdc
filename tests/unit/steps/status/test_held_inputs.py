"""Held inputs reported by the scheduled check on a real ledger: an alarm each day, and no run costs another."""

from collections.abc import Callable
from typing import Any

import pytest
from kstreams_runbooks.decide.runs.next_action import NEXT, NextAction
from kstreams_runbooks.errors import Unreachable
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.runs.cards import InputsPaused
from kstreams_runbooks.model.runs.ledger import RunRecord
from kstreams_runbooks.model.times import DAY_MS
from kstreams_runbooks.steps.run.run import Run, now_ms
from kstreams_runbooks.steps.status import held_inputs as reporting
from kstreams_runbooks.steps.status.held_inputs import report_held_inputs
from world.samples import card

Told = Callable[[], list[dict[str, Any]]]


@pytest.fixture
def paused(run: Run, told: Told, monkeypatch: pytest.MonkeyPatch) -> Run:  # noqa: ARG001 - it has an owner to tell
    """A run that has paused an input."""
    facts = InputsPaused(("orders-in",), "by a person")
    made = card(run_key=run.key, kind=facts.kind, facts=encode(facts), at_ms=now_ms(), stage=1)
    run.ledger.write_card(made)
    run.ledger.mark_written(run.key, now_ms())
    monkeypatch.setattr(Ledger, "open", classmethod(lambda *_: run.ledger))
    monkeypatch.setattr(Run, "application", vars(run).get("application"), raising=False)
    return run


def report(run: Run, *, over: bool) -> tuple[int, list[str]]:
    """How many alarms one check has, and its log."""
    said: list[str] = []
    return len(report_held_inputs(run.ledger, lambda _: over, said.append)), said


def test_a_run_at_work_is_shown_and_no_alarm(paused: Run, told: Told) -> None:
    """It brings its inputs back itself."""
    alarms, [line] = report(paused, over=False)
    assert alarms == 0
    assert line.startswith("[orders @ demo] inputs orders-in of orders are held (by a person) since ")
    assert told() == []


def test_a_run_that_has_ended_is_told_each_day(paused: Run, told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once a day, with the command that brings the inputs back."""
    assert report(paused, over=True)[0] == 1
    assert report(paused, over=True)[0] == 1
    [only] = told()
    assert only["kind"] == "inputs_held"
    assert only["command"] == "kstreams-runbooks trigger undo r"
    assert "library_bump holds orders-in" in only["subject"]
    assert "the run has ended and brings nothing back" in only["body"]
    assert "clear its failed task and what follows it, and it goes on; or undo the run" in only["body"]
    later = now_ms() + DAY_MS
    monkeypatch.setattr(reporting, "now_ms", lambda: later)
    monkeypatch.setattr("kstreams_runbooks.steps.run.notify.now_ms", lambda: later)
    report(paused, over=True)
    assert len(told()) == 2


def test_the_way_on_is_before_the_way_back(paused: Run, told: Told) -> None:
    """As the end of the run kept them, each with its command; the first one is that of the message."""
    lines = ("GO ON: repair it:", "    kstreams-runbooks clear r certify", "GO BACK: undo it:", "    undo")
    paused.keep("note", NEXT, NextAction(lines, ("MANUALLY:",), "kstreams-runbooks clear r certify"))
    report(paused, over=True)
    [only] = told()
    assert only["command"] == "kstreams-runbooks clear r certify"
    assert "\n".join(lines) in only["body"]


def test_a_run_that_undoes_it_is_at_work(paused: Run, told: Told) -> None:
    """Nothing is left to a person."""
    paused.ledger.start_run(RunRecord("", "undo", "u", "orders", "demo", "oncall", False, "", {}, now_ms()))
    paused.ledger.take_hold("undo/u", ("application:demo:orders",), "demo", 1, 1, lambda _: True)
    alarms, [line] = report(paused, over=True)
    assert (alarms, told()) == (0, [])
    assert "run undo/u is at work on the application" in line


def test_a_run_that_cannot_be_judged_is_logged(paused: Run) -> None:
    """And the next check tries again."""

    def is_over(_: str) -> bool:
        raise Unreachable("Airflow does not answer")

    said: list[str] = []
    assert report_held_inputs(paused.ledger, is_over, said.append) == ()
    assert said == ["library_bump/r: whether it holds inputs is not known: Airflow does not answer"]
