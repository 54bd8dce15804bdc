"""The next action of a run, from its ledger."""

from dataclasses import replace

from kstreams_runbooks.decide.runs.conclusion import RunOutcome
from kstreams_runbooks.steps.instances.undone import undone_record
from kstreams_runbooks.steps.plan.next_action import UNDONE, next_of_run
from kstreams_runbooks.steps.run.run import Run
from world.samples import card


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
