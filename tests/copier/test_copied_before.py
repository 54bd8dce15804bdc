"""Offsets that are set back with the mark of the copier: no record is copied twice, no other start is refused."""

import base64
import time

import pytest
from kafka import TopicPartition as KafkaPartition
from kafka.structs import OffsetAndMetadata
from lab.supervise import until
from lab.topic_copier import REFUSED, Kept, TopicCopier, commit, kept, started
from world.copied import COMPACTED, Begin, Copy, load, produce

pytestmark = pytest.mark.long

_AT_MS = 1_700_000_000_000


def copied(copy: Copy, copier: TopicCopier) -> Kept:
    """What is there is copied by a process; returns the offsets with their metadata."""
    with started(copier):
        copy.wait_copied()
    return kept(copy.bootstrap, copy.name)


def refused(copier: TopicCopier) -> str:
    """The last line of a start that is refused."""
    assert copier.start().end() == REFUSED
    assert "REFUSED, nothing was copied: " in copier.last_line
    return copier.last_line


def set_back_while_suspended(copy: Copy, copier: TopicCopier, backup: Kept) -> None:
    """Its member is gone, and the backup comes back meanwhile: it ends."""
    copier.suspend()
    until(lambda: not copy._group().members, 60, "the suspended one has left its group", poll_s=0.5)
    commit(copy.bootstrap, copy.name, backup)
    copier.resume()
    assert copier.end() == REFUSED


def copies(copy: Copy) -> int:
    """How many records all targets have."""
    return sum(len(records) for target in copy.routes.values() for records in copy.records(target).values())


@pytest.mark.parametrize(
    ("settings", "target_partitions"),
    [({}, 4), ({"group_protocol": "streams"}, 4), ({"mode": "by-key"}, 12), ({"order": "by-time"}, 4)],
    ids=["same-partition", "streams-group", "by-key", "by-time"],
)
def test_a_backup_of_the_offsets_is_not_believed(
    begin: Begin, settings: dict[str, str], target_partitions: int
) -> None:
    """The next records are in the target: refused with both places; a person's offset is what goes on."""
    copy = begin("a", "b").create(4, target_partitions).seed()
    copier = copy.copier(**settings)
    for topic in copy.routes:
        copy.send(20, partition=1, topic=topic)
    backup = copied(copy, copier)
    for topic in copy.routes:
        copy.send(15, partition=1, topic=topic, begin=20)
    copy.send(1, partition=2, begin=99)
    now = copied(copy, copier)
    before = copies(copy)
    commit(copy.bootstrap, copy.name, backup)
    copy.send(5, partition=1, begin=35)
    line = refused(copier)
    first, second = copy.routes
    assert f"{first}, 2 of 4 partitions (1 offset 20 is at " in line
    assert "; 2 offset 0 is at " in line
    assert f"{second}, 1 of 4 partitions (1 offset 20 is at " in line
    assert f"records after the committed offsets are in {copy.routes[first]} already" in line
    assert f"--at {first}:PARTITION:OFFSET --replace {first} --may-repeat {copy.routes[first]} --execute" in line
    assert copies(copy) == before == 71
    for topic in copy.routes:
        copy.seed({place.partition: at.offset for place, at in now.items() if place.topic == topic}, topic)
    for _ in range(2):
        copied(copy, copier)
    assert copies(copy) == 76
    if copier.settings.get("mode") != "by-key":
        assert copy.require_equal() == 76


def test_an_offset_that_is_set_back_between_start_and_task_is_refused(begin: Begin) -> None:
    """The copier was suspended, its member is gone, and the backup comes back meanwhile."""
    copy = begin().create(2).seed()
    copy.send(20)
    copier = copy.copier()
    backup = copied(copy, copier)
    copy.send(20, begin=20)
    copied(copy, copier)
    before = copies(copy)
    with started(copier):
        set_back_while_suspended(copy, copier, backup)
    assert f"{copy.source}-0 is committed at 20, and was at 40 before: its offset was set back" in copier.last_line
    assert copies(copy) == before
    assert "(0 offset 20 is at 0:" in refused(copier)


