"""What a real broker tells of an open transaction, and how long it allows any."""

import subprocess
import uuid
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    ResourceType,
)
from kafka import KafkaAdminClient
from kafka.protocol.producer import ProduceRequest
from kafka.record.default_records import DefaultRecordBatchBuilder
from kstreams_runbooks.decide.drain.findings import drain_findings
from kstreams_runbooks.model.readings.drain import DrainQuestion, DrainReading
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.kafka.transactions import longest_timeout_ms
from lab.kafka_tools import transactions
from lab.stack import Stack
from lab.supervise import until


@pytest.fixture
def config(stack: Stack) -> dict[str, Any]:
    """The broker's librdkafka configuration."""
    return {"bootstrap.servers": stack.lab.bootstrap}


@pytest.fixture
def topic(config: dict[str, Any]) -> Iterator[str]:
    """A topic with one record."""
    name = f"transactions-{uuid.uuid4().hex[:8]}"
    admin = AdminClient(config)
    admin.create_topics([NewTopic(name, 1, 1)])[name].result()
    plain = Producer(config)
    plain.produce(name, b"before")
    plain.flush()
    yield name
    admin.delete_topics([name])[name].result()


@pytest.fixture
def opened(config: dict[str, Any], topic: str) -> Iterator[tuple[str, str]]:
    """A topic, and the transactional id of a transaction that is open on it from its second record on."""
    producer = Producer({**config, "transactional.id": topic, "transaction.timeout.ms": 60_000})
    producer.init_transactions()
    producer.begin_transaction()
    producer.produce(topic, b"within")
    producer.flush()
    yield topic, topic
    producer.abort_transaction()


def test_a_transaction_is_told_with_where_it_begins(config: dict[str, Any], opened: tuple[str, str]) -> None:
    """What `kafka-transactions.sh abort` needs, should it hang."""
    topic, transactional_id = opened
    with ClusterReader(config) as reader:
        found = reader.open_transactions([(topic, 0)], reader.taken().at_ms)
    assert isinstance(found, tuple)
    [one] = found
    assert (one.name, one.transactional_id, one.start_offset) == (f"{topic}-0", transactional_id, 1)
    assert (one.timeout_ms, one.why) == (60_000, "")
    assert one.age_ms is not None
    assert one.age_ms >= 0


VERIFIES = "transaction.partition.verification.enable"
PRODUCER = 424_242


def verified(config: dict[str, Any], broker: int, value: str) -> None:
    """Whether a broker asks a transaction's coordinator before its first record (KIP-890): true unless set."""
    entry = ConfigEntry(VERIFIES, value, incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.BROKER, str(broker), incremental_configs=[entry])
    admin = AdminClient(config)
    admin.incremental_alter_configs([resource])[resource].result()


@pytest.fixture
def hanging(config: dict[str, Any], stack: Stack, topic: str) -> Iterator[str]:
    """A topic on whose second record a transaction begins that no coordinator has ever heard of."""
    batch = DefaultRecordBatchBuilder(
        2, 0, is_transactional=True, producer_id=PRODUCER, producer_epoch=0, base_sequence=0, batch_size=1_000
    )
    batch.append(0, None, None, b"within", [])
    data = ProduceRequest.TopicProduceData
    partition = data.PartitionProduceData(index=0, records=bytes(batch.build()))
    request = ProduceRequest(
        transactional_id=topic,
        acks=-1,
        timeout_ms=10_000,
        topic_data=[data(name=topic, partition_data=[partition])],
        min_version=3,
        max_version=9,
    )
    client = KafkaAdminClient(bootstrap_servers=stack.lab.bootstrap)
    [leader] = [node["broker_id"] for node in client.describe_cluster()["brokers"]]

    async def send() -> Any:
        return await client._manager.send(request, node_id=leader)

    verified(config, leader, "false")
    try:

        def taken() -> bool:
            """The broker takes a moment to hear of its setting."""
            return int(client._manager.run(send).responses[0].partition_responses[0].error_code) == 0

        until(taken, 20, "a broker takes a record that no coordinator knows of", poll_s=0.5)
        yield topic
    finally:
        verified(config, leader, "true")
        client.close()


def test_one_that_hangs_is_told_and_its_command_ends_it(config: dict[str, Any], stack: Stack, hanging: str) -> None:
    """Nobody names it, the broker's longest timeout is its own, and seen past that it is a finding."""

    def found() -> Any:
        with ClusterReader(config) as reader:
            return reader.open_transactions([(hanging, 0)], reader.taken().at_ms)

    [one] = found()
    assert (one.transactional_id, one.producer_id, one.age_ms, one.start_offset) == (None, PRODUCER, None, 1)
    assert one.timeout_ms == 900_000
    taken = ClusterReader(config).taken()
    reading = DrainReading(taken, (), {}, {}, {}, open_transactions=(replace(one, seen_ms=915_001),))
    [finding] = drain_findings((reading,), DrainQuestion(3, None))
    words = finding.message.partition("--bootstrap-server … ")[2].split()
    assert words[0] == "abort"
    subprocess.run(transactions(stack.lab.bootstrap, *words), check=True, timeout=60)
    until(lambda: found() == (), 20, "the transaction is over")


def test_the_longest_timeout_is_the_brokers_own(config: dict[str, Any]) -> None:
    """Its default is no constant of ours: a producer that asks for more is refused."""
    with ClusterReader(config) as reader:
        assert longest_timeout_ms(reader.admin) == 900_000
    too_long = Producer({**config, "transactional.id": "too-long", "transaction.timeout.ms": 900_001})
    with pytest.raises(KafkaException) as refused:
        too_long.init_transactions(30)
    assert refused.value.args[0].name() == "INVALID_TRANSACTION_TIMEOUT"
