"""The blast radius of a stopped application whose topology command prints facts: a real broker, a fake fleet."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient
from kstreams_runbooks.cli import cli
from lab.fake_streams import FakeStreams
from lab.kafka import topic_of_ten
from world.facts import COUNTED

INPUT, OUTPUT, STORE = "readings", "reading-counts", "readings-store"
DESCRIPTION = "\n".join(
    line[2:] for line in COUNTED.partition("topology: |\n")[2].partition("\nconfig:")[0].splitlines()
)


@pytest.fixture
def topic(broker: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The input, of which the group of the application has read the ten records."""
    config: dict[str, Any] = {"bootstrap.servers": broker}
    topic_of_ten(config, INPUT)
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_CONFIG", str(tmp_path))
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_LONE", json.dumps({"conn_type": "kafka", "extra": config}))
    consumer = Consumer({**config, "group.id": "app", "enable.auto.commit": False})
    consumer.commit(offsets=[TopicPartition(INPUT, 0, 10), TopicPartition(INPUT, 1, 0)], asynchronous=False)
    consumer.close()
    yield INPUT
    admin = AdminClient(config)
    admin.delete_topics([INPUT])[INPUT].result()
    admin.delete_consumer_groups(["app"])["app"].result()


def radius(folder: Path, printed: str, *words: str) -> dict[str, Any]:
    """The document for an application whose topology command prints this."""
    FakeStreams(folder, "app", printed, inputs=(INPUT,), outputs=(OUTPUT,), cluster="lone").declare()
    done = CliRunner().invoke(cli, ["blast-radius", "app", *words, "--format", "json"])
    assert isinstance(done.exception, SystemExit | None), done.exception
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_facts_of_the_program_count_as_a_declaration(topic: str, tmp_path: Path) -> None:
    """That a store counts a record twice is known by its code alone; a description does not show it."""
    words = ("--mode", "offsets", "--target", f"{topic}=0:4,1:0")
    fates = {}
    for name, printed in (("facts", COUNTED), ("description", DESCRIPTION)):
        document = radius(tmp_path, printed, *words)
        fates[name] = {one["store"]: one["fate"] for one in document["stores"]}[STORE]
    assert fates == {"facts": "doubled", "description": "unknown"}


def test_times_are_read_for_the_forecast_of_late_records(topic: str, tmp_path: Path) -> None:
    """The newest time of the log next to that of its first record; each task reads one partition in its order."""
    document = radius(tmp_path, COUNTED)
    rows = {one["partition"]: one for one in document["offsets"]}
    assert rows[0]["newest_ms"] >= rows[0]["after_ms"] > 0
    assert rows[1]["newest_ms"] is None, topic
    assert [(one["store"], one["comparable"]) for one in document["late"]] == [(STORE, True)]
