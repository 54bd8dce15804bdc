"""Unread records that retention is about to delete: found from one batched call, looked at only where they may be."""

import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]
from kstreams_runbooks.decide.status.status import LagSample, Status, StatusLimits, status
from kstreams_runbooks.model.readings.lag import ApplicationLag
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.lag.ages import with_ages
from kstreams_runbooks.observe.lag.lag import LagAsked, read_lag

DAY_MS = 86_400_000
RETENTION_MS = 7 * DAY_MS
WITHIN_MS = 6 * 3_600_000


class Kafka(Protocol):
    """What the fixture `kafka` gives."""

    bootstrap: str


@dataclass
class World:
    """A topic of one partition that is kept for a week."""

    config: dict[str, Any]
    topic: str
    now_ms: int

    def write(self, age_ms: int, records: int = 1, **transaction: Any) -> Producer:
        """Records of that age."""
        producer = Producer({**self.config, **transaction})
        if transaction:
            producer.init_transactions()
            producer.begin_transaction()
        for number in range(records):
            producer.produce(self.topic, str(number), key=str(number), partition=0, timestamp=self.now_ms - age_ms)
        producer.flush()
        return producer

    def commit(self, group: str, offset: int) -> None:
        """A group's offset."""
        consumer = Consumer({**self.config, "group.id": group, "enable.auto.commit": False})
        consumer.commit(offsets=[TopicPartition(self.topic, 0, offset)], asynchronous=False)
        consumer.close()

    def read(self, *groups: str, before: Mapping[str, ApplicationLag] | None = None) -> list[ApplicationLag]:
        """What the project reads of these groups, with ages."""
        with ClusterReader(self.config) as reader:
            asked = [LagAsked(group, group, {self.topic: "source"}) for group in groups]
            snapshot = read_lag(reader, "here", asked)
            return list(with_ages(snapshot, reader, self.config, WITHIN_MS, before).applications)

    def watched(self, times: int = 4) -> list[ApplicationLag]:
        """The same group read several times, each knowing what the one before found; as if it had members."""
        found: list[ApplicationLag] = []
        for _ in range(times):
            [lag] = self.read(self.topic, before={self.topic: found[-1]} if found else None)
            found.append(replace(lag, group_state="Stable"))
        return found

    def word(self, lag: ApplicationLag) -> str:
        """How the application stands by this reading."""
        return status((LagSample(self.now_ms, lag),), StatusLimits(expiring_ms=WITHIN_MS)).word


