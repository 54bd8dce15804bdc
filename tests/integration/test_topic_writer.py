"""Writing topics of a real broker: each precondition refuses before anything is changed, and a rerun goes on."""

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]
from kstreams_runbooks.act.kafka_writer import PartlyWritten, demand_written
from kstreams_runbooks.act.topics import TopicWriter
from kstreams_runbooks.errors import WriteRefused
from kstreams_runbooks.model.readings.readings import TopicReading
from kstreams_runbooks.model.writes import Growth, TopicShape
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.kafka.offsets import read_ends
from world.given import Kafka


@pytest.fixture
def config(kafka: Kafka) -> dict[str, Any]:
    """The broker's librdkafka configuration."""
    return {"bootstrap.servers": kafka.bootstrap}


@pytest.fixture
def name(config: dict[str, Any]) -> Iterator[str]:
    """A name that no topic has; what is created with it is deleted afterwards."""
    given = f"write-{uuid.uuid4().hex[:8]}"
    yield given
    admin = AdminClient(config)
    if mine := [one for one in admin.list_topics(timeout=10).topics if one.startswith(given)]:
        for future in admin.delete_topics(mine).values():
            future.result()


def found(config: dict[str, Any], *names: str) -> dict[str, TopicReading]:
    """The topics that there are now, with their settings."""
    with ClusterReader(config) as reader:
        return {one.name: one for one in reader.topics(names, configs=True)}


def created(config: dict[str, Any], name: str, partitions: int = 2, **settings: str) -> str:
    """A topic that another client made; returns its id."""
    made = NewTopic(name, partitions, 1, config={key.replace("_", "."): value for key, value in settings.items()})
    admin = AdminClient(config)
    admin.create_topics([made])[name].result()
    while name not in (topics := found(config, name)):
        pass
    return topics[name].topic_id


def written(config: dict[str, Any], name: str, records: int, partition: int = 0) -> None:
    producer = Producer(config)
    for number in range(records):
        producer.produce(name, str(number), partition=partition)
    assert producer.flush(10) == 0


def test_topics_are_created_in_one_call_and_a_rerun_leaves_them(config: dict[str, Any], name: str) -> None:
    """Dry first: sentences alone. Then both, with their settings and their ids; then nothing is left to do."""
    wanted = [
        TopicShape(name, 3, 1, (("cleanup.policy", "compact"),)),
        TopicShape(f"{name}-b", 1),
    ]
    dry = TopicWriter(config)
    assert [one.result for one in dry.create(wanted)] == ["rehearsed", "rehearsed"]
    assert dry.would_write == [
        f"create topic {name} with 3 partitions, replication factor 1, cleanup.policy=compact",
        f"create topic {name}-b with 1 partitions, the default replication factor",
    ]
    assert not found(config, name, f"{name}-b")

    writer = TopicWriter(config, dry_run=False)
    done = writer.create(wanted)
    topics = found(config, name, f"{name}-b")
    assert {one.object: (one.result, one.topic_id) for one in done} == {
        f"topic {topic.name}": ("done", topic.topic_id) for topic in topics.values()
    }
    assert topics[name].partitions == 3
    assert topics[name].configs == (("cleanup.policy", "compact"),)
    made = {topic.name: topic.topic_id for topic in topics.values()}
    assert {one.result for one in writer.create(wanted, made=made)} == {"already"}
    assert found(config, *made) == topics
    # Deleted by another client: what was in it is not made up for by an empty topic.
    writer.delete({name: made[name]})
    with pytest.raises(WriteRefused, match=rf"topic {name} \(id {made[name]}\), which this run created, is gone"):
        writer.create(wanted, made=made)
    assert set(found(config, *made)) == {f"{name}-b"}


def test_a_topic_of_another_client_is_refused_and_nothing_is_created(config: dict[str, Any], name: str) -> None:
    """One of two exists: the other is not created either."""
    topic_id = created(config, name)
    wanted = [TopicShape(name, 2), TopicShape(f"{name}-b", 1)]
    for writer in (TopicWriter(config), TopicWriter(config, dry_run=False)):
        with pytest.raises(
            WriteRefused, match=rf"topic {name} exists already \(id {topic_id}, 2 partitions\).*nothing"
        ):
            writer.create(wanted)
        with pytest.raises(WriteRefused, match="was created again"):
            writer.create(wanted, made={name: str(uuid.uuid4())})
    assert set(found(config, name, f"{name}-b")) == {name}