def test_a_record_of_another_writer_refuses_nothing(begin: Begin) -> None:
    """Behind the last copy of a target there may be others, also with the next record's key and time."""
    copy = begin().create(1).seed()
    copy.send(10)
    copier = copy.copier()
    copied(copy, copier)
    producer = copy.producer()
    for topic, value in ((copy.source, b"of the source"), (copy.target, b"of another writer")):
        producer.produce(topic, key=b"k", value=value, partition=0, timestamp=_AT_MS, headers=[("h", b"1")])
    producer.produce(
        copy.target, key=b"k", value=b"of the source", partition=0, timestamp=_AT_MS, headers=[("h", b"2")]
    )
    producer.produce(copy.target, key=b"k", value=b"of the source", partition=0, timestamp=_AT_MS + 1)
    assert producer.flush(30) == 0
    copied(copy, copier)
    assert copies(copy) == 10 + 1 + 3


@pytest.mark.parametrize("mode", ["same-partition", "by-key"])
def test_equal_records_are_copied_as_often_as_they_are_there(begin: Begin, mode: str) -> None:
    """A producer that has written a batch twice: the second ones are no copies of the first."""
    copy = begin().create(1, 3 if mode == "by-key" else 1).seed()
    copier = copy.copier(mode=mode)
    producer = copy.producer()
    for _ in range(3):
        for key in (b"a", b"b", b"c", b"d"):
            producer.produce(copy.source, key=key, value=b"equal", partition=0, timestamp=_AT_MS)
        assert producer.flush(30) == 0
        copied(copy, copier)
    assert copies(copy) == 12


def test_a_kill_and_a_second_instance_are_in_nobodys_way(begin: Begin) -> None:
    """While records come in, copies of a living instance are newer than what the start of another one has read."""
    copy = begin("a", "b").create().seed()
    first, second = copy.copier("first"), copy.copier("second")
    with load(copy, rate=3000):
        first.start().wait_running()
        for _ in range(4):
            second.start().wait_running()
            time.sleep(1)
            second.kill()
            second.start().wait_running()
            first.kill()
            first.start().wait_running()
            assert second.terminate() == 143
    copy.wait_copied()
    first.terminate()
    assert copy.require_equal() > 10_000


def test_a_person_who_copies_again_is_not_refused_later(begin: Begin) -> None:
    """By key, a start looks behind the copies of all partitions: the old ones are before the choice of the offset."""
    copy = begin().create(2, 6).seed()
    copy.send(60)
    copier = copy.copier(mode="by-key")
    copied(copy, copier)
    copy.seed({0: 0, 1: 0})
    with started(copier):
        until(lambda: copy.committed()[0] > 0, 60, "some are copied again", poll_s=0.01)
    copied(copy, copier)
    assert copies(copy) == 120


def test_a_compacted_target_is_looked_through(begin: Begin) -> None:
    """The first copies behind the last one may be compacted away, later ones are there."""
    copy = begin().create(1, config=COMPACTED).seed()
    copier = copy.copier()
    copy.send(10)
    backup = copied(copy, copier)
    producer = copy.producer()
    for number in range(30):
        produce(producer, copy.source, 10 + number % 10, 0, timestamp=_AT_MS + number)
        assert producer.flush(30) == 0
    copied(copy, copier)
    commit(copy.bootstrap, copy.name, backup)
    assert f"records after the committed offsets are in {copy.target} already" in refused(copier)


def test_a_target_that_has_lost_copies_is_refused(begin: Begin) -> None:
    """Its end is before the last copy: told here by a mark of another place, as one broker elects no unclean leader."""
    copy = begin().create(1).seed()
    copy.send(10)
    copier = copy.copier()
    there = copied(copy, copier)
    other = begin().create(1).seed()
    other.send(200)
    place = KafkaPartition(copy.source, 0)
    longer = copied(other, other.copier())[KafkaPartition(other.source, 0)]
    commit(copy.bootstrap, copy.name, {place: with_last_copy_of(there[place], longer)})
    line = refused(copier)
    assert f"{copy.target}, 1 of 1 partitions (0 last copy at " in line
    assert ": it has lost copies" in line


def with_last_copy_of(offset: OffsetAndMetadata, other: OffsetAndMetadata) -> OffsetAndMetadata:
    """The offset with the place of the other one's last copy."""
    own, longer = base64.b64decode(offset.metadata), base64.b64decode(other.metadata)
    name = b"to-0"
    at, of = own.index(name) + len(name), longer.index(name) + len(name)
    marked = own[:at] + longer[of : of + 8] + own[at + 8 :]
    return OffsetAndMetadata(offset.offset, base64.b64encode(marked).decode(), offset.leader_epoch)


