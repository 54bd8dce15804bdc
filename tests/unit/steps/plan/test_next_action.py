"""The next action of a run, from its ledger."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.plans.flush import FLUSH
from kstreams_runbooks.decide.runs.conclusion import RunOutcome
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.runs.cards import InstanceMoved
from kstreams_runbooks.model.runs.plan import DeployedInstance
from kstreams_runbooks.steps.instances.undone import undone_record
from kstreams_runbooks.steps.plan import flushed
from kstreams_runbooks.steps.plan.next_action import UNDONE, next_of_run
from kstreams_runbooks.steps.run.ending import BEGUN
from kstreams_runbooks.steps.run.run import Run
from world.samples import NEW, OLD, card


def undo_of(run: Run, run_id: str) -> Run:
    """An undo of a run that has changed something itself."""
    params = {"application": "orders", "run": run.record.run_id}
    record = run.ledger.start_run(replace(run.record, run_key="", dag_id="undo", run_id=run_id, params=params))
    run.ledger.write_card(card(run_key=record.run_key))
    return replace(run, record=record)


def lines(undo: Run) -> tuple[str, ...]:
    return next_of_run(undo, RunOutcome.COMPLETED, "undo", None, is_void=False).lines


def test_an_undo_goes_back_by_the_runbook_that_it_took_back(run: Run) -> None:
    """As a command with the form of that run; one that was pruned from the ledger costs the command alone."""
    first, later = undo_of(run, "first"), undo_of(run, "later")
    assert undone_record(first).run_key == run.key
    back, command = lines(first)
    assert back == (
        "GO BACK: an undo has no undo; trigger the runbook that it takes back once more, first as a dry run:"
    )
    assert command == "    kstreams-runbooks trigger library_bump --application orders"
    later.ledger.remember(later.key, UNDONE, "library_bump/pruned")
    assert lines(later) == ("GO BACK: an undo has no undo; trigger the runbook that it takes back once more",)


def test_an_undo_of_a_flush_that_has_run_goes_on_by_a_flush_back(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The refusal of the undo has the command, and its GO ON too."""
    flush = run.ledger.start_run(
        replace(run.record, run_key="", dag_id=FLUSH, run_id="flush", params={"switch": "swap"})
    )
    before, after = (DeployedInstance("orders-1", release, (), release) for release in (OLD, NEW))
    moved = InstanceMoved(1, before, after)
    run.ledger.write_card(card(run_key=flush.run_key, cluster="demo", application="orders", facts=encode(moved)))
    monkeypatch.setattr(flushed, "begun_flush", lambda *_: (("switch", "swap"),))
    record = run.ledger.start_run(replace(run.record, run_key="", dag_id="undo", run_id="u", params={"run": "flush"}))
    undo = replace(run, record=record)
    undo.ledger.remember(undo.key, UNDONE, flush.run_key)
    sentence = "to lose them, trigger a new run with --param without_flush=true"
    undo.keep("failure", "Refused", {"sentence": sentence, "exit_code": 1})
    [failure] = undo.ledger.evidence(undo.key, kind="failure")
    found = next_of_run(undo, RunOutcome.NOTHING_CHANGED, "plan", failure, is_void=False)
    assert found.command == (
        f"kstreams-runbooks trigger control_topic_flush --application orders --param release={OLD} --param switch=swap"
    )


def test_the_tasks_of_the_dag_come_from_the_newest_step(run: Run) -> None:
    """Each step keeps them: the DAG may have others when a task is cleared."""
    sentence = "has not passed its gate; clear bounce_1_rest and what follows it"
    run.keep("failure", "Refused", {"sentence": sentence, "exit_code": 1})
    [failure] = run.ledger.evidence(run.key, kind="failure")

    def command() -> str:
        return next_of_run(run, RunOutcome.STOPPED, "bounce_2_first", failure, is_void=False).command

    run.keep("note", BEGUN, {"what": "looks", "tasks": []})
    assert command() == "kstreams-runbooks clear r bounce_2_first"
    run.keep("note", BEGUN, {"what": "looks", "tasks": ["bounce_1_rest", "bounce_2_first"]})
    assert command() == "kstreams-runbooks clear r bounce_1_rest"
