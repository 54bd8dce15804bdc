"""A start that would read an orphaned repartition topic again: refused by the run, and shown by the command."""

import json
from collections.abc import Iterator

import pytest
import yaml
from click.testing import CliRunner
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from kstreams_runbooks.cli import cli
from lab.stack import Stack
from lab.supervise import until
from world.endings import NOTHING_CHANGED, begun_other, ended
from world.given import declared_as

_TOPIC = "orders-orders-audit-repartition"
_WHY = f"topic {_TOPIC} has 3 records on partition 1 without a committed offset of group orders"


@pytest.fixture
def orphaned(fresh: Stack) -> Iterator[Stack]:
    """The application, and a topic of a release that ran before: records, no offsets; `audit` reads it again."""
    admin = AdminClient({"bootstrap.servers": fresh.lab.bootstrap})
    producer = Producer({"bootstrap.servers": fresh.lab.bootstrap})
    admin.create_topics([NewTopic(_TOPIC, 4, 1)])[_TOPIC].result(30)
    until(lambda: _TOPIC in admin.list_topics(timeout=10).topics, 30, "the topic is listed")
    for number in range(3):
        producer.produce(_TOPIC, str(number), partition=1)
    assert producer.flush(30) == 0
    entry = yaml.safe_load((fresh.lab.config / "applications" / "orders.yaml").read_text(encoding="utf-8"))
    with declared_as(fresh, deployer=entry["deployer"] | {"settable": [*entry["deployer"]["settable"], "audit"]}):
        yield fresh
    admin.delete_topics([_TOPIC])[_TOPIC].result(30)


@pytest.mark.parametrize("dry_run", [pytest.param(True, marks=pytest.mark.long), False])
def test_a_stop_and_restart_is_refused_before_anything_is_stopped(orphaned: Stack, *, dry_run: bool) -> None:
    """By the plan, and by a dry run too: nobody is asked."""
    trial = begun_other(orphaned, "stop_and_restart", settings={"audit": True}, dry_run=dry_run)
    document = ended(trial, state="failed", outcome=NOTHING_CHANGED)
    assert document["run"]["outcome_sentence"].startswith(_WHY)
    assert document["approvals"] == document["cards"] == document["recheck"]["different"] == []


def test_the_command_lists_it_and_an_unreadable_cluster_is_inconclusive(orphaned: Stack) -> None:
    """With its records and the partitions without offsets; exit code 1, and 3 while no broker answers."""
    environment = orphaned.environment()
    shown = CliRunner().invoke(cli, ["orphans", "orders", "--format", "json"], env=environment)
    [answer] = json.loads(shown.stdout)["applications"]
    [row] = [one for one in answer["orphans"] if one["topic"] == _TOPIC]
    assert (shown.exit_code, answer["problems"]) == (1, [])
    assert (row["kind"], row["exists"], row["records_at_most"]) == ("repartition", True, 3)
    assert row["partitions_without_offsets"] == 1
    nowhere = json.dumps({"conn_type": "kafka", "extra": {"bootstrap.servers": "localhost:1"}})
    shown = CliRunner().invoke(cli, ["orphans", "orders"], env=environment | {"AIRFLOW_CONN_KAFKA_DEMO": nowhere})
    assert shown.exit_code == 3
    assert "  ! " in shown.stdout
