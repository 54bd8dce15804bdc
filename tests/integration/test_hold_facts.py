"""What a forecast of held inputs reads of a real broker, and whether inputs rest: retention, traffic, transactions."""

import time
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]
from kstreams_runbooks.decide.drain.hold_limits import hold_limits
from kstreams_runbooks.decide.drain.inputs import inputs_stand_still, still_held
from kstreams_runbooks.fleet import Application
from kstreams_runbooks.model.readings.hold import HoldLimit, PlannedHold
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.lag.inputs import read_inputs
from kstreams_runbooks.observe.lag.partition_rows import read_partitions
from kstreams_runbooks.observe.lag.waiting import LookedAt, read_offsets_retention_ms, read_waiting
from kstreams_runbooks.watch.hold import Waiting, read_hold_facts
from lab.stack import Stack
from world.new_ledger import new_ledger
from world.samples import reading

HOUR_MS = 3_600_000
RECORD = b"x" * 1_000
SWAP = PlannedHold("swap", 1, 1, 10, 3, 5, 30, 0, 2, 2, 2)


@pytest.fixture
def config(stack: Stack) -> dict[str, Any]:
    """The broker's librdkafka configuration."""
    return {"bootstrap.servers": stack.lab.bootstrap}


@pytest.fixture
def topic(config: dict[str, Any]) -> Iterator[str]:
    """A topic of two partitions that keeps two hours and a megabyte of each."""
    name = f"held-{uuid.uuid4().hex[:8]}"
    kept = {"retention.ms": str(2 * HOUR_MS), "retention.bytes": "1000000"}
    admin = AdminClient(config)
    admin.create_topics([NewTopic(name, 2, 1, config=kept)])[name].result()
    yield name
    admin.delete_topics([name])[name].result()


def write(config: dict[str, Any], topic: str, records: int, *, age_ms: int = 0) -> None:
    """Records of a thousand bytes each to the first partition."""
    producer = Producer(config)
    for _ in range(records):
        producer.produce(topic, RECORD, partition=0, timestamp=int(time.time() * 1_000) - age_ms)
    producer.flush()


def commit(config: dict[str, Any], group: str, topic: str, offset: int, partition: int = 0) -> None:
    """The group's offset on a partition."""
    consumer = Consumer({**config, "group.id": group, "enable.auto.commit": False})
    consumer.commit(offsets=[TopicPartition(topic, partition, offset)], asynchronous=False)
    consumer.close()


def entry(group: str) -> Application:
    """A fleet entry of that group; only its names are read."""
    instances = SimpleNamespace(instances=())
    return cast(
        "Application",
        SimpleNamespace(
            name="orders",
            cluster="demo",
            application_id=group,
            processing_guarantee="unknown",
            reads_committed=False,
            deployer=instances,
        ),
    )


def test_the_facts_of_a_topic_with_traffic(config: dict[str, Any], topic: str, tmp_path: Path) -> None:
    """Its limits, what comes each second, what waits already and for how long, and the pace of its group."""
    write(config, topic, 100, age_ms=HOUR_MS)
    commit(config, topic, topic, 10)
    # Read to its end, except for the marker.
    producer = Producer({**config, "transactional.id": topic})
    producer.init_transactions()
    producer.begin_transaction()
    producer.produce(topic, b"read", partition=1)
    producer.commit_transaction()
    commit(config, topic, topic, 1, partition=1)

    def traffic(_: float) -> None:
        time.sleep(2)
        write(config, topic, 100)
        commit(config, topic, topic, 60)

    before = reading(partitions=())
    with ClusterReader(config) as reader:
        rows = read_partitions(reader, topic, {topic: "source"}, reader.topics([topic]))
        assert not isinstance(rows, Missing)
        facts = read_hold_facts(
            reader,
            config,
            new_ledger(tmp_path / "ledger.db"),
            entry(topic),
            replace(before, partitions=rows),
            Waiting(entry(topic), (topic,)),
            changelog_bytes=reader.log_bytes((topic,)),
            commit_interval_s=0,
            sleep=traffic,
        )
    [waits] = facts.waits
    assert (waits.topic, waits.deletes) == (topic, True)
    assert (waits.retention_ms, waits.retention_bytes) == (2 * HOUR_MS, 1_000_000)
    assert facts.offsets_retention_ms == 7 * 24 * HOUR_MS
    assert isinstance(waits.age_ms, int)
    assert waits.age_ms >= HOUR_MS
    # 100 records of a thousand bytes and some, in at least two seconds.
    assert isinstance(waits.bytes_per_s, int)
    assert 0 < waits.bytes_per_s < 60_000
    assert isinstance(waits.waiting_bytes, int)
    assert 130_000 <= waits.waiting_bytes < 160_000
    [left] = facts.left
    assert (left.role, left.records) == ("source", 140)
    assert isinstance(left.per_s, float)
    assert 0 < left.per_s < 26
    assert isinstance(facts.changelog_bytes, int)
    # As it was before the traffic of the test.
    assert 100_000 < facts.changelog_bytes < 130_000
    found = [one for one in hold_limits(facts, SWAP) if isinstance(one, HoldLimit)]
    assert len(found) == 3
    assert found[0].seconds == pytest.approx(3_600, abs=120)
    assert found[1].seconds == pytest.approx((1_000_000 - waits.waiting_bytes) / waits.bytes_per_s)


