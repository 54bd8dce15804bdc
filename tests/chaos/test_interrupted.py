"""Things die in the middle: a rerun ends well, and nothing is lost."""

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from kstreams_runbooks.errors import Unreachable
from lab.afresh import afresh
from lab.airflow import APPROVER, wait_healthy
from lab.application import Deployed
from lab.follow import follow
from lab.judge import judged
from lab.stack import Stack
from lab.supervise import until
from runs import DAG, evidence, finished, log_of, states, trigger


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
    """Started again, it goes on by itself or after one clear, and the judge is at zero."""
    pid = stack.supervisor.pid("airflow-scheduler")
    assert pid is not None
    os.killpg(os.getpgid(pid), signal.SIGKILL)
    until(lambda: stack.supervisor.pid("airflow-scheduler") is None, 30, "the scheduler is gone")
    stack.supervisor.start("airflow-scheduler")
    wait_healthy(stack.lab, stack.supervisor)
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
    killer = threading.Thread(target=_kill_the_task_that_stops, args=(stack, "orders-1"), daemon=True)
    killer.start()
    run_id = trigger(stack)
    assert finished(stack, run_id) == "failed"
    killer.join(timeout=1)
    assert not killer.is_alive()
    assert stack.supervisor.pid("orders-1") is None
    run = evidence(stack, run_id)["run"]
    assert run["outcome"] == "stopped, changed"
    assert "orders-1 is DOWN (its process is stopped)" in run["outcome_sentence"]
    assert "bounce_1_first began and gave no answer" in run["outcome_sentence"]
    assert "undo 1: orders-1 back to 3.4.1" in log_of(stack, run_id, "conclude")
    stack.api().clear(DAG, run_id, "bounce_1_first")
    assert finished(stack, run_id) == "success"
    judgement = judged(stack)
    assert (judgement.code, judgement.faults()) == (0, {})


def _kill_the_task_that_stops(stack: Stack, name: str) -> None:
    """SIGKILL the running task as soon as the instance has been told to stop."""
    stopping = 40
    until(lambda: stack.supervisor.process(name)["state"] == stopping, 180, f"{name} is told to stop", poll_s=0.03)
    scheduler = stack.supervisor.pid("airflow-scheduler")
    assert scheduler is not None
    for worker in _children(scheduler):
        for task in _children(worker):
            os.kill(task, signal.SIGKILL)


def _children(pid: int) -> list[int]:
    return [int(stat.parent.name) for stat in Path("/proc").glob("[0-9]*/stat") if _parent(stat) == pid]


def _parent(stat: Path) -> int | None:
    """Parent of a process, None for one that has just ended."""
    try:
        return int(stat.read_text(encoding="utf-8").rpartition(")")[2].split()[1])
    except OSError:
        return None
