"""A run about more than one thing, live: two applications of two teams, a topic, offsets, local state.

The runbook is pretended (tests/world/pretended.py). It is killed, cleared, taken back by an undo that is killed too,
and stopped by what somebody else changes; its own changes stop nothing.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]
from kill.moments import Moment, Target, strike
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.steps.status.sweep import sweep
from lab.second import INSTANCE, NAME, RECORDS
from lab.stack import Stack
from lab.supervise import until
from world.endings import COMPLETED, DRY_RUN, NOTHING_CHANGED, STOPPED, held_by
from world.given import declared_as
from world.runs import approved_by_both, command, evidence, finished, log_of, told, trigger_other
from world.two_sides import DAG, TOPIC, Found, found, pretended_runbook

_SHORT = {"bake_s": 1, "gate_interval_s": 0.5, "gate_good_readings": 2}


@pytest.fixture(scope="module")
def before(stack: Stack) -> Iterator[Found]:
    """Both applications, and what the runbook will change."""
    with declared_as(stack, limits=_SHORT), pretended_runbook(stack) as there:
        yield there


def begun(stack: Stack, **conf: Any) -> str:
    """A run of the pretended runbook that both teams have approved."""
    run_id = trigger_other(stack, DAG, second=NAME, **conf)
    approved_by_both(stack, DAG, run_id, "approve_plan")
    return run_id


def killed(stack: Stack, dag_id: str, run_id: str, task_id: str, moment: Moment = Moment.WORKING) -> None:
    """SIGKILL for the process of a task, in its middle."""
    strike(Target(stack, dag_id, run_id, task_id, (INSTANCE,)), moment, 0)


def swept_until_its_end(stack: Stack, run_id: str) -> str:
    """The state in which a run ends; the guards of the scheduled check find its own changes to be none."""
    ledger, guarded = Ledger.open(stack.environment()["KSTREAMS_RUNBOOKS_LEDGER"]), list[str]()
    while (state := stack.api().run(DAG, run_id)["state"]) not in {"success", "failed"}:
        assert sweep(ledger, "sweep_holds", lambda _: False, guarded.append).void == 0, guarded
    assert any("[billing @ demo]" in line and "as planned" in line for line in guarded), guarded
    return str(state)


@pytest.mark.long
def test_a_killed_run_goes_on_and_an_undo_takes_everything_back(stack: Stack, before: Found) -> None:
    """Both teams approve and are notified; nothing is held in the end, and the offsets have their metadata again."""
    run_id = begun(stack)
    held = evidence(stack, run_id)["holds"]
    assert {one["resource"] for one in held} == {
        "application:demo:orders",
        "application:demo:billing",
        f"topic:demo:{TOPIC}",
    }
    killed(stack, DAG, run_id, "set_offsets_second")
    assert finished(stack, run_id) == "failed"
    assert evidence(stack, run_id)["run"]["outcome"] == STOPPED
    stack.api().clear(DAG, run_id, "set_offsets_second")
    assert swept_until_its_end(stack, run_id) == "success"
    document = evidence(stack, run_id)
    assert document["run"]["outcome"] == COMPLETED
    assert [card["kind"] for card in document["cards"]] == ["topic_created", "instance", "offsets_set", "state_cleared"]
    assert [card["application"] for card in document["cards"]] == ["orders", NAME, NAME, NAME]
    during = found(stack)
    assert during.topic_id == document["cards"][0]["facts"]["topic_id"]
    assert sum(one.offset for one in during.offsets.values()) == RECORDS, "all of them were read again"
    assert held_by(stack) == ()
    assert {message["owner"] for message in told(stack, run_id)} == {"team-orders", "team-billing"}
    code, page = command(stack, "evidence", run_id)
    assert code == 0
    assert f"{NAME} @ demo" in page

    undo = trigger_other(stack, "undo", run=run_id)
    approved_by_both(stack, "undo", undo, "approve_undo")
    killed(stack, "undo", undo, "undo", Moment.STOPPING)
    assert finished(stack, undo) == "failed"
    stack.api().clear("undo", undo, "undo")
    assert finished(stack, undo) == "success"
    after = found(stack)
    assert (after.topic_id, after.offsets) == (None, before.offsets)
    assert after.pid not in {None, during.pid}
    assert evidence(stack, undo)["run"]["outcome"] == COMPLETED
    assert all(card["done"] for card in evidence(stack, run_id)["cards"])
    assert held_by(stack) == ()


def test_a_dry_run_rehearses_every_stage(stack: Stack, before: Found) -> None:
    """Although the second application runs, and its group has a member; nothing is changed."""
    run_id = trigger_other(stack, DAG, second=NAME, dry_run=True)
    assert stack.api().wait_finished(DAG, run_id, 180) == "success", evidence(stack, run_id)["run"]["outcome_sentence"]
    for task_id, line in (
        ("create_topics", f"would create topic {TOPIC}"),
        ("stop_application_second", f"would stop {INSTANCE}"),
        ("set_offsets_second", "of group billing from"),
        ("clear_state_second", f"{INSTANCE}: local state would be cleared"),
        ("start_application_second", f"would start {INSTANCE}"),
    ):
        assert line in log_of(stack, run_id, task_id)
    assert found(stack).offsets == before.offsets
    assert found(stack).topic_id is None
    assert evidence(stack, run_id)["run"]["outcome"] == DRY_RUN


@pytest.mark.long
@pytest.mark.usefixtures("before")
def test_what_somebody_else_changes_stops_the_next_write(stack: Stack) -> None:
    """Other settings of the second application, and another topic of the name that the run created."""
    run_id = begun(stack)
    killed(stack, DAG, run_id, "stop_application_second")
    assert finished(stack, run_id) == "failed"
    own = found(stack).topic_id
    with changed_settings(stack):
        stack.api().clear(DAG, run_id, "stop_application_second")
        assert finished(stack, run_id) == "failed"
    said = evidence(stack, run_id)["failures"][-1]["payload"]["sentence"]
    assert said.startswith(f"stage 2 is not begun: {INSTANCE} runs 4.3.1 with num.stream.threads=2")

    recreate(stack, TOPIC)
    stack.api().clear(DAG, run_id, "stop_application_second")
    assert finished(stack, run_id) == "failed"
    said = evidence(stack, run_id)["failures"][-1]["payload"]["sentence"]
    assert said.startswith(f"stage 2 is not begun: topic {TOPIC}: ")
    assert str(own) in said
    assert len(evidence(stack, run_id)["cards"]) == 1

    undo = trigger_other(stack, "undo", run=run_id)
    assert stack.api().wait_finished("undo", undo, 120) == "failed"
    said = evidence(stack, undo)["failures"][-1]["payload"]["sentence"]
    assert f"topic {TOPIC} is another one" in said
    assert evidence(stack, undo)["run"]["outcome"] == NOTHING_CHANGED

    other = begun(stack)
    assert finished(stack, other) == "failed"
    said = evidence(stack, other)["failures"][-1]["payload"]["sentence"]
    assert said.startswith(f"topic {TOPIC}")
    assert evidence(stack, other)["run"]["outcome"] == NOTHING_CHANGED
    assert held_by(stack) == ()


@contextmanager
def changed_settings(stack: Stack) -> Iterator[None]:
    """Somebody sets another number of threads for the next start of the second application, and takes it back."""
    file = stack.lab.instances / INSTANCE / "deployment.properties"
    there, times = file.read_text(encoding="latin-1"), file.stat()
    file.write_text(f"{there}num.stream.threads=2\n", encoding="latin-1")
    try:
        yield
    finally:
        file.write_text(there, encoding="latin-1")
        # Otherwise its settings would be newer than its start.
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))


def recreate(stack: Stack, topic: str) -> None:
    """Delete a topic and create it again, as somebody else."""
    admin = AdminClient({"bootstrap.servers": stack.lab.bootstrap})
    admin.delete_topics([topic])[topic].result()
    until(lambda: topic not in admin.list_topics(timeout=10).topics, 30, "the topic is gone")
    admin.create_topics([NewTopic(topic, 2, 1)])[topic].result()
