"""`internal-topics` as a person runs it, against a real broker: its deployer and its agent are fakes."""

import json
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    ResourceType,
)
from kstreams_runbooks.act.topics import TopicWriter
from kstreams_runbooks.cli import cli
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.writes import TopicShape
from lab.fake_streams import FakeStreams
from lab.kafka_tools import topics
from lab.supervise import until
from world.facts import COUNTED

FACTS = COUNTED.replace("    retention_ms: 3900000", "    retain_duplicates: false\n    retention_ms: 3900000")
DESCRIPTION = "\n".join(
    line[2:] for line in COUNTED.partition("topology: |\n")[2].partition("\nconfig:")[0].splitlines()
)
STORE, BUFFER = "app-readings-store-changelog", "app-closed-store-changelog"
_WAIT_S = 20


@pytest.fixture
def application(broker: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeStreams]:
    """An application without topics; those that a test creates are deleted after it."""
    made = FakeStreams(tmp_path, "app", FACTS, inputs=("readings",), outputs=("reading-counts",), cluster="lone")
    made.declare()
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_CONFIG", str(tmp_path))
    connection = {"conn_type": "kafka", "extra": {"bootstrap.servers": broker}}
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_LONE", json.dumps(connection))
    yield made
    admin = AdminClient({"bootstrap.servers": broker})
    names = {"readings", STORE, BUFFER, "app-left-changelog"} & set(admin.list_topics(timeout=10).topics)
    for future in admin.delete_topics(sorted(names)).values() if names else ():
        future.result()


def ask(*words: str) -> tuple[int, dict[str, Any]]:
    """Exit code and document; stdout has nothing else."""
    result = CliRunner().invoke(cli, ["internal-topics", *words, "--format", "json"])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, json.loads(result.stdout)


def states(document: dict[str, Any]) -> dict[str, str]:
    """The state of each topic."""
    return {one["topic"]: one["state"] for one in document["topics"]}


@pytest.mark.usefixtures("application")
def test_from_a_missing_source_to_topics_that_are_all_there(broker: str) -> None:
    """The plan is what is created, the controller has checked it, and nothing is created by the command."""
    admin = AdminClient({"bootstrap.servers": broker})
    code, found = ask("app", "--release", "4.3.1", "--create")
    assert (code, [one["name"] for one in found["missing_sources"]]) == (1, ["readings"])
    assert "topics.readings.partitions (it does not exist)" in found["create"]["missing"]

    admin.create_topics([NewTopic("readings", 3)])["readings"].result()
    until(lambda: not ask("app", "--release", "4.3.1")[1]["missing_sources"], _WAIT_S, "the source is there")
    code, found = ask("app", "--release", "4.3.1", "--create")
    assert (code, states(found)) == (1, {STORE: "missing", BUFFER: "missing"})
    assert [one["id"] for one in found["findings"]] == ["internal-topic-missing"] * 2
    planned = found["create"]["topics"]
    assert [(one["topic"], one["partitions"], one["refused"]) for one in planned] == [
        (BUFFER, 3, None),
        (STORE, 3, None),
    ]
    assert not {STORE, BUFFER} & set(admin.list_topics(timeout=10).topics), "the command created a topic"

    first, second = planned
    shape = TopicShape(first["topic"], 3, first["replication_factor"], tuple(sorted(first["settings"].items())))
    TopicWriter({"bootstrap.servers": broker}, dry_run=False).create([shape])
    tool, _, _, *words = shlex.split(second["command"])
    assert tool == "kafka-topics.sh"
    subprocess.run(topics(broker, *words), check=True, capture_output=True, timeout=60)
    until(lambda: ask("app", "--release", "4.3.1")[0] == 0, _WAIT_S, "both are as Kafka Streams would make them")

    change = ConfigEntry("retention.ms", "5", incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.TOPIC, STORE, incremental_configs=[change])
    admin.incremental_alter_configs([resource])[resource].result()
    admin.create_topics([NewTopic("app-left-changelog", 1)])["app-left-changelog"].result()
    until(lambda: len(ask("app", "--release", "4.3.1")[1]["topics"]) == 3, _WAIT_S, "the third one is there")
    code, found = ask("app", "--release", "4.3.1")
    assert (code, states(found)) == (1, {STORE: "settings", BUFFER: "present", "app-left-changelog": "orphaned"})
    [row] = (one for one in found["topics"] if one["topic"] == STORE)
    assert row["differences"] == [{"what": "retention.ms", "there": "5", "wanted": str(3_900_000 + 86_400_000)}]


def test_a_running_version_without_facts_is_asked_for_each_of_them(
    application: FakeStreams, broker: str, tmp_path: Path
) -> None:
    """Its description has no facts; with a declaration of the release they are known. Nothing running is bad input."""
    with pytest.raises(BadInput, match="no instance reports its topology"):
        ask("app")
    admin = AdminClient({"bootstrap.servers": broker})
    admin.create_topics([NewTopic("readings", 2)])["readings"].result()
    shown = FakeStreams(tmp_path, "app", DESCRIPTION, application.inputs, application.outputs, cluster="lone")
    with shown.running():
        until(lambda: not ask("app", "--create")[1]["missing_sources"], _WAIT_S, "the source is there")
        code, found = ask("app", "--create")
        assert code == 3
        assert {"config", "stores.readings-store.kind", "stores.readings-store.logging"} <= set(found["unknown"])
        assert "stores.readings-store" in found["create"]["missing"]
        (tmp_path / "applications" / "app").mkdir()
        (tmp_path / "applications" / "app" / "4.3.1.yaml").write_text(
            "config: {application.id: app}\n"
            "stores:\n  readings-store: {kind: window, logging: true, logging_config: {}, retention_ms: 3900000, "
            "retain_duplicates: false}\n"
            "suppressions:\n  closed: {mode: until_window_closes, logging: true, logging_config: {}}\n",
            encoding="utf-8",
        )
        code, found = ask("app")
        assert (code, found["unknown"], states(found)) == (1, [], {STORE: "missing", BUFFER: "missing"})


@pytest.mark.usefixtures("application")
def test_files_without_an_application(tmp_path: Path) -> None:
    """The cluster is named, and the id is that of the settings; an application has its own id."""
    file = tmp_path / "app.facts.yaml"
    file.write_text(FACTS, "utf-8")
    _, found = ask("--cluster", "lone", "--topology", str(file))
    assert (found["application"], found["cluster"]) == ("app", "lone")
    file.write_text(FACTS.replace('"application.id": "app"', '"application.id": "another"'), "utf-8")
    with pytest.raises(BadInput, match=r"application\.id: is another in the settings of this version, and app in the"):
        ask("app", "--topology", str(file))