def test_copies_behind_an_open_transaction_in_the_target_are_found(begin: Begin) -> None:
    """No reader of committed records sees them yet; without them the copier goes on after a wait."""
    copy = begin().create(1).seed()
    copy.send(10)
    copier = copy.copier()
    backup = copied(copy, copier)
    copy.send(10, begin=10)
    # Two starts wait for it, half a minute each.
    with copy.transaction(timeout_ms=600_000) as producer:
        produce(producer, copy.target, 500, 0)
        producer.flush(30)
        with started(copier):
            until(lambda: copy.committed()[0] == 20, 60, "it copies")
        assert sum(map(len, copy.records(copy.target).values())) == 10
        commit(copy.bootstrap, copy.name, backup)
        assert f"records after the committed offsets are in {copy.target} already" in refused(copier)
        producer.commit_transaction(30)
    assert copies(copy) == 21


@pytest.mark.parametrize("deleted_to", [200, 1000])
def test_copies_are_found_if_the_first_of_them_are_deleted(begin: Begin, deleted_to: int) -> None:
    """Of the target alone: what is left of them is compared with all that is unread."""
    copy = begin().create(1).seed()
    copier = copy.copier()
    copy.send(10)
    backup = copied(copy, copier)
    copy.send(2000, begin=10)
    copied(copy, copier)
    copy.delete_records(copy.target, {0: deleted_to})
    before = copies(copy)
    commit(copy.bootstrap, copy.name, backup)
    assert f"records after the committed offsets are in {copy.target} already" in refused(copier)
    assert copies(copy) == before


def test_offsets_of_another_source_are_refused(begin: Begin) -> None:
    """The source was created again, and a backup has brought its old offsets back: its first records are not copied."""
    copy = begin().create(1).seed()
    copier = copy.copier()
    copy.send(10)
    backup = copied(copy, copier)
    copy.delete(copy.source)
    copy.topic(copy.source, 1)
    copy.send(30, begin=1000)
    line = refused(copier)
    assert f"no committed offset in group {copy.name}" in line
    assert f"--at {copy.source}:PARTITION:OFFSET --may-repeat {copy.target} --execute" in line
    commit(copy.bootstrap, copy.name, backup)
    assert "(0 committed 10, of id " in (line := refused(copier))
    assert f"the committed offsets are those of another topic, which {copy.source} (id " in line
    copy.seed()
    copied(copy, copier)
    assert copies(copy) == 40


def test_equal_records_of_several_partitions_come_together_by_key(begin: Begin) -> None:
    """A tick in each partition: the copy of one is no copy of the other, and a backup is found among them."""
    copy = begin().create(2, 3).seed()
    copier = copy.copier(mode="by-key")
    producer = copy.producer()
    for number in range(3):
        for partition in (1, 0):
            copy.send(5, partition=partition, begin=100 * partition + 10 * number)
            producer.produce(
                copy.source, key=b"tick", value=b"t", partition=partition, timestamp=_AT_MS + 10**6 * number
            )
            assert producer.flush(30) == 0
            backup = copied(copy, copier)
    assert copies(copy) == 36
    producer.produce(copy.source, key=b"tick", value=b"t", partition=1, timestamp=_AT_MS + 10**7)
    assert producer.flush(30) == 0
    copied(copy, copier)
    commit(copy.bootstrap, copy.name, backup)
    assert "(1 offset 18 is at " in refused(copier)


def test_an_offset_that_this_process_has_committed_is_not_set_back(begin: Begin) -> None:
    """The backup is younger than the process that is suspended meanwhile."""
    copy = begin().create(1).seed()
    copier = copy.copier()
    with started(copier):
        copy.send(10)
        copy.wait_copied()
        backup = kept(copy.bootstrap, copy.name)
        copy.send(10, begin=10)
        copy.wait_copied()
        set_back_while_suspended(copy, copier, backup)
    assert f"{copy.source}-0 is committed at 10, and was at 20 before: its offset was set back" in copier.last_line
    assert copies(copy) == 20


def test_an_offset_before_the_log_start_is_not_skipped_to_it(begin: Begin) -> None:
    """It was set back, and the source has deleted records since: those that are left are in the target."""
    copy = begin().create(1).seed()
    copier = copy.copier()
    copy.send(10)
    backup = copied(copy, copier)
    copy.send(10, begin=10)
    copied(copy, copier)
    copy.delete_records(copy.source, {0: 15})
    commit(copy.bootstrap, copy.name, backup)
    line = refused(copier)
    assert "(0 committed 10, log start 15): records were deleted before they were copied, or the offset was" in line
    assert f"--replace {copy.source} --may-repeat {copy.target} --execute" in line
