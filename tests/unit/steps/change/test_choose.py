"""A choice, and what of it is believed."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from airflow.providers.standard.operators.hitl import HITLOperator
from kstreams_runbooks.decide.runs.choice import Choices
from kstreams_runbooks.errors import Refused
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.runs.ledger import RunRecord
from kstreams_runbooks.steps.change.choose import ChooseRunbook, choose_runbook
from kstreams_runbooks.steps.change.plan import CHOOSE, CHOSEN
from kstreams_runbooks.steps.run.run import Run, now_ms
from world.new_ledger import new_ledger
from world.samples import declared
from world.sides import AFTER, BEFORE

OFFERED = Choices(("library_bump",), ("store_migration is not a DAG yet: it is a manual procedure",))
NOTHING = Choices((), OFFERED.left_out)


def planned(tmp_path: Path, offered: Choices = OFFERED, *, dry_run: bool = False) -> Run:
    """A run with a plan that offers these."""
    ledger = new_ledger(tmp_path / "choose.db")
    record = RunRecord("plan_change/r", "plan_change", "r", "orders", "demo", "oncall", dry_run, "", {}, now_ms())
    run = Run(ledger.start_run(record), CHOOSE, 1, ledger)
    vars(run)["declared"] = declared()
    for side, one in (("before", BEFORE), ("after", AFTER)):
        run.keep("reading", side, one)
    finding = {"id": "library-changed", "severity": "warning", "object": "orders", "message": "two bounces"}
    document = {
        "verdict": "proceed",
        "first": [],
        "way_back": {"doors": [], "loses": False, "sentences": []},
        "runbooks": ["library_bump"],
        "reasons": [],
        "findings": [finding | {"covered_by": None}],
        "defects": [],
        "choices": encode(offered),
    }
    ledger.store_plan(run.key, "d1", document)
    return run


@pytest.fixture(autouse=True)
def limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers are waited for, and hold, for 8 h."""
    monkeypatch.setattr(Run, "limit", lambda *_: 8.0)


def of(run: Run, monkeypatch: pytest.MonkeyPatch) -> list[ChooseRunbook]:
    """Every question that this run asks, as the operator that asked it."""
    asked: list[ChooseRunbook] = []

    @contextmanager
    def reported(*_: object) -> Iterator[Run]:
        yield run

    monkeypatch.setattr("kstreams_runbooks.steps.approval.asking.reported", reported)
    monkeypatch.setattr(HITLOperator, "execute", lambda self, _: asked.append(self))
    return asked


def answer(option: str, by: str = "approver", params: Any = None) -> None:
    event = {
        "chosen_options": [option],
        "params_input": params,
        "responded_at": datetime.now(UTC),
        "responded_by_user": {"id": "7", "name": by},
    }
    choose_runbook().execute_complete({}, event)


def test_what_the_plan_offers_is_asked_of_whoever_may_approve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each runbook, and none; the text says what is started and how."""
    asked = of(planned(tmp_path), monkeypatch)
    choose_runbook().execute({})
    (question,) = asked
    assert question.options == ["library_bump", "none"]
    assert question.subject == "[orders @ demo] choose the runbook for 4.3.1"
    assert question.body is not None
    assert "**Risks:**\n- warning: orders: two bounces" in question.body
    assert "**may approve:** approver, admin" in question.body


@pytest.mark.parametrize(("offered", "dry_run"), [(OFFERED, True), (NOTHING, False)])
def test_nobody_is_asked_where_there_is_nothing_to_choose(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, offered: Choices, *, dry_run: bool
) -> None:
    """A dry run, or a procedure for a person."""
    asked = of(planned(tmp_path, offered, dry_run=dry_run), monkeypatch)
    choose_runbook().execute({})
    assert asked == []


@pytest.mark.parametrize("option", ["library_bump", "none"])
def test_a_choice_is_kept_for_the_plan_that_was_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    """With who made it: the step that starts it asks the ledger."""
    run = planned(tmp_path)
    asked = of(run, monkeypatch)
    answer(option)
    assert asked == []
    (kept,) = run.ledger.evidence(run.key, kind="note", name=CHOSEN)
    assert kept.payload == {"runbook": option, "by": "approver", "digest": "d1"}
    (approval,) = run.ledger.approvals(run.key)
    assert (approval.task_id, approval.digest, approval.by) == (CHOOSE, "d1", "approver")


@pytest.mark.parametrize(
    ("by", "params"), [("oncall", None), ("somebody", None), ("approver", {"runbook": "undo"}), ("approver", "yes")]
)
def test_an_answer_that_does_not_count_is_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: str, params: Any
) -> None:
    """The requester's own, of nobody who may, with fields that the form does not have."""
    run = planned(tmp_path)
    asked = of(run, monkeypatch)
    answer("library_bump", by, params)
    assert len(asked) == 1
    assert run.ledger.approvals(run.key) == ()


def test_an_option_that_was_not_offered_is_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Airflow refuses it before; so does the step."""
    of(planned(tmp_path), monkeypatch)
    with pytest.raises(ValueError, match="undo"):
        answer("undo")


def test_an_answer_that_never_comes_ends_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is never taken for a yes."""
    of(planned(tmp_path), monkeypatch)
    with pytest.raises(Refused, match="choose_runbook: no answer within 8 h; trigger a new run"):
        choose_runbook().execute_complete({}, {"error": "timed out", "error_type": "timeout"})
