"""`lag` as a person runs it, on an application that runs, that is down, and on what is not there."""

import json
import time
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from click.testing import CliRunner
from confluent_kafka import Consumer, Producer, TopicPartition
from kstreams_runbooks.act.groups import GroupWriter
from kstreams_runbooks.cli import cli
from kstreams_runbooks.errors import BadInput, Unreachable
from kstreams_runbooks.model.readings.readings import GroupReading
from kstreams_runbooks.observe import ClusterReader
from lab import kafka
from lab.supervise import until
from world.given import Orders

FIELDS = {
    "topic",
    "partition",
    "role",
    "committed",
    "last_stable_offset",
    "log_end_offset",
    "readable_records",
    "oldest_unread_ms",
    "stream_time_ms",
    "open_transaction",
    "state",
}
BEHIND = 30


def lag(*words: str) -> tuple[int, dict[str, Any]]:
    """Exit code and document; stdout has nothing else."""
    result = CliRunner().invoke(cli, ["lag", *words, "--format", "json"])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, json.loads(result.stdout)


def rows(document: dict[str, Any]) -> dict[tuple[str, int], dict[str, Any]]:
    [application] = document["applications"]
    return {(row["topic"], row["partition"]): row for row in application["partitions"]}


def test_an_application_that_runs_and_has_read_everything(orders: Orders) -> None:
    """Inputs and internal topics with all their partitions, stream time from the commits, exit code 0."""
    orders.stack.start_traffic()
    time.sleep(3)
    orders.stack.stop_traffic()
    until(lambda: lag("orders")[0] == 0, 60, "everything is read", poll_s=0.5)
    code, document = lag("orders", "--exact")
    [application] = document["applications"]
    assert (code, document["schema_version"]) == (0, 1)
    assert (application["application_id"], application["group_type"]) == ("orders", "classic")
    assert (application["status"], application["problems"]) == ("healthy", [])
    found = rows(document)
    assert all(row.keys() >= FIELDS for row in found.values())
    assert {row["role"] for row in found.values()} == {"source", "repartition"}
    assert {topic for topic, _ in found} >= {"orders", "customers", "orders-orders-by-customer-repartition"}
    assert all(row["readable_records"] == 0 for row in found.values())
    assert max(row["stream_time_ms"] or 0 for row in found.values()) > 0


@pytest.fixture(scope="module")
def down(orders: Orders) -> Iterator[dict[str, Any]]:
    """The application is stopped, and has records, an aborted transaction and an offset on another topic before it."""
    lab, names = orders.stack.lab, ("orders-1", "orders-2")
    config: dict[str, Any] = {"bootstrap.servers": lab.bootstrap}
    orders.stack.supervisor.stop(*names)
    with ClusterReader(config) as reader:
        group = reader.group("orders")
    if isinstance(group, GroupReading) and group.members:
        GroupWriter(config, dry_run=False).remove_members("orders", group.members)
    kafka.create_topics(lab.bootstrap, ("left-behind",), 1)
    producer = Producer({**config, "transactional.id": uuid.uuid4().hex})
    producer.init_transactions()
    for end in (producer.commit_transaction, producer.abort_transaction):
        producer.begin_transaction()
        for number in range(BEHIND):
            producer.produce("orders", str(number), partition=1)
        producer.produce("left-behind", "x", partition=0)
        producer.flush()
        end()
    consumer = Consumer({**config, "group.id": "orders", "enable.auto.commit": False})
    consumer.commit(offsets=[TopicPartition("left-behind", 0, 0)], asynchronous=False)
    consumer.close()
    yield config
    producer.purge()


def test_one_that_is_down_is_read_by_its_description(down: dict[str, Any]) -> None:
    """Its release prints the topology: internal topics are seen, records are told from offsets, orphans in no total."""
    assert down
    code, document = lag("orders", "--exact")
    [application] = document["applications"]
    found = rows(document)
    assert (code, application["status"], application["problems"]) == (1, "stopped", [])
    behind = found["orders", 1]
    assert (behind["readable_records"], behind["unread_offsets"]) == (BEHIND, 2 * BEHIND + 2)
    assert time.time() * 1000 - behind["oldest_unread_ms"] < 120_000
    assert sum(row["readable_records"] for row in found.values() if row["role"] != "orphaned") == BEHIND
    assert (found["left-behind", 0]["state"], found["left-behind", 0]["readable_records"]) == ("orphaned", 1)
    assert {row["role"] for row in found.values()} == {"source", "repartition", "orphaned"}
    text = CliRunner().invoke(cli, ["lag", "orders", "--exact"]).stdout
    assert text.startswith(f"orders @ demo: {BEHIND} unread records; STOPPED\n")


def test_an_open_transaction_is_told(down: dict[str, Any]) -> None:
    """What is behind it is not counted, and nobody may take it for nothing."""
    producer = Producer({**down, "transactional.id": uuid.uuid4().hex, "transaction.timeout.ms": 60_000})
    producer.init_transactions()
    producer.begin_transaction()
    producer.produce("customers", "x", partition=2)
    producer.flush()
    _, document = lag("orders")
    row = rows(document)["customers", 2]
    assert row["open_transaction"] is True
    assert row["last_stable_offset"] == row["log_end_offset"] - 1
    assert row["unread_offsets"] == 0
    producer.abort_transaction()


def test_a_group_that_no_fleet_declares(down: dict[str, Any]) -> None:
    """By what it has committed, and by names; one that no broker knows is unknown and never at zero."""
    assert down
    code, document = lag("--group", "orders", "--cluster", "demo")
    assert code == 1
    assert rows(document)["orders", 1]["unread_offsets"] == 2 * BEHIND + 2
    code, document = lag("--group", "nobody", "--cluster", "demo")
    [application] = document["applications"]
    assert (code, application["group_type"], application["status"]) == (3, None, "unknown")


def test_bad_input_and_a_cluster_that_does_not_answer(orders: Orders, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit codes 2 and 4, with what to do."""
    assert orders
    with pytest.raises(BadInput, match="--group and --cluster: belong together"):
        lag("--group", "orders")
    with pytest.raises(BadInput, match="nowhere"):
        lag("nowhere")
    broken = {"conn_type": "kafka", "extra": {"bootstrap.servers": "127.0.0.1:1"}}
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_DEMO", json.dumps(broken))
    with pytest.raises(Unreachable, match=r"cluster demo: Kafka at 127\.0\.0\.1:1: nothing listens"):
        lag("orders")
