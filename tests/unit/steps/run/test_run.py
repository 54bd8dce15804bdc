"""When a run tells somebody, and what it leaves with Airflow: on a real ledger, with a file notifier."""

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.providers.standard.operators.hitl import HITLOperator
from kstreams_runbooks.decide.instances.verification import change_verified
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.runs.ledger import Approval
from kstreams_runbooks.model.runs.resources import HeldResource
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.steps.approval.approve import approve
from kstreams_runbooks.steps.approval.holds import notify_of_long_holds
from kstreams_runbooks.steps.conclude import conclude
from kstreams_runbooks.steps.run.ending import BEGUN, StepFailed
from kstreams_runbooks.steps.run.run import Run, now_ms
from world.samples import STEP, card, declared, instance, reading

Told = Callable[[], list[dict[str, Any]]]
GOING = {"dag_run": {"dag_id": "library_bump", "dag_run_id": "r", "state": "running"}}


def concluded(monkeypatch: pytest.MonkeyPatch, run: Run, code: int) -> dict[str, Any]:
    """What `conclude` leaves with Airflow when it ends with this exit code."""
    left: dict[str, Any] = {}
    step = replace(run, task_id="conclude")
    vars(step)["application"] = run.application
    monkeypatch.setattr(Run, "begin", lambda _: step)
    monkeypatch.setattr(Run, "read", lambda _: reading(instance("orders-1"), instance("orders-2")))
    context = {"ti": SimpleNamespace(xcom_push=left.__setitem__), "params": {}}
    monkeypatch.setattr("kstreams_runbooks.steps.conclude.get_current_context", lambda: context)
    if code:
        with pytest.raises(StepFailed) as failed:
            conclude.function()
        assert failed.value.code == code
    else:
        conclude.function()
    return left


def failure(run: Run, name: str, sentence: str, code: int = 1) -> None:
    run.keep("note", BEGUN, STEP)
    run.keep("failure", name, {"sentence": sentence, "exit_code": code})


