"""A reset whose broker restarts in each of its steps, under traffic: every record of the inputs counts once."""

import pytest
from lab import kafka, started_over
from lab.afresh import afresh
from lab.application import TO_RELEASE, Deployed
from lab.judge import judged
from lab.stack import Stack
from lab.supervise import until
from world.endings import COMPLETED, begun_other, held_by
from world.resetting import DAG, declared, write
from world.runs import approve, evidence, finished

pytestmark = pytest.mark.long

_STEPS = (
    *("stop_application", "save_offsets", "clear_state", "delete_topics", "create_topics", "set_offsets"),
    *("start_application", "wait_caught_up", "verify"),
)
_ENDED = {"success", "failed"}
_STEP_S = 240


def test_a_broker_that_restarts_in_each_step(stack: Stack) -> None:
    """The run goes on, or the failed task is cleared; new ids, empty state, and the judge at zero on new outputs."""
    afresh(stack, Deployed(release=TO_RELEASE))
    kafka.create_topics(stack.lab.bootstrap, started_over.outputs("again-").values())
    with declared(stack):
        write(stack)
        before = started_over.internal(stack.lab.bootstrap)
        trial = begun_other(stack, DAG, settings=started_over.outputs("again-"))
        approve(stack, trial.run_id, "approve_plan")
        for step in _STEPS:
            wait_for(stack, trial.run_id, step, {"running", "deferred", *_ENDED})
            kafka.restart_broker(stack.lab, stack.supervisor)
            wait_for(stack, trial.run_id, step, _ENDED)
            if state(stack, trial.run_id, step) == "failed":
                assert finished(stack, trial.run_id) == "failed"
                stack.api().clear(DAG, trial.run_id, step)
        ended, run = finished(stack, trial.run_id), evidence(stack, trial.run_id)["run"]
        assert (ended, run["outcome"]) == ("success", COMPLETED), run["outcome_sentence"]
        assert held_by(stack) == ()
        now = started_over.internal(stack.lab.bootstrap)
        assert now.keys() == before.keys()
        assert not {one.topic_id for one in now.values()} & {one.topic_id for one in before.values()}
        judgement = judged(stack, topics=started_over.judged_outputs("again-"))
        assert judgement.only_late_windows, judgement.faults()


def state(stack: Stack, run_id: str, task_id: str) -> str | None:
    """The state of a task of a run, None while it has none."""
    found: str | None = stack.api().tasks(DAG, run_id)[task_id]["state"]
    return found


def wait_for(stack: Stack, run_id: str, task_id: str, states: set[str]) -> None:
    """Return once a task is in one of these states."""
    until(lambda: state(stack, run_id, task_id) in states, _STEP_S, f"{task_id} is {' or '.join(sorted(states))}")
