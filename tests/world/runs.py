"""Starts and reads runs of the library bump for tests."""

import json
import subprocess
import time
from contextlib import suppress
from functools import partial
from typing import Any

from click.testing import CliRunner
from kstreams_runbooks.cli import cli
from kstreams_runbooks.errors import Refused, Unreachable
from lab.airflow import APPROVER, OTHER_APPROVER, REQUESTER, heard_end
from lab.application import TO_RELEASE
from lab.follow import READING_S, follow
from lab.stack import Stack
from lab.supervise import until

DAG = "library_bump"
_POLL_S = 0.3


# The runbook of each run that was triggered here: a run id is then enough to name a run.
_DAG_OF: dict[str, str] = {}


def trigger(stack: Stack, **conf: Any) -> str:
    """Trigger a bump of the orders application as the person on call."""
    return trigger_other(stack, DAG, **{"target": TO_RELEASE, **conf})


def trigger_other(stack: Stack, dag_id: str, **conf: Any) -> str:
    """Trigger any runbook for the orders application as the person on call."""
    run_id = f"test-{time.time_ns()}"
    _DAG_OF[run_id] = dag_id
    conf = {"application": "orders", "dry_run": False, "reason": "test", **conf}
    return stack.api(REQUESTER).trigger(dag_id, conf, run_id)


def dag_of(run_id: str) -> str:
    """The runbook of a run."""
    return _DAG_OF.get(run_id, DAG)


def finished(stack: Stack, run_id: str, approver: str = APPROVER) -> str:
    """The state in which the run ended, everything approved."""
    heard = partial(heard_end, stack.lab, run_id=run_id)
    return follow(stack.api(), dag_of(run_id), run_id, approver=stack.api(approver), at_once=heard, poll_s=_POLL_S)


def command(stack: Stack, *arguments: str) -> tuple[int, str]:
    """Exit code and stdout of the terminal command."""
    done = subprocess.run(
        [str(stack.lab.command), *arguments],
        env=stack.environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout


def evidence(stack: Stack, run_id: str) -> dict[str, Any]:
    """The evidence of a run, decided again by the command itself, in this process because every test needs it."""
    asked = ["evidence", run_id, "--format", "json", "--recheck"]
    said = CliRunner().invoke(cli, asked, env=stack.environment())
    assert said.exit_code == 0, (said.output[-2000:], said.exception)
    return dict(json.loads(said.stdout))


def states(stack: Stack, run_id: str) -> dict[str, str]:
    """State of every task."""
    return {name: str(task["state"]) for name, task in stack.api().tasks(dag_of(run_id), run_id).items()}


def log_of(stack: Stack, run_id: str, task_id: str, try_number: int = 1) -> str:
    """A task's log of one try."""
    return "\n".join(stack.api().log(dag_of(run_id), run_id, task_id, try_number))


def approve(stack: Stack, run_id: str, task_id: str) -> None:
    """Approve a run's question, as a person who may."""
    question(stack, run_id)
    stack.api(APPROVER).answer(dag_of(run_id), run_id, task_id)


def approved_by_both(stack: Stack, dag_id: str, run_id: str, task_id: str) -> None:
    """One approver of each team answers; the question is asked again in between."""
    for login in (APPROVER, OTHER_APPROVER):
        question(stack, run_id)
        stack.api(login).answer(dag_id, run_id, task_id)


def mark_task(stack: Stack, run_id: str, task_id: str, state: str) -> None:
    """Mark success or Mark failed on a task, as a person does in the UI."""
    stack.api().call("PATCH", f"/dags/{dag_of(run_id)}/dagRuns/{run_id}/taskInstances/{task_id}", {"new_state": state})


def mark_run(stack: Stack, run_id: str, state: str) -> None:
    """The same on the whole run, until the state stays: the scheduler may write its older state of the run."""
    api, path = stack.api(), f"/dags/{dag_of(run_id)}/dagRuns/{run_id}"
    looks: list[str] = []

    def stays() -> bool:
        looks.append(api.run(dag_of(run_id), run_id)["state"])
        if looks[-1] != state:
            api.call("PATCH", path, {"state": state})
        return looks[-2:] == [state] * 2

    until(stays, 30, f"{run_id} stays {state}", poll_s=1)


def reached(stack: Stack, run_id: str, task_id: str, state: str, limit_s: float = 120) -> None:
    """Return when a task is in a state; Refused as soon as it ended in another."""

    def there() -> bool:
        now = states(stack, run_id)[task_id]
        if now != state and now in {"success", "failed", "upstream_failed"} and state in {"success", "failed"}:
            raise Refused(f"{task_id} of {run_id} is {now} (expected {state}): {states(stack, run_id)}")
        return now == state

    until(there, limit_s, f"{task_id} of {run_id} is {state}", poll_s=0.25)


def failed(stack: Stack, run_id: str, limit_s: float = 120) -> None:
    """Return when a run has failed as a whole: Airflow's scheduler may not survive a clear before that."""
    until(lambda: stack.api().run(dag_of(run_id), run_id)["state"] == "failed", limit_s, f"{run_id} failed", poll_s=0.5)


def question(stack: Stack, run_id: str, containing: str = "") -> dict[str, Any]:
    """The open question, once Airflow has deferred its task: faster answers are lost (`heard_end`)."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        for pending in stack.api().pending(dag_of(run_id), run_id):
            if containing in pending["body"]:
                heard = partial(heard_end, stack.lab, pending["task_instance"]["task_id"], run_id)
                with suppress(Unreachable):
                    until(heard, READING_S, "the question is parked")
                return pending
        if stack.api().run(dag_of(run_id), run_id)["state"] == "failed":
            raise Refused(f"run {run_id} failed before it asked: {states(stack, run_id)}")
        time.sleep(_POLL_S)
    raise AssertionError(f"no question of {run_id} with {containing!r}: {states(stack, run_id)}")


def told(stack: Stack, run_id: str) -> list[dict[str, Any]]:
    """All notifications about a run, in order."""
    file = stack.lab.run_dir / "notifications.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return [message for message in map(json.loads, lines) if message["run_id"] == run_id]
