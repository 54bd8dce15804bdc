"""Things die in the middle: a rerun ends well, and nothing is lost."""

import os
import signal
import time
from collections.abc import Callable

import pytest
from kstreams_runbooks.errors import Unreachable
from lab.afresh import afresh
from lab.airflow import APPROVER
from lab.application import Deployed
from lab.follow import follow
from lab.judge import judged
from lab.processes import SCHEDULER, kill_component, start_component, stopping, task_process
from lab.stack import Stack
from lab.supervise import until
from world.endings import STOPPED, begun, ended
from world.runs import DAG, approve, evidence, finished, log_of, states, trigger


@pytest.fixture
def rolling(stack: Stack) -> str:
    """A run of a fresh application under traffic, whose first instance has just been restarted in bounce 1."""
    afresh(stack, Deployed())
    stack.start_traffic()
    time.sleep(5)
    run_id = trigger(stack)

    def deferred() -> bool:
        return states(stack, run_id)["bounce_1_first"] in {"deferred", "failed"}

    approve = _Until(deferred)
    with pytest.raises(_Reached):
        follow(stack.api(), DAG, run_id, approver=stack.api(APPROVER), each_time=approve)
    return run_id


class _Reached(Exception):
    """The state that was waited for."""


class _Until:
    def __init__(self, reached: Callable[[], bool]) -> None:
        self._reached = reached

    def __call__(self) -> None:
        if self._reached():
            raise _Reached


def test_an_instance_killed_in_bounce_1(stack: Stack, rolling: str) -> None:
    """The canary dies at its gate: the run stops; cleared, it starts the instance again and completes."""
    pid = stack.supervisor.pid("orders-1")
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    assert follow(stack.api(), DAG, rolling, approver=stack.api(APPROVER)) == "failed"
    document = evidence(stack, rolling)
    assert document["run"]["outcome"] == "stopped, changed"
    stack.api().clear(DAG, rolling, "bounce_1_first")
    assert finished(stack, rolling) == "success"
    judgement = judged(stack)
    assert (judgement.code, judgement.faults()) == (0, {})
    assert evidence(stack, rolling)["run"]["outcome"] == "completed"


def test_the_scheduler_killed_in_bounce_1(stack: Stack, rolling: str) -> None:
    """With everything that it has forked. Started again, it goes on by itself or after one clear; nothing is lost."""
    kill_component(stack, SCHEDULER)
    start_component(stack, SCHEDULER)
    state = finished(stack, rolling)
    if state == "failed":
        failed = [name for name, state in states(stack, rolling).items() if state == "failed" and name != "conclude"]
        if not failed:
            raise Unreachable(f"{rolling} failed without a failed task")
        stack.api().clear(DAG, rolling, failed[0])
        state = finished(stack, rolling)
    assert state == "success"
    judgement = judged(stack)
    assert (judgement.code, judgement.faults()) == (0, {})


def test_a_task_killed_between_stop_and_start(stack: Stack) -> None:
    """The instance is down and nobody starts it: the run says so, and cleared it goes on from there."""
    afresh(stack, Deployed())
    stack.start_traffic()
    time.sleep(5)
    trial = begun(stack)
    approve(stack, trial.run_id, "approve_plan")
    task = stack.api().tasks(DAG, trial.run_id)["bounce_1_first"]
    until(lambda: stopping(stack, "orders-1") is not None, 60, "orders-1 is told to stop", poll_s=0.03)
    process = task_process(stack, task["id"])
    assert process is not None
    process.kill()
    document = ended(trial, state="failed", outcome=STOPPED, cards=((1, "orders-1"),))
    assert stack.supervisor.pid("orders-1") is None
    assert "orders-1 is DOWN (its process is stopped)" in document["run"]["outcome_sentence"]
    assert "bounce_1_first began and gave no answer" in document["run"]["outcome_sentence"]
    assert "undo 1: set orders-1 back to 3.4.1" in log_of(stack, trial.run_id, "conclude")
    stack.api().clear(DAG, trial.run_id, "bounce_1_first")
    assert finished(stack, trial.run_id) == "success"
    judgement = judged(stack)
    assert (judgement.code, judgement.faults()) == (0, {})
