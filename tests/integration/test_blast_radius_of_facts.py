"""The blast radius of a stopped application whose topology command prints facts: a real broker, a fake fleet."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigEntry, ConfigResource, ResourceType  # type: ignore[attr-defined]
from confluent_kafka.admin import AlterConfigOpType as Operation  # type: ignore[attr-defined]
from kstreams_runbooks.cli import cli
from kstreams_runbooks.decide.comparison.compared import Side
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.model.topology.declaration import Declaration
from kstreams_runbooks.watch.blast_radius import ResetQuestion, read_reset
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


def test_a_changelog_that_lost_records_is_not_enough_for_mode_state(topic: str, broker: str, tmp_path: Path) -> None:
    """Brokers report where its log begins: what was before is on local disks alone."""
    admin, lost = AdminClient({"bootstrap.servers": broker}), "app-readings-store-changelog"
    topic_of_ten({"bootstrap.servers": broker}, lost)
    try:
        before = radius(tmp_path, COUNTED, "--mode", "state")
        admin.delete_records([TopicPartition(lost, 0, 4)])[TopicPartition(lost, 0)].result()
        expiring = radius(tmp_path, COUNTED, "--mode", "state")
        compacts = ConfigEntry("cleanup.policy", "compact", incremental_operation=Operation.SET)
        resource = ConfigResource(ResourceType.TOPIC, lost, incremental_configs=[compacts])
        admin.incremental_alter_configs([resource])[resource].result()
        after = radius(tmp_path, COUNTED, "--mode", "state")
    finally:
        admin.delete_topics([lost])[lost].result()
    fates = [{one["store"]: one["fate"] for one in found["stores"]}[STORE] for found in (before, expiring, after)]
    # The topic has no limit of age: what is gone there was deleted by hand, and the store may keep it.
    assert fates == ["restored", "unknown", "lost"], topic
    assert any(f"4 offsets of {lost} are gone" in reason for reason in after["reasons"])


def test_names_that_a_setting_gives_are_not_taken_for_none(topic: str, tmp_path: Path) -> None:
    """Its changelogs would stay, and restore the old state."""
    setting = '  "application.id": "app"\n  "__internal.override.topic.prefix__": "other"\n'
    document = radius(tmp_path, COUNTED.replace('  "application.id": "app"\n', setting))
    assert document["verdict"] == "inconclusive", topic
    assert any("internal topics begin with other" in reason for reason in document["reasons"])


def test_an_input_that_only_the_next_version_reads_has_a_target(topic: str, broker: str, tmp_path: Path) -> None:
    """Without an offset `auto.offset.reset` would decide, and `latest` skips its history."""
    admin, new = AdminClient({"bootstrap.servers": broker}), "readings-2"
    topic_of_ten({"bootstrap.servers": broker}, new)
    text = DESCRIPTION.replace("topics: [readings]", f"topics: [readings, {new}]")
    FakeStreams(tmp_path, "app", COUNTED, inputs=(INPUT,), outputs=(OUTPUT,), cluster="lone").declare()
    try:
        question = ResetQuestion("reset", {}, brings=(Side(parse_topology(text), Declaration()),))
        read = read_reset("app", question, print)
    finally:
        admin.delete_topics([new])[new].result()
    assert {(one.topic, one.partition): (one.before, one.after) for one in read.radius.offsets} == {
        (topic, 0): (10, 0),
        (topic, 1): (0, 0),
        (new, 0): (None, 0),
        (new, 1): (None, 0),
    }
    assert read.read == {topic, new}
