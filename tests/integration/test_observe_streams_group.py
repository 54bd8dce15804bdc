"""A streams group (KIP-1071) is read as the live application that it is."""

import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]
from kafka.admin import ConfigResource, ConfigResourceType, KafkaAdminClient
from kstreams_runbooks.act.groups import GroupWriter
from kstreams_runbooks.decide.instances.check import ready_for_change
from kstreams_runbooks.errors import WriteRefused
from kstreams_runbooks.model.readings.readings import GroupReading, Missing, StreamsReading
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.lag.partition_rows import read_partitions
from lab.beside import beside
from world.samples import declared, reading

TOPICS = ("orders", "customers", "orders-running", "orders-windowed", "orders-enriched", "orders-per-customer")
APPLICATION_ID = "orders-by-streams-protocol"


class Kafka:
    """What the fixture `kafka` gives."""

    bootstrap: str


@pytest.fixture(scope="module")
def config(kafka: Kafka) -> dict[str, Any]:
    """The broker's librdkafka configuration, with the application's topics there."""
    config: dict[str, Any] = {"bootstrap.servers": kafka.bootstrap}
    for future in AdminClient(config).create_topics([NewTopic(name, 4, 1) for name in TOPICS]).values():
        with suppress(KafkaException):  # there already
            future.result()
    return config


@pytest.fixture(scope="module")
def running(config: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[StreamsReading]:
    """The orders application on 4.3.1 with group.protocol=streams, once it is RUNNING."""
    directory = tmp_path_factory.mktemp("streams")
    with beside(
        config["bootstrap.servers"], directory, APPLICATION_ID, group_protocol="streams", num_stream_threads="2"
    ) as one:
        yield one.wait_running()


def test_members_and_tasks(running: StreamsReading, config: dict[str, Any]) -> None:
    """Type, state, both threads with client id, host and one process id; every task once."""
    with ClusterReader(config) as reader:
        assert (APPLICATION_ID, "streams") in [(name, kind) for name, kind, _ in reader.groups()]
        deadline = time.monotonic() + 30
        while True:
            group = reader.group(APPLICATION_ID)
            assert isinstance(group, GroupReading)
            tasks = [task for member in group.members for task in member.tasks]
            if group.state == "Stable" and len(group.members) == 2 and tasks:
                break
            assert time.monotonic() < deadline, group
            time.sleep(0.3)
        committed = read_partitions(reader, APPLICATION_ID, {"orders": "source"}, reader.topics(["orders"]))
    assert group.type == "streams"
    assert {member.host for member in group.members} == {"127.0.0.1"}
    assert all(member.client_id.startswith(f"{running.client_id}-StreamThread-") for member in group.members)
    assert len({member.process_id for member in group.members}) == 1
    assert len(tasks) == len(set(tasks))
    assert {f"0_{partition}" for partition in range(4)} <= set(tasks)
    assert isinstance(committed, tuple)


def test_no_runbook_changes_it(running: StreamsReading, config: dict[str, Any]) -> None:
    """One sentence at `check`, before anything is planned, also if all instances would be down together."""
    with ClusterReader(config) as reader:
        group = reader.group(APPLICATION_ID)
    for at_once in (False, True):
        verdict = ready_for_change(reading(group=group), declared(), 0, 1_000, at_once=at_once)
        assert verdict.outcome is Outcome.REFUSE
        [reason] = [one for one in verdict.reasons if APPLICATION_ID in one]
        assert f"group {APPLICATION_ID} is a streams group (KIP-1071)" in reason, running.state


def test_members_of_a_streams_group_are_not_removed(running: StreamsReading, config: dict[str, Any]) -> None:
    """There is no such call for them: refused before anything is sent."""
    with pytest.raises(WriteRefused, match="is a streams group"):
        GroupWriter(config, dry_run=False).remove_members(APPLICATION_ID, client_id_prefix=f"{running.client_id}-")


@pytest.mark.usefixtures("running")
def test_the_session_timeout_of_its_group(config: dict[str, Any]) -> None:
    """The default of the brokers, then the group's own; a setting that no group has is not reported."""
    name = "streams.session.timeout.ms"
    with ClusterReader(config) as reader:
        assert reader.group_setting(APPLICATION_ID, name) == "45000"
        assert isinstance(reader.group_setting(APPLICATION_ID, "no.such.setting"), Missing)
        admin = KafkaAdminClient(bootstrap_servers=config["bootstrap.servers"])
        try:
            admin.alter_configs([ConfigResource(ConfigResourceType.GROUP, APPLICATION_ID, {name: "50000"})])
        finally:
            admin.close()
        deadline = time.monotonic() + 30
        while reader.group_setting(APPLICATION_ID, name) != "50000":
            assert time.monotonic() < deadline, reader.group_setting(APPLICATION_ID, name)
            time.sleep(0.3)
