"""Who may approve, what they read, and how a run ends."""

from kstreams_runbooks.decide.approval import approval_body, may_approve
from kstreams_runbooks.decide.bump_plan import bump_plan, running_releases
from kstreams_runbooks.decide.conclusion import RunFacts, RunOutcome, conclusion
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.rules import upgrade_path_rules
from samples import NEW, declared, reading

PLAN = bump_plan(reading(), declared(), NEW, upgrade_path_rules(), running_releases(reading()), (), (), "code")


def test_only_an_approver_approves() -> None:
    """Airflow's rights are per DAG: who may act on which application is checked here."""
    assert may_approve(declared(), "oncall", "stranger", None).outcome is Outcome.WAIT
    assert may_approve(declared(), "oncall", "approver", None).outcome is Outcome.PROCEED


def test_four_eyes_ask_again_and_an_emergency_reason_passes() -> None:
    """The reason stands in the sentence that is kept."""
    asked = may_approve(declared(), "admin", "admin", None)
    assert asked.outcome is Outcome.WAIT
    assert "wants four eyes" in asked.reasons[0]
    alone = may_approve(declared(), "admin", "admin", "nobody else awake")
    assert (alone.outcome, alone.reasons) == (
        Outcome.PROCEED,
        ("approved by admin in an emergency: nobody else awake",),
    )
    assert may_approve(declared(four_eyes=False), "admin", "admin", None).outcome is Outcome.PROCEED


def test_the_body_is_short_and_complete() -> None:
    """15 lines at most, no None and no raw value in it."""
    for stage in ("approve_plan", "approve_bounce_2"):
        body = approval_body(
            PLAN, declared(), stage, "orders-1: RUNNING on 3.4.1", "oncall", "OPS-7", 1_790_000_000_000
        )
        lines = [line for line in body.splitlines() if line]
        assert len(lines) <= 15
        assert "None" not in body
        assert "{" not in body
        for word in (
            "Now",
            "Will do",
            "Worst case",
            "Undo",
            "Risks",
            "Reject means",
            "Expires",
            "Asked by",
            PLAN.digest,
        ):
            assert word in body


def test_the_requester_is_not_named_as_approver_under_four_eyes() -> None:
    """The text says who may really answer."""
    body = approval_body(PLAN, declared(), "approve_plan", "", "admin", "", 0)
    assert "**may approve:** approver" in body


GOOD = Verdict(Outcome.PROCEED, ("all well",))


def test_a_run_is_completed_only_with_proof() -> None:
    """The colour of tasks counts for nothing."""
    assert conclusion(RunFacts(False, ("a",), GOOD, GOOD, ())).outcome is RunOutcome.COMPLETED
    assert conclusion(RunFacts(True, (), GOOD, GOOD, ())).outcome is RunOutcome.DRY_RUN
    assert conclusion(RunFacts(False, ("a",), None, GOOD, ())).outcome is RunOutcome.STOPPED
    assert conclusion(RunFacts(False, (), None, None, ("rejected by x",))).outcome is RunOutcome.NOTHING_CHANGED
    unsure = Verdict(Outcome.INCONCLUSIVE, ("no metrics",))
    ended = conclusion(RunFacts(False, ("orders-1: bounce 1",), None, unsure, ()))
    assert ended.outcome is RunOutcome.INCONCLUSIVE
    assert "orders-1: bounce 1" in ended.sentence
    assert [outcome.succeeded for outcome in RunOutcome] == [True, True, False, False, False]
