"""Many partitions counted again and again on a small Connect server: `make spark-matrix`.

The name keeps it out of the other runs: it writes two million records.
"""

import uuid
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from kstreams_runbooks.frames.counting import ConnectCounter
from kstreams_runbooks.frames.ranges import OffsetRange
from lab import kafka as broker
from lab import spark
from world.given import Kafka
from world.ports import CONNECT, port

_PARTITIONS = 200
_RECORDS = 10_000
_COUNTS = 6
_HEAP = "512m"


@pytest.mark.usefixtures("jars")
def test_a_count_leaves_nothing_in_the_server_s_memory(kafka: Kafka, tmp_path: Path) -> None:
    """Six counts of two million records; with Spark's own settings the caches outgrow the heap."""
    topic = f"many-{uuid.uuid4().hex[:8]}"
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
    broker.create_topics(kafka.bootstrap, (topic,), _PARTITIONS)
    try:
        write(kafka.bootstrap, topic)
        ranges = [OffsetRange(topic, number, 0, _RECORDS) for number in range(_PARTITIONS)]
        with spark.connect_server(port(CONNECT) + 5, tmp_path / "server.log", _HEAP) as remote:
            counter = ConnectCounter(remote)
            for _ in range(_COUNTS):
                found = counter.count({"bootstrap.servers": kafka.bootstrap}, ranges, 120)
                assert [found[topic, number].records for number in range(_PARTITIONS)] == [_RECORDS] * _PARTITIONS
            counter.close()
        assert "OutOfMemory" not in (tmp_path / "server.log").read_text(encoding="utf-8")
    finally:
        admin.delete_topics([topic])[topic].result()


def write(bootstrap: str, topic: str) -> None:
    """Records of a hundred bytes, as many in each partition."""
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 50, "queue.buffering.max.messages": 1_000_000})
    for _ in range(_RECORDS):
        for partition in range(_PARTITIONS):
            while True:
                try:
                    producer.produce(topic, bytes(92), b"%08d" % partition, partition=partition)
                    break
                except BufferError:
                    producer.poll(0.1)
    producer.flush()