def test_a_question_is_told_when_it_is_asked(run: Run, told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once, although it is asked again when the wrong person answers; the link leads to where it is answered."""
    monkeypatch.setenv("AIRFLOW__API__BASE_URL", "https://airflow.example")
    monkeypatch.setattr(Run, "limit", lambda *_: 8.0)
    monkeypatch.setattr(Run, "read", lambda _: reading())
    monkeypatch.setattr(HITLOperator, "execute", lambda *_: None)
    vars(run)["declared"] = declared()
    question = approve("approve_plan", bounce=1)
    question.ask(run, {})
    question.ask(run, {})
    (only,) = told()
    assert only["subject"] == "[orders @ demo] needs you: approve library bump to 4.3.1"
    assert only["link"] == "https://airflow.example/dags/library_bump/runs/r/tasks/approve_plan/required_actions"
    assert len(only["body"].splitlines()) <= 15
    assert "may approve: approver, admin" in only["body"]
    assert "Reject means: nothing is changed" in only["body"]
    assert only["deadline_ms"] > now_ms() + 7 * 3_600_000


def test_an_emergency_is_told_at_once(run: Run, told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second pair of eyes learns that it was left out."""
    monkeypatch.setattr(Run, "limit", lambda *_: 8.0)
    question = approve("approve_plan", bounce=1)
    question.accept(run, ["Approve"], "approver", None)
    assert told() == []
    question.accept(run, ["Approve"], "admin", "nobody else awake")
    (only,) = told()
    assert "to look: admin approved in an emergency" in only["subject"]
    assert "nobody else awake" in only["body"]


def test_a_stopped_run_tells_the_way_back_and_nothing_else(
    run: Run, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the step was killed and could say nothing itself; the emergency stands in it."""
    run.ledger.approve(Approval(run.key, "approve_plan", "d", "admin", now_ms(), now_ms(), "nobody else awake"))
    run.keep("note", BEGUN, STEP)
    run.ledger.write_card(card(run_key=run.key, facts={"by_hand": ["supervisorctl restart orders-1"]}))
    run.ledger.mark_written(run.key, now_ms())
    left = concluded(monkeypatch, run, 1)
    (only,) = told()
    assert only["kind"] == "stopped_with_undo"
    assert "bounce_1_first began and gave no answer" in only["body"]
    assert "undo 1: orders-1 back to 3.4.1 (one restart)\n    supervisorctl restart orders-1" in only["body"]
    assert "approve_plan was approved by admin in an emergency: nobody else awake" in only["body"]
    assert only["command"] == "kstreams-runbooks clear r bounce_1_first"
    assert left["return_value"]["next"] == [
        "GO ON: clear bounce_1_first and what follows it, which starts again what is down:",
        "    kstreams-runbooks clear r bounce_1_first",
        "GO BACK: undo this run, first as a dry run:",
        "    kstreams-runbooks trigger undo r",
    ]
    assert left["return_value"]["manually"] == [
        "MANUALLY, the last change first:",
        "undo 1: orders-1 back to 3.4.1 (one restart)",
        "    supervisorctl restart orders-1",
    ]
    assert (left["return_value"]["outcome"], left["return_value"]["changed"]) == ("stopped, changed", True)
    assert left["return_value"]["exit_code"] == 1


@pytest.mark.parametrize(
    ("outcome", "level"), [("completed", "INFO"), ("inconclusive", "WARNING"), ("stopped, changed", "ERROR")]
)
def test_an_outcome_is_as_loud_as_it_is_bad(
    run: Run, told: Told, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, outcome: str, level: str
) -> None:
    """With its next action: a log that shows warnings alone has both."""
    run.ledger.write_card(card(run_key=run.key))
    if outcome == "completed":
        run.keep("verdict", change_verified.__name__, {"result": encode(Verdict(Outcome.PROCEED, ("as planned",)))})
    else:
        run.keep("note", BEGUN, STEP)
    if outcome == "inconclusive":
        failure(run, "Inconclusive", "no metrics", 3)
    with caplog.at_level("INFO", logger="kstreams_runbooks.run"):
        concluded(monkeypatch, run, {"completed": 0, "inconclusive": 3}.get(outcome, 1))
    assert len(told()) == 1
    said = {one.message.partition("] ")[2]: one.levelname for one in caplog.records}
    [ended] = [name for line, name in said.items() if line.startswith(outcome.upper())]
    [back] = [name for line, name in said.items() if line.startswith("GO BACK")]
    assert (ended, back) == (level, level)


def test_drift_is_told_as_drift(run: Run, told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the command that makes a new plan."""
    failure(run, "Drifted", "orders-1 is not touched: topic orders has another id")
    left = concluded(monkeypatch, run, 1)
    (only,) = told()
    assert only["kind"] == "drifted_while_waiting"
    assert "topic orders has another id" in only["body"]
    assert only["command"].startswith("kstreams-runbooks trigger library_bump --application orders")
    assert left["return_value"] == {
        "outcome": "refused or rejected, nothing changed",
        "sentence": "orders-1 is not touched: topic orders has another id",
        "exit_code": 1,
        "head": run.ledger.entries(run.key)[-1].hash,
        "next": [
            "GO ON: start a new run (this one cannot go on):",
            "    kstreams-runbooks trigger library_bump --application orders --execute",
            "GO BACK: not needed, nothing is left to take back",
        ],
        "manually": [],
        "changed": False,
    }
    assert f"Evidence head: {left['return_value']['head']}" in only["body"]


def test_a_drift_that_was_cleared_is_not_how_the_run_ended(
    run: Run, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ran again and failed at something else."""
    failure(run, "Drifted", "topic orders has another id")
    failure(run, "Inconclusive", "no metrics", 3)
    left = concluded(monkeypatch, run, 3)
    assert [one["kind"] for one in told()] == ["concluded"]
    assert left["return_value"]["exit_code"] == 3


def test_a_completed_run_is_told_and_leaves_zero(run: Run, told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    """It names its undo, and nothing that is done by hand."""
    run.ledger.write_card(card(run_key=run.key))
    run.keep("verdict", change_verified.__name__, {"result": encode(Verdict(Outcome.PROCEED, ("as planned",)))})
    left = concluded(monkeypatch, run, 0)
    (only,) = told()
    assert only["subject"] == "[orders @ demo] concluded: library_bump completed"
    back = ["GO BACK: undo this run, first as a dry run:", "    kstreams-runbooks trigger undo r"]
    assert "\n".join(back) in only["body"]
    assert "undo 1" not in only["body"]
    head = run.ledger.entries(run.key)[-1].hash
    assert left["return_value"] == {
        "outcome": "completed",
        "sentence": "as planned",
        "exit_code": 0,
        "head": head,
        "next": back,
        "manually": [],
        "changed": True,
    }


ORDERS = (HeldResource("application", "demo", "orders"),)


def hold(run: Run) -> None:
    resources = ("application:demo:orders",)
    run.ledger.take_hold(run.key, resources, "demo", 1, now_ms() - 18_000_000, is_finished=lambda _: False)


@pytest.fixture
def waiting(run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Another run of the same cluster, that was refused for what `run` holds."""
    other = replace(run.record, run_key="undo/other", dag_id="undo", run_id="other")
    run.ledger.start_run(other)

    def again(*_: object) -> Run:
        step = replace(run, task_id="held_too_long")
        vars(step)["application"] = run.application
        return step

    monkeypatch.setattr(Run, "again", again)
    return replace(run, record=other)


def test_who_holds_for_too_long_is_told_once(run: Run, waiting: Run, told: Told) -> None:
    """With its age, the limit, and the step at which it stands, however often it is waited for."""
    hold(run)
    run.keep("note", BEGUN, STEP)
    notify_of_long_holds(waiting, ORDERS, of_cluster=True)
    notify_of_long_holds(waiting, ORDERS, of_cluster=True)
    (only,) = told()
    assert only["kind"] == "held_too_long"
    assert "Held: application orders since" in only["body"]
    assert "5.0 h (limit held_too_long_h 4)" in only["body"]
    assert "Step: bounce_1_first" in only["body"]


def test_a_run_that_is_not_in_the_way_is_not_told(run: Run, waiting: Run, told: Told) -> None:
    """It holds what nobody wants, and waits; once it changes something it keeps the whole cluster."""
    other, at_ms = (HeldResource("topic", "demo", "orders"),), now_ms() - 18_000_000
    held = ("application:demo:orders", "route:demo:to-orders")
    run.ledger.take_hold(run.key, held, "demo", 1, at_ms, is_finished=lambda _: False, changes=False)
    notify_of_long_holds(waiting, other, of_cluster=True)
    notify_of_long_holds(waiting, ORDERS, of_cluster=False)
    (only,) = told()
    assert "Held: application orders, route to-orders since" in only["body"]
    assert "no other run can change them meanwhile" in only["body"]


def test_a_run_that_keeps_nobody_waiting_for_long_is_not_told(run: Run, waiting: Run, told: Told) -> None:
    """It holds nothing, it is the one that asks, or it has held for less than the limit."""
    notify_of_long_holds(waiting, ORDERS, of_cluster=True)
    hold(run)
    notify_of_long_holds(run, ORDERS, of_cluster=True)
    run.ledger.release_holds(run.key)
    run.ledger.take_hold(run.key, ("application:demo:orders",), "demo", 1, now_ms(), is_finished=lambda _: False)
    notify_of_long_holds(waiting, ORDERS, of_cluster=True)
    assert told() == []
