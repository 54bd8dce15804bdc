"""What only a person can do, asked within one task of a real Airflow: only an answer counts, for its own stage."""

import time
from contextlib import suppress

import pytest
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.runs.cards import InputsPaused, OtherFacts, PersonAsked
from kstreams_runbooks.model.runs.ledger import Card, RunRecord
from kstreams_runbooks.steps.run.person import ANSWERED
from lab.airflow import APPROVER, REQUESTER
from lab.stack import Stack
from lab.supervise import until
from world.endings import begun_other, held_by
from world.runs import approve, evidence, log_of, question, reached, states, told


def asked_before(stack: Stack) -> str:
    """The id of a run that has asked a person twice: to stop a job, and to pause an input."""
    ledger, now_ms = Ledger.open(stack.environment()["KSTREAMS_RUNBOOKS_LEDGER"]), time.time_ns() // 1_000_000
    record = RunRecord("", "stop_and_restart", f"asked-{now_ms}", "orders", "demo", REQUESTER, False, "", {}, now_ms)
    key = ledger.start_run(record).run_key
    asked: tuple[OtherFacts, ...] = (PersonAsked("stop the job", "start the job"), InputsPaused(("orders",), "x"))
    for seq, facts in enumerate(asked, 1):
        ledger.write_card(
            Card(
                run_key=key,
                seq=seq,
                task_id="act",
                step=f"stage {seq}",
                object=facts.kind,
                what=facts.kind,
                undo="the other way",
                cost="time",
                data_affected=False,
                point_of_no_return=False,
                facts=encode(facts),
                at_ms=now_ms,
                kind=facts.kind,
                application="orders",
                cluster="demo",
                stage=seq,
            )
        )
    return record.run_id


def logged(stack: Stack, run_id: str, line: str, try_number: int = 1) -> None:
    """Return when a try of `undo` has logged this and waits again."""

    def has() -> bool:
        # A task that has not begun has no log.
        with suppress(BadInput):
            return line in log_of(stack, run_id, "undo", try_number)
        return False

    until(has, 120, f"undo logs {line}", poll_s=0.5)
    reached(stack, run_id, "undo", "awaiting_input")


@pytest.mark.long
def test_an_undo_waits_for_each_answer_of_a_person(fresh: Stack) -> None:
    """Last to first, in one task: an answer about another stage and a clear ask again; the ledger has who answered."""
    run_id = begun_other(fresh, "undo", run=asked_before(fresh)).run_id
    approve(fresh, run_id, "approve_undo")
    logged(fresh, run_id, "PLEASE resume the producers of orders; then answer 'Stage 1 is done'")
    pending = question(fresh, run_id)
    assert pending["options"] == ["Stage 1 is done", "Stage 2 is done", "It cannot be done"]
    assert "**Stage 2:** start the job" in pending["body"]
    fresh.api(APPROVER).answer("undo", run_id, "undo", "Stage 2 is done")
    wrong = "approver's answer did not count: 'Stage 2 is done' is not about stage 1, which is due"
    logged(fresh, run_id, f"stage 1 is asked again: {wrong}")
    assert wrong in [message["body"].splitlines()[0] for message in told(fresh, run_id)]
    note = fresh.api().run("undo", run_id)["note"]
    assert note.startswith("▼ **approver's answer did not count:** 'Stage 2 is done' is not about stage 1")
    assert "**WAITS** at undo: do what stage 1 asks" in note
    fresh.api().clear("undo", run_id, "undo")
    logged(fresh, run_id, "PLEASE resume the producers of orders", 2)
    question(fresh, run_id)
    fresh.api(REQUESTER).answer("undo", run_id, "undo", "Stage 1 is done")
    logged(fresh, run_id, "PLEASE start the job", 2)
    question(fresh, run_id)
    fresh.api(APPROVER).answer("undo", run_id, "undo", "Stage 2 is done")
    assert fresh.api().wait_finished("undo", run_id, 120) == "success", states(fresh, run_id)
    assert evidence(fresh, run_id)["run"]["outcome"] == "completed"
    ledger = Ledger.open(fresh.environment()["KSTREAMS_RUNBOOKS_LEDGER"])
    notes = [one.payload for one in ledger.evidence(f"undo/{run_id}", kind="note", name=ANSWERED)]
    assert [(one["stage"], one["done"], one["by"]) for one in notes] == [(1, True, REQUESTER), (2, True, APPROVER)]
    assert held_by(fresh) == ()
