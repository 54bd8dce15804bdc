"""Approvals as people give them, refuse them and go around them: what a run may do stands in the ledger."""

import time
from collections.abc import Iterator

import pytest
from confluent_kafka.admin import AdminClient, NewPartitions  # type: ignore[attr-defined]
from kstreams_runbooks.errors import Refused
from lab.airflow import APPROVER, LOGINS, REQUESTER, passwords
from lab.kafka import PARTITIONS
from lab.leftovers import Started
from lab.stack import Stack
from lab.supervise import until
from world.endings import COMPLETED, NOTHING_CHANGED, STOPPED, begun, ended, held_by
from world.given import declared_as
from world.runs import DAG, approve, command, finished, log_of, mark_run, mark_task, question, reached, states, trigger


@pytest.fixture
def unknown_to_airflow(fresh: Stack) -> Iterator[Stack]:
    """One approver has no id in Airflow, so it takes an answer of anybody: the run judges."""
    with declared_as(fresh, approvers=[APPROVER, "admin", "dora"]):
        yield fresh


def test_reject_ends_the_run_with_nothing_changed(unknown_to_airflow: Stack) -> None:
    """A no is the end: nothing was written, nothing stays reserved. The run's note shows each step of the way."""
    fresh = unknown_to_airflow
    trial = begun(fresh)
    asked = question(fresh, trial.run_id)
    assert held_by(fresh) == (trial.run_id,)
    assert "it cannot change: the present text is in" in asked["body"]
    assert f"is in [the run's note]({fresh.lab.airflow_url}/dags/{DAG}/runs/{trial.run_id})" in asked["body"]
    waits = note_of(fresh, trial.run_id)
    assert waits.startswith("▼ **WAITS** at approve_plan: approve library bump to 4.3.1\n\nmay approve: ")
    assert f"kstreams-runbooks approve {trial.run_id}" in waits
    fresh.api(APPROVER).add_note(DAG, trial.run_id, "seen by ann")
    # It does not count: the first line says so, where everybody looks.
    fresh.api(REQUESTER).answer(DAG, trial.run_id, "approve_plan")
    first = f"▼ **{REQUESTER}'s answer did not count:** {REQUESTER} may not approve for orders"
    until(lambda: note_of(fresh, trial.run_id).startswith(first), 60, "the note says that the answer did not count")
    question(fresh, trial.run_id)
    code, listed = command(fresh, "runs", "--open")
    assert (code, f"{REQUESTER}'s answer did not count: " in listed, "   Will do: " in listed) == (0, True, True)
    fresh.api(APPROVER).answer(DAG, trial.run_id, "approve_plan", "Reject")
    document = ended(trial, state="failed", outcome=NOTHING_CHANGED)
    assert f"approve_plan: rejected by {APPROVER}" in document["run"]["outcome_sentence"]
    assert document["approvals"] == []
    note = note_of(fresh, trial.run_id)
    assert note.startswith("▼ **REFUSED OR REJECTED, NOTHING CHANGED**: ")
    assert "**GO ON:** after that, start a new run (this one cannot go on):\n\n```\nkst" in note
    assert note.endswith("**GO BACK:** not needed, nothing is left to take back\n\n▲ kstreams-runbooks\n\nseen by ann")


def test_airflow_itself_refuses_whoever_may_not_approve(fresh: Stack) -> None:
    """If it knows every approver, as under SimpleAuthManager: where it is given, with the question still open."""
    trial = begun(fresh)
    question(fresh, trial.run_id)
    with pytest.raises(Refused, match="oncall has no right to PATCH"):
        fresh.api(REQUESTER).answer(DAG, trial.run_id, "approve_plan")
    assert note_of(fresh, trial.run_id).startswith("▼ **WAITS** at approve_plan")
    fresh.api(APPROVER).answer(DAG, trial.run_id, "approve_plan", "Reject")
    ended(trial, state="failed", outcome=NOTHING_CHANGED)


def note_of(stack: Stack, run_id: str) -> str:
    """The run's note as a person reads it."""
    return str(stack.api("viewer").run(DAG, run_id)["note"] or "")


