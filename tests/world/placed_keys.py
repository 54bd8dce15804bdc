"""An input and the changelog of a store, with chosen keys in chosen partitions, on a real broker."""

import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]
from kstreams_runbooks.demo.traffic.partitioner import partition_of
from lab.supervise import until

PARTITIONS = 4


@dataclass(frozen=True)
class Placed:
    """An input, a changelog and a repartition topic of one application."""

    bootstrap: str
    input: str
    state: str

    @property
    def repartition(self) -> str:
        """The repartition topic of the pair."""
        return self.state.replace("-changelog", "-repartition")

    @property
    def options(self) -> tuple[str, ...]:
        """Of the command."""
        return "--input", self.input, "--state", self.state

    def write(self, topic: str, keys: Iterable[bytes | None], value: bytes | None = b"v", **settings: Any) -> None:
        """A record for each key, where the producer of these settings puts it: librdkafka's default is CRC-32."""
        producer = Producer({"bootstrap.servers": self.bootstrap, "linger.ms": 50, **settings})
        for key in keys:
            self._produce(producer, topic, value=value, key=key)
        assert producer.flush(60) == 0

    def as_kafka_puts(self, topic: str, keys: Iterable[bytes], suffix: bytes = b"", value: bytes | None = b"v") -> None:
        """A record for each key where Kafka's default partitioner puts the key, with a suffix behind the key."""
        self.at(topic, ((key + suffix, partition_of(key, PARTITIONS)) for key in keys), value)

    def at(self, topic: str, places: Iterable[tuple[bytes | None, int]], value: bytes | None = b"v") -> None:
        """A record for each key in its partition."""
        producer = Producer({"bootstrap.servers": self.bootstrap, "linger.ms": 50})
        for key, partition in places:
            self._produce(producer, topic, value=value, key=key, partition=partition)
        assert producer.flush(60) == 0

    @staticmethod
    def _produce(producer: Producer, topic: str, **record: Any) -> None:
        while True:
            try:
                producer.produce(topic, **record)
            except BufferError:
                producer.poll(1)
            else:
                return


@contextmanager
def placed(
    bootstrap: str, partitions: tuple[int, int] = (PARTITIONS, PARTITIONS), config: Mapping[str, str] | None = None
) -> Iterator[Placed]:
    """Empty topics of the application `orders`, until the body ends; `config` is that of the input."""
    name = uuid.uuid4().hex
    made = Placed(bootstrap, f"input-{name}", f"orders-{name}-changelog")
    admin = AdminClient({"bootstrap.servers": bootstrap})
    topics = [
        NewTopic(made.input, partitions[0], config=dict(config or {})),
        NewTopic(made.state, partitions[1], config={"cleanup.policy": "compact"}),
        NewTopic(made.repartition, partitions[1]),
    ]
    for future in admin.create_topics(topics).values():
        future.result(30)
    until(
        lambda: {one.topic for one in topics} <= admin.list_topics(timeout=10).topics.keys(),
        30,
        "the topics are visible",
    )
    try:
        yield made
    finally:
        for future in admin.delete_topics([one.topic for one in topics]).values():
            future.result(30)
