"""An answer, and what of it is believed."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.providers.standard.operators.hitl import HITLOperator
from kstreams_runbooks.errors import Drifted, Refused
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.runs.object_stages import DeleteTopics
from kstreams_runbooks.model.runs.question import WITH_REASON
from kstreams_runbooks.steps.approval.approve import ApprovePlan, approve
from kstreams_runbooks.steps.run.ending import BEGUN
from kstreams_runbooks.steps.run.notify import page_of
from kstreams_runbooks.steps.run.run import Run, now_ms
from world.samples import BOUNCE_1, NEW, card, declared, instance, reading


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


def answer(params: Any, option: str | list[str] = "Approve", *, bounce: int = 1, by: str = "approver") -> None:
    """The approver says yes, with these fields."""
    event = {
        "chosen_options": [option] if isinstance(option, str) else option,
        "params_input": params,
        "responded_at": datetime.now(UTC),
        "responded_by_user": {"id": "7", "name": by},
    }
    approve("approve_plan", bounce=bounce).execute_complete({}, event)


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
        ({"reason": 7}, "asked again: approver's answer did not count: the reason has to be text, not 7"),
        (
            {"emergency_reason": 7},
            "asked again: approver's answer did not count: the emergency reason has to be text, not 7",
        ),
        ({"emergency": "x"}, "did not count: the answer has a field 'emergency', the form has only reason and emerg"),
        ({"emergency_reason": "x", "target": "4.3.1"}, "did not count: the answer has a field 'target', the form"),
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


@pytest.mark.parametrize(
    ("chosen", "named"),
    [
        ([], "no choice"),
        (["Approve", "Reject"], "Approve and Reject"),
        (["Reject", "Approve"], "Reject and Approve"),
        (["Approve", "Approve"], "Approve and Approve"),
    ],
)
def test_an_answer_that_is_not_one_choice_approves_nothing(
    run: Run, asked_again: list[str], caplog: pytest.LogCaptureFixture, chosen: list[str], named: str
) -> None:
    """Airflow's API takes any number of the options."""
    caplog.set_level("INFO")
    answer(None, chosen)
    assert asked_again == ["again"]
    assert run.ledger.approvals(run.key) == ()
    assert f"asked again: approver's answer did not count: {named} (expected: Approve or Reject)" in caplog.text


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
    monkeypatch.setattr(HITLOperator, "execute", lambda *_: None)
    vars(run)["declared"] = declared()
    vars(run)["application"] = SimpleNamespace(declared=lambda: declared(limits=(("max_lag", 500.0),)))
    caplog.set_level("INFO")
    question = approve("approve_plan", bounce=1)
    question.ask(run, {})
    (means,) = (line for line in caplog.messages if line.startswith("[orders @ demo] Reject means: "))
    assert means == "[orders @ demo] Reject means: nothing is changed; the run ends failed"
    assert "[orders @ demo] Other limits than the fleet's: max_lag 1,000 (the fleet entry has 500)" in caplog.messages
    run.ledger.write_card(card(run_key=run.key))
    question.ask(run, {})
    _, means = (line for line in caplog.messages if line.startswith("[orders @ demo] Reject means: "))
    assert means.startswith("[orders @ demo] Reject means: nothing more is changed, the changes so far stay")


@pytest.fixture
def asks(run: Run, monkeypatch: pytest.MonkeyPatch) -> ApprovePlan:
    """A question of the run that is put to Airflow without Airflow."""
    vars(run)["declared"] = declared()
    monkeypatch.setattr(Run, "limit", lambda *_: 8.0)
    monkeypatch.setattr(ApprovePlan, "text", lambda *_: "Approve it?")
    monkeypatch.setattr(HITLOperator, "execute", lambda *_: None)
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


def test_a_reason_comes_with_any_answer_and_is_kept(run: Run, asked_again: list[str]) -> None:
    """Of a yes in the evidence, of a no in the outcome too."""
    answer({"reason": "seen in staging"})
    assert asked_again == []
    with pytest.raises(Refused, match=r"approve_plan: rejected by approver \(OPS-9 first\); settle that, then trigger"):
        answer({"reason": " OPS-9 first "}, "Reject")
    kept = run.ledger.evidence(run.key, kind="note", name=WITH_REASON)
    assert [one.payload["reason"] for one in kept] == ["seen in staging", "OPS-9 first"]
    with pytest.raises(Refused, match="rejected by approver; ask them why, then trigger a new run"):
        answer(None, "Reject")


