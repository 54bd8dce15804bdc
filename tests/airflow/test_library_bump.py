"""The library bump on a real cluster, driven by a real Airflow as a person drives it."""

import subprocess
import time

import pytest
from lab import report
from lab.afresh import afresh
from lab.airflow import APPROVER
from lab.application import Deployed
from lab.judge import judged
from lab.stack import Stack
from world.endings import COMPLETED, DRY_RUN, NOTHING_CHANGED, STOPPED, begun, ended
from world.given import Orders, declared_as
from world.runs import command, finished, log_of, states, told, trigger


def test_approve_twice_and_two_bounces_under_traffic_lose_nothing(orders: Orders) -> None:
    """3.4.1 to 4.3.1 with upgrade.from, then without: every instance in both, and the judge is at zero."""
    stack = orders.stack
    stack.start_traffic()
    time.sleep(5)
    logs = {name: stack.lab.logs / f"{name}.log" for name in ("orders-1", "orders-2")}
    before = {name: len(log.read_text(encoding="utf-8")) for name, log in logs.items()}
    with declared_as(stack, limits={"bake_s": 3}):
        trial = begun(stack)
        assert finished(stack, trial.run_id) == "success"
    judgement = judged(stack)
    assert (judgement.code, judgement.faults()) == (0, {})
    document = ended(
        trial,
        state="success",
        outcome=COMPLETED,
        restarted=((1, "orders-1"), (1, "orders-2"), (2, "orders-1"), (2, "orders-2")),
    )
    assert {approval["task_id"]: approval["by"] for approval in document["approvals"]} == {
        "approve_plan": APPROVER,
        "approve_bounce_2": APPROVER,
    }
    assert [card["misreads"] for card in document["cards"]] == [False, False, True, True]
    for name in ("orders-1", "orders-2"):
        log = logs[name].read_text(encoding="utf-8")
        starts = report.starts_in(log)
        assert [(start.version, start.upgrade_from) for start in starts] == [
            ("3.4.1", None),
            ("4.3.1", "3.4"),
            ("4.3.1", None),
        ]
        said = log[before[name] :]
        assert [line for line in said.splitlines() if report.COMPLAINT.search(line)] == []
    assert command(stack, "snapshot", "orders")[0] == 0


def test_a_second_bump_to_the_same_release_is_refused(orders: Orders) -> None:
    """After the test above everything runs the target: one sentence, nothing changed."""
    trial = begun(orders.stack)
    ended(trial, state="failed", outcome=NOTHING_CHANGED)
    assert "REFUSED, nothing was changed: target 4.3.1: every instance already runs" in log_of(
        orders.stack, trial.run_id, "plan"
    )


def test_a_dry_run_changes_nothing(stack: Stack) -> None:
    """With traffic stopped the snapshots before and after are equal to the byte, and nobody is asked."""
    afresh(stack, Deployed())
    stack.start_traffic()
    time.sleep(3)
    judged(stack)
    before = command(stack, "snapshot", "orders", "--quiesced")
    trial = begun(stack, dry_run=True)
    ended(trial, state="success", outcome=DRY_RUN)
    assert command(stack, "snapshot", "orders", "--quiesced") == before
    assert before[0] == 0
    assert set(states(stack, trial.run_id).values()) == {"success"}
    assert "would stop orders-1" in log_of(stack, trial.run_id, "bounce_1_first")


@pytest.mark.parametrize(
    ("conf", "task_id", "sentence"),
    [
        (
            {"target": "9.9.9"},
            "observe",
            "release 9.9.9: not declared for orders (declared 3.4.1, 3.9.1, 4.3.1, 4.3.1.1, 4.3.1.2, 4.4.0)",
        ),
        ({"target": "4.3"}, "observe", "release 4.3: not declared for orders (declared 3.4.1, 3.9.1, 4.3.1"),
        ({"application": "ordres"}, "observe", "application ordres: unknown; did you mean orders?"),
    ],
)
def test_bad_input_is_one_sentence_before_anything_is_changed(
    orders: Orders, conf: dict[str, str], task_id: str, sentence: str
) -> None:
    """Unknown release, unknown application with the nearest names; no library's warning is above the sentence."""
    stack = orders.stack
    run_id = trigger(stack, **conf)
    assert finished(stack, run_id) == "failed"
    assert sentence in stack.api().loud("library_bump", run_id, task_id)[0]
    log = log_of(stack, run_id, task_id)
    assert "REFUSED, nothing was changed" in log
    assert sentence in log
    assert "Traceback" not in log


@pytest.mark.long
def test_a_release_that_never_runs_costs_one_instance_and_tells_the_way_back(stack: Stack) -> None:
    """Only the canary is touched, one message has the way back, which works by hand, and nothing is lost."""
    afresh(stack, Deployed())
    stack.start_traffic()
    base = stack.lab.instances / "orders-1" / "base.properties"
    whole = base.read_text(encoding="latin-1")
    base.write_text(whole + "fail.at.start=true\n", encoding="latin-1")
    try:
        trial = begun(stack)
        assert finished(stack, trial.run_id) == "failed"
    finally:
        base.write_text(whole, encoding="latin-1")
    document = ended(trial, state="failed", outcome=STOPPED, restarted=((1, "orders-1"),))
    assert "although its process lives" in log_of(stack, trial.run_id, "bounce_1_first")
    conclusion = log_of(stack, trial.run_id, "conclude")
    by_hand = document["cards"][-1]["facts"]["by_hand"]
    assert all(line in conclusion for line in by_hand)
    assert any(line.startswith("rm -rf") for line in by_hand), "the state of 4.3 cannot be opened by 3.4"
    messages = told(stack, trial.run_id)
    assert [message["kind"] for message in messages] == ["needs_you", "stopped_with_undo"]
    assert "undo 1: set orders-1 back to 3.4.1" in messages[-1]["body"]
    assert len(messages[-1]["body"].splitlines()) <= 15
    for line in by_hand:
        done = subprocess.run(["bash", "-c", line], env=_with_supervisorctl(stack), check=False, capture_output=True)
        assert done.returncode == 0, (line, done.stdout, done.stderr)
    assert (judged(stack)).faults() == {}
    assert [start.version for start in report.starts_in((stack.lab.logs / "orders-2.log").read_text())] == ["3.4.1"]


def _with_supervisorctl(stack: Stack) -> dict[str, str]:
    environment = stack.environment()
    return environment | {"PATH": f"{stack.lab.python.parent}:{environment['PATH']}"}
