"""Emptying an orphaned repartition topic up to its certified ends, on a real broker."""

import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from kstreams_runbooks.decide.drain.certificate import certified
from kstreams_runbooks.errors import RunbookError
from kstreams_runbooks.ledger.card_facts import card_facts
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.readings.drain import DrainReading
from kstreams_runbooks.model.readings.lag import PartitionLag
from kstreams_runbooks.model.readings.readings import Taken
from kstreams_runbooks.model.runs.cards import RecordsDeleted
from kstreams_runbooks.model.runs.ledger import RunRecord
from kstreams_runbooks.model.runs.object_stages import DeleteRecords
from kstreams_runbooks.model.runs.plan import Plan, PlanFacts
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.kafka.ends import held_of
from kstreams_runbooks.steps.run.run import Run, now_ms
from kstreams_runbooks.steps.stages.topics import delete_records
from lab.kafka import topic_of_ten
from world.given import Kafka
from world.new_ledger import new_ledger
from world.samples import down, instance, reading
from world.sides import COUNTS


@pytest.fixture
def topic(kafka: Kafka) -> Iterator[str]:
    """A topic of two partitions with ten records in its first one, which `orders` has read."""
    config: dict[str, Any] = {"bootstrap.servers": kafka.bootstrap}
    group = f"emptied{uuid.uuid4().hex[:8]}"
    name = f"{group}-by-customer-repartition"
    topic_of_ten(config, name)
    commit(config, group, name, 10)
    yield name
    admin = AdminClient(config)
    admin.delete_topics([name])[name].result()
    admin.delete_consumer_groups([group])[group].result()


@pytest.fixture
def run(kafka: Kafka, topic: str, tmp_path: Path) -> Run:
    """A run with a certificate that ends at 10 and 0."""
    config, ledger = {"bootstrap.servers": kafka.bootstrap}, new_ledger(tmp_path / "ledger.db")
    record = ledger.start_run(RunRecord("", "flush", "r", "orders", "demo", "oncall", False, "", {}, now_ms()))
    made = Run(record, "act", 1, ledger)
    entry = SimpleNamespace(
        application_id=topic.partition("-")[0], processing_guarantee="exactly_once_v2", reads_committed=True
    )
    vars(made).update(kafka=config, application=entry, read=lambda: reading(down("orders-1")))
    with ClusterReader(config) as reader:
        [now] = reader.topics([topic])
    facts = PlanFacts("classic", ((topic, now.topic_id, 2),), (), (), static_membership=True, code="c0de")
    plan = Plan("flush", "orders", "demo", (), (), (), facts, (), (), (), "pretended", "none")
    ledger.store_plan(record.run_key, plan.digest, encode(plan))
    rows = tuple(PartitionLag(topic, number, "repartition", "ok", topic_id=now.topic_id) for number in (0, 1))
    ends = {f"{topic}-0": 10, f"{topic}-1": 0}
    certificate = DrainReading(Taken(1, "test"), rows, ends, ends, {})
    payload = {"inputs": {"now": encode(certificate)}, "result": {"outcome": "proceed"}, "application": "orders"}
    made.keep("verdict", certified.__name__, payload)
    return made


def commit(config: dict[str, Any], group: str, topic: str, offset: int) -> None:
    """The group's offset on the first partition."""
    admin, offsets = AdminClient(config), [ConsumerGroupTopicPartitions(group, [TopicPartition(topic, 0, offset)])]
    admin.alter_consumer_group_offsets(offsets)[group].result(30)


def forget(run: Run, group: str) -> None:
    """All offsets of a group."""
    admin = AdminClient(run.kafka)
    admin.delete_consumer_groups([group])[group].result(30)


def start(run: Run, topic: str) -> list[int]:
    """Where the log of each partition starts."""
    with ClusterReader(run.kafka) as reader:
        held = held_of(reader, reader.topics([topic]))
    assert isinstance(held, tuple)
    return [one.start for one in held if isinstance(one.start, int)]


