"""A run of Airflow that is cleared stays the same to the ledger; one that is deleted and triggered again is another."""

import pytest
from kstreams_runbooks.ledger import Ledger
from lab.application import TO_RELEASE
from lab.stack import Stack
from world.endings import DRY_RUN, NOTHING_CHANGED, Trial, begun, ended, held_by
from world.runs import DAG, command, log_of, question, states


@pytest.mark.long
def test_a_run_id_that_is_used_again_is_another_run(fresh: Stack) -> None:
    """One login's dry run is cleared at every task, then deleted; another login asks for a real run by the same id."""
    ledger = Ledger.open(fresh.environment()["KSTREAMS_RUNBOOKS_LEDGER"])
    trial = begun(fresh, dry_run=True, reason="first")
    before = ended(trial, state="success", outcome=DRY_RUN)
    first = ledger.run(f"{DAG}/{trial.run_id}")

    fresh.api().clear(DAG, trial.run_id, *states(fresh, trial.run_id))
    again = ended(trial, state="success", outcome=DRY_RUN)
    assert [one.run_key for one in ledger.same_id(first)] == [first.run_key]
    assert again["run"]["started_at_ms"] == before["run"]["started_at_ms"]
    assert again["chain"]["rows"] > before["chain"]["rows"]
    assert again["chain"]["head"] in log_of(fresh, trial.run_id, "conclude", 2)
    code, said = command(fresh, "evidence", trial.run_id, "--verify", "--head", before["chain"]["head"])
    assert (code, "entries came after the head that was given" in said) == (0, True)

    admin = fresh.api("admin")
    admin.call("DELETE", f"/dags/{DAG}/dagRuns/{trial.run_id}")
    conf = {"application": "orders", "target": TO_RELEASE, "dry_run": False, "reason": "second"}
    admin.trigger(DAG, conf, trial.run_id)
    question(fresh, trial.run_id)
    kept, second = ledger.same_id(first)
    assert (kept.requested_by, kept.dry_run, kept.reason, kept.outcome) == ("oncall", True, "first", DRY_RUN)
    assert (second.requested_by, second.dry_run, second.reason, second.outcome) == ("admin", False, "second", None)
    assert second.run_key == f"{first.run_key}#2"
    assert held_by(fresh) == (f"{trial.run_id}#2",)
    assert ledger.approvals(second.run_key) == ()
    fresh.api("approver").answer(DAG, trial.run_id, "approve_plan", "Reject")
    document = ended(Trial(fresh, trial.run_id, trial.starts), state="failed", outcome=NOTHING_CHANGED)
    assert document["run"]["run_key"] == second.run_key
    assert ledger.run(first.run_key) == kept
