"""`until`: the copier ends by itself at the given offsets, and copies nothing after them, whatever is there."""

import random
import time

import pytest
from confluent_kafka import Producer
from lab import kafka
from lab.supervise import until
from lab.topic_copier import REFUSED, started
from world.copied import COMPACTED, Begin, Copy, load, produce, until_setting

ENDED = 0


def compacted(copy: Copy, partition: int) -> int:
    """The end of a partition whose last records are compacted away before it; the active segment is not cleaned."""
    producer: Producer = copy.producer()
    for number in range(40):
        produce(producer, copy.source, number, partition, key="k", timestamp=int(time.time() * 1000))
        producer.flush(30)
    time.sleep(0.5)
    produce(producer, copy.source, 40, partition, key="k", timestamp=int(time.time() * 1000))
    producer.flush(30)

    def cleaned() -> bool:
        left = [m for m in kafka.records(copy.bootstrap, copy.source) if m.partition() == partition]
        return len(left) < 10

    until(cleaned, 120, "the source is compacted", poll_s=1)
    return 40


def test_every_kind_of_rest_ends_and_nothing_after_it_is_copied(begin: Begin) -> None:
    """Records, aborted ones, a marker, an empty partition, one that is there already; each has records after it."""
    copy = begin().create(7).seed(dict.fromkeys(range(6), 0) | {6: 5})
    ends = {}
    copy.send(20, partition=0)
    ends[0] = 12
    copy.aborted(5, partition=1)
    ends[1] = 6
    copy.send(3, partition=2)
    copy.aborted(5, partition=2)
    ends[2] = 7
    with copy.transaction() as producer:
        produce(producer, copy.source, 0, 3)
        producer.commit_transaction(30)
    ends[3] = 2
    ends[4] = 0
    copy.aborted(4, partition=5)
    copy.send(2, partition=5)
    copy.aborted(4, partition=5)
    ends[5] = 10
    copy.send(5, partition=6)
    ends[6] = 5
    before = copy.records(copy.source)
    for partition in range(7):
        copy.send(10, partition, begin=500)
    copier = copy.copier(until=until_setting(ends, copy.source))
    assert copier.start().end() == ENDED
    assert copier.last_line.endswith("ENDED: until is reached: every partition is committed at its offset")
    assert copy.committed() == ends
    copy.require_left()
    copied = copy.records(copy.target)
    assert copied == {0: before[0][:12], 2: before[2], 3: before[3], 5: before[5]}
    assert copier.start().end() == ENDED
    assert "until was reached before" in copier.last_line
    assert copy.records(copy.target) == copied
    copier.settings.pop("until")
    copier.start().wait_running()
    copy.wait_copied()
    copier.terminate()
    after = copy.records(copy.source)
    after[6] = after[6][5:]
    assert copy.records(copy.target) == after


@pytest.mark.long
@pytest.mark.parametrize("protocol", ["classic", "streams"])
def test_a_rest_that_is_compacted_away_ends(begin: Begin, protocol: str) -> None:
    """The records before `until` are gone, some or all of them, and the next one is after it."""
    copy = begin().create(2, config=COMPACTED).seed()
    end = compacted(copy, 0)
    copy.send(1, partition=1)
    copier = copy.copier(until=until_setting({0: end, 1: 1}, copy.source), group_protocol=protocol)
    assert copier.start().end() == ENDED
    assert copy.committed() == {0: end, 1: 1}
    copy.require_left()
    kept = [m for m in kafka.records(copy.bootstrap, copy.source) if m.partition() == 0 and (m.offset() or 0) < end]
    assert [record.value for record in copy.records(copy.target).get(0, [])] == [m.value() for m in kept]


@pytest.mark.long
@pytest.mark.parametrize("protocol", ["classic", "streams"])
def test_it_ends_after_kills_with_two_instances_under_load(begin: Begin, protocol: str) -> None:
    """Every record before the offsets once, none after them; each instance has two threads."""
    copy = begin("a", "b").create().seed()
    with load(copy, rate=4000):
        time.sleep(5)
    ends = {source: copy.ends(source) for source in copy.routes}
    setting = ", ".join(until_setting(each, source) for source, each in ends.items())
    expected = {source: copy.records(source) for source in copy.routes}
    chosen = random.Random(protocol)
    with load(copy, rate=500):
        settings = {"until": setting, "group_protocol": protocol, "num_stream_threads": "2"}
        pair = [copy.copier(str(number), **settings) for number in (1, 2)]
        for copier in pair:
            copier.start()
        for number in range(3):
            time.sleep(chosen.uniform(1, 4))
            if pair[number % 2].runs and pair[number % 2].strike():
                pair[number % 2].start()
        assert [copier.end() for copier in pair] == [ENDED, ENDED]
    # The open transaction of a killed one hides what is behind it.
    copy.require_left(after_kill=True)
    for source, target in copy.routes.items():
        assert copy.committed(source) == ends[source]
        assert copy.records(target) == expected[source]


@pytest.mark.long
def test_an_open_transaction_before_the_end_is_waited_for(begin: Begin) -> None:
    """What it will be is not known: the copier goes on, and ends once it is aborted."""
    copy = begin().create(1).seed()
    copy.send(3)
    with copy.transaction() as producer:
        produce(producer, copy.source, 3, 0)
        producer.flush(30)
        copy.send(2, begin=4)
        copier = copy.copier(until=until_setting({0: 6}, copy.source)).start().wait_running()
        until(lambda: copy.committed() == {0: 3}, 60, "what is before the transaction is copied")
        time.sleep(2)
        assert copier.runs
        producer.abort_transaction(30)
    assert copier.end() == ENDED
    assert copy.committed() == {0: 6}
    assert len(copy.records(copy.target)[0]) == 5


@pytest.mark.long
def test_a_source_that_is_truncated_after_the_end_was_reached_changes_nothing(begin: Begin) -> None:
    """A supervisor that starts it again gets the same answer; without `until` it is refused."""
    copy = begin().create(1).seed()
    copy.send(10)
    copier = copy.copier(until=until_setting({0: 8}, copy.source))
    assert copier.start().end() == ENDED
    copy.delete_records(copy.source, {0: 10})
    assert copier.start().end() == ENDED
    copier.settings.pop("until")
    assert copier.start().end() == REFUSED
    assert "(0 committed 8, log start 10): records were deleted before they were copied" in copier.last_line


@pytest.mark.long
def test_an_instance_without_until_is_no_company_for_one_with_it(begin: Begin) -> None:
    """It would copy on, and exit code 0 of the other would say that the copy ends there."""
    copy = begin().create(2).seed()
    for partition in range(2):
        copy.send(15, partition=partition)
    with started(copy.copier("on")):
        limited = copy.copier("until", until=until_setting({0: 5, 1: 5}, copy.source)).start()
        assert limited.end() == REFUSED
        assert f"Group {copy.name} has a member with other routes, mode, until or order" in limited.last_line


@pytest.mark.long
def test_until_that_another_client_has_committed_is_no_end(begin: Begin) -> None:
    """Exit code 0 would say that the records before it are copied."""
    copy = begin().create(1).seed()
    copy.send(20)
    with copy.transaction() as producer:
        produce(producer, copy.source, 20, 0)
        producer.flush(30)
        copy.send(20, begin=21)
        copier = copy.copier(until=until_setting({0: 41}, copy.source)).start().wait_running()
        until(lambda: copy.committed().get(0) == 20, 60, "the first twenty are copied")
        copy.moved_while_suspended(copier, 41)
        assert copier.end() == REFUSED
        assert f"another program has committed as group {copy.name}" in copier.last_line
        producer.commit_transaction(30)
