"""Where a key lands is the same for librdkafka, for Kafka's own partitioner and for the judge, over 10,000 keys."""

import subprocess
import uuid
from pathlib import Path
from typing import Protocol

import pytest
from confluent_kafka import KafkaError, Message, Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from kstreams_runbooks.demo.traffic.partitioner import partition_of
from kstreams_runbooks.demo.traffic.produce import PRODUCER
from kstreams_runbooks.demo.traffic.records import windowed_key
from kstreams_runbooks.demo.traffic.schedule import Schedule

TESTS = Path(__file__).resolve().parent.parent
BROKER_JARS = TESTS / "apps" / "broker" / "target" / "libs"
PROGRAM = TESTS / "integration" / "java" / "KafkaPartitions.java"


class Broker(Protocol):
    """What the `kafka` fixture gives."""

    bootstrap: str


def new_topic(bootstrap: str, partitions: int) -> str:
    """Make an empty topic; return its name."""
    topic = f"partitioner-{uuid.uuid4().hex[:8]}"
    # a client of its own name: it must outlive the call that it answers
    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.create_topics([NewTopic(topic, partitions, 1)])[topic].result()
    return topic


def ten_thousand_keys() -> list[str]:
    """Keys as the topics have them, and some of every length and alphabet."""
    schedule = Schedule(seed=7, rate=400, customers=500, start_ms=1_790_000_000_000)
    orders = {schedule.order(n).key for n in range(10_000)}
    customers = {schedule.preload(index).key for index in range(schedule.customers)}
    windows = {windowed_key(f"c-{n}", 1_790_000_000_000 + n * 10_000) for n in range(4_000)}
    odd = {"x" * length for length in range(1, 50)} | {"ü", "日本", "🙂", "a b", "-", "ÿÿÿ"}
    keys = sorted(odd) + sorted(customers) + sorted(windows) + sorted(orders)
    return keys[:10_000]


def by_librdkafka(bootstrap: str, topic: str, keys: list[str]) -> dict[str, int]:
    """Produce every key with the generator's own settings; return the partitions that the broker acknowledged."""
    landed: dict[str, int] = {}

    def note(error: KafkaError | None, message: Message) -> None:
        assert error is None, error
        key, partition = message.key(), message.partition()
        assert isinstance(key, bytes)
        assert partition is not None
        landed[key.decode()] = partition

    settings = {**PRODUCER, "bootstrap.servers": bootstrap, "delivery.report.only.error": False}
    producer = Producer(settings)
    for key in keys:
        producer.produce(topic, key=key.encode(), value=b"", on_delivery=note)
    assert producer.flush(60) == 0
    return landed


def by_kafka(keys: list[str], partitions: int) -> dict[str, int]:
    """Ask `BuiltInPartitioner` of the broker's own client jar."""
    answer = subprocess.run(
        ["java", "-Xmx128m", "-cp", f"{BROKER_JARS}/*", str(PROGRAM), str(partitions)],
        input="\n".join(keys),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    return dict(zip(keys, map(int, answer.stdout.split()), strict=True))


@pytest.mark.parametrize("partitions", [4, 7])
def test_three_partitioners_agree_over_10000_keys(kafka: Broker, partitions: int) -> None:
    """A power of two and a prime, so that more than the low bits are compared."""
    topic = new_topic(kafka.bootstrap, partitions)
    keys = ten_thousand_keys()
    assert len(set(keys)) == 10_000
    landed = by_librdkafka(kafka.bootstrap, topic, keys)
    assert landed == by_kafka(keys, partitions)
    assert landed == {key: partition_of(key.encode(), partitions) for key in keys}
    assert set(landed.values()) == set(range(partitions))


def test_the_default_of_librdkafka_would_not_do(kafka: Broker) -> None:
    """Without the setting most keys land elsewhere: why every keyed producer sets it."""
    topic = new_topic(kafka.bootstrap, 4)
    landed: dict[bytes, int] = {}

    def note(error: KafkaError | None, message: Message) -> None:
        assert error is None, error
        key, partition = message.key(), message.partition()
        assert isinstance(key, bytes)
        assert partition is not None
        landed[key] = partition

    producer = Producer({"bootstrap.servers": kafka.bootstrap})
    for n in range(1_000):
        producer.produce(topic, key=f"c-{n}".encode(), value=b"", on_delivery=note)
    assert producer.flush(60) == 0
    elsewhere = [key for key, partition in landed.items() if partition != partition_of(key, 4)]
    assert len(elsewhere) > 500
