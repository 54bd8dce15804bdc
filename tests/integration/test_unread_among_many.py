"""Whether anything among many offsets can be read, where most of them are of a transaction that was aborted."""

import uuid
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]
from kstreams_runbooks.model.readings.lag import MOST_AT_ONCE, Isolation, PartitionLag, Readable
from kstreams_runbooks.observe.kafka.offsets import Place
from kstreams_runbooks.observe.lag.count import count_readable
from kstreams_runbooks.observe.lag.first_unread import first_unread
from kstreams_runbooks.observe.lag.unread_counts import Ranges, UnreadCounts
from lab.stack import Stack

ABORTED = 20 * MOST_AT_ONCE
ISOLATIONS: tuple[Isolation, ...] = ("read_committed", "read_uncommitted")


@pytest.fixture
def config(stack: Stack) -> dict[str, Any]:
    """The broker's librdkafka configuration."""
    return {"bootstrap.servers": stack.lab.bootstrap}


@pytest.fixture
def topic(config: dict[str, Any]) -> Iterator[str]:
    """A topic whose partition 0 has aborted records alone, and partition 1 a record after as many of them."""
    name = f"many-{uuid.uuid4().hex[:8]}"
    admin = AdminClient(config)
    admin.create_topics([NewTopic(name, 2, 1)])[name].result()
    settings = {"transactional.id": name, "linger.ms": 5, "queue.buffering.max.messages": 2 * ABORTED + 1}
    producer = Producer({**config, **settings})
    producer.init_transactions()
    producer.begin_transaction()
    for number in range(2 * ABORTED):
        producer.produce(name, b"aborted", partition=number % 2)
    producer.flush()
    producer.abort_transaction()
    producer.begin_transaction()
    producer.produce(name, b"committed", partition=1)
    producer.commit_transaction()
    yield name
    admin.delete_topics([name])[name].result()


def left(topic: str, partition: int, offsets: int) -> PartitionLag:
    return PartitionLag(
        topic, partition, "source", "ok", topic_id="a", committed=0, last_stable_offset=offsets, records=offsets
    )


def counted(config: dict[str, Any], asked: list[Ranges], ranges: Ranges) -> Mapping[Place, Readable]:
    """The records of these ranges, which `asked` keeps."""
    asked.append(ranges)
    return count_readable(config, ranges)


def test_aborted_records_are_nothing_and_one_behind_them_is_something(config: dict[str, Any], topic: str) -> None:
    """However many offsets there are, none is counted: a drain waits for the reading, and one record is enough."""
    # Of partition 0 the marker too; of partition 1 the record, and a marker behind each transaction.
    nothing, something = left(topic, 0, ABORTED + 1), left(topic, 1, ABORTED + 3)
    for rows, records in [((nothing,), [0]), ((nothing, something), [0, ABORTED + 3])]:
        asked: list[Ranges] = []
        counts = UnreadCounts(partial(counted, config, asked), lambda ranges: first_unread(config, ranges, 20))
        assert counts.of(rows) == rows
        assert [one.records for one in counts.of(rows)] == records
        assert asked == []


def test_who_processes_aborted_records_too_has_them_left_and_no_marker(config: dict[str, Any], topic: str) -> None:
    """At least once, Streams reads uncommitted; a marker is nothing to it either."""
    tail, marker = {(topic, 0): (ABORTED - 10, ABORTED + 1)}, {(topic, 0): (ABORTED, ABORTED + 1)}
    found = [
        count_readable(config, ranges, isolation=isolation)[topic, 0].records
        for ranges in (tail, marker)
        for isolation in ISOLATIONS
    ]
    assert found == [0, 10, 0, 0]
    assert first_unread(config, marker, 20, "read_uncommitted") == {(topic, 0): None}
