"""An answer, and what of it is believed."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.providers.standard.operators.hitl import ApprovalOperator
from kstreams_runbooks.steps.approval.approve import ApprovePlan, approve
from kstreams_runbooks.steps.run.ending import BEGUN
from kstreams_runbooks.steps.run.notify import page_of
from kstreams_runbooks.steps.run.run import Run, now_ms
from world.samples import card, declared, reading


@pytest.fixture
def asked_again(run: Run, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """One entry for each time that the question is asked again."""
    asked: list[str] = []

    @contextmanager
    def reported(*_: object) -> Iterator[Run]:
        yield run

    monkeypatch.setattr("kstreams_runbooks.steps.approval.asking.reported", reported)
    monkeypatch.setattr(ApprovePlan, "ask", lambda *_: asked.append("again"))
    monkeypatch.setattr(Run, "limit", lambda *_: 8.0)
    vars(run)["declared"] = declared()
    return asked


def answer(params: Any) -> None:
    """The approver says yes, with these fields."""
    event = {
        "chosen_options": ["Approve"],
        "params_input": params,
        "responded_at": datetime.now(UTC),
        "responded_by_user": {"id": "7", "name": "approver"},
    }
    approve("approve_plan", bounce=1).execute_complete({}, event)


@pytest.mark.parametrize("params", [None, {}, {"emergency_reason": None}, {"emergency_reason": " "}])
def test_an_answer_without_a_reason_counts(run: Run, asked_again: list[str], params: Any) -> None:
    """The form sends its field, the API need not."""
    answer(params)
    assert asked_again == []
    (given,) = run.ledger.approvals(run.key)
    assert (given.by, given.emergency_reason) == ("approver", None)


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"emergency_reason": 7}, "asked again: the emergency reason has to be text, not 7"),
        ({"emergency": "x"}, "asked again: the answer has a field 'emergency', the form has only emergency_reason"),
        ({"emergency_reason": "x", "target": "4.3.1"}, "asked again: the answer has a field 'target', the form has on"),
    ],
)
def test_an_answer_that_does_not_fit_the_form_is_asked_again(
    run: Run, asked_again: list[str], caplog: pytest.LogCaptureFixture, params: Any, sentence: str
) -> None:
    """Airflow's API takes any JSON: one sentence, no traceback, no approval."""
    caplog.set_level("INFO")
    answer(params)
    assert asked_again == ["again"]
    assert run.ledger.approvals(run.key) == ()
    assert sentence in caplog.text


def test_the_link_leads_to_the_run_where_airflow_knows_its_address(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not a link to nowhere where it does not."""
    monkeypatch.setenv("AIRFLOW__API__BASE_URL", "https://airflow.example/team/")
    assert page_of(run) == "https://airflow.example/team/dags/library_bump/runs/r"
    assert page_of(run, "approve_plan").endswith("/runs/r/tasks/approve_plan/required_actions")
    monkeypatch.delenv("AIRFLOW__API__BASE_URL")
    assert page_of(run) == ""


def test_the_log_has_the_text_as_it_is_each_time_it_is_asked(
    run: Run, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Airflow goes on showing the first one: what stands after half a bounce is only in the log."""
    monkeypatch.setattr(Run, "limit", lambda *_: 8.0)
    monkeypatch.setattr(Run, "read", lambda _: reading())
    monkeypatch.setattr(ApprovalOperator, "execute", lambda *_: None)
    vars(run)["declared"] = declared()
    vars(run)["application"] = SimpleNamespace(declared=lambda: declared(limits=(("max_lag", 500.0),)))
    caplog.set_level("INFO")
    question = approve("approve_plan", bounce=1)
    question.ask(run, {})
    assert "[orders @ demo] Reject means: nothing is changed; the run ends failed" in caplog.messages
    assert "[orders @ demo] Other limits than the fleet's: max_lag 1,000 (the fleet entry has 500)" in caplog.messages
    run.ledger.write_card(card(run_key=run.key))
    question.ask(run, {})
    assert caplog.messages[-5].startswith(
        "[orders @ demo] Reject means: nothing more is changed, the changes so far stay"
    )


@pytest.fixture
def asks(run: Run, monkeypatch: pytest.MonkeyPatch) -> ApprovePlan:
    """A question of the run that is put to Airflow without Airflow."""
    vars(run)["declared"] = declared()
    monkeypatch.setattr(Run, "limit", lambda *_: 8.0)
    monkeypatch.setattr(ApprovePlan, "text", lambda *_: "Approve it?")
    monkeypatch.setattr(ApprovalOperator, "execute", lambda *_: None)
    return approve("approve_plan", bounce=1)


def test_a_run_that_asks_lets_others_change_something(run: Run, asks: ApprovePlan) -> None:
    """It keeps what it holds."""
    run.ledger.take_hold(run.key, ("application:demo:orders",), "demo", 1, 1, lambda _: False)
    assert [hold.changing for hold in run.ledger.holds()] == [True]
    asks.ask(run, {})
    assert [hold.changing for hold in run.ledger.holds()] == [False]


@pytest.mark.parametrize(("left_h", "waits_h"), [(20.0, 8.0), (3.0, 3.0 - 1 / 6), (0.0, 1 / 60)])
def test_a_question_waits_no_longer_than_its_run(run: Run, asks: ApprovePlan, left_h: float, waits_h: float) -> None:
    """Ten minutes are left for `conclude`; at its end a run still asks for a minute."""
    run.keep("note", BEGUN, {"what": "asks", "run_ends_ms": now_ms() + int(left_h * 3_600_000)})
    asks.ask(run, {})
    assert asks.response_timeout is not None
    assert asks.response_timeout.total_seconds() == pytest.approx(waits_h * 3600, abs=30)
