"""The scheduled check, live: two clusters of which one is away, and each status told once as the application changes.

One story in one order: each part begins with what the one before it left. The two long parts may be left out.
"""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import yaml
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]
from kstreams_runbooks.act.groups import GroupWriter
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.model.readings.readings import GroupReading, Missing
from kstreams_runbooks.observe import ClusterReader
from lab.afresh import afresh
from lab.airflow import APPROVER
from lab.application import Deployed
from lab.kafka import PARTITIONS
from lab.stack import Stack
from lab.supervise import until
from world.runs import command, log_of, question, told, trigger

CHECK = "fleet_check"
AWAY = "elsewhere"
_PLACE = ("customers", 0)


@pytest.fixture(scope="module")
def watched(stack: Stack) -> Stack:
    """The application from nothing, once it has read a little traffic."""
    afresh(stack, Deployed())
    stack.start_traffic()
    until(lambda: _committed(stack) is not None, 60, "something has been processed")
    stack.stop_traffic()
    stack.api().wait_for_dag(CHECK)
    return stack


@pytest.fixture(scope="module")
def away(watched: Stack) -> Iterator[None]:
    """A second cluster with an application, declared; nobody answers for it."""
    config = watched.lab.config
    entry = yaml.safe_load((config / "applications" / "orders.yaml").read_text(encoding="utf-8"))
    files = {
        config / "clusters" / f"{AWAY}.yaml": {"connection": f"kafka_{AWAY}"},
        config / "applications" / "payments.yaml": entry | {"application_id": "payments", "cluster": AWAY},
    }
    for file, content in files.items():
        file.write_text(yaml.safe_dump(content), encoding="utf-8")
    # A port on which nobody listens.
    extra = json.dumps({"bootstrap.servers": "127.0.0.1:1"})
    connection = {"connection_id": f"kafka_{AWAY}", "conn_type": "kafka", "extra": extra}
    watched.api().call("POST", "/connections", connection)
    yield
    watched.api().call("DELETE", f"/connections/kafka_{AWAY}")
    for file in files:
        file.unlink(missing_ok=True)


def check(stack: Stack, **params: Any) -> tuple[str, str]:
    """One check from its trigger to its end: the state it ended in, and its id."""
    run_id = f"check-{time.time_ns()}"
    stack.api().trigger(CHECK, params, run_id)
    return stack.api().wait_finished(CHECK, run_id, 120), run_id


def log(stack: Stack, run_id: str, task_id: str) -> str:
    """What a task that is not mapped said."""
    return "\n".join(stack.api().log(CHECK, run_id, task_id))


def messages(stack: Stack) -> list[dict[str, Any]]:
    """Every change of a status that was told."""
    file = stack.lab.run_dir / "notifications.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return [message for message in map(json.loads, lines) if message["kind"] == "status_changed"]


def words(stack: Stack) -> dict[str, str]:
    """How every application stands, by the ledger."""
    ledger = Ledger.open(stack.environment()["KSTREAMS_RUNBOOKS_LEDGER"])
    return {one.application: one.word for one in ledger.lag_statuses()}


@dataclass(frozen=True)
class First:
    """The first check: the state it ended in, its id, and the run that waited for its approval meanwhile."""

    state: str
    check_id: str
    waiting: str


@pytest.fixture(scope="module")
def first(watched: Stack, away: None) -> First:  # noqa: ARG001 - for as long as the check runs
    """One check while a cluster is away, and while a run waits whose world has drifted."""
    run_id = trigger(watched)
    question(watched, run_id)
    _recreate(watched, "orders-windowed")
    return First(*check(watched), run_id)


@pytest.mark.long
def test_a_cluster_that_is_away_hides_no_other_and_the_run_tells(watched: Stack, first: First) -> None:
    """Its application is unknown with the reason, the other one is judged; from the second check on none is green."""
    assert words(watched) == {"orders": "healthy", "payments": "unknown"}
    # That it is unknown when it is first seen is no news yet: Airflow may have started before its cluster.
    assert (first.state, messages(watched)) == ("success", [])
    state, check_id = check(watched)
    (only,) = messages(watched)
    assert only["subject"] == f"[payments @ {AWAY}] status changed: unknown"
    assert "cluster elsewhere was not read: Kafka at 127.0.0.1:1: nothing listens" in only["body"]
    assert only["command"] == "kstreams-runbooks lag payments"
    assert only["link"] == f"{watched.lab.airflow_url}/dags/{CHECK}/runs/{check_id}"
    assert state == "failed"
    assert "this check is incomplete: cluster elsewhere was not read" in log(watched, check_id, "notify_changes")