def test_records_that_arrive_late_have_less_time(config: dict[str, Any], topic: str) -> None:
    """By their own timestamps, also if the group has read all of them."""
    with ClusterReader(config) as reader:
        looks: list[LookedAt] = []
        for _ in range(2):
            write(config, topic, 1, age_ms=HOUR_MS)
            commit(config, topic, topic, len(looks) + 1)
            rows = read_partitions(reader, topic, {topic: "source"}, reader.topics([topic]))
            assert not isinstance(rows, Missing)
            looks.append((reader.taken().at_ms, rows))
            time.sleep(0.01)
        [late] = read_waiting(reader, config, [topic], looks, "read_uncommitted")
        [idle] = read_waiting(
            reader, config, [topic], [looks[1], (looks[1][0] + 1_000, looks[1][1])], "read_uncommitted"
        )
        [once] = read_waiting(reader, config, [topic], looks[1:], "read_uncommitted")
        [unread] = read_waiting(reader, config, [topic], [(1, ()), (2, ())], "read_uncommitted")
    assert isinstance(late.age_ms, int)
    assert late.age_ms >= HOUR_MS
    assert (idle.age_ms, idle.bytes_per_s) == (0, 0)
    assert isinstance(once.bytes_per_s, Missing)
    assert isinstance(unread.age_ms, Missing)


def test_the_brokers_offsets_retention(config: dict[str, Any]) -> None:
    """Of this broker its default: seven days."""
    with ClusterReader(config) as reader:
        assert read_offsets_retention_ms(reader) == 7 * 24 * HOUR_MS


def test_inputs_rest_until_a_record_comes(config: dict[str, Any], topic: str) -> None:
    """A record, a transaction that is open, and a topic that is not there."""
    write(config, topic, 3)
    with ClusterReader(config) as reader:
        still = tuple(read_inputs(reader, [topic]) for _ in range(3))
        assert inputs_stand_still(still, 3).outcome is Outcome.PROCEED
        write(config, topic, 2)
        broken = still_held(still[-1], read_inputs(reader, [topic]))
        assert broken.outcome is Outcome.REFUSE
        assert f"{topic}-0: 2 offsets came between" in broken.reasons[0]
        producer = Producer({**config, "transactional.id": topic})
        producer.init_transactions()
        producer.begin_transaction()
        producer.produce(topic, b"within", partition=1)
        producer.flush()
        opened = tuple(read_inputs(reader, [topic]) for _ in range(3))
        verdict = inputs_stand_still(opened, 3)
        assert verdict.outcome is Outcome.WAIT
        assert verdict.reasons[0].startswith(f"{topic}-1: a transaction of {topic} (producer id ")
        producer.abort_transaction()
        gone = inputs_stand_still((read_inputs(reader, [topic, f"{topic}-gone"]),), 1)
    assert gone.outcome is Outcome.INCONCLUSIVE
    assert gone.reasons == (f"input {topic}-gone: the topic does not exist on the cluster",)
