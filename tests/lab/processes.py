"""SIGKILL for parts of a stack: a component of Airflow, or the process in which one try of one task runs.

Processes are found below the stack's own supervisord, never by a name alone.
"""

import os
import signal
import time
from contextlib import suppress

import psutil

from lab.airflow import wait_healthy
from lab.stack import Stack
from lab.supervise import until

SCHEDULER, TRIGGERER, API_SERVER = "airflow-scheduler", "airflow-triggerer", "airflow-api-server"

_GONE_S = 30
_TICK_MS = 1_000
# supervisord's number for a process that is stopping and has not ended yet.
_STOPPING = 40


def started_since(before_ms: float, started_ms: float) -> bool:
    """Whether a process started between a time and now (ms since 1970); the kernel rounds to ticks and to seconds."""
    return before_ms - _TICK_MS <= started_ms <= time.time() * 1000 + _TICK_MS


def task_process(stack: Stack, task_instance_id: str) -> psutil.Process | None:
    """The process of one try of a task; Airflow writes the id of the try into its title. None if it has none."""
    return task_process_of(stack, task_instance_id, SCHEDULER)


def task_process_of(stack: Stack, task_instance_id: str, component: str) -> psutil.Process | None:
    """The same below one of two schedulers."""
    scheduler = stack.supervisor.pid(component)
    with suppress(psutil.Error):
        for process in psutil.Process(scheduler).children(recursive=True) if scheduler else ():
            with suppress(psutil.Error):
                if f"airflow worker -- {task_instance_id}" in " ".join(process.cmdline()):
                    return process
    return None


def kill_component(stack: Stack, name: str) -> None:
    """SIGKILL one of Airflow's components with everything that it forked, and wait until it is gone."""
    pid = stack.supervisor.pid(name)
    assert pid is not None, f"{name} does not run"
    with suppress(psutil.Error):
        # A child in its own process group would continue: a triggerer's gate, a scheduler's task.
        children = psutil.Process(pid).children(recursive=True)
        os.killpg(os.getpgid(pid), signal.SIGKILL)
        for child in children:
            with suppress(psutil.Error):
                child.kill()
    until(lambda: stack.supervisor.pid(name) is None, _GONE_S, f"{name} is gone")


def kill_main_process(stack: Stack, name: str) -> None:
    """SIGKILL a component's main process alone, as a kernel out of memory does: its child processes continue."""
    pid = stack.supervisor.pid(name)
    assert pid is not None, f"{name} does not run"
    os.kill(pid, signal.SIGKILL)
    until(lambda: stack.supervisor.pid(name) is None, _GONE_S, f"{name} is gone")


def start_component(stack: Stack, name: str) -> None:
    """Start a component again and wait until all of Airflow is healthy."""
    stack.supervisor.start(name)
    wait_healthy(stack.lab, stack.supervisor)


def stopping(stack: Stack, *names: str) -> str | None:
    """The first of these instances that is stopping and has not ended yet."""
    return next((name for name in names if stack.supervisor.process(name)["state"] == _STOPPING), None)