@pytest.mark.long
def test_a_run_that_waits_while_the_world_drifts_is_told_and_its_plan_is_void(watched: Stack, first: First) -> None:
    """Found while nobody had answered yet: the write after the approval refuses, and the end is told as an end."""
    assert "topic orders-windowed: recreated" in log(watched, first.check_id, "sweep_holds")
    watched.api(APPROVER).answer("library_bump", first.waiting, "approve_plan")
    assert watched.api().wait_finished("library_bump", first.waiting, 120) == "failed"
    assert "has been void since" in log_of(watched, first.waiting, "bounce_1_first")
    kinds = [message["kind"] for message in told(watched, first.waiting)]
    assert kinds == ["needs_you", "drifted_while_waiting", "concluded"]


def test_a_stopped_application_is_told_once(watched: Stack) -> None:
    """Also by the command that the message names, which judges by what the checks have kept."""
    (watched.lab.config / "applications" / "payments.yaml").unlink(missing_ok=True)
    check(watched)
    assert words(watched)["orders"] == "healthy"
    before = len(messages(watched))
    watched.supervisor.stop(*Deployed().names)
    _empty(watched)
    for _ in range(2):
        assert check(watched)[0] == "success"
        assert words(watched)["orders"] == "stopped"
    (only,) = messages(watched)[before:]
    assert only["subject"] == "[orders @ demo] status changed: stopped (was healthy)"
    assert "group orders has offsets and no member" in only["body"]
    _, text = command(watched, "lag", "orders", "--format", "json")
    assert [one["status"] for one in json.loads(text)["applications"]] == ["stopped"]


def test_offsets_that_are_set_back_and_a_topic_that_comes_again_are_told(watched: Stack) -> None:
    """What is certainly wrong comes before that it is stopped."""
    before = len(messages(watched))
    consumer = Consumer({"bootstrap.servers": watched.lab.bootstrap, "group.id": "orders", "enable.auto.commit": False})
    consumer.commit(offsets=[TopicPartition(*_PLACE, (_committed(watched) or 0) - 1)], asynchronous=False)
    consumer.close()
    check(watched)
    assert words(watched)["orders"] == "rewound"
    _recreate(watched, "customers")
    check(watched)
    rewound, recreated = messages(watched)[before:]
    assert rewound["subject"] == "[orders @ demo] status changed: rewound (was stopped)"
    assert "customers-0 (from" in rewound["body"]
    assert recreated["subject"] == "[orders @ demo] status changed: recreated (was rewound)"
    assert ") was deleted and created again: its records and its offsets are others" in recreated["body"]
    assert "trigger fleet_check --param acknowledge=orders --reason REASON" in recreated["body"]
    # It stays so until somebody says that the present topics are the right ones; nobody is told the same again.
    check(watched)
    assert words(watched)["orders"] == "recreated"
    assert len(messages(watched)) == before + 2
    check(watched, acknowledge=["orders"], reason="looked after")
    assert words(watched)["orders"] not in {"recreated", "healthy"}


def _recreate(stack: Stack, topic: str) -> None:
    """Delete a topic and make it again: the same name with another id, empty."""
    admin = AdminClient({"bootstrap.servers": stack.lab.bootstrap})
    admin.delete_topics([topic])[topic].result()
    until(lambda: topic not in admin.list_topics(timeout=10).topics, 30, f"{topic} is gone")
    admin.create_topics([NewTopic(topic, PARTITIONS, 1)])[topic].result()


def _committed(stack: Stack) -> int | None:
    """The application's offset on one partition, None where it has none."""
    with ClusterReader({"bootstrap.servers": stack.lab.bootstrap}) as reader:
        offsets = reader.committed(["orders"])["orders"]
    return None if isinstance(offsets, Missing) or (_PLACE not in offsets) else offsets[_PLACE].offset


def _empty(stack: Stack) -> None:
    """Remove the members that the stopped instances left behind."""
    config = {"bootstrap.servers": stack.lab.bootstrap}

    def emptied() -> bool:
        with ClusterReader(config) as reader:
            group = reader.group("orders")
        if isinstance(group, GroupReading) and group.members:
            GroupWriter(config, dry_run=False).remove_members("orders", group.members)
            return False
        return isinstance(group, GroupReading) and group.state == "Empty"

    until(emptied, 30, "the group is empty")
