"""Writing committed offsets on a real broker: of every type of group, with metadata and leader epochs, read back."""

import base64
import shlex
import struct
import subprocess
import threading
import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]
from kstreams_runbooks.act.kafka_writer import PartlyWritten, demand_written
from kstreams_runbooks.act.offsets import OffsetWriter
from kstreams_runbooks.act.saved_offsets import save_offsets
from kstreams_runbooks.errors import Inconclusive, WriteRefused
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.writes import CommittedOffset, ObjectWritten, SavedOffsets
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.kafka.offsets import Place, read_ends
from kstreams_runbooks.observe.kafka.saved_offsets import read_saved
from lab.beside import beside
from lab.kafka import topic_of_ten
from lab.kafka_tools import consumer_groups, share_consumer
from lab.supervise import until
from world.given import Kafka

STREAMS_TOPICS = ("orders", "customers", "orders-running", "orders-windowed", "orders-enriched", "orders-per-customer")
# A partition time as Kafka Streams commits it.
STAMP = base64.b64encode(struct.pack(">bq", 2, 1_700_000_000_000)).decode()


@pytest.fixture
def config(kafka: Kafka) -> dict[str, Any]:
    """The broker's librdkafka configuration."""
    return {"bootstrap.servers": kafka.bootstrap}


@pytest.fixture
def name(config: dict[str, Any]) -> Iterator[str]:
    """A topic of two partitions with ten records in its first one."""
    given = f"offsets-{uuid.uuid4().hex[:8]}"
    topic_of_ten(config, given)
    yield given
    admin = AdminClient(config)
    admin.delete_topics([given])[given].result()


def id_of(config: dict[str, Any], *topics: str) -> dict[str, str]:
    with ClusterReader(config) as reader:
        return {one.name: one.topic_id for one in reader.topics(topics)}


def saved(config: dict[str, Any], group: str) -> SavedOffsets:
    with ClusterReader(config) as reader:
        return read_saved(reader, group)


def read_offsets(reader: ClusterReader, group: str) -> dict[Place, int]:
    """What a reading that waits for nothing finds."""
    found = reader.committed([group])[group]
    assert not isinstance(found, Missing)
    return {place: one.offset for place, one in found.items()}


def results(written: tuple[ObjectWritten, ...]) -> dict[str, str]:
    return {one.object: one.result for one in written}


def state(config: dict[str, Any], group: str) -> tuple[str, str]:
    """Type and state of a group, both empty if there is none."""
    with ClusterReader(config) as reader:
        return {name: (kind, word) for name, kind, word in reader.groups()}.get(group, ("", ""))


def test_offsets_of_a_new_group_are_set_and_read_back(config: dict[str, Any], name: str) -> None:
    """Dry first; then with metadata and epoch, twice; then one is moved by another client and nothing is replaced."""
    group, ids, none = f"group-{name}", id_of(config, name), SavedOffsets(f"group-{name}", 0, ())
    wanted = [CommittedOffset(name, 0, 4, STAMP, 0), CommittedOffset(name, 1, 0, "", -1)]
    dry = OffsetWriter(config)
    assert set(results(dry.set(group, wanted, ids=ids, before=none)).values()) == {"rehearsed"}
    assert dry.would_write == [
        f"set {name}-0 of group {group} from none to 4",
        f"set {name}-1 of group {group} from none to 0",
    ]
    assert state(config, group) == ("", "")

    writer = OffsetWriter(config, dry_run=False)
    for _ in range(2):
        assert results(writer.set(group, wanted, ids=ids, before=none)) == {
            f"{name}-0 of group {group}": "done",
            f"{name}-1 of group {group}": "done",
        }
    found = saved(config, group)
    assert found.offsets == tuple(wanted)
    writer.set(group, [CommittedOffset(name, 0, 6, STAMP)], ids=ids, before=found)
    with pytest.raises(WriteRefused, match=rf"{name}-0 of group {group}: 6 is committed \(saved 4, wanted 5\)"):
        writer.set(group, [CommittedOffset(name, 1, 0), CommittedOffset(name, 0, 5)], ids=ids, before=found)
    assert saved(config, group).by_place()[name, 0] == CommittedOffset(name, 0, 6, STAMP)