def write(run: Run, topic: str) -> None:
    """One more record."""
    producer = Producer(run.kafka)
    producer.produce(topic, "later", partition=0)
    assert producer.flush(10) == 0


def rehearsing(run: Run) -> Run:
    """The same run as a dry run."""
    made = replace(run, record=replace(run.record, dry_run=True))
    vars(made).update({name: value for name, value in vars(run).items() if name not in vars(made)})
    return made


def empty(run: Run, topic: str) -> None:
    """The stage as the flush performs it."""
    delete_records(run, DeleteRecords(1, (topic,), certified=True))


def test_it_is_emptied_up_to_the_certificate_and_a_rerun_changes_nothing(run: Run, topic: str) -> None:
    """The card says where; after a kill between card and write the same is written."""
    empty(run, topic)
    assert start(run, topic) == [10, 0]
    [card] = run.ledger.cards(run.key)
    facts = card_facts(card)
    assert isinstance(facts, RecordsDeleted)
    assert (facts.first_left, card.point_of_no_return) == (((0, 10), (1, 0)), True)
    assert card.cost == "nothing: the certificate proves these records read"
    empty(run, topic)
    assert (start(run, topic), len(run.ledger.cards(run.key))) == ([10, 0], 1)


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_record_behind_the_certificate_refuses_it(run: Run, topic: str, *, dry_run: bool) -> None:
    """It came after the proof: nothing is deleted, in a dry run nothing is announced either."""
    run = rehearsing(run) if dry_run else run
    write(run, topic)
    with pytest.raises(
        RunbookError, match=f"{topic}-0 has a readable record at offset 10, behind its certified end 10"
    ):
        empty(run, topic)
    assert (start(run, topic), run.ledger.cards(run.key)) == ([0, 0], [])


def test_an_offset_that_was_set_back_refuses_it(run: Run, topic: str) -> None:
    """A record that the group would still read is kept; an offset that expired is no obstacle."""
    group = run.application.application_id
    commit(run.kafka, group, topic, 4)
    with pytest.raises(RunbookError, match="before the readable record at offset 4, and the certificate ends at 10"):
        empty(run, topic)
    forget(run, group)
    empty(run, topic)
    assert start(run, topic) == [10, 0]
    commit(run.kafka, group, topic, 10)


def test_another_reader_refuses_it(run: Run, topic: str) -> None:
    """A group with offsets, a member of one, and an instance that runs a release which reads the topic."""
    other = f"other-{topic}"
    consumer = Consumer({**run.kafka, "group.id": other, "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    try:
        assert consumer.poll(30) is not None
        consumer.commit(asynchronous=False)
        with pytest.raises(RunbookError, match=f"a member of group {other}, reads topic {topic}.*has a committed"):
            empty(run, topic)
    finally:
        consumer.close()
    with pytest.raises(RunbookError, match=f"group {other} has a committed offset on topic {topic}"):
        empty(run, topic)
    forget(run, other)
    vars(run)["read"] = lambda: reading(instance("orders-1", topology=COUNTS))
    with pytest.raises(RunbookError, match=f"orders-1 runs a release that reads topic {topic}"):
        empty(run, topic)
    assert start(run, topic) == [0, 0]


def test_without_a_certificate_nothing_is_deleted(run: Run, topic: str) -> None:
    """Nor what it does not prove read; a dry run says what it would do."""
    with pytest.raises(RunbookError, match="topic elsewhere is not emptied: the certificate of this run does not"):
        empty(run, "elsewhere")
    record = run.ledger.start_run(RunRecord("", "flush", "s", "orders", "demo", "oncall", False, "", {}, now_ms()))
    bare = Run(record, "act", 1, run.ledger)
    with pytest.raises(RunbookError, match=f"{topic}: not emptied, since this run has no certificate"):
        empty(bare, topic)
    empty(rehearsing(bare), topic)
    empty(rehearsing(run), topic)
    assert start(run, topic) == [0, 0]
