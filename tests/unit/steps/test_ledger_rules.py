"""What a step reads from the ledger before it writes, and what a run's end is judged from: on a real SQLite ledger."""

from pathlib import Path

import pytest
from kstreams_runbooks.decide.bump_plan import bump_plan, running_releases
from kstreams_runbooks.decide.conclusion import RunOutcome, conclusion
from kstreams_runbooks.decide.verification import bump_verified
from kstreams_runbooks.errors import WriteRefused
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.ledger import Approval, Card, RunRecord
from kstreams_runbooks.rules import upgrade_path_rules
from kstreams_runbooks.steps.authorize import VOIDED, authorize
from kstreams_runbooks.steps.conclude import facts_of
from kstreams_runbooks.steps.run import Run, now_ms
from samples import NEW, declared, instance, reading

PLAN = bump_plan(
    reading(), declared(), NEW, upgrade_path_rules(), running_releases(reading()), (), (("max_lag", 1000.0),), "code"
)
DONE = reading(instance("orders-1", release=NEW), instance("orders-2", release=NEW))


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """A run with a stored plan, at its first write."""
    ledger = Ledger.open(f"sqlite:///{tmp_path / 'ledger.db'}")
    record = ledger.start_run(
        RunRecord("library_bump/r", "library_bump", "r", "orders", "demo", "oncall", False, "", {}, now_ms())
    )
    ledger.store_plan(record.run_key, PLAN.digest, encode(PLAN))
    return Run(record, "bounce_1_first", 1, ledger)


def approve(run: Run, digest: str = PLAN.digest, expires_in_ms: int = 60_000) -> None:
    run.ledger.approve(Approval(run.key, "approve_plan", digest, "approver", now_ms(), now_ms() + expires_in_ms, None))


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
    run.ledger.record(run.key, "approve_plan", 2, "note", VOIDED, {"by": "approver"}, now_ms() + 1)
    with pytest.raises(WriteRefused, match="was taken back"):
        authorize(run, "approve_plan", ())


def test_no_write_before_the_proof(run: Run) -> None:
    """Bounce 2 asks for the verdict, not for the colour of the task."""
    approve(run)
    with pytest.raises(WriteRefused, match="every_member_runs is never reached in the ledger"):
        authorize(run, "approve_plan", ("every_member_runs",))


def test_a_run_is_concluded_again_after_a_rerun(run: Run) -> None:
    """A conclusion is no verdict of a step: the second one is reached from the same facts."""
    first = run.decide(conclusion, facts=facts_of(run))
    assert first.outcome is RunOutcome.NOTHING_CHANGED
    assert run.decide(conclusion, facts=facts_of(run)) == first


def test_a_write_after_verify_takes_completed_away(run: Run) -> None:
    """The card stands before the write: a task killed in between has written all the same."""
    run.decide(bump_verified, before=reading(), after=DONE, plan=PLAN)
    assert conclusion(facts_of(run)).outcome is RunOutcome.COMPLETED
    run.ledger.write_card(
        Card(
            run.key,
            1,
            "bounce_2_rest",
            "bounce 2",
            "orders-2",
            "what",
            "undo",
            "cost",
            True,
            True,
            {},
            now_ms() + 5,
            False,
        )
    )
    assert conclusion(facts_of(run)).outcome is RunOutcome.STOPPED


def test_a_missing_reading_ends_a_run_inconclusive(run: Run) -> None:
    """Raised or reached as a verdict, missing data is never called a refusal."""
    failure = {"sentence": "no metrics", "exit_code": 3}
    run.ledger.record(run.key, "observe", 1, "failure", "Inconclusive", failure, now_ms())
    ended = conclusion(facts_of(run))
    assert ended.outcome is RunOutcome.INCONCLUSIVE
    assert ended.sentence == "no metrics; nothing was changed"