def test_only_this_machine_can_reach_what_the_stack_started(stack: Stack) -> None:
    """Every socket is bound to the loopback, every login has a password of its own that only the owner can read."""
    started = Started.read(stack.lab.started_file)
    assert started is not None
    listening = started.listening()
    ports = stack.lab.ports
    wanted = {ports.broker, ports.controller, ports.supervisor, ports.api, ports.metrics(1), ports.metrics(2)}
    assert wanted <= {int(address.rpartition(":")[2]) for address in listening}
    here = {"127.0.0.1", "::1", "::ffff:127.0.0.1"}
    assert {at: who for at, who in listening.items() if at.rpartition(":")[0] not in here} == {}
    drawn = passwords(stack.lab)
    assert drawn.keys() == LOGINS.keys()
    assert len(set(drawn.values())) == len(drawn)
    assert min(map(len, drawn.values())) >= 16
    secret = (stack.lab.run_dir, stack.lab.airflow_home / "passwords.json", stack.lab.environment_file)
    assert [oct(path.stat().st_mode & 0o077) for path in secret] == ["0o0"] * 3


def test_a_field_that_the_form_does_not_have_ends_the_run(fresh: Stack) -> None:
    """Airflow's API takes any conf: the first step refuses it, nothing is kept of it, and no command repeats it."""
    run_id = trigger(fresh, **{"`touch x`": "y"})
    assert finished(fresh, run_id) == "failed"
    assert "has a field '`touch x`' that the form of library_bump does not have" in log_of(fresh, run_id, "observe")
    assert command(fresh, "evidence", run_id)[0] == 2


@pytest.mark.long
def test_an_emergency_reason_has_letters(fresh: Stack) -> None:
    """Without, it is asked again; what was given as the run's reason is text in the question."""
    trial = begun(fresh, reason="see [this](http://evil.example) | `id` <b>now</b>")
    body = question(fresh, trial.run_id)["body"]
    assert "(see `[this](http://evil.example)` \\| \\`id\\` \\<b\\>now\\</b\\>)" in body
    fresh.api(APPROVER).answer(DAG, trial.run_id, "approve_plan", params={"emergency_reason": "."})
    why = "the emergency reason is ., without 3 letters"
    until(lambda: why in log_of(fresh, trial.run_id, "approve_plan"), 60, "the answer is judged")
    question(fresh, trial.run_id)
    fresh.api(APPROVER).answer(DAG, trial.run_id, "approve_plan", "Reject")
    assert ended(trial, state="failed", outcome=NOTHING_CHANGED)["approvals"] == []


@pytest.mark.long
def test_an_approval_times_out(fresh: Stack) -> None:
    """An approval that nobody gives ends the run; it is never taken for a yes."""
    with declared_as(fresh, limits={"approval_timeout_h": 0.001}):
        document = ended(begun(fresh), state="failed", outcome=NOTHING_CHANGED)
    assert "approve_plan: no answer within 0.001 h" in document["run"]["outcome_sentence"]
    assert document["approvals"] == []


def test_an_approval_that_has_expired_opens_nothing(fresh: Stack) -> None:
    """A yes holds for its time only: a run that comes to its first write too late asks again."""
    with declared_as(fresh, limits={"approval_expiry_h": 0.00001}):
        trial = begun(fresh)
        approve(fresh, trial.run_id, "approve_plan")
        document = ended(trial, state="failed", outcome=NOTHING_CHANGED)
    sentence = document["run"]["outcome_sentence"]
    assert f"the approval by {APPROVER} expired" in sentence
    assert "clear approve_plan and what follows it" in sentence


def test_plan_cleared_while_an_approval_waits_refuses_another_plan(fresh: Stack) -> None:
    """Airflow goes on showing the first question, only what it shows may be approved: another plan ends the run."""
    trial = begun(fresh)
    question(fresh, trial.run_id)
    with declared_as(fresh, limits={"max_lag": 999}):
        fresh.api().clear(DAG, trial.run_id, "plan")
        document = ended(trial, state="failed", outcome=NOTHING_CHANGED)
    assert "the plan changed: " in document["run"]["outcome_sentence"]
    assert f"trigger a new run of {DAG} for orders" in document["run"]["outcome_sentence"]
    assert document["approvals"] == []


@pytest.mark.long
def test_a_topic_that_changed_while_an_approval_waits_refuses_another_plan(fresh: Stack) -> None:
    """The same where the world changed and somebody runs everything again: a topic has one partition more."""
    trial = begun(fresh)
    question(fresh, trial.run_id)
    admin = AdminClient({"bootstrap.servers": fresh.lab.bootstrap})
    admin.create_partitions([NewPartitions("orders-enriched", PARTITIONS + 1)])["orders-enriched"].result()
    fresh.api().clear(DAG, trial.run_id, "observe")
    document = ended(trial, state="failed", outcome=NOTHING_CHANGED)
    assert "the plan changed: " in document["run"]["outcome_sentence"]


