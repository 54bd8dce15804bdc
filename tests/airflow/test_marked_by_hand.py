"""Somebody marks what is under way: the write behind it asks the ledger, and the run says how things are."""

import pytest
from lab.stack import Stack
from world.endings import STOPPED, begun, ended
from world.given import declared_as
from world.runs import DAG, approve, log_of, mark_run, mark_task, reached

_FIRST, _SECOND = (1, "orders-1"), (1, "orders-2")
# Longer than it takes to mark something.
_LONG = {"bake_s": 60.0}


@pytest.mark.long
def test_mark_success_on_a_gate_opens_nothing(short: Stack) -> None:
    """The last gate of bounce 1 is shut when somebody marks it: bounce 2 refuses to begin and names what is missing."""
    with declared_as(short, limits={"gate_good_readings": 10, "bake_s": 0}):
        trial = begun(short)
        approve(short, trial.run_id, "approve_plan")
        reached(short, trial.run_id, "bounce_1_rest", "deferred")
        mark_task(short, trial.run_id, "bounce_1_rest", "success")
        approve(short, trial.run_id, "approve_bounce_2")
        document = ended(trial, state="failed", outcome=STOPPED, restarted=(_FIRST, _SECOND))
    refusal = (
        "orders-2 has not passed its gate of bounce 1 since it was started (marked successful manually does not count)"
    )
    assert refusal in log_of(short, trial.run_id, "bounce_2_first")
    assert refusal in document["run"]["outcome_sentence"]


def test_mark_failed_in_the_middle_of_a_bounce(short: Stack) -> None:
    """No other instance is touched.

    On the whole run nothing runs any more, `conclude` included, until somebody clears it; on the task, `conclude` says
    what was changed and gives the hold back.
    """
    with declared_as(short, limits=_LONG):
        trial = begun(short)
        approve(short, trial.run_id, "approve_plan")
        reached(short, trial.run_id, "bounce_1_first", "deferred")
        mark_run(short, trial.run_id, "failed")
        ended(trial, state="failed", outcome=None, restarted=(_FIRST,), holds=(trial.run_id,))
        short.api().clear(DAG, trial.run_id, "bounce_1_first")
        reached(short, trial.run_id, "bounce_1_first", "deferred")
        mark_task(short, trial.run_id, "bounce_1_first", "failed")
        document = ended(trial, state="failed", outcome=STOPPED, restarted=(_FIRST,))
    assert "changed so far: orders-1: bounce 1: 4.3.1 with upgrade.from=3.4" in document["run"]["outcome_sentence"]
    assert "undo 1: set orders-1 back to 3.4.1" in log_of(short, trial.run_id, "conclude")
