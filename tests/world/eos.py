"""Logs with offsets that are not records: transactions, markers, gaps, and offsets that were never committed.

Each has a topic of one partition and its own group; its function states what a read_committed consumer still gets.
"""

import signal
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import ConsumerGroupTopicPartitions, IsolationLevel, Producer, TopicPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    OffsetSpec,
)
from kstreams_runbooks.observe.kafka.offsets import Place
from lab import kafka
from lab.supervise import until

# Longer than any test: a transaction stays open until its producer is gone.
_TRANSACTION_MS = 600_000
_CALL_S = 30
_SETTLED_S = 60


@dataclass
class Log:
    """One topic and one group, with the producers that wrote to it; `committed` is None while the group never was.

    `other` is a topic that its group may have an offset on too. `settles` is true once the broker has done the
    scenario's action.
    """

    config: dict[str, Any]
    topic: str
    group: str
    other: str
    committed: int | None = None
    producers: list[Producer] = field(default_factory=list)
    settles: Callable[[], bool] = lambda: True

    @property
    def place(self) -> Place:
        """Topic and partition."""
        return self.topic, 0

    @property
    def start(self) -> int:
        """The position of its reader."""
        return self.committed or 0

    def write(self, records: int, **settings: Any) -> None:
        """Records outside of any transaction: with keys and without, one without a value."""
        producer = Producer({**self.config, **settings})
        for number in range(records):
            key = f"key-{number}" if number % 2 else None
            value = None if number == 1 else f"value {number} " * 20
            producer.produce(self.topic, value, key, partition=0)
        producer.flush()

    def transaction(self, records: int) -> Producer:
        """A transaction that is open, with these records."""
        producer = Producer(
            {**self.config, "transactional.id": uuid.uuid4().hex, "transaction.timeout.ms": _TRANSACTION_MS}
        )
        producer.init_transactions()
        producer.begin_transaction()
        for number in range(records):
            producer.produce(self.topic, str(number), partition=0)
        producer.flush()
        self.producers.append(producer)
        return producer

    def commit(self, offset: int, topic: str = "") -> None:
        """Commit the group's offset, of another topic if one is given."""
        if not topic:
            self.committed = offset
        admin, place = AdminClient(self.config), TopicPartition(topic or self.topic, 0, offset)

        def taken() -> bool:
            # The partition has the coordinator's error; a new broker is still loading its groups.
            asked = [ConsumerGroupTopicPartitions(self.group, [place])]
            [answer] = admin.alter_consumer_group_offsets(asked)[self.group].result(_CALL_S).topic_partitions
            return answer.error is None

        until(taken, _CALL_S, f"{self.group} has its offset")

    def ends(self) -> tuple[int, int]:
        """Last stable offset and log end."""
        admin, place = AdminClient(self.config), TopicPartition(self.topic, 0)
        latest = OffsetSpec.latest()  # type: ignore[no-untyped-call]
        levels = (IsolationLevel.READ_COMMITTED, IsolationLevel.READ_UNCOMMITTED)
        stable, end = (
            admin.list_offsets({place: latest}, isolation_level=level)[place].result(_CALL_S).offset for level in levels
        )
        return stable, end

    def held(self) -> int:
        """Records in the log, read or not, committed or not."""
        return len(list(kafka.records(self.config["bootstrap.servers"], self.topic, isolation="read_uncommitted")))

    def readable(self) -> int:
        """The truth: the records that a read_committed consumer gets from the group's position."""
        every = kafka.records(self.config["bootstrap.servers"], self.topic)
        return sum(1 for message in every if (message.offset() or 0) >= self.start)


Scenario = Callable[[Log], None]


def committed_tail(log: Log) -> None:
    """Three committed records and their marker behind the offset."""
    log.write(2)
    log.commit(2)
    log.transaction(3).commit_transaction()


def aborted_tail(log: Log) -> None:
    """Three aborted records and their marker behind the offset."""
    log.write(2)
    log.commit(2)
    log.transaction(3).abort_transaction()


def marker_only(log: Log) -> None:
    """Every record is read, a marker is left."""
    log.transaction(3).commit_transaction()
    log.commit(3)


def between_aborted(log: Log) -> None:
    """Committed records before, between and behind aborted ones."""
    log.write(3)
    log.commit(0)
    log.transaction(4).abort_transaction()
    log.transaction(2).commit_transaction()
    log.transaction(1).abort_transaction()
    log.write(1)


def open_transaction(log: Log) -> None:
    """Two records, an open transaction of three, a record that waits behind it."""
    log.write(2)
    log.commit(0)
    log.transaction(3)
    log.write(1)


def behind_open_transaction(log: Log) -> None:
    """Read up to an open transaction of three records."""
    log.write(2)
    log.commit(2)
    log.transaction(3)


