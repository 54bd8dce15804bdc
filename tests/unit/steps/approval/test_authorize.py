"""What a step reads from the ledger before it writes, and what a run's end is judged from: on a real SQLite ledger."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.instances.members import every_member_runs
from kstreams_runbooks.decide.instances.verification import change_verified
from kstreams_runbooks.decide.plans.bump import bump_plan
from kstreams_runbooks.decide.runs.conclusion import RunOutcome, conclusion
from kstreams_runbooks.errors import Inconclusive, Unreachable, WriteRefused
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing, Start
from kstreams_runbooks.model.runs.ledger import Approval
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.rules import upgrade_path_rules
from kstreams_runbooks.steps.approval.authorize import VOIDED, authorize
from kstreams_runbooks.steps.conclude import conclude, facts_of
from kstreams_runbooks.steps.instances.gate_trigger import GATE_PASSED, keep_passed
from kstreams_runbooks.steps.instances.rolling import earlier_gates
from kstreams_runbooks.steps.run.ending import BEGUN, StepFailed
from kstreams_runbooks.steps.run.run import Run, now_ms
from world.samples import NEW, card, declared, down, instance, reading

DONE = reading(instance("orders-1", release=NEW), instance("orders-2", release=NEW))


def approve(run: Run, digest: str | None = None, expires_in_ms: int = 60_000) -> None:
    digest, at_ms = digest or run.plan().digest, now_ms()
    vars(run)["declared"] = declared()
    run.ledger.approve(Approval(run.key, "approve_plan", digest, "approver", at_ms, at_ms + expires_in_ms, None))


def written(run: Run, at_ms: int, **changes: Any) -> None:
    """A card, and the mark that stands beside it."""
    run.ledger.write_card(card(run_key=run.key, seq=len(run.ledger.cards(run.key)) + 1, at_ms=at_ms, **changes))
    run.ledger.mark_written(run.key, at_ms)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Keys of the runs that got as far as their hold."""
    keys: list[str] = []
    monkeypatch.setattr("kstreams_runbooks.steps.approval.authorize.take_hold", lambda run, _: keys.append(run.key))
    return keys


def test_no_write_without_an_approval(run: Run) -> None:
    """Marking the approval successful leaves no approval in the ledger."""
    with pytest.raises(WriteRefused, match="no approval of approve_plan in the ledger"):
        authorize(run, "approve_plan", ())


def test_no_write_on_an_approval_of_another_plan_or_an_expired_one(run: Run) -> None:
    """What was approved is what is done, and soon."""
    approve(run, digest="0123456789abcdef")
    with pytest.raises(WriteRefused, match="was given for plan 0123456789abcdef"):
        authorize(run, "approve_plan", ())
    approve(run, expires_in_ms=-60_000)
    with pytest.raises(WriteRefused, match="expired 1 min ago"):
        authorize(run, "approve_plan", ())


def test_no_write_on_an_approval_that_was_taken_back(run: Run) -> None:
    """Asked anew or rejected: marking the task successful does not bring the old answer back."""
    approve(run)
    run.ledger.record(run.key, "approve_plan", 2, "note", VOIDED, {"by": "approver"}, now_ms() - 3_600_000)
    with pytest.raises(WriteRefused, match="was withdrawn"):
        authorize(run, "approve_plan", ())


def test_no_write_before_the_proof(run: Run) -> None:
    """Bounce 2 asks for the verdict, not for the colour of the task."""
    approve(run)
    with pytest.raises(WriteRefused, match="every_member_runs is never reached in the ledger"):
        authorize(run, "approve_plan", ("every_member_runs",))