def test_an_answer_that_does_not_count_is_told_again_with_that_first(
    run: Run, told: Callable[[], list[dict[str, Any]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Airflow shows a success to whoever clicked: the log and one more message say that nothing was approved."""
    monkeypatch.setattr(Run, "limit", lambda *_: 8.0)
    monkeypatch.setattr(Run, "read", lambda _: reading())
    monkeypatch.setattr(HITLOperator, "execute", lambda *_: None)
    vars(run)["declared"] = declared()
    vars(run)["application"].declared = declared
    question = approve("approve_plan", bounce=1)
    question.ask(run, {})
    for _ in range(2):
        question._again(run, {}, "oncall's answer did not count: oncall may not approve for orders")
    first, *again = [one["body"].splitlines()[0] for one in told()]
    assert first.startswith("Now: ")
    assert again == ["oncall's answer did not count: oncall may not approve for orders"] * 2


def test_airflow_gets_who_may_answer_if_every_approver_has_an_id(asks: ApprovePlan, run: Run) -> None:
    """It then refuses anyone else at the click; without one of the ids it lets anyone answer, and the step judges."""
    asks.ask(run, {})
    assert asks.assigned_users is None
    vars(run)["declared"] = declared(approver_ids=(("approver", "7"), ("admin", "1")))
    asks.ask(run, {})
    assert asks.assigned_users == [{"id": "7", "name": "approver"}, {"id": "1", "name": "admin"}]


def test_the_field_of_an_emergency_is_there_only_if_it_can_help(asks: ApprovePlan, run: Run) -> None:
    """Oncall asked and may not approve: no reason of theirs would count."""
    asks.ask(run, {})
    assert list(asks.params) == ["reason"]
    vars(run)["record"] = replace(run.record, requested_by="admin")
    asks.ask(run, {})
    assert list(asks.params) == ["reason", "emergency_reason"]


def test_the_point_of_no_return_has_named_choices_and_is_looked_at_again(
    run: Run, asked_again: list[str], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """What runs when the answer comes counts, not what ran when it was asked."""
    caplog.set_level("INFO")
    question = approve("approve_bounce_2", bounce=2)
    assert question.options == ["bounce 2: no way back", "stay on bounce 1"]
    assert question.asks(run) == "POINT OF NO RETURN: bounce 2: no way back or stay on bounce 1"
    done = [instance(name, release=NEW, settings=BOUNCE_1.settings) for name in ("orders-1", "orders-2")]
    monkeypatch.setattr(Run, "read", lambda *_, **__: reading(*done))
    answer(None, "bounce 2: no way back", bounce=2)
    assert [one.by for one in run.ledger.approvals(run.key)] == ["approver"]
    monkeypatch.setattr(Run, "read", lambda *_, **__: replace(reading(*done), group=Missing("timed out")))
    answer(None, "bounce 2: no way back", bounce=2)
    assert asked_again == ["again"]
    assert "approver's answer was not taken: " in caplog.text
    monkeypatch.setattr(Run, "read", lambda *_, **__: reading(done[0], instance("orders-2", release="3.9.1")))
    with pytest.raises(Drifted, match=r"approve_plan: since it was asked, orders-2 runs 3\.9\.1"):
        answer(None, "bounce 2: no way back", bounce=2)
    with pytest.raises(Refused, match="approve_plan: 'stay on bounce 1' chosen by approver; ask them why"):
        answer(None, "stay on bounce 1", bounce=2)
    assert len(run.ledger.approvals(run.key)) == 1


def deletes_for_good(run: Run) -> None:
    """The run's plan has the stage with which a reset deletes internal topics."""
    made = run.plan()
    made = replace(made, stages=(*made.stages, DeleteTopics(3, ("orders-counts-changelog",), at_rest=True)))
    vars(run).update(plan=lambda: made, whole_plan=lambda: made)


def test_a_plan_that_deletes_for_good_has_named_choices(run: Run, asks: ApprovePlan) -> None:
    """The DAG's file cannot know the plan: the choices are those of the question when it is asked."""
    asks.ask(run, {})
    assert (asks.options, asks.subject) == (["Approve", "Reject"], "[orders @ demo] approve library bump to 4.3.1")
    deletes_for_good(run)
    asks.ask(run, {})
    assert asks.options == ["delete: no way back", "delete nothing"]
    assert asks.subject == (
        "[orders @ demo] POINT OF NO RETURN: library bump to 4.3.1: delete: no way back or delete nothing"
    )


def test_the_named_way_on_approves(run: Run, asked_again: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the first option of the question."""
    deletes_for_good(run)
    monkeypatch.setattr(Run, "read", lambda *_, **__: reading())
    answer(None, "delete: no way back")
    assert (len(run.ledger.approvals(run.key)), asked_again) == (1, [])


def test_a_plan_that_deletes_for_good_is_looked_at_again_when_the_answer_comes(
    run: Run, asked_again: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is stopped; an instance that is not well is what a run of all of them at once may cure."""
    deletes_for_good(run)
    now = [reading(replace(instance("orders-1"), streams=Missing("timed out")), instance("orders-2"))]
    monkeypatch.setattr(Run, "read", lambda *_, **__: now[-1])
    answer(None, "delete: no way back")
    assert (len(run.ledger.approvals(run.key)), asked_again) == (1, [])
    now.append(replace(reading(), group=Missing("timed out")))
    answer(None, "delete: no way back")
    assert (len(run.ledger.approvals(run.key)), asked_again) == (1, ["again"])
    now.append(reading(instance("orders-1"), instance("orders-2", release="3.9.1")))
    with pytest.raises(Drifted, match=r"approve_plan: since it was asked, orders-2 runs 3\.9\.1"):
        answer(None, "delete: no way back")
    assert len(run.ledger.approvals(run.key)) == 1
    run.ledger.write_card(replace(card(run_key=run.key), stage=3))
    answer(None, "delete: no way back")
    assert len(run.ledger.approvals(run.key)) == 2, "what is deleted already has to go on"


@pytest.mark.usefixtures("asked_again")
def test_the_named_way_to_stop_ends_the_run(run: Run) -> None:
    """It is the last option of the question."""
    deletes_for_good(run)
    with pytest.raises(Refused, match="approve_plan: 'delete nothing' chosen by approver; ask them why"):
        answer(None, "delete nothing")
    assert run.ledger.approvals(run.key) == ()


@pytest.mark.parametrize("option", ["Reject", "Approve"])
@pytest.mark.usefixtures("asked_again")
def test_an_option_that_the_question_does_not_have_approves_nothing(run: Run, option: str) -> None:
    """A plan that deletes for good has options of its own."""
    deletes_for_good(run)
    with pytest.raises(ValueError, match=rf"{option}.* not in \['delete: no way back', 'delete nothing'\]"):
        answer(None, option)
    assert run.ledger.approvals(run.key) == ()
