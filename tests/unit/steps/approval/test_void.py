"""A plan that became void while its run waited: every later write refuses, and the end is told as an end."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.runs import message
from kstreams_runbooks.errors import Drifted, WriteRefused
from kstreams_runbooks.model.runs.ledger import Approval
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.steps.approval.authorize import authorize
from kstreams_runbooks.steps.approval.void import void_plan, voided
from kstreams_runbooks.steps.run.notify import notify
from kstreams_runbooks.steps.run.run import Run, now_ms

WHY = ("topic orders: recreated (id b, in the plan a); its records are lost",)


def approve(run: Run, plan: Plan) -> None:
    """An approval that holds."""
    run.ledger.approve(Approval(run.key, "approve_plan", plan.digest, "approver", now_ms(), now_ms() + 60_000))


def test_a_void_plan_refuses_every_write_with_the_command_for_a_new_run(run: Run, plan: Plan) -> None:
    """Also where its approval still holds."""
    approve(run, plan)
    void_plan(run, plan, WHY)
    with pytest.raises(Drifted) as caught:
        authorize(run, "approve_plan", ())
    assert f"bounce_1_first: plan {plan.digest} has been void since " in str(caught.value)
    assert f"no longer as planned: {WHY[0]}; look at that, then trigger a new run: kstreams-runbooks trigger" in str(
        caught.value
    )


def test_what_a_run_has_stopped_it_starts_again_all_the_same(run: Run, plan: Plan) -> None:
    """A void plan keeps nothing down: the guards look once more, and decide by what is there now."""
    void_plan(run, plan, WHY)
    with pytest.raises(WriteRefused, match="no approval of approve_plan in the ledger"):
        authorize(run, "approve_plan", (), going_on=True)


def test_another_plan_of_the_run_is_not_void(run: Run, plan: Plan) -> None:
    """Void is what was planned for a world that is gone."""
    void_plan(run, replace(plan, title="x", change=(("target", "9.9.9"),)), WHY)
    assert voided(run) is None
    void_plan(run, plan, WHY)
    found = voided(run)
    assert found is not None
    assert found.payload == {"digest": plan.digest, "reasons": list(WHY)}


def test_the_drift_is_told_once_for_each_plan(run: Run, plan: Plan, told: Callable[[], list[dict[str, Any]]]) -> None:
    """With what differs and the command for a new run."""
    for _ in range(2):
        notify(run, message.drifted, digest=plan.digest, reasons=WHY)
    (only,) = told()
    assert only["kind"] == "drifted_while_waiting"
    assert only["subject"] == "[orders @ demo] drifted while waiting: library_bump: its plan is void"
    assert only["body"].splitlines()[:2] == [
        WHY[0],
        f"Plan {plan.digest} of this run is void: its next step that would change anything refuses.",
    ]
    assert only["command"].startswith("kstreams-runbooks trigger library_bump --application orders")