def test_a_topic_whose_id_was_never_learned_is_its_own_only_without_a_record(config: dict[str, Any], name: str) -> None:
    """The run was killed between the broker's answer and its card."""
    topic_id = created(config, name, retention_ms="-1")
    wanted = [TopicShape(name, 2, 1, (("retention.ms", "-1"),))]
    writer = TopicWriter(config, dry_run=False)
    [done] = writer.create(wanted, begun=[name])
    assert (done.result, done.topic_id) == ("already", topic_id)
    with pytest.raises(WriteRefused, match=r"has 2 partitions \(wanted 4\), retention.ms=-1 \(wanted 5\)"):
        writer.create([TopicShape(name, 4, 1, (("retention.ms", "5"),))], begun=[name])
    written(config, name, 1)
    with pytest.raises(WriteRefused, match="and has had records"):
        writer.create(wanted, begun=[name])
    # Its id is on the card by now: records in it are no reason.
    assert writer.create(wanted, made={name: topic_id})[0].result == "already"


def test_what_the_controller_would_reject_is_refused_before_anything_is_created(
    config: dict[str, Any], name: str
) -> None:
    """One broker, and a setting that does not exist: also in a dry run, and the third topic is not created."""
    wanted = [TopicShape(name, 1, 3), TopicShape(f"{name}-b", 1, 1, (("no.such", "1"),)), TopicShape(f"{name}-c", 1)]
    for writer in (TopicWriter(config), TopicWriter(config, dry_run=False)):
        with pytest.raises(WriteRefused) as refused:
            writer.create(wanted)
        assert f"topic {name}: the broker answered InvalidReplicationFactor" in str(refused.value)
        assert f"topic {name}-b: the broker answered InvalidConfiguration" in str(refused.value)
    assert not found(config, *(one.name for one in wanted))


def test_of_a_partial_success_each_topic_has_its_result(config: dict[str, Any], name: str) -> None:
    """Another client creates one of two between the check and the call; the rerun continues with the card's id."""
    wanted = [TopicShape(name, 2), TopicShape(f"{name}-b", 1)]
    writer = TopicWriter(config, dry_run=False)
    created(config, f"{name}-b")
    with pytest.raises(PartlyWritten) as partly:
        demand_written("create topics", writer._create(wanted))
    results = {one.object: one for one in partly.value.written}
    assert results[f"topic {name}"].result == "done"
    assert results[f"topic {name}-b"].result == "failed"
    assert f"topic {name}-b is being deleted, or another client has just created it" in str(partly.value)
    admin = AdminClient(config)
    admin.delete_topics([f"{name}-b"])[f"{name}-b"].result()
    while found(config, f"{name}-b"):
        pass
    again = writer.create(wanted, made={name: results[f"topic {name}"].topic_id})
    assert [one.result for one in again] == ["already", "done"]


def test_a_topic_grows_once(config: dict[str, Any], name: str) -> None:
    """Dry, for real, again; then fewer, another count, another id, one that is absent: all refused."""
    topic_id = created(config, name)
    growth = Growth(name, topic_id, 2, 5)
    dry = TopicWriter(config)
    assert dry.grow([growth])[0].result == "rehearsed"
    assert dry.would_write == [f"grow topic {name} from 2 to 5 partitions"]
    assert found(config, name)[name].partitions == 2
    writer = TopicWriter(config, dry_run=False)
    assert writer.grow([growth])[0].result == "done"
    assert found(config, name)[name].partitions == 5
    assert writer.grow([growth])[0].result == "already"
    other = created(config, f"{name}-b")
    for wrong, why in (
        (Growth(name, topic_id, 5, 4), "4 partitions are not more than its 5"),
        (Growth(name, topic_id, 3, 8), r"has 5 partitions \(expected 3, wanted 8\)"),
        (Growth(name, other, 5, 8), "was created again"),
        (Growth(f"{name}-c", other, 5, 8), "does not exist"),
    ):
        with pytest.raises(WriteRefused, match=why):
            writer.grow([Growth(f"{name}-b", other, 2, 3), wrong])
    assert [one.partitions for one in found(config, name, f"{name}-b").values()] == [5, 2]


