"""Reading a real broker: groups of every type, topics, offsets, and what is not there."""

import time
import uuid
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]
from kstreams_runbooks.act.groups import GroupWriter
from kstreams_runbooks.decide.lag import total_lag
from kstreams_runbooks.errors import Unreachable, WriteRefused
from kstreams_runbooks.model.readings.lag import LagRole, PartitionLag
from kstreams_runbooks.model.readings.readings import BrokerReading, GroupReading, Missing, TopicReading
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.lag.partition_rows import read_partitions
from lab.supervise import until


class Kafka:
    """What the fixture `kafka` gives."""

    bootstrap: str


@pytest.fixture
def config(kafka: Kafka) -> dict[str, Any]:
    """The broker's librdkafka configuration."""
    return {"bootstrap.servers": kafka.bootstrap}


@pytest.fixture
def reader(config: dict[str, Any]) -> Iterator[ClusterReader]:
    """A reader of the broker."""
    with ClusterReader(config) as reader:
        yield reader


@pytest.fixture
def topic(config: dict[str, Any]) -> Iterator[str]:
    """A topic of three partitions with 5, 0 and 0 records."""
    name = f"observe-{uuid.uuid4().hex[:8]}"
    admin = AdminClient(config)
    for future in admin.create_topics([NewTopic(name, 3, 1)]).values():
        future.result()
    producer = Producer(config)
    for number in range(5):
        producer.produce(name, str(number), partition=0)
    producer.flush()
    yield name
    admin.delete_topics([name])[name].result()


def consumer(config: dict[str, Any], topic: str, **settings: str) -> Consumer:
    """A member of a new group, once it has its partitions."""
    member = Consumer(
        {**config, "group.id": f"group-{uuid.uuid4().hex[:8]}", "auto.offset.reset": "earliest", **settings}
    )
    member.subscribe([topic])
    deadline = time.monotonic() + 30
    while not member.assignment():
        assert time.monotonic() < deadline
        member.poll(0.2)
    return member


def test_broker(reader: ClusterReader) -> None:
    """Release, features, and that it creates no topics by itself."""
    broker = reader.broker()
    assert isinstance(broker, BrokerReading)
    assert broker.version == "4.4"
    assert isinstance(broker.features, tuple)
    assert dict(broker.features)["streams.version"] >= 1
    assert broker.auto_create_topics is False
    assert broker.brokers == 1


@pytest.mark.parametrize(("protocol", "kind"), [("classic", "classic"), ("consumer", "consumer")])
def test_group_with_a_member(
    config: dict[str, Any], reader: ClusterReader, topic: str, protocol: str, kind: str
) -> None:
    """Type, state, and the member with its client id, host and partitions, in both protocols."""
    name = f"group-{uuid.uuid4().hex[:8]}"
    member = consumer(config, topic, **{"group.id": name, "group.protocol": protocol, "client.id": "reader-1"})
    try:
        group = reader.group(name)
        assert isinstance(group, GroupReading)
        assert (group.type, group.state) == (kind, "Stable")
        [one] = group.members
        assert (one.client_id, one.host) == ("reader-1", "127.0.0.1")
        assert one.partitions == tuple(f"{topic}-{number}" for number in range(3))
    finally:
        member.close()


def test_group_that_nobody_knows(reader: ClusterReader) -> None:
    """Missing, not empty."""
    group = reader.group("never-heard-of")
    assert isinstance(group, Missing)
    assert "known to no broker" in group.missing


def test_offsets_of_a_partition_never_committed(config: dict[str, Any], reader: ClusterReader, topic: str) -> None:
    """Committed where it was, None where it never was, one row for a topic that is not there."""
    name = f"group-{uuid.uuid4().hex[:8]}"
    member = Consumer({**config, "group.id": name})
    member.commit(offsets=[TopicPartition(topic, 0, 3)], asynchronous=False)
    member.close()
    [found] = reader.topics([topic])
    readings = read_partitions(reader, name, dict.fromkeys((topic, "not-there"), "source"), [found])
    assert isinstance(readings, tuple)
    absent, first, second, third = sorted(readings, key=lambda one: (one.topic == topic, one.partition))
    assert first == PartitionLag(topic, 0, "source", "ok", found.topic_id, 3, 0, 5, 5, records=2)
    never = PartitionLag(topic, 1, "source", "never_committed", found.topic_id, None, 0, 0, 0, records=0)
    assert second == replace(never, why="never committed")
    assert third.partition == 2
    assert (absent.state, absent.why) == ("missing", "the topic does not exist on the cluster")


def test_an_offset_past_the_end_of_a_log_is_not_known(
    config: dict[str, Any], reader: ClusterReader, topic: str
) -> None:
    """Set by hand, or of a topic that was created again."""
    name = f"group-{uuid.uuid4().hex[:8]}"
    member = Consumer({**config, "group.id": name})
    member.commit(offsets=[TopicPartition(topic, 0, 6)], asynchronous=False)
    member.close()
    readings = read_partitions(reader, name, {topic: "source"}, reader.topics([topic]))
    assert isinstance(readings, tuple)
    assert (readings[0].state, readings[0].records) == ("unknown", None)
    assert total_lag(readings).unknown[0].startswith(f"{topic}-0: committed 6 is past its end 5: the topic was created")


