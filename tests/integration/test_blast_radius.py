"""What a reset would do to the running orders application, next to other groups on its topics; nothing changes."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient
from kstreams_runbooks.cli import cli
from kstreams_runbooks.connections import kafka_config
from kstreams_runbooks.deployers import make_deployer
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.fleet import load_fleet
from kstreams_runbooks.model.readings.reset import RunningUse
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.application.snapshot import snapshot
from kstreams_runbooks.observe.kafka.ends import held_of
from kstreams_runbooks.observe.kafka.local_starts import read_local_starts
from kstreams_runbooks.watch.reset_neighbours import read_running_uses
from lab.afresh import afresh
from lab.application import Deployed, wait_running
from lab.beside import beside
from lab.stack import Stack
from lab.supervise import until

OUTPUT, INTERNAL = "orders-enriched", "orders-orders-running-store-changelog"


@pytest.fixture(scope="module")
def read(stack: Stack) -> Iterator[Stack]:
    """The application with everything read, and groups of others: on an output, and on one of its internal topics."""
    afresh(stack, Deployed())
    stack.start_traffic()
    until(lambda: _ends(stack, OUTPUT) > 20, 60, "the application has written results")
    stack.stop_traffic()
    until(_is_read, 60, "the application has read everything")
    commit(stack, "billing", OUTPUT)
    yield stack
    stack.stop_traffic()


def commit(stack: Stack, group: str, topic: str) -> None:
    """One committed offset of a group without members."""
    settings = {"bootstrap.servers": stack.lab.bootstrap, "group.id": group, "enable.auto.commit": False}
    consumer = Consumer(settings)
    try:
        consumer.commit(offsets=[TopicPartition(topic, 0, 1)], asynchronous=False)
    finally:
        consumer.close()


def _ends(stack: Stack, topic: str) -> int:
    with ClusterReader({"bootstrap.servers": stack.lab.bootstrap}) as reader:
        held = held_of(reader, reader.topics([topic]))
    assert isinstance(held, tuple)
    return sum(one.end for one in held if isinstance(one.end, int))


def _is_read() -> bool:
    return CliRunner().invoke(cli, ["lag", "orders", "--exact"]).exit_code == 0


def radius(*options: str) -> tuple[int, dict[str, Any]]:
    result = CliRunner().invoke(cli, ["blast-radius", "orders", *options, "--format", "json"])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, json.loads(result.stdout)


def constant() -> dict[str, Any]:
    """Everything of the application that nothing may change."""
    entry = load_fleet().application("orders")
    with ClusterReader(kafka_config(load_fleet().cluster(entry.cluster).connection)) as reader:
        return snapshot(entry, reader, make_deployer(entry, dry_run=True), quiesced=True)


def fates(document: dict[str, Any]) -> dict[str, str]:
    return {one["store"]: one["fate"] for one in document["stores"]}


def test_a_reset_reads_everything_again(read: Stack) -> None:
    """Each internal topic by id, each partition from its offset to 0 with exact counts, who reads results."""
    before = constant()
    code, document = radius()
    assert (code, document["verdict"]) == (0, "proceed")
    topics = {one["name"]: one for one in document["internal"]}
    assert INTERNAL in topics
    assert all(one["goes"] and one["bytes"] > 0 for one in topics.values())
    with ClusterReader({"bootstrap.servers": read.lab.bootstrap}) as reader:
        assert {one.name: one.topic_id for one in reader.topics(topics)} == {
            name: one["topic_id"] for name, one in topics.items()
        }
    rows = document["offsets"]
    assert {one["topic"] for one in rows} == {"orders", "customers"}
    assert len(rows) == 8
    assert {one["after"] for one in rows} == {0}
    moved = sum(one["records_moved"] for one in rows)
    assert moved == sum(one["before"] for one in rows) == document["catch_up"]["records"] > 0
    assert document["tables"] == ["customers"]
    assert set(fates(document).values()) == {"rebuilt"}
    [reader_of_results] = document["readers"]
    assert (reader_of_results["group_id"], reader_of_results["topics"]) == ("billing", [OUTPUT])
    assert {one["instance"] for one in document["local"]} == {"orders-1", "orders-2"}
    assert all(sum(one["directories"].values()) > 0 for one in document["local"])
    assert "its pace was not measured: of 0 readings" in document["catch_up"]["seconds"]["missing"]
    assert constant() == before


def test_kept_state_counts_records_twice(read: Stack) -> None:
    """Aggregations, with how many records; a table that is read again keeps the last value of each key."""
    code, document = radius("--mode", "offsets", "--target", "orders=-5")
    rows = document["offsets"]
    again = sum(one["records_moved"] for one in rows)
    assert code == 1
    assert again == sum(one["before"] - one["after"] for one in rows) > 0
    doubled = {store for store, fate in fates(document).items() if fate == "doubled"}
    assert doubled == {"orders-running-store", "orders-windowed-store", "orders-per-customer-store"}
    assert any(f"{again} records of orders are counted twice" in reason for reason in document["reasons"])
    assert document["unmoved"] == ["customers"]
    assert not any(one["goes"] for one in document["internal"])
    code, document = radius("--mode", "offsets", "--target", "customers=-5")
    assert code == 0
    assert set(fates(document).values()) == {"kept"}
    assert read.lab.bootstrap


@pytest.mark.long
def test_a_table_that_is_not_read_from_its_start_lacks_keys(read: Stack) -> None:
    """They are counted and named; a time without a record is a question."""
    code, document = radius("--target", "customers=latest", "--target", "orders=earliest")
    assert code == 0
    [missing] = document["missing_keys"]
    assert missing["count"] >= len(missing["examples"]) > 0
    assert fates(document)["customers-store"] == "partly"
    code, document = radius("--target", "*=-1s")
    assert code == 1
    assert all("a decision is needed" in reason for reason in document["reasons"])
    code, document = radius("--target", "*=-1s or latest")
    assert code == 0
    assert {one["after"] for one in document["offsets"] if one["topic"] == "customers"} == {0}
    with ClusterReader({"bootstrap.servers": read.lab.bootstrap}) as reader:
        assert read_local_starts(reader, [("orders", 0), ("orders", 1)]) == {("orders", 0): 0, ("orders", 1): 0}


def test_a_neighbour_on_an_internal_topic_keeps_it(read: Stack) -> None:
    """Whether a group reads it or the fleet declares it: it does not go, and the reset is refused."""
    commit(read, "thief", INTERNAL)
    try:
        code, document = radius("--mode", "retire")
    finally:
        admin = AdminClient({"bootstrap.servers": read.lab.bootstrap})
        admin.delete_consumer_groups(["thief"])["thief"].result()
    [kept] = [one for one in document["internal"] if not one["goes"]]
    assert (code, kept["name"], kept["used_by"]) == (1, INTERNAL, ["group thief has offsets on it"])
    assert document["offsets"] == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--target", f"{OUTPUT}=latest"], "is not an input"),
        (["--target", "orders=2999-01-01T00:00:00Z"], "is in the future"),
        (["--target", "orders=latest", "--mode", "state"], "mode state: sets no offsets"),
        (["--mode", "offsets"], "mode offsets: has no target"),
        (["--empty-output", "orders"], "is not an output of orders"),
        (["--target", "orders=run:never"], "run"),
        (["--target", "orders=file:/nowhere/a.csv"], "target file:/nowhere/a.csv"),
        (["--target", "orders"], "is not TOPIC=VALUE"),
    ],
)
def test_bad_input_is_one_sentence(read: Stack, options: list[str], said: str) -> None:
    result = CliRunner().invoke(cli, ["blast-radius", "orders", *options])
    assert isinstance(result.exception, BadInput), (read.lab.bootstrap, result.output)
    assert said in str(result.exception)
    assert len(result.exception.args) == 1


@pytest.mark.long
def test_offsets_that_were_saved_as_a_file(read: Stack, tmp_path: Path) -> None:
    """As a run saves them; a partition that is not in it is a question."""
    file = tmp_path / "saved.csv"
    file.write_text("orders,0,1\norders,1,2\norders,2,3\norders,3,4\n", encoding="utf-8")
    _, document = radius("--mode", "offsets", "--target", f"orders=file:{file}")
    assert [one["after"] for one in document["offsets"]] == [1, 2, 3, 4], read.lab.bootstrap
    file.write_text("orders,0,1\n", encoding="utf-8")
    _, document = radius("--mode", "offsets", "--target", f"orders=file:{file}")
    assert sum("has no offset of it" in reason for reason in document["reasons"]) == 3


def test_a_neighbour_that_works_and_does_not_answer_is_unknown(read: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it writes is shown by nothing else; one that is stopped writes nothing."""
    for number in (1, 2):
        monkeypatch.setenv(f"DEMO_METRICS_{number}", f"http://127.0.0.1:{number}/jolokia")
    silent = load_fleet().application("orders")
    with ClusterReader({"bootstrap.servers": read.lab.bootstrap}) as reader:
        names = reader.names()
    assert read_running_uses([silent], names, ()) == ((), ())
    uses, [unknown] = read_running_uses([silent], names, {"orders"})
    assert uses == ()
    assert "orders: works, and no instance reports its topology" in unknown