def test_a_topic_is_deleted_by_its_id(config: dict[str, Any], name: str) -> None:
    """Gone, and gone already; another topic of the same name stays."""
    topic_id = created(config, name)
    dry = TopicWriter(config)
    assert dry.delete({name: topic_id})[0].result == "rehearsed"
    assert dry.would_write == [f"delete topic {name} (id {topic_id})"]
    assert found(config, name)
    writer = TopicWriter(config, dry_run=False)
    assert writer.delete({name: topic_id})[0].result == "done"
    assert not found(config, name)
    assert writer.delete({name: topic_id})[0].result == "already"
    again = created(config, name)
    kept = created(config, f"{name}-b")
    with pytest.raises(WriteRefused, match=rf"its id is {again} \(expected {topic_id}\)"):
        writer.delete({f"{name}-b": kept, name: topic_id})
    assert set(found(config, name, f"{name}-b")) == {name, f"{name}-b"}
    # Past the check: the brokers themselves do not delete the topic that has the name now.
    assert writer._delete({name: topic_id})[0].result == "failed"
    assert found(config, name)[name].topic_id == again


def test_records_before_an_offset_are_deleted(config: dict[str, Any], name: str) -> None:
    """Dry, for real, again; past the end, a partition that is absent, another id, a compacted topic: refused."""
    topic_id = created(config, name)
    written(config, name, 10)
    before = {(name, 0): 7, (name, 1): 0}
    dry = TopicWriter(config)
    assert {one.object: one.result for one in dry.delete_records(before, {name: topic_id})} == {
        f"{name}-0": "rehearsed",
        f"{name}-1": "already",
    }
    assert dry.would_write == [f"delete the records of {name}-0 from 0 up to 7 (its end is 10)"]
    writer = TopicWriter(config, dry_run=False)
    assert {one.result for one in writer.delete_records(before, {name: topic_id})} == {"done", "already"}
    with ClusterReader(config) as reader:
        assert read_ends(reader.librdkafka, [(name, 0)])[name, 0] == (7, 10, 10)
    assert {one.result for one in writer.delete_records(before, {name: topic_id})} == {"already"}
    compacted = created(config, f"{name}-c", cleanup_policy="compact")
    for wrong, ids, why in (
        ({(name, 0): 11}, {name: topic_id}, r"offset 11 is past its end \(10\)"),
        ({(name, 2): 0}, {name: topic_id}, rf"{name}-2 does not exist: topic {name} has 2 partitions"),
        ({(name, 0): 8}, {name: compacted}, "was created again"),
        ({(f"{name}-c", 0): 0}, {f"{name}-c": compacted}, "is only compacted"),
        ({(f"{name}-d", 0): 0}, {f"{name}-d": compacted}, "does not exist"),
    ):
        with pytest.raises(WriteRefused, match=why):
            writer.delete_records({(name, 0): 8, **wrong}, {name: topic_id, **ids})
    with ClusterReader(config) as reader:
        assert read_ends(reader.librdkafka, [(name, 0)])[name, 0].start == 7


def test_a_write_past_the_dry_run_is_refused_by_its_client(config: dict[str, Any], name: str) -> None:
    """Each of them, sent directly."""
    topic_id = created(config, name)
    dry = TopicWriter(config)
    with pytest.raises(WriteRefused, match="create_topics is not among the reading methods"):
        dry._create([TopicShape(f"{name}-b", 1)])
    with pytest.raises(WriteRefused, match="create_partitions is not among the reading methods"):
        dry._grow([Growth(name, topic_id, 2, 3)])
    with pytest.raises(WriteRefused, match="delete_topics is not among the reading methods"):
        dry._delete({name: topic_id})
    assert found(config, name, f"{name}-b")[name].partitions == 2