def last_of(reader: ClusterReader, topic: str) -> PartitionLag:
    """The topic's last partition."""
    readings = read_partitions(reader, "nobody", {topic: "source"}, reader.topics([topic]))
    assert isinstance(readings, tuple)
    return readings[-1]


def test_open_transaction_holds_the_stable_offset(config: dict[str, Any], reader: ClusterReader, topic: str) -> None:
    """LSO below LEO while it is open, equal after it."""
    producer = Producer({**config, "transactional.id": f"t-{topic}"})
    producer.init_transactions()
    producer.begin_transaction()
    producer.produce(topic, "x", partition=2)
    producer.flush()
    held = last_of(reader, topic)
    assert (held.last_stable_offset, held.log_end_offset) == (0, 1)
    producer.commit_transaction()

    def free() -> bool:
        """The record and the transaction's marker, which the coordinator writes once it has answered."""
        found = last_of(reader, topic)
        return (found.last_stable_offset, found.log_end_offset) == (2, 2)

    until(free, 10, "the marker is written", poll_s=0.1)


def test_topics(reader: ClusterReader, topic: str) -> None:
    """By name, with id and settings; one that is not there is left out and not made by looking."""
    [found] = reader.topics([topic, f"{topic}-not"], configs=True)
    assert (found.name, found.partitions) == (topic, 3)
    assert len(found.topic_id) == 36
    assert f"{topic}-not" not in reader.topic_names()


def test_many_partitions_in_one_reading(config: dict[str, Any]) -> None:
    """As many requests for 400 partitions as for one: calls are batched."""
    admin = AdminClient(config)
    names = [f"many-{uuid.uuid4().hex[:8]}-{number}" for number in range(4)]
    for future in admin.create_topics([NewTopic(name, 100, 1) for name in names]).values():
        future.result()

    def requests(partitions: dict[str, int]) -> int:
        """How many it takes; -1 while one of the new partitions has no leader yet."""
        with ClusterReader(config, counted=True) as reader:
            roles: dict[str, LagRole] = dict.fromkeys(partitions, "source")
            topics = [TopicReading(name, "id", count) for name, count in partitions.items()]
            readings = read_partitions(reader, "nobody", roles, topics)
            assert isinstance(readings, tuple)
            assert len(readings) == sum(partitions.values())
            return reader.requests() if {reading.log_end_offset for reading in readings} == {0} else -1

    try:
        until(lambda: requests(dict.fromkeys(names, 100)) > 0, 30, "every partition has a leader")
        assert requests(dict.fromkeys(names, 100)) <= requests({names[0]: 1}) + 2
    finally:
        for future in admin.delete_topics(names).values():
            future.result()


def test_a_reader_cannot_write(reader: ClusterReader) -> None:
    """Whatever the client behind could do."""
    for method in ("create_topics", "delete_topics", "alter_group_offsets", "remove_group_members", "delete_groups"):
        with pytest.raises(WriteRefused, match=method):
            getattr(reader.admin, method)
    with pytest.raises(WriteRefused, match="alter_consumer_group_offsets"):
        _ = reader.librdkafka.alter_consumer_group_offsets


def test_broker_that_is_not_there() -> None:
    """One sentence, without the password."""
    config = {"bootstrap.servers": "127.0.0.1:9", "sasl.username": "me", "sasl.password": "secret"}
    with (
        pytest.raises(Unreachable, match=r"Kafka at 127\.0\.0\.1:9: nothing listens") as raised,
        ClusterReader(config),
    ):
        pass
    assert "secret" not in str(raised.value)


def test_only_the_members_of_one_client_are_removed(config: dict[str, Any], reader: ClusterReader, topic: str) -> None:
    """Dry first: a sentence and nothing else; then one of two; a second time there is nobody left to remove."""
    name = f"group-{uuid.uuid4().hex[:8]}"
    settings = {"group.id": name, "partition.assignment.strategy": "cooperative-sticky"}
    one = consumer(config, topic, **settings, **{"client.id": "app-aaa-StreamThread-1-consumer"})
    two = Consumer({**config, **settings, "client.id": "app-bbb-StreamThread-1-consumer"})
    two.subscribe([topic])
    deadline = time.monotonic() + 30
    while not (one.assignment() and two.assignment()):
        assert time.monotonic() < deadline
        one.poll(0.1)
        two.poll(0.1)
    try:
        dry = GroupWriter(config)
        assert len(dry.remove_members(name, client_id_prefix="app-aaa-")) == 1
        assert "remove 1 of 2 members" in dry.would_write[0]
        before = reader.group(name)
        assert isinstance(before, GroupReading)
        assert len(before.members) == 2

        writer = GroupWriter(config, dry_run=False)
        [gone] = writer.remove_members(name, client_id_prefix="app-aaa-")
        assert gone.client_id == "app-aaa-StreamThread-1-consumer"
        after = reader.group(name)
        assert isinstance(after, GroupReading)
        assert [member.client_id for member in after.members] == ["app-bbb-StreamThread-1-consumer"]
        assert writer.remove_members(name, [gone]) == ()
    finally:
        one.close()
        two.close()