def test_mark_success_on_an_approval_opens_nothing(fresh: Stack) -> None:
    """The write asks the ledger, not the graph, and says what is missing there."""
    trial = begun(fresh)
    question(fresh, trial.run_id)
    mark_task(fresh, trial.run_id, "approve_plan", "success")
    document = ended(trial, state="failed", outcome=NOTHING_CHANGED)
    assert "no approval of approve_plan in the ledger" in log_of(fresh, trial.run_id, "bounce_1_first")
    assert document["approvals"] == []


def test_mark_failed_on_an_approval_that_waits_ends_the_run(fresh: Stack) -> None:
    """The run judges itself: red, nothing changed, nothing reserved. Before that, Airflow takes no answer of others."""
    with declared_as(fresh, approvers=[{"login": APPROVER, "id": APPROVER}]):
        trial = begun(fresh)
        question(fresh, trial.run_id)
    with pytest.raises(Refused):
        fresh.api(REQUESTER).answer(DAG, trial.run_id, "approve_plan")
    question(fresh, trial.run_id)
    mark_task(fresh, trial.run_id, "approve_plan", "failed")
    ended(trial, state="failed", outcome=NOTHING_CHANGED)


@pytest.mark.long
def test_mark_failed_on_a_run_while_an_approval_waits_frees_its_hold(fresh: Stack) -> None:
    """Airflow then runs nothing more, also not `conclude`: the next run finds the hold free and takes it."""
    first = begun(fresh)
    question(fresh, first.run_id)
    mark_run(fresh, first.run_id, "failed")
    ended(first, state="failed", outcome=None, holds=(first.run_id,))
    second = begun(fresh)
    question(fresh, second.run_id)
    assert held_by(fresh) == (second.run_id,)
    fresh.api(APPROVER).answer(DAG, second.run_id, "approve_plan", "Reject")
    ended(second, state="failed", outcome=NOTHING_CHANGED)


@pytest.mark.long
def test_the_requester_approves_and_is_asked_again_another_approves(one_bounce: Stack) -> None:
    """Four eyes: the requester's own answer counts for nothing; the run waits on, and goes on with another's."""
    with declared_as(one_bounce, approvers=[APPROVER, REQUESTER]):
        trial = begun(one_bounce)
        question(one_bounce, trial.run_id)
        one_bounce.api(REQUESTER).answer(DAG, trial.run_id, "approve_plan")
        until(
            lambda: "oncall's answer did not count" in log_of(one_bounce, trial.run_id, "approve_plan"),
            60,
            "the answer is judged",
        )
        assert states(one_bounce, trial.run_id)["bounce_1_first"] in {"None", "no_status"}
        assert finished(one_bounce, trial.run_id) == "success"
    document = ended(trial, state="success", outcome=COMPLETED, restarted=((1, "orders-1"), (1, "orders-2")))
    assert [approval["by"] for approval in document["approvals"]] == [APPROVER]


@pytest.mark.long
def test_a_run_cleared_after_its_approval_expired_refuses_to_go_on(one_bounce: Stack) -> None:
    """What was approved weeks ago is no reason to touch another instance; the one that was restarted stays as it is."""
    expiry_s = 40
    with declared_as(one_bounce, limits={"approval_expiry_h": expiry_s / 3600, "bake_s": 60}):
        trial = begun(one_bounce)
        approve(one_bounce, trial.run_id, "approve_plan")
        reached(one_bounce, trial.run_id, "bounce_1_first", "deferred")
        mark_task(one_bounce, trial.run_id, "bounce_1_first", "failed")
        document = ended(trial, state="failed", outcome=STOPPED, restarted=((1, "orders-1"),))
        expires_ms = document["approvals"][0]["expires_at_ms"]
        until(lambda: time.time() * 1000 > expires_ms, expiry_s, "the approval has expired", poll_s=0.5)
        one_bounce.api().clear(DAG, trial.run_id, "bounce_1_first")
        document = ended(trial, state="failed", outcome=STOPPED, restarted=((1, "orders-1"),))
    sentence = document["run"]["outcome_sentence"]
    assert f"bounce_1_first: the approval by {APPROVER} expired" in sentence
    assert "clear approve_plan and what follows it" in sentence
