"""`trigger` and `runs` as a CI uses them: a real Airflow, a real application, only REST between them."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from lab.afresh import afresh
from lab.airflow import APPROVER
from lab.application import Deployed
from lab.stack import Stack
from lab.supervise import until
from world.runs import DAG, command, question

_ASKED = ("--application", "orders", "--target", "4.3.1", "--format", "json")


@pytest.fixture(scope="module")
def fresh(stack: Stack) -> Stack:
    """Two instances on the old release that nobody has touched."""
    afresh(stack, Deployed())
    return stack


@contextmanager
def triggered(stack: Stack, run_id: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A trigger command that waits, while the body runs."""
    with _stderr(stack, run_id).open("w", encoding="utf-8") as stderr:
        process = subprocess.Popen(
            [str(stack.lab.command), "trigger", DAG, *_ASKED, "--run-id", run_id, "--wait", *arguments],
            env=stack.environment(),
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        )
    try:
        until(lambda: _there(stack, run_id), 60, f"{run_id} is triggered")
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def said_waits(stack: Stack, run_id: str) -> list[str]:
    """What the command has said of the approval so far."""
    lines = _stderr(stack, run_id).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.startswith("waits for approve_plan")]


def _stderr(stack: Stack, run_id: str) -> Path:
    return stack.lab.run_dir / f"{run_id}.stderr"


def _there(stack: Stack, run_id: str) -> bool:
    return any(run["run_id"] == run_id for run in open_runs(stack))


def test_a_dry_run_exits_with_zero(fresh: Stack) -> None:
    """With its outcome as a document; the id says of which application it is."""
    code, text = command(fresh, "trigger", DAG, *_ASKED, "--wait", "--timeout", "110")
    document = json.loads(text)
    assert (code, document["exit_code"], document["outcome"]) == (0, 0, "dry run")
    assert document["run"]["run_id"].startswith("orders.library_bump.")


def test_a_refusal_exits_with_one_and_its_sentence(fresh: Stack) -> None:
    """A release that the application does not declare; the run failed, its outcome is there all the same."""
    arguments = ("--application", "orders", "--target", "9.9.9", "--format", "json", "--wait", "--timeout", "110")
    code, text = command(fresh, "trigger", DAG, *arguments)
    document = json.loads(text)
    assert code == 1
    assert document["outcome"] == "refused or rejected, nothing changed"
    assert "release 9.9.9: not declared for orders" in document["sentence"]


def test_a_wait_says_who_has_to_approve_and_goes_on(fresh: Stack) -> None:
    """Meanwhile `runs --open` lists it; rejected, the command exits with 1."""
    with triggered(fresh, "ci-waits", "--execute") as process:
        question(fresh, "ci-waits")
        (run,) = open_runs(fresh)
        assert (run["run_id"], run["at"], run["dry_run"]) == ("ci-waits", ["approve_plan"], False)
        (asked,) = run["waits_for"]
        assert (asked["task"], asked["may_answer"]) == ("approve_plan", "approver, admin")
        until(lambda: bool(said_waits(fresh, "ci-waits")), 30, "the command has seen the question")
        fresh.api(APPROVER).answer(DAG, "ci-waits", "approve_plan", "Reject")
        out, _ = process.communicate(timeout=120)
    document = json.loads(out)
    assert process.returncode == document["exit_code"] == 1
    assert "rejected by approver" in document["sentence"]
    (only,) = said_waits(fresh, "ci-waits")
    assert "may answer: approver, admin; until 20" in only
    assert f"{fresh.lab.airflow_url}/dags/{DAG}/runs/ci-waits/tasks/approve_plan/required_actions" in only
    assert open_runs(fresh) == []


@pytest.mark.long
def test_a_wait_that_is_over_first_leaves_the_run_alone(fresh: Stack) -> None:
    """A person is needed: exit code 1, and the approval still waits."""
    with triggered(fresh, "ci-late", "--execute", "--timeout", "15") as process:
        out, _ = process.communicate(timeout=120)
    document = json.loads(out)
    assert (process.returncode, document["outcome"], document["state"]) == (1, None, "running")
    assert "waits for approve_plan" in document["sentence"]
    question(fresh, "ci-late")
    fresh.api(APPROVER).answer(DAG, "ci-late", "approve_plan", "Reject")
    assert fresh.api().wait_finished(DAG, "ci-late", 120) == "failed"


def test_an_id_is_triggered_once(fresh: Stack) -> None:
    """A CI job that runs again is told, and changes nothing."""
    assert command(fresh, "trigger", DAG, *_ASKED, "--run-id", "ci-once")[0] == 0
    assert command(fresh, "trigger", DAG, *_ASKED, "--run-id", "ci-once")[0] == 2
    assert fresh.api().wait_finished(DAG, "ci-once", 180) == "success"


def open_runs(stack: Stack) -> list[dict[str, Any]]:
    """What `runs --open` lists."""
    code, text = command(stack, "runs", "--open", "--format", "json")
    assert code == 0
    runs: list[dict[str, Any]] = json.loads(text)["runs"]
    return runs
