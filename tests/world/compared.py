"""Two topics with chosen records in chosen partitions, in transactions or not, on a real broker."""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]
from lab.supervise import until

PARTITIONS = 2
BEGAN_MS = 1_763_750_000_000
Headers = list[tuple[str, bytes | None]]


@dataclass(frozen=True)
class Written:
    """One record as it is written; `at_ms` is its timestamp."""

    key: bytes | None
    value: bytes | None
    partition: int = 0
    at_ms: int = BEGAN_MS
    headers: Headers | None = None


def sample(records: int = 20, partitions: int = PARTITIONS) -> list[Written]:
    """Records with what is easily lost: null and empty keys, values and headers, repeated headers, equal records."""
    unusual = [
        Written(None, b"without a key"),
        Written(b"", b"an empty key"),
        Written(b"empty", b""),
        Written(b"deleted", None),
        Written(b"headers", b"v", headers=[("a", b"1"), ("b", None), ("a", b""), ("a", b"1")]),
        Written(b"twice", b"v", at_ms=BEGAN_MS + 7),
        Written(b"twice", b"v", at_ms=BEGAN_MS + 7),
    ]
    usual = [
        Written(b"key-%d" % (number % 5), b"value %d" % number, number % 5 % partitions, BEGAN_MS + number)
        for number in range(records)
    ]
    return [*usual, *unusual]


@dataclass(frozen=True)
class Compared:
    """Two topics of one broker."""

    bootstrap: str
    first: str
    second: str

    def write(self, topic: str, records: Sequence[Written]) -> None:
        """Records outside of any transaction."""
        # Without it a retry changes the order.
        producer = Producer({"bootstrap.servers": self.bootstrap, "linger.ms": 5, "enable.idempotence": True})
        self._produce(producer, topic, records)
        assert producer.flush(60) == 0

    def transaction(self, topic: str, records: Sequence[Written], *, commits: bool) -> None:
        """Records of a transaction of their own."""
        producer = self.open_transaction(topic, records)
        if commits:
            producer.commit_transaction()
        else:
            producer.abort_transaction()

    def open_transaction(self, topic: str, records: Sequence[Written]) -> Producer:
        """A transaction that stays open as long as its producer lives."""
        producer = Producer({"bootstrap.servers": self.bootstrap, "transactional.id": uuid.uuid4().hex})
        producer.init_transactions()
        producer.begin_transaction()
        self._produce(producer, topic, records)
        producer.flush(60)
        return producer

    def delete_before(self, topic: str, partition: int, offset: int) -> None:
        """As retention does."""
        admin = AdminClient({"bootstrap.servers": self.bootstrap})
        for future in admin.delete_records([TopicPartition(topic, partition, offset)]).values():
            future.result(30)

    @staticmethod
    def _produce(producer: Producer, topic: str, records: Sequence[Written]) -> None:
        for one in records:
            while True:
                try:
                    producer.produce(
                        topic,
                        value=one.value,
                        key=one.key,
                        partition=one.partition,
                        timestamp=one.at_ms,
                        headers=one.headers,  # type: ignore[arg-type] # a null header is valid
                    )
                except BufferError:
                    producer.poll(1)
                else:
                    break


@contextmanager
def compared(
    bootstrap: str, partitions: tuple[int, int] = (PARTITIONS, PARTITIONS), config: Mapping[str, str] | None = None
) -> Iterator[Compared]:
    """Two empty topics that keep the producers' timestamps, until the body ends; `config` is that of both."""
    name = uuid.uuid4().hex[:8]
    topics = Compared(bootstrap, f"compared-{name}", f"compared-{name}-copy")
    admin = AdminClient({"bootstrap.servers": bootstrap})
    # The records are old.
    settings = {"message.timestamp.type": "CreateTime", "retention.ms": "-1", **(config or {})}
    for future in admin.create_topics(
        [
            NewTopic(topic, number, config=settings)
            for topic, number in zip((topics.first, topics.second), partitions, strict=True)
        ]
    ).values():
        future.result(30)
    until(
        lambda: {topics.first, topics.second} <= admin.list_topics(timeout=10).topics.keys(),
        30,
        "the topics are visible",
    )
    try:
        yield topics
    finally:
        for future in admin.delete_topics([topics.first, topics.second]).values():
            future.result(30)


def changed(records: Sequence[Written], number: int, **parts: object) -> list[Written]:
    """The records with other parts of one of them."""
    return [replace(one, **parts) if at == number else one for at, one in enumerate(records)]  # type: ignore[arg-type]
