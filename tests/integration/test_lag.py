"""The lag of a group where transactions, markers, empty logs and lost commits make it hard to read.

For each scenario the truth is what a read_committed consumer can still get.
"""

import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]
from kstreams_runbooks.model.lag import ApplicationLag
from kstreams_runbooks.model.readable import Readable
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.lag import LagAsked, read_lag
from kstreams_runbooks.observe.readable import count_readable

TRANSACTION_MS = 60_000


class Kafka(Protocol):
    """What the fixture `kafka` gives."""

    bootstrap: str


@dataclass
class World:
    """One topic of one partition and one group, with the producers that wrote to it."""

    config: dict[str, Any]
    topic: str
    group: str
    producers: list[Producer]

    def write(self, records: int) -> None:
        """Records outside of any transaction."""
        producer = Producer(self.config)
        for number in range(records):
            producer.produce(self.topic, str(number), partition=0)
        producer.flush()

    def transaction(self, records: int) -> Producer:
        """A transaction that is open, with these records."""
        producer = Producer(
            {**self.config, "transactional.id": uuid.uuid4().hex, "transaction.timeout.ms": TRANSACTION_MS}
        )
        producer.init_transactions()
        producer.begin_transaction()
        for number in range(records):
            producer.produce(self.topic, str(number), partition=0)
        producer.flush()
        self.producers.append(producer)
        return producer

    def commit(self, offset: int) -> None:
        """The group's offset."""
        consumer = Consumer({**self.config, "group.id": self.group, "enable.auto.commit": False})
        consumer.commit(offsets=[TopicPartition(self.topic, 0, offset)], asynchronous=False)
        consumer.close()


@pytest.fixture
def world(kafka: Kafka) -> Iterator[World]:
    """A new topic and a group that has committed nothing."""
    config: dict[str, Any] = {"bootstrap.servers": kafka.bootstrap}
    name = f"lag-{uuid.uuid4().hex[:8]}"
    admin = AdminClient(config)
    admin.create_topics([NewTopic(name, 1, 1)])[name].result()
    made = World(config, name, f"group-{name}", [])
    yield made
    for producer in made.producers:
        producer.purge()
    admin.delete_topics([name])[name].result()


def lag(world: World) -> ApplicationLag:
    """What the project reads of the group."""
    with ClusterReader(world.config) as reader:
        snapshot = read_lag(reader, "here", [LagAsked("app", world.group, {world.topic: "source"})])
    [application] = snapshot.applications
    return application


def readable(world: World, application: ApplicationLag) -> Readable:
    """What a read_committed consumer still gets."""
    [row] = application.partitions
    start = row.committed if row.committed is not None else row.log_start_offset
    assert start is not None
    assert row.last_stable_offset is not None
    place = (row.topic, row.partition)
    return count_readable(world.config, {place: (start, row.last_stable_offset)})[place]


def committed_tail(world: World) -> None:
    """Three records committed, and their marker, behind the offset."""
    world.write(2)
    world.commit(2)
    world.transaction(3).commit_transaction()


def aborted_tail(world: World) -> None:
    """Nothing to read: three aborted records and their marker."""
    world.write(2)
    world.commit(2)
    world.transaction(3).abort_transaction()


def marker_only(world: World) -> None:
    """The records are read, the marker behind them is an offset that nobody ever commits by itself."""
    world.transaction(3).commit_transaction()
    world.commit(3)


def open_transaction(world: World) -> None:
    """Two records that can be read, then an open transaction, then a record that waits behind it."""
    world.write(2)
    world.commit(0)
    world.transaction(3)
    world.write(1)


def read_to_the_end(world: World) -> None:
    """Nothing is left."""
    world.write(4)
    world.commit(4)


@pytest.mark.parametrize(
    ("scenario", "offsets", "records", "is_open"),
    [
        (committed_tail, 4, 3, False),
        (aborted_tail, 4, 0, False),
        (marker_only, 1, 0, False),
        (open_transaction, 2, 2, True),
        (read_to_the_end, 0, 0, False),
    ],
)
def test_offsets_are_told_from_records(
    world: World, scenario: Callable[[World], None], offsets: int, records: int, *, is_open: bool
) -> None:
    """What is left in offsets, what of it can be read, and whether a transaction hides more."""
    scenario(world)
    application = lag(world)
    [row] = application.partitions
    assert (row.state, row.records, row.open_transaction) == ("ok", offsets, is_open)
    assert readable(world, application).records == records
    assert application.unread == offsets


def test_a_partition_that_was_never_committed_has_all_of_its_log_to_read(world: World) -> None:
    """Distinct from an offset of 0; an empty log has nothing, and is told apart as well."""
    world.write(5)
    world.commit(5)
    with ClusterReader(world.config) as reader:
        admin = AdminClient(world.config)
        other = f"{world.topic}-2"
        admin.create_topics([NewTopic(other, 1, 1)])[other].result()
        reads = {world.topic: "source", other: "repartition", "nowhere": "repartition"}
        [application] = read_lag(reader, "here", [LagAsked("app", world.group, reads)]).applications  # type: ignore[arg-type]
        admin.delete_topics([other])[other].result()
    rows = {row.topic: row for row in application.partitions}
    assert (rows[world.topic].state, rows[world.topic].records) == ("ok", 0)
    assert (rows[other].state, rows[other].records, rows[other].committed) == ("never_committed", 0, None)
    assert (rows["nowhere"].state, rows["nowhere"].records) == ("missing", None)
    assert application.unread is None


def test_a_group_that_nobody_knows_is_unknown_and_never_at_zero(world: World) -> None:
    """It may never have run, or its offsets may have expired."""
    world.write(3)
    application = lag(world)
    [row] = application.partitions
    assert (application.group_type, row.state, row.records) == (None, "unknown", None)
    assert "known to no broker" in application.problems[0]


def test_an_offset_on_a_topic_that_nothing_reads_is_listed_and_in_no_total(world: World) -> None:
    """What an older topology left behind."""
    world.write(3)
    world.commit(1)
    with ClusterReader(world.config) as reader:
        [application] = read_lag(reader, "here", [LagAsked("app", world.group, {})]).applications
    [row] = application.partitions
    assert (row.role, row.state, row.records) == ("orphaned", "orphaned", 2)
    assert application.unread is None
    assert application.problems == ("no topic is known that app reads: it has to have one",)


def test_the_oldest_unread_record_tells_how_far_behind_in_time(world: World) -> None:
    """By its own timestamp, with its bytes."""
    world.write(1)
    time.sleep(0.05)
    world.write(2)
    world.commit(1)
    found = readable(world, lag(world))
    assert (found.records, found.bytes) == (2, 2)
    assert found.oldest_ms is not None
    assert abs(time.time() * 1000 - found.oldest_ms) < 60_000