_KILLED = """
import os, signal, sys
from confluent_kafka import Producer
bootstrap, topic, timeout_ms = sys.argv[1:]
producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": topic, "transaction.timeout.ms": timeout_ms})
producer.init_transactions()
producer.begin_transaction()
for number in range(3):
    producer.produce(topic, str(number), partition=0)
producer.flush()
os.kill(os.getpid(), signal.SIGKILL)
"""


def _killed(log: Log, timeout_ms: int) -> None:
    log.write(2)
    log.commit(2)
    words = (log.config["bootstrap.servers"], log.topic, str(timeout_ms))
    code = subprocess.run([sys.executable, "-c", _KILLED, *words], check=False, timeout=_CALL_S).returncode
    assert code == -signal.SIGKILL


def killed(log: Log) -> None:
    """A producer killed in the middle of a transaction of three records, before its timeout."""
    _killed(log, _TRANSACTION_MS)


def killed_and_timed_out(log: Log) -> None:
    """A producer killed in the middle of a transaction of three records, after its timeout."""
    _killed(log, 1_000)

    def aborted() -> bool:
        stable, end = log.ends()
        return stable == end

    log.settles = aborted


def compacted(log: Log) -> None:
    """A compacted topic: eight of eleven records are gone."""
    resource = ConfigResource(ConfigResource.Type.TOPIC, log.topic)
    wanted = {"cleanup.policy": "compact", "segment.ms": "100", "min.cleanable.dirty.ratio": "0.01"}
    for name, value in wanted.items():
        resource.add_incremental_config(ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET))
    admin = AdminClient(log.config)
    admin.incremental_alter_configs([resource])[resource].result(_CALL_S)
    producer = Producer(log.config)
    # Timestamps an hour apart: each record finds its segment too old and begins another, which may be compacted then.
    for number in range(10):
        producer.produce(log.topic, str(number), f"key-{number % 2}", partition=0, timestamp=(1 + number) * 3_600_000)
        producer.flush()
    producer.produce(log.topic, "the last segment is never compacted", "other", partition=0)
    producer.flush()
    log.commit(0)
    log.settles = lambda: log.held() == 3


def read_to_the_end(log: Log) -> None:
    """Nothing is left."""
    log.write(4)
    log.commit(4)


def empty(log: Log) -> None:
    """An empty topic."""
    log.commit(0)


def partly_deleted(log: Log) -> None:
    """Five records; the first three are deleted."""
    log.write(5)
    admin = AdminClient(log.config)
    for future in admin.delete_records([TopicPartition(log.topic, 0, 3)]).values():
        future.result(_CALL_S)


def never_committed(log: Log) -> None:
    """Never committed: the group has an offset on another topic alone."""
    log.write(5)
    log.commit(0, log.other)


def compressed(codec: str) -> Scenario:
    """Ten records compressed by a codec whose library the connector's jars leave to Spark."""

    def write(log: Log) -> None:
        log.write(10, **{"compression.type": codec, "linger.ms": 50})
        log.commit(0)

    write.__name__ = codec
    write.__doc__ = f"Ten records compressed by {codec}."
    return write


# The records that can be read in each.
SCENARIOS: Mapping[Scenario, int] = {
    # First, because the broker checks every few seconds what it may compact and which transactions are overdue.
    compacted: 3,
    killed_and_timed_out: 0,
    committed_tail: 3,
    aborted_tail: 0,
    marker_only: 0,
    between_aborted: 6,
    open_transaction: 2,
    behind_open_transaction: 0,
    killed: 0,
    read_to_the_end: 0,
    empty: 0,
    never_committed: 5,
}
CODECS = tuple(compressed(codec) for codec in ("gzip", "lz4", "snappy", "zstd"))


@contextmanager
def logs(bootstrap: str, scenarios: Sequence[Scenario]) -> Iterator[list[Log]]:
    """A topic for each scenario, in the described state."""
    config: dict[str, Any] = {"bootstrap.servers": bootstrap}
    admin = AdminClient(config)
    run = uuid.uuid4().hex[:8]
    other = f"lag-other-{run}"
    made = [Log(config, name, f"group-{name}", other) for name in (f"lag-{one.__name__}-{run}" for one in scenarios)]
    topics = [other, *(one.topic for one in made)]
    for future in admin.create_topics([NewTopic(name, 1, 1) for name in topics]).values():
        future.result(_CALL_S)
    try:
        for scenario, one in zip(scenarios, made, strict=True):
            scenario(one)
        for one in made:
            until(one.settles, _SETTLED_S, f"{one.topic} is in its described state", poll_s=0.5)
        yield made
    finally:
        for producer in (producer for one in made for producer in one.producers):
            producer.purge()
        for future in admin.delete_topics(topics).values():
            future.result(_CALL_S)