def test_offsets_in_a_transaction_that_has_not_ended_are_waited_for(
    config: dict[str, Any], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They would win over what is committed from a reading that does not have them."""
    group = f"group-{name}"
    consumer = Consumer({**config, "group.id": group, "enable.auto.commit": False})
    consumer.commit(offsets=[TopicPartition(name, 0, 4)], asynchronous=False)
    producer = Producer({**config, "transactional.id": group})
    producer.init_transactions(10)
    producer.begin_transaction()
    producer.send_offsets_to_transaction([TopicPartition(name, 0, 7)], consumer.consumer_group_metadata(), 10)
    with ClusterReader(config) as reader:
        assert read_offsets(reader, group) == {(name, 0): 4}
    ends = threading.Timer(2, producer.commit_transaction)
    ends.start()
    assert saved(config, group).by_place()[name, 0].offset == 7
    ends.join()
    producer.begin_transaction()
    producer.send_offsets_to_transaction([TopicPartition(name, 0, 8)], consumer.consumer_group_metadata(), 10)
    monkeypatch.setattr("kstreams_runbooks.observe.kafka.saved_offsets._UNSTABLE_S", 1)
    with pytest.raises(
        Inconclusive, match=f"offsets of group {group}: a transaction that commits its offsets has not ended"
    ):
        saved(config, group)
    producer.abort_transaction(10)
    assert saved(config, group).by_place()[name, 0].offset == 7
    consumer.close()


def test_what_cannot_be_committed_is_refused_before_anything_is(config: dict[str, Any], name: str) -> None:
    """Past the end, a partition or a topic that is absent, another id: the offset next to it is not set either."""
    group, ids = f"group-{name}", id_of(config, name)
    good, none = CommittedOffset(name, 1, 0), SavedOffsets(f"group-{name}", 0, ())
    writer = OffsetWriter(config, dry_run=False)
    for wrong, expected, why in (
        (CommittedOffset(name, 0, 11), ids, r"offset 11 is past its end \(10\)"),
        (CommittedOffset(name, 2, 0), ids, f"{name}-2 does not exist"),
        (CommittedOffset(f"{name}-b", 0, 0), {**ids, f"{name}-b": "id"}, f"topic {name}-b does not exist"),
        (CommittedOffset(name, 0, 5), {name: str(uuid.uuid4())}, "was created again"),
    ):
        with pytest.raises(WriteRefused, match=why):
            writer.set(group, [good, wrong], ids=expected, before=none)
    assert state(config, group) == ("", "")
    # Past the checks each partition has the broker's own error.
    with pytest.raises(PartlyWritten) as partly:
        demand_written(
            "set", writer._set(group, {one.place: one for one in (good, CommittedOffset(f"{name}-b", 0, 0))})
        )
    assert results(partly.value.written) == {
        f"{name}-1 of group {group}": "done",
        f"{name}-b-0 of group {group}": "failed",
    }
    assert "the broker answered UnknownTopicOrPartition" in str(partly.value)


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_group_is_written_only_while_it_has_no_member(config: dict[str, Any], name: str, protocol: str) -> None:
    """Set, delete, delete the group: refused with the member; then each for real, and each again."""
    group, ids = f"{protocol}-{name}", id_of(config, name)
    writer = OffsetWriter(config, dry_run=False)
    member = Consumer({**config, "group.id": group, "group.protocol": protocol, "client.id": "one-of-them"})
    with closing(member):
        member.subscribe([name])
        until(lambda: member.poll(0.2) is None and bool(member.assignment()), 30, f"{group} has its partitions")
        wanted, before = [CommittedOffset(name, 0, 4, STAMP, 0)], saved(config, group)
        why = rf"group {group} is \w+ with 1 members \(needed: Empty, none\): one-of-them on 127.0.0.1"
        with pytest.raises(WriteRefused, match=why):
            writer.set(group, wanted, ids=ids, before=before)
        with pytest.raises(WriteRefused, match=why):
            writer.delete_groups([before])
        # Past the check, the broker answers for each partition.
        [late] = writer._set(group, {one.place: one for one in wanted})
        assert (late.result, late.error) == (
            "failed",
            f"{name}-0 of group {group}: the group has a member again; stop it",
        )
    until(lambda: state(config, group) == (protocol, "Empty"), 30, f"{group} is Empty")
    before = saved(config, group)
    writer.set(group, wanted, ids=ids, before=before)
    now = saved(config, group)
    assert now.by_place()[name, 0] == wanted[0]

    dry = OffsetWriter(config)
    assert set(results(dry.delete(group, [name], before=now)).values()) == {"rehearsed"}
    assert f"delete the offset 4 of group {group} on {name}-0" in dry.would_write
    dry.delete_groups([now])
    assert dry.would_write[-1] == f"delete group {group} with {len(now.offsets)} offsets"
    assert saved(config, group).offsets == now.offsets
    with pytest.raises(WriteRefused, match=r"4 is committed \(saved none, wanted none\)"):
        writer.delete(group, [name], before=SavedOffsets(group, 0, ()))
    assert set(results(writer.delete(group, [name], before=now)).values()) == {"done"}
    assert results(writer.delete(group, [name], before=now)) == {f"topic {name} of group {group}": "already"}
    assert saved(config, group).offsets == ()
    assert results(writer.delete_groups([now])) == {f"group {group}": "done"}
    assert state(config, group) == ("", "")
    assert results(writer.delete_groups([now])) == {f"group {group}": "already"}
    # As a restore does: the group begins again, of type classic.
    assert results(writer.set(group, now.offsets, ids=ids, before=now)) == dict.fromkeys(
        (f"{one.topic}-{one.partition} of group {group}" for one in now.offsets), "done"
    )
    assert saved(config, group).offsets == now.offsets
    assert state(config, group) == ("classic", "Empty")


def test_a_streams_group_is_written_as_the_others(config: dict[str, Any], name: str, tmp_path: Path) -> None:
    """KIP-1071: refused while its application runs; Empty, its offsets are set, deleted, and the group with them."""
    group = f"streams-{name}"
    admin = AdminClient(config)
    if absent := [one for one in STREAMS_TOPICS if one not in admin.list_topics(timeout=10).topics]:
        for future in admin.create_topics([NewTopic(one, 4, 1) for one in absent]).values():
            future.result()
    ids, writer = id_of(config, "orders"), OffsetWriter(config, dry_run=False)
    with ClusterReader(config) as reader:
        end = read_ends(reader.librdkafka, [("orders", 0)])["orders", 0].end
    assert isinstance(end, int)
    wanted = [CommittedOffset("orders", 0, end, STAMP, 0)]
    with beside(config["bootstrap.servers"], tmp_path, group, group_protocol="streams") as running:
        running.wait_running()
        with pytest.raises(WriteRefused, match=rf"group {group} is \w+ with \d members"):
            writer.set(group, wanted, ids=ids, before=saved(config, group))
    until(lambda: state(config, group) == ("streams", "Empty"), 60, f"{group} is Empty")
    writer.set(group, wanted, ids=ids, before=saved(config, group))
    now = saved(config, group)
    assert now.by_place()["orders", 0] == wanted[0]
    assert set(results(writer.delete(group, ["orders"], before=now)).values()) == {"done"}
    assert results(writer.delete_groups([now])) == {f"group {group}": "done"}
    assert state(config, group) == ("", "")


def test_a_share_group_is_never_written(config: dict[str, Any], name: str) -> None:
    """It has no committed offsets; the broker would delete it, with a state that nothing saves."""
    group, ids = f"share-{name}", id_of(config, name)
    reading = subprocess.Popen(
        share_consumer(config["bootstrap.servers"], "--topic", name, "--group", group),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        until(lambda: state(config, group) == ("share", "Stable"), 60, f"{group} is Stable")
    finally:
        reading.terminate()
        reading.wait(30)
    until(lambda: state(config, group) == ("share", "Empty"), 60, f"{group} is Empty")
    writer, before = OffsetWriter(config, dry_run=False), saved(config, group)
    with pytest.raises(WriteRefused, match="is a share group: it has no committed offsets"):
        writer.set(group, [CommittedOffset(name, 0, 5)], ids=ids, before=before)
    with pytest.raises(WriteRefused, match="is a share group"):
        writer.delete_groups([before])
    assert state(config, group) == ("share", "Empty")


def test_a_write_past_the_dry_run_is_refused_by_its_client(config: dict[str, Any], name: str) -> None:
    """Each of them, sent directly."""
    dry, group = OffsetWriter(config), f"group-{name}"
    wanted = CommittedOffset(name, 0, 5)
    with pytest.raises(WriteRefused, match="alter_group_offsets is not among the reading methods"):
        dry._set(group, {wanted.place: wanted})
    with pytest.raises(WriteRefused, match="delete_group_offsets is not among the reading methods"):
        dry._delete(group, [wanted.place])
    with pytest.raises(WriteRefused, match="delete_groups is not among the reading methods"):
        dry._delete_groups([group])
    assert state(config, group) == ("", "")


def test_kafkas_own_tool_restores_what_was_saved(config: dict[str, Any], name: str, tmp_path: Path) -> None:
    """By the printed command: after offsets were replaced, and after their whole group was deleted."""
    group, ids = f"saved group {name}", id_of(config, name)
    writer = OffsetWriter(config, dry_run=False)
    writer.set(
        group,
        [CommittedOffset(name, 0, 4, STAMP, 0), CommittedOffset(name, 1, 0)],
        ids=ids,
        before=saved(config, group),
    )
    before = saved(config, group)
    made = save_offsets(before, run_key="reset/one", cluster="lab", config=config, directory=tmp_path)

    def restored() -> dict[tuple[str, int], CommittedOffset]:
        tool, server, address, *words = shlex.split(made.command)
        assert (tool, server) == ("kafka-consumer-groups.sh", "--bootstrap-server")
        done = subprocess.run(consumer_groups(address, *words), capture_output=True, text=True, check=True, timeout=60)
        assert "Error" not in done.stdout, done.stdout
        return saved(config, group).by_place()

    writer.set(group, [CommittedOffset(name, 0, 9, STAMP, 0)], ids=ids, before=before)
    assert saved(config, group).by_place()[name, 0].offset == 9
    # As the notes say: neither metadata nor epoch.
    bare = {place: CommittedOffset(*place, one.offset) for place, one in before.by_place().items()}
    assert restored() == bare
    assert STAMP in Path(made.notes).read_text(encoding="utf-8")
    writer.delete_groups([saved(config, group)])
    assert state(config, group) == ("", "")
    assert restored() == bare
