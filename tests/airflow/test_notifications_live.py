"""Who is told what by real runs: each message once, in the file that the stack's notifier writes."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewPartitions
from lab.afresh import afresh
from lab.airflow import APPROVER, REQUESTER
from lab.application import Deployed
from lab.stack import Stack
from lab.supervise import until
from world.given import declared_as
from world.runs import DAG, evidence, finished, log_of, question, told, trigger

_OUTPUT = "orders-windowed"


def kinds(stack: Stack, run_id: str) -> list[str]:
    """What of."""
    return [message["kind"] for message in told(stack, run_id)]


def reject(stack: Stack, run_id: str) -> None:
    stack.api(APPROVER).answer(DAG, run_id, "approve_plan", "Reject")
    assert stack.api().wait_finished(DAG, run_id, 120) == "failed"


@pytest.fixture(scope="module")
def fresh(stack: Stack) -> Stack:
    """Two instances on the old release that nobody has touched."""
    afresh(stack, Deployed())
    return stack


def test_a_question_is_told_once_and_the_end_of_the_run(fresh: Stack) -> None:
    """Asked again because the requester answered, it begins with that; its link leads to where it is answered."""
    # Airflow does not know dora, so it takes an answer of anybody.
    with declared_as(fresh, approvers=[APPROVER, "admin", "dora"]):
        run_id = trigger(fresh)
        question(fresh, run_id)
        fresh.api(REQUESTER).answer(DAG, run_id, "approve_plan")
        why = "oncall may not approve for orders"
        until(lambda: why in log_of(fresh, run_id, "approve_plan"), 60, "the answer is judged")
        question(fresh, run_id)
        reject(fresh, run_id)
    asked, again, ended = told(fresh, run_id)
    assert again["body"].startswith("oncall's answer did not count: oncall may not approve for orders; one of its")
    assert again["subject"] == asked["subject"]
    assert asked["subject"] == "[orders @ demo] needs you: approve library bump to 4.3.1"
    assert asked["link"] == f"{fresh.lab.airflow_url}/dags/{DAG}/runs/{run_id}/tasks/approve_plan/required_actions"
    assert "may approve: approver, admin, dora" in asked["body"]
    assert ended["subject"] == "[orders @ demo] concluded: library_bump refused or rejected, nothing changed"
    assert "rejected by approver" in ended["body"]
    for message in (asked, again, ended):
        assert len(message["body"].splitlines()) <= 15
    kept = evidence(fresh, run_id)["notifications"]
    assert [one["sent_at_ms"] is not None for one in kept] == [True, True, True]


def test_a_dry_run_is_told_when_it_has_ended(fresh: Stack) -> None:
    """Nobody is asked; the command does it for real."""
    run_id = trigger(fresh, dry_run=True)
    assert fresh.api().wait_finished(DAG, run_id, 180) == "success"
    (only,) = told(fresh, run_id)
    assert only["subject"] == "[orders @ demo] DRY RUN concluded: library_bump dry run"
    assert only["command"].startswith("kstreams-runbooks trigger library_bump --application orders")
    assert only["command"].endswith("--execute")


def test_a_world_that_drifted_while_the_approval_waited_is_told(fresh: Stack) -> None:
    """Somebody gave an output another partition: the write refuses, nothing was changed."""
    run_id = trigger(fresh)
    question(fresh, run_id)
    admin = AdminClient({"bootstrap.servers": fresh.lab.bootstrap})
    now = len(admin.list_topics(_OUTPUT, timeout=30).topics[_OUTPUT].partitions)
    admin.create_partitions([NewPartitions(_OUTPUT, now + 1)])[_OUTPUT].result()
    assert finished(fresh, run_id) == "failed"
    assert kinds(fresh, run_id) == ["needs_you", "drifted_while_waiting"]
    last = told(fresh, run_id)[-1]
    assert f"topic {_OUTPUT}: {now + 1} partitions (in the plan {now})" in last["body"]
    assert evidence(fresh, run_id)["writes"] == []


def test_who_holds_the_application_for_too_long_is_told(fresh: Stack) -> None:
    """Once another run waits for it; after that the run goes on as if nothing had been."""
    with held_too_long_after(fresh, hours=0.0001):
        run_id = trigger(fresh)
        question(fresh, run_id)
        assert finished(fresh, trigger(fresh)) == "failed"
        reject(fresh, run_id)
    assert kinds(fresh, run_id) == ["needs_you", "held_too_long", "concluded"]
    message = told(fresh, run_id)[1]
    assert "(limit held_too_long_h 0.0001)" in message["body"]
    assert "Step: approve_plan" in message["body"]


@contextmanager
def held_too_long_after(stack: Stack, *, hours: float) -> Iterator[None]:
    """Another limit for as long as the body runs."""
    file = stack.lab.config / "notifications.yaml"
    before = file.read_text(encoding="utf-8")
    assert "held_too_long_h: 4\n" in before
    file.write_text(before.replace("held_too_long_h: 4\n", f"held_too_long_h: {hours}\n"), encoding="utf-8")
    try:
        yield
    finally:
        file.write_text(before, encoding="utf-8")
