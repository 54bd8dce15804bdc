"""What a real broker tells of an open transaction, and how long it allows any."""

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.transactions import longest_timeout_ms
from lab.stack import Stack


@pytest.fixture
def config(stack: Stack) -> dict[str, Any]:
    """The broker's librdkafka configuration."""
    return {"bootstrap.servers": stack.lab.bootstrap}


@pytest.fixture
def opened(config: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """A topic, and the transactional id of a transaction that is open on it from its second record on."""
    name = f"open-{uuid.uuid4().hex[:8]}"
    admin = AdminClient(config)
    admin.create_topics([NewTopic(name, 1, 1)])[name].result()
    plain = Producer(config)
    plain.produce(name, b"before")
    plain.flush()
    producer = Producer({**config, "transactional.id": name, "transaction.timeout.ms": 60_000})
    producer.init_transactions()
    producer.begin_transaction()
    producer.produce(name, b"within")
    producer.flush()
    yield name, name
    producer.abort_transaction()
    admin.delete_topics([name])[name].result()


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
    assert one.age_ms < 60_000


def test_the_longest_timeout_is_the_brokers_own(config: dict[str, Any]) -> None:
    """Its default is no constant of ours: a producer that asks for more is refused."""
    with ClusterReader(config) as reader:
        assert longest_timeout_ms(reader.admin) == 900_000
    too_long = Producer({**config, "transactional.id": "too-long", "transaction.timeout.ms": 900_001})
    with pytest.raises(KafkaException) as refused:
        too_long.init_transactions(30)
    assert refused.value.args[0].name() == "INVALID_TRANSACTION_TIMEOUT"
