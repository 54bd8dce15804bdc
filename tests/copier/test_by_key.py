"""Mode by-key: each record is where Java producers put its key, and each key's records are in order."""

import random
import time

import pytest
from kstreams_runbooks.demo.traffic.partitioner import partition_of
from lab.topic_copier import REFUSED, TERMINATED, started
from world.copied import Begin, Copy, per_key, produce

BEFORE, AFTER = 4, 12


def send(copy: Copy, count: int) -> None:
    """Records of many keys, each key in the partition of four that a Java producer chooses; some have no key."""
    producer = copy.producer()
    for number in range(count):
        key = f"customer-{number % 997}".encode() if number % 50 else None
        partition = number % BEFORE if key is None else partition_of(key, BEFORE)
        produce(producer, copy.source, number, partition, key=key)
    assert producer.flush(60) == 0


def require_placed(copy: Copy) -> int:
    """Keys by murmur2, records without one at their partition's number; every record once, in order per key."""
    source, target = copy.records(copy.source), copy.records(copy.target)
    for partition, records in target.items():
        assert {partition_of(one.key, AFTER) for one in records if one.key is not None} <= {partition}
        assert [one for one in records if one.key is None] == [
            one for one in source.get(partition, []) if one.key is None
        ]
    expected, found = per_key(source), per_key(target)
    assert {key: found.get(key) for key in expected if key is not None} == {
        key: records for key, records in expected.items() if key is not None
    }
    assert found.keys() == expected.keys()
    return sum(map(len, target.values()))


@pytest.mark.long
def test_four_partitions_become_twelve_across_a_kill(begin: Begin) -> None:
    """200,000 records, a SIGKILL half way: equal per key, no duplicate."""
    copy = begin().create(BEFORE, AFTER).seed()
    send(copy, 200_000)
    copier = copy.copier(mode="by-key").start().wait_running()
    time.sleep(random.Random(11).uniform(1, 3))
    copier.kill()
    with started(copier):
        copy.wait_copied()
        assert copier.terminate() == TERMINATED
    # The open transaction of the killed one hides what is behind it.
    copy.require_left(after_kill=True)
    assert require_placed(copy) == 200_000


@pytest.mark.long
def test_empty_keys_have_a_hash_and_tombstones_a_place(begin: Begin) -> None:
    """An empty key is a key; a record without a key and a value keeps its partition's number."""
    copy = begin().create(BEFORE, AFTER).seed()
    producer = copy.producer()
    for number, (key, value) in enumerate([(b"", b"v"), (b"", None), (b"k", None), (None, None), (None, b"v")] * 4):
        partition = number % BEFORE if key is None else partition_of(key, BEFORE)
        produce(producer, copy.source, number, partition, key=key, value=value)
    assert producer.flush(30) == 0
    with started(copy.copier(mode="by-key")):
        copy.wait_copied()
    assert require_placed(copy) == 20


@pytest.mark.long
def test_fewer_partitions_have_no_place_for_records_without_a_key(begin: Begin) -> None:
    """Refused with both counts; equal counts are taken."""
    copy = begin().create(4, 3).seed()
    copier = copy.copier(mode="by-key")
    assert copier.start().end() == REFUSED
    assert f"{copy.source} has 4 partitions and {copy.target} has 3." in copier.last_line
    assert f"{copy.target} needs at least 4" in copier.last_line
    copy.require_nothing_copied()


@pytest.mark.long
def test_a_target_that_grows_while_it_runs_ends_the_copier(begin: Begin) -> None:
    """Keys would be in two partitions: not one record goes to the new count without a person."""
    copy = begin().create(BEFORE, AFTER).seed()
    send(copy, 1_000)
    copier = copy.copier(mode="by-key").start().wait_running()
    copy.wait_copied()
    copy.grow(copy.target, 16)
    assert copier.end() == REFUSED
    assert f"{copy.target} had 12 partitions" in copier.last_line
    assert "and has 16" in copier.last_line
    assert require_placed(copy) == 1_000


@pytest.mark.long
def test_a_target_that_grew_while_it_was_stopped_is_refused_until_its_number_is_set(begin: Begin) -> None:
    """A supervisor that starts it again decides nothing; a runbook or a person names the new number."""
    copy = begin().create(BEFORE, AFTER).seed()
    send(copy, 1_000)
    with started(copy.copier(mode="by-key")):
        copy.wait_copied()
    copy.grow(copy.target, 16)
    send(copy, 1_000)
    old, named = copy.copier(mode="by-key"), copy.copier(mode="by-key", partitions=f"{copy.target}:12")
    for copier, reason in ((old, "had 12"), (named, "has 16"), (old, "had 12")):
        assert copier.start().end() == REFUSED
        assert f"{copy.target} {reason} partitions" in copier.last_line
    assert f"Then set partitions={copy.target}:16." in old.last_line
    assert sum(map(len, copy.records(copy.target).values())) == 1_000
    with started(copy.copier(mode="by-key", partitions=f"{copy.target}:16")) as copier:
        copy.wait_copied()
        assert copier.terminate() == TERMINATED
    assert sum(map(len, copy.records(copy.target).values())) == 2_000
    with started(copy.copier(mode="by-key")):
        pass