@pytest.mark.long
def test_a_prefix_neighbour_keeps_its_topics(read: Stack, tmp_path: Path) -> None:
    """`orders-next` writes the same outputs: its internal topics are its own, and no shared output is emptied."""
    with beside(read.lab.bootstrap, tmp_path / "next", "orders-next") as neighbour:
        neighbour.wait_running()
        entry = yaml.safe_load((read.lab.config / "applications" / "orders.yaml").read_text(encoding="utf-8"))
        [instance, _] = entry["deployer"]["instances"]
        entry["deployer"]["instances"] = [{**instance, "metrics": f"http://127.0.0.1:{neighbour.port}/jolokia"}]
        entry["application_id"] = "orders-next"
        file = read.lab.config / "applications" / "next.yaml"
        file.write_text(yaml.safe_dump(entry), encoding="utf-8")
        try:
            fleet = load_fleet()
            with ClusterReader({"bootstrap.servers": read.lab.bootstrap}) as reader:
                names = reader.names()
            uses, unknown = read_running_uses([fleet.application("next")], names, {"orders-next"})
            _, document = radius()
            done = CliRunner().invoke(cli, ["blast-radius", "orders", "--empty-output", OUTPUT])
        finally:
            file.unlink()
    assert unknown == ()
    assert RunningUse("orders", "next", writes=False) in uses
    assert RunningUse(OUTPUT, "next", writes=True) in uses
    assert any(name.startswith("orders-next-") for name in names.visible)
    assert document["internal"]
    assert all(not one["name"].startswith("orders-next-") and one["goes"] for one in document["internal"])
    assert isinstance(done.exception, BadInput)
    assert f"output {OUTPUT}: is written by next too" in str(done.exception)


@pytest.mark.long
def test_a_stopped_application_is_known_by_its_release(read: Stack) -> None:
    """Nothing reports a topology, and the deployer describes it."""
    _, running = radius()
    names = Deployed().names
    read.supervisor.stop(*names)
    try:
        code, stopped = radius()
    finally:
        read.supervisor.start(*names)
        wait_running(read.lab, read.supervisor, names)
    assert code == 0
    assert [one["topic_id"] for one in stopped["internal"]] == [one["topic_id"] for one in running["internal"]]
    assert fates(stopped) == fates(running)