def test_no_first_write_by_other_code_than_was_approved(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The digest of the plan binds the code; a deployment in between makes it another plan."""
    approve(run)
    monkeypatch.setattr("kstreams_runbooks.steps.approval.authorize.code_digest", lambda _: "fixed")
    with pytest.raises(WriteRefused, match=r"the code changed since the plan was approved \(\w+, now fixed\); trigger"):
        authorize(run, "approve_plan", ())


def test_a_bump_that_has_begun_goes_on_with_fixed_code(
    run: Run, monkeypatch: pytest.MonkeyPatch, held: list[str]
) -> None:
    """A half-done bump is the worse state: it goes on, and the evidence says with what."""
    approve(run)
    written(run, now_ms())
    monkeypatch.setattr("kstreams_runbooks.steps.approval.authorize.code_digest", lambda _: "fixed")
    authorize(run, "approve_plan", ())
    assert held == [run.key]
    (kept,) = run.ledger.evidence(run.key, name="code changed")
    assert kept.payload == {"approved": run.plan().facts.code, "now": "fixed"}


def test_a_proof_from_before_the_last_restart_proves_nothing(run: Run, held: list[str]) -> None:
    """Bounce 1 was done again for an instance after every member was proven: prove it again."""
    approve(run)
    proven = replace(run, task_id="prove_every_member")
    proven.decide(every_member_runs, reading=DONE, bounces=run.plan().bounces)
    written(run, now_ms() - 3_600_000)
    with pytest.raises(
        WriteRefused,
        match=r"every_member_runs was reached before the last restart of bounce 1 \(orders-1\); clear prove_every_mem",
    ):
        authorize(run, "approve_plan", ("every_member_runs",))
    assert held == []


def test_the_proof_holds_for_every_instance_of_bounce_2(run: Run, held: list[str]) -> None:
    """What bounce 2 itself restarts is what the proof was for."""
    approve(run)
    written(run, now_ms() - 1_000)
    run.decide(every_member_runs, reading=DONE, bounces=run.plan().bounces)
    written(run, now_ms() - 1_000, step="bounce 2", stage=2, misreads=True)
    authorize(run, "approve_plan", ("every_member_runs",))
    assert held == [run.key]


def test_a_run_is_concluded_again_after_a_rerun(run: Run) -> None:
    """A conclusion is no verdict of a step: the second one is reached from the same facts."""
    first = run.decide(conclusion, facts=facts_of(run))
    assert first.outcome is RunOutcome.NOTHING_CHANGED
    assert run.decide(conclusion, facts=facts_of(run)) == first


def test_a_write_after_verify_takes_completed_away(run: Run) -> None:
    """The card stands before the write: a task killed in between has written all the same."""
    run.keep("verdict", change_verified.__name__, {"result": encode(Verdict(Outcome.PROCEED, ("as planned",)))})
    assert conclusion(facts_of(run)).outcome is RunOutcome.COMPLETED
    written(run, now_ms() + 5)
    assert conclusion(facts_of(run)).outcome is RunOutcome.STOPPED


def test_a_proof_of_an_earlier_try_is_no_proof(run: Run) -> None:
    """It passed, was cleared and killed: what it said before is not how the run ends."""
    again = replace(run, task_id="verify")
    again.keep("verdict", change_verified.__name__, {"result": encode(Verdict(Outcome.PROCEED, ("as planned",)))})
    assert conclusion(facts_of(run)).outcome is RunOutcome.COMPLETED
    again.keep("note", BEGUN, {"what": "compares"})
    ended = conclusion(facts_of(run))
    assert ended.outcome is RunOutcome.NOTHING_CHANGED
    assert "verify began and gave no answer" in ended.sentence


def test_a_proof_from_before_another_step_ran_again_is_no_proof(run: Run) -> None:
    """A completed run was cleared from the proof on, and the step that began was killed: nothing was verified since."""
    again = replace(run, task_id="verify")
    again.keep("verdict", change_verified.__name__, {"result": encode(Verdict(Outcome.PROCEED, ("as planned",)))})
    replace(run, task_id="prove_every_member").keep("note", BEGUN, {"what": "reads"})
    ended = conclusion(facts_of(replace(run, task_id="conclude")))
    assert ended.outcome is RunOutcome.NOTHING_CHANGED
    assert "prove_every_member began and gave no answer" in ended.sentence


def test_bounce_2_asks_for_the_gates_of_bounce_1(run: Run) -> None:
    """Marking bounce_1_rest successful while a gate is shut opens nothing; nor does a gate of an earlier start."""
    plan = run.plan()
    half = reading(*(instance(f"orders-{n}", release=NEW, settings=plan.bounces[0].settings) for n in (1, 2)))
    with pytest.raises(WriteRefused, match=r"orders-1 has not passed its gate of bounce 1.*clear bounce_1_rest"):
        earlier_gates(run, plan.bounces[1], half)
    for name, start in (("orders-1", Start(500, 41)), ("orders-2", Start(400, 40))):
        run.keep("note", GATE_PASSED, {"instance": name, "bounce": 1, "start": start})
    with pytest.raises(WriteRefused, match="orders-2 has not passed its gate of bounce 1 since it was started"):
        earlier_gates(run, plan.bounces[1], half)
    keep_passed(run, half.instances[1], 1)
    earlier_gates(run, plan.bounces[1], half)
    blind = replace(half, instances=(half.instances[0], replace(half.instances[1], streams=Missing("timed out"))))
    with pytest.raises(Inconclusive, match="which start it runs cannot be read: orders-2: timed out"):
        earlier_gates(run, plan.bounces[1], blind)


def test_a_missing_reading_ends_a_run_inconclusive(run: Run) -> None:
    """Raised or reached as a verdict, missing data is never called a refusal."""
    failure = {"sentence": "no metrics", "exit_code": 3}
    run.ledger.record(run.key, "observe", 1, "failure", "Inconclusive", failure, now_ms())
    ended = conclusion(facts_of(run))
    assert ended.outcome is RunOutcome.INCONCLUSIVE
    assert ended.sentence == "no metrics; nothing was changed"


def test_what_failed_and_ran_again_is_not_why_a_run_ended(run: Run) -> None:
    """`observe` could not reach the broker once; much later an instance was restarted and the task was killed."""
    observe = replace(run, task_id="observe")
    observe.keep("note", BEGUN, {})
    observe.keep("failure", "Unreachable", {"sentence": "broker away", "exit_code": 4})
    assert conclusion(facts_of(run)).sentence == "broker away; nothing was changed"
    replace(observe, try_number=2).keep("note", BEGUN, {})
    run.keep("note", BEGUN, {})
    written(run, now_ms())
    ended = replace(run, task_id="conclude")
    ended.keep("note", BEGUN, {})
    facts = facts_of(ended)
    assert (facts.failures, facts.inconclusive, facts.reached, facts.touched) == ((), False, run.task_id, ("orders-1",))
    assert conclusion(facts).outcome is RunOutcome.STOPPED


def conclude_again(monkeypatch: pytest.MonkeyPatch, run: Run, look: Callable[[Run], ApplicationReading]) -> str:
    """What `conclude` says of a run that finds, or does not find, the application as `look` has it."""
    monkeypatch.setattr(Run, "read", look)
    monkeypatch.setattr(Run, "begin", lambda _: replace(run, task_id="conclude"))
    monkeypatch.setattr("kstreams_runbooks.steps.conclude.get_current_context", dict)
    with pytest.raises(StepFailed):
        conclude.function()
    return str(run.ledger.run(run.key).outcome_sentence)


def test_an_instance_that_was_left_down_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The task was killed between stop and start: nobody else would say so."""
    run.keep("note", BEGUN, {})
    written(run, now_ms())
    said = conclude_again(monkeypatch, run, lambda _: reading(down("orders-1"), instance("orders-2")))
    assert "orders-1 is DOWN (its process is stopped)" in said
    assert "orders-2" not in said


def test_a_last_look_that_fails_costs_no_outcome(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The broker may be what stopped the run."""

    def away(_: Run) -> ApplicationReading:
        raise Unreachable("broker does not answer")

    written(run, now_ms())
    said = conclude_again(monkeypatch, run, away)
    assert "how orders-1 is now cannot be read: broker does not answer" in said
    assert run.ledger.run(run.key).outcome == "stopped, changed"


def test_nobody_looks_where_nothing_was_changed(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refused run ends without asking the broker once more."""

    def asked(_: Run) -> ApplicationReading:
        raise AssertionError

    assert "cannot be read" not in conclude_again(monkeypatch, run, asked)


def test_a_run_that_has_stopped_instances_may_start_them_although_its_approval_expired(
    run: Run, held: list[str]
) -> None:
    """Nobody wants the application to stay down for it."""
    approve(run, expires_in_ms=-60_000)
    authorize(run, "approve_plan", (), going_on=True)
    assert held == [run.key]


def test_a_cleared_run_does_not_go_by_its_plan_once_another_has_changed_the_application(
    run: Run, held: list[str]
) -> None:
    """Its plan is from before that; a run of another application is none of its business."""
    approve(run)
    written(run, now_ms())
    other = run.ledger.start_run(replace(run.record, run_id="other", application="payments"))
    run.ledger.write_card(card(run_key=other.run_key, at_ms=2_000, application="payments"))
    authorize(run, "approve_plan", ())
    undo = run.ledger.start_run(replace(run.record, dag_id="undo"))
    run.ledger.write_card(card(run_key=undo.run_key, at_ms=900))
    with pytest.raises(WriteRefused, match=r"run undo/r has changed orders since this run read it .*trigger a new run"):
        authorize(run, "approve_plan", ())
    assert held == [run.key]


def test_a_plan_from_before_another_run_is_not_begun(run: Run, held: list[str]) -> None:
    """Approved, refused before its first write, cleared once another run had come and gone: all looks the same."""
    approve(run)
    limits, code = (("max_lag", 1000.0),), run.plan().facts.code
    inputs = {"declared": declared(), "target": NEW, "rules": upgrade_path_rules(), "findings": (), "limits": limits}
    run.decide(bump_plan, reading=reading(), code=code, **inputs)
    authorize(run, "approve_plan", ())
    run.ledger.start_run(replace(run.record, dag_id="undo"))
    run.ledger.write_card(card(run_key="undo/r", at_ms=now_ms() - 3_600_000))
    with pytest.raises(WriteRefused, match="run undo/r has changed orders"):
        authorize(run, "approve_plan", ())
    assert held == [run.key]


@pytest.mark.parametrize("when", ["before it was planned", "before it was planned anew in vain"])
def test_what_counts_is_the_reading_of_the_stored_plan(run: Run, plan: Plan, held: list[str], when: str) -> None:
    """Not when something was decided: a plan from a look before the change, or one that was never stored, is none."""
    replace(run, task_id="observe").keep("reading", "application", reading())
    undo = run.ledger.start_run(replace(run.record, dag_id="undo"))
    if when == "before it was planned":
        run.ledger.write_card(card(run_key=undo.run_key, at_ms=now_ms()))
        run.ledger.store_plan(run.key, plan.digest, encode(plan))
    else:
        run.ledger.store_plan(run.key, plan.digest, encode(plan))
        run.ledger.write_card(card(run_key=undo.run_key, at_ms=now_ms()))
        replace(run, task_id="observe").keep("reading", "application", reading())
        inputs = {"declared": declared(), "target": NEW, "rules": upgrade_path_rules(), "findings": (), "limits": ()}
        run.decide(bump_plan, reading=reading(), code="other", **inputs)
    approve(run)
    with pytest.raises(WriteRefused, match="run undo/r has changed orders since this run read it for its plan"):
        authorize(run, "approve_plan", ())
    replace(run, task_id="observe").keep("reading", "application", reading())
    run.ledger.store_plan(run.key, plan.digest, encode(plan))
    authorize(run, "approve_plan", ())
    assert held == [run.key]


def test_what_another_run_changes_while_this_one_reads_is_a_change(run: Run, plan: Plan, held: list[str]) -> None:
    """A reading takes seconds: what was changed meanwhile may be missing in it."""
    observe = replace(run, task_id="observe")
    observe.keep("note", BEGUN, {"what": "reads"})
    undo = run.ledger.start_run(replace(run.record, dag_id="undo"))
    run.ledger.write_card(card(run_key=undo.run_key, at_ms=now_ms()))
    observe.keep("reading", "application", reading())
    run.ledger.store_plan(run.key, plan.digest, encode(plan))
    approve(run)
    with pytest.raises(WriteRefused, match="run undo/r has changed orders since this run read it for its plan"):
        authorize(run, "approve_plan", ())
    observe.keep("note", BEGUN, {"what": "reads"})
    observe.keep("reading", "application", reading())
    run.ledger.store_plan(run.key, plan.digest, encode(plan))
    authorize(run, "approve_plan", ())
    assert held == [run.key]


def test_a_stage_of_another_release_is_no_earlier_gate_for_one_that_is_past_it(run: Run) -> None:
    """Instances that were not alike go back in stages of their own: one that dies later is taken again."""
    for number, name in ((1, "orders-1"), (1, "orders-2"), (3, "orders-2")):
        written(run, 1_000, object=name, facts={"bounce": number})
    stages = tuple(replace(run.plan().bounces[0], number=number) for number in (1, 2, 3))
    run.__dict__["plan"] = lambda: replace(type(run).plan(run), stages=stages)
    with pytest.raises(WriteRefused, match="orders-1 has not passed its gate of bounce 1"):
        earlier_gates(run, stages[1], reading())
    written(run, 1_000, object="orders-1", facts={"bounce": 2})
    earlier_gates(run, stages[1], reading())
