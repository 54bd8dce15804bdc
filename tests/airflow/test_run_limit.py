"""What happens to a run at its limit, on a real Airflow: its own waits end before it, and the check concludes the rest.

Airflow's own time of a run's start is set back in its database: nobody waits for days here.
"""

import sqlite3
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest
from kstreams_runbooks.decide.runbooks import runbook
from lab.airflow import APPROVER
from lab.stack import Stack
from world.endings import NOTHING_CHANGED, begun, begun_other, ended, held_by
from world.flushing import ACCEPTED
from world.given import declared_as
from world.runs import DAG, evidence, log_of, question, reached, states, told

CHECK = "fleet_check"


def started(stack: Stack, run_id: str, hours_ago: float) -> None:
    """Set the start of a run back in Airflow's database."""
    at = datetime.now(UTC).replace(tzinfo=None) - timedelta(hours=hours_ago)
    with closing(sqlite3.connect(stack.lab.airflow_home / "airflow.db", timeout=30)) as database, database:
        done = database.execute(
            "UPDATE dag_run SET start_date = ? WHERE run_id = ? AND start_date IS NOT NULL",
            (at.isoformat(" ", "microseconds"), run_id),
        )
        assert done.rowcount == 1


@pytest.mark.long
def test_a_run_that_waits_past_its_limit_is_concluded_by_the_check(fresh: Stack) -> None:
    """Airflow skips every task that is left, `conclude` too; the check writes the outcome and releases the hold."""
    trial = begun(fresh)
    question(fresh, trial.run_id)
    started(fresh, trial.run_id, runbook(DAG).longest_h + 1)
    assert fresh.api().wait_finished(DAG, trial.run_id, 120) == "failed"
    assert states(fresh, trial.run_id)["conclude"] == "skipped"
    assert held_by(fresh) == (trial.run_id,)
    check = f"check-{time.time_ns()}"
    fresh.api().wait_for_dag(CHECK)
    fresh.api().trigger(CHECK, {}, check)
    fresh.api().wait_finished(CHECK, check, 180)
    document = ended(trial, state="failed", outcome=NOTHING_CHANGED)
    sentence = document["run"]["outcome_sentence"]
    assert sentence == (
        "Airflow ended the run before conclude: marked, deleted, or at its limit of 72 h; approve_plan was its last "
        "step"
    )
    assert sentence in "\n".join(fresh.api().log(CHECK, check, "sweep_holds"))
    assert [one["kind"] for one in told(fresh, trial.run_id)] == ["needs_you", "concluded"]
    second = begun(fresh)
    question(fresh, second.run_id)
    assert held_by(fresh) == (second.run_id,)
    fresh.api(APPROVER).answer(DAG, second.run_id, "approve_plan", "Reject")
    ended(second, state="failed", outcome=NOTHING_CHANGED)


@pytest.mark.long
def test_a_wait_ends_before_the_limit_of_its_run_and_conclude_reports_it(fresh: Stack) -> None:
    """The trigger gives up ten minutes before Airflow would end the run; nothing is skipped."""
    with declared_as(fresh, limits={"gate_interval_s": 1, "drain_ceiling_s": 86_400}):
        fresh.start_traffic()
        trial = begun_other(fresh, "certify_drain", inputs_paused="nobody has", **ACCEPTED)
        reached(fresh, trial.run_id, "observe", "success")
        started(fresh, trial.run_id, runbook("certify_drain").longest_h - (600 + 45) / 3600)
        document = ended(trial, state="failed", outcome=NOTHING_CHANGED)
        fresh.stop_traffic()
    sentence = document["run"]["outcome_sentence"]
    assert "cut short: a run of certify_drain ends after 48 h" in sentence
    assert states(fresh, trial.run_id)["conclude"] == "failed"
    assert sentence in log_of(fresh, trial.run_id, "conclude")
    assert evidence(fresh, trial.run_id)["run"]["ended_at_ms"] is not None
