"""Runs that Airflow ended before their `conclude`, concluded on a real ledger by the scheduled check."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.errors import Unreachable
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.steps.instances.watch_trigger import SAW
from kstreams_runbooks.steps.run.ending import BEGUN
from kstreams_runbooks.steps.run.run import Run, now_ms
from kstreams_runbooks.steps.status.ended import conclude_ended
from world.samples import card, instance, reading

Told = Callable[[], list[dict[str, Any]]]
HELD = ("application:demo:orders", "topic:demo:orders-in")


@pytest.fixture
def waited(run: Run, told: Told, monkeypatch: pytest.MonkeyPatch) -> Run:  # noqa: ARG001 - it has an owner to tell
    """A run that restarted an instance, and waited at its gate until Airflow's limit."""
    run.ledger.take_hold(run.key, HELD, "demo", 1, 1, lambda _: False)
    run.ledger.write_card(card(run_key=run.key))
    run.ledger.mark_written(run.key, now_ms())
    run.keep("note", BEGUN, {"what": "bounce 1", "run_ends_ms": now_ms(), "tasks": []})
    run.keep("note", SAW, {"sentence": "orders-1: wait: lag 7"})
    monkeypatch.setattr(Ledger, "open", classmethod(lambda *_: run.ledger))
    monkeypatch.setattr(Run, "application", vars(run).get("application"), raising=False)
    monkeypatch.setattr(Run, "read", lambda _: reading(instance("orders-1"), instance("orders-2")))
    return run


def concluded(run: Run, *, over: bool = True) -> tuple[tuple[str, ...], list[str]]:
    """One sweep: the runs that it concluded, and its log."""
    said: list[str] = []
    return conclude_ended(run.ledger, lambda _: over, said.append), said


def test_a_run_at_its_limit_is_concluded_and_gives_everything_back(run: Run, told: Told, waited: Run) -> None:
    """With the step that waited, what it saw last, what it changed and the way back; once."""
    keys, [said, *then] = concluded(waited)
    record = run.ledger.run(run.key)
    assert keys == (run.key,)
    assert record.outcome == "stopped, changed"
    assert record.outcome_sentence is not None
    assert record.outcome_sentence.startswith(
        "Airflow ended the run before conclude: marked, deleted, or at its limit of 72 h; bounce_1_first was its last "
        "step; the last that it saw: orders-1: wait: lag 7"
    )
    assert record.outcome_sentence in said
    assert [line.removeprefix("[orders @ demo] ") for line in then] == [
        "GO ON: clear bounce_1_first and what follows it, which starts again what is down:",
        "    kstreams-runbooks clear r bounce_1_first",
        "GO BACK: undo this run, first as a dry run:",
        "    kstreams-runbooks trigger undo r",
        "MANUALLY, the last change first:",
        "undo 1: orders-1 back to 3.4.1 (one restart)",
    ]
    assert run.ledger.holds() == ()
    (only,) = told()
    assert only["kind"] == "stopped_with_undo"
    assert only["command"] == "kstreams-runbooks clear r bounce_1_first"
    assert concluded(waited) == ((), [])
    assert run.ledger.evidence(run.key, name="conclusion")[-1].task_id == "conclude"


def test_a_run_that_goes_on_is_left_alone(waited: Run) -> None:
    """It waits, and Airflow has it."""
    assert concluded(waited, over=False) == ((), [])
    assert waited.ledger.run(waited.key).outcome is None
    assert len(waited.ledger.holds()) == 2


def test_a_run_that_held_nothing_is_concluded_without_a_message(run: Run, told: Told, waited: Run) -> None:
    """Its application may have another run by now, which tells more."""
    run.ledger.release_holds(run.key)
    concluded(waited)
    assert run.ledger.run(run.key).outcome == "stopped, changed"
    assert told() == []


@pytest.mark.usefixtures("waited")
def test_one_that_cannot_be_judged_costs_no_other(run: Run, told: Told) -> None:
    """It is said, and the next check tries again."""
    other = replace(run.record, run_key="library_bump/a", run_id="a", started_at_ms=1)
    run.ledger.start_run(other)
    said: list[str] = []

    def is_over(run_key: str) -> bool:
        if run_key == "library_bump/a":
            raise Unreachable("Airflow does not answer")
        return True

    assert conclude_ended(run.ledger, is_over, said.append) == (run.key,)
    assert (
        said[0]
        == "library_bump/a: whether it has ended is not known, or it could not be concluded: Airflow does not answer"
    )
    assert [one.run_key for one in run.ledger.runs(open_only=True)] == ["library_bump/a"]
    assert len(told()) == 1