@pytest.fixture
def world(kafka: Kafka, request: pytest.FixtureRequest) -> Iterator[World]:
    """A new topic; its settings may be given as the parameter."""
    config: dict[str, Any] = {"bootstrap.servers": kafka.bootstrap}
    name = f"ages-{uuid.uuid4().hex[:8]}"
    admin = AdminClient(config)
    settings = getattr(request, "param", {"retention.ms": str(RETENTION_MS)})
    admin.create_topics([NewTopic(name, 1, 1, config=settings)])[name].result()
    yield World(config, name, time.time_ns() // 1_000_000)
    admin.delete_topics([name])[name].result()


def test_an_old_unread_record_is_told_with_its_time(world: World) -> None:
    """The first one that is unread counts, not the first of the log; a group that has read it is well."""
    world.write(RETENTION_MS - WITHIN_MS // 3)
    world.write(RETENTION_MS - WITHIN_MS // 2)
    world.write(0)
    for group, offset in (("first", 0), ("second", 1), ("third", 2)):
        world.commit(f"{world.topic}-{group}", offset)
    first, second, third = world.read(*(f"{world.topic}-{name}" for name in ("first", "second", "third")))
    ages = [lag.partitions[0].oldest_unread_ms for lag in (first, second, third)]
    assert ages == [
        world.now_ms - RETENTION_MS + WITHIN_MS // 3,
        world.now_ms - RETENTION_MS + WITHIN_MS // 2,
        None,
    ]
    assert [lag.partitions[0].retention_ms for lag in (first, second, third)] == [RETENTION_MS] * 3
    assert [world.word(lag) for lag in (first, second)] == ["expiring", "expiring"]
    assert "in 180 min, limit 360" in status((LagSample(world.now_ms, second),), StatusLimits()).sentence


def test_markers_and_aborted_records_do_not_expire(world: World) -> None:
    """Their offsets are old and unread, and nobody would get a record of them."""
    world.write(RETENTION_MS - 1_000, records=3, **{"transactional.id": world.topic}).abort_transaction()
    world.write(0)
    world.commit(world.topic, 0)
    [lag] = world.read(world.topic)
    [row] = lag.partitions
    # The marker was written now, and with it the young part begins.
    assert (row.records, row.none_until) == (2, 3)
    assert (row.state, row.oldest_unread_ms, row.age_why) == ("ok", None, "")


def test_a_marker_that_nobody_commits_is_not_stalled_and_a_record_is(world: World) -> None:
    """Both are an offset behind the committed one that stands still: the one that has not moved is looked at, once."""
    world.write(0, records=3, **{"transactional.id": world.topic}).commit_transaction()
    world.commit(world.topic, 3)
    lags = world.watched()
    assert [lag.partitions[0].records for lag in lags] == [1, 0, 0, 0]
    assert stands(lags).word == "healthy"
    world.write(0)
    lags = world.watched()
    assert [lag.partitions[0].records for lag in lags] == [2, 2, 2, 2]
    assert [lag.partitions[0].none_until for lag in lags] == [None, 4, 4, 4]
    assert stands(lags).word == "stalled"


def test_a_transaction_that_hangs_is_stalled_although_all_is_read(world: World) -> None:
    """Its last stable offset stands still, and the sentence says where to look."""
    world.write(0)
    world.commit(world.topic, 1)
    producer = world.write(0, records=2, **{"transactional.id": world.topic})
    try:
        found = stands(world.watched())
    finally:
        producer.abort_transaction()
    assert found.word == "stalled"
    assert f"nothing behind it can be read: {world.topic}-0 (2 offsets); find whose it is:" in found.sentence


def stands(lags: list[ApplicationLag]) -> Status:
    """The status by these readings, a minute apart."""
    return status(tuple(LagSample(at * 60_000, lag) for at, lag in enumerate(lags)), StatusLimits())


@pytest.mark.parametrize(
    "world", [{"retention.ms": "-1"}, {"retention.ms": "1000", "cleanup.policy": "compact"}], indirect=True
)
def test_what_is_kept_for_ever_does_not_expire(world: World) -> None:
    """By its retention, or because only compaction deletes."""
    world.write(100 * DAY_MS)
    world.commit(world.topic, 0)
    [lag] = world.read(world.topic)
    assert (lag.partitions[0].retention_ms, lag.partitions[0].oldest_unread_ms) == (-1, None)
    assert lag.partitions[0].state == "ok"


def test_a_topic_in_which_every_record_is_old_is_looked_at(world: World) -> None:
    """No record is young enough to stand before the unread one."""
    world.write(RETENTION_MS - 60_000, records=2)
    world.commit(world.topic, 1)
    [lag] = world.read(world.topic)
    assert lag.partitions[0].oldest_unread_ms == world.now_ms - RETENTION_MS + 60_000
    assert world.word(lag) == "expiring"


def test_the_requests_of_a_reading_are_counted(world: World) -> None:
    """By the clients themselves: more groups on one broker need no more of them."""
    world.write(0)
    groups = [f"{world.topic}-{number}" for number in range(20)]
    for group in groups:
        world.commit(group, 0)
    counts = []
    for asked in (groups[:2], groups):
        with ClusterReader(world.config, counted=True) as reader:
            read_lag(reader, "here", [LagAsked(one, one, {world.topic: "source"}) for one in asked])
            counts.append(reader.requests())
    # Both clients have a part in it: six at least are kafka-python's, three are ListOffsets of librdkafka.
    assert 9 < counts[0] < 40
    assert counts[1] <= counts[0] + 2
