"""Whatever happens to the copier or its topics: the copy goes on as it was, or one sentence says why it does not."""

import random
import time

import pytest
from lab.supervise import until
from lab.topic_copier import REFUSED, TERMINATED, started
from world.copied import KEPT, Begin, load, produce, until_setting
from world.proven import compare_topics


def test_a_kill_under_load_loses_and_repeats_nothing(begin: Begin) -> None:
    """Two routes, 2,000 records a second; the next start waits for what the kill left behind."""
    copy = begin("a", "b").create().seed()
    copier = copy.copier().start().wait_running()
    with load(copy, rate=2000):
        until(lambda: sum(copy.committed().values()) > 500, 60, "it copies")
        copier.kill()
        copier.start()
        until(lambda: sum(copy.committed().values()) > 4_000, 120, "it copies again")
    copy.wait_copied()
    assert copier.terminate() == TERMINATED
    copy.require_left(after_kill=True)
    assert copy.require_equal() > 0


@pytest.mark.long
@pytest.mark.parametrize("protocol", ["classic", "streams"])
def test_five_kills_at_random_moments(begin: Begin, protocol: str) -> None:
    """Of a classic and of a streams group."""
    copy = begin("a", "b").create().seed()
    chosen = random.Random(f"kills {protocol}")
    copier = copy.copier(group_protocol=protocol)
    with load(copy):
        for _ in range(5):
            copier.start()
            time.sleep(chosen.uniform(1.5, 8))
            copier.kill()
        copier.start().wait_running()
    copy.wait_copied()
    assert copier.terminate() == TERMINATED
    copy.require_left(after_kill=True)
    assert copy.require_equal() > 0
    if protocol == "classic":
        code, document = compare_topics(copy)
        assert (code, document["verdict"]) == (0, "proceed"), document["reasons"]


@pytest.mark.long
@pytest.mark.parametrize("protocol", ["classic", "streams"])
def test_two_instances_share_and_the_second_goes_on_alone(begin: Begin, protocol: str) -> None:
    """Each copies some partitions; one is killed, then stopped cleanly, and the other has them all."""
    copy = begin("a", "b").create().seed()
    one, two = copy.copier("one", group_protocol=protocol), copy.copier("two", group_protocol=protocol)
    with load(copy):
        one.start().wait_running()
        two.start().wait_running()
        until(lambda: sum(copy.committed().values()) > 2_000, 60, "they copy")
        one.kill()
        time.sleep(2)
        one.start().wait_running()
        until(lambda: sum(copy.committed().values()) > 6_000, 120, "they copy again")
        assert two.terminate() == TERMINATED
    copy.wait_copied()
    assert one.terminate() == TERMINATED
    copy.require_left(after_kill=True)
    assert copy.require_equal() > 0


@pytest.mark.long
def test_a_source_that_grows_alone_ends_the_copier_with_both_counts(begin: Begin) -> None:
    """So does each start after it; nothing is copied to a wrong partition."""
    copy = begin().create().seed()
    copier = copy.copier().start().wait_running()
    copy.send(100)
    copy.wait_copied()
    copy.grow(copy.source, 6)
    copy.send(10, partition=5)
    assert copier.end() == REFUSED
    counts = f"{copy.source} has 6 partitions and {copy.target} has 4."
    assert counts in copier.last_line
    assert copier.start().end() == REFUSED
    assert counts in copier.last_line
    assert copy.records(copy.target).keys() == {0}


@pytest.mark.long
def test_both_topics_grow_and_the_new_partitions_need_offsets(begin: Begin) -> None:
    """It ends, and goes on once they are committed: no record of them is skipped."""
    copy = begin().create().seed()
    copier = copy.copier().start().wait_running()
    copy.grow(copy.target, 6)
    copy.grow(copy.source, 6)
    copy.send(10, partition=5)
    copy.send(10, partition=0)
    assert copier.end() == REFUSED
    assert f"{copy.source}, 2 of 6 partitions (4; 5): no committed offset" in copier.last_line
    copy.seed({4: 0, 5: 0})
    with started(copier):
        copy.wait_copied()
    assert copy.require_equal() == 20


@pytest.mark.long
def test_a_source_that_is_created_again_ends_a_copier_that_runs(begin: Begin) -> None:
    """Also if it has more records than the old one at once."""
    copy = begin().create().seed()
    copy.send(5)
    copier = copy.copier().start().wait_running()
    copy.wait_copied()
    copy.delete(copy.source)
    copy.topic(copy.source, 4)
    copy.send(100)
    assert copier.end() == REFUSED
    assert copy.source in copier.last_line
    assert copier.start().end() == REFUSED
    assert "no committed offset" in copier.last_line


@pytest.mark.long
def test_a_source_that_is_truncated_before_it_is_copied_ends_the_copier(begin: Begin) -> None:
    """While it runs: it never jumps to what is left."""
    copy = begin().create(1).seed()
    copier = copy.copier().start().wait_running()
    copy.send(10)
    copy.wait_copied()
    with copy.transaction() as producer:
        produce(producer, copy.source, 10, 0)
        producer.flush(30)
        copy.send(20, begin=11)
        # It waits for the transaction, and what it waits for is deleted.
        copy.delete_records(copy.source, {0: 25})
        assert copier.end() == REFUSED
        producer.abort_transaction(30)
    assert "(0 committed 10, log start 25): records were deleted before they were copied" in copier.last_line
    assert len(copy.records(copy.target)[0]) == 10


@pytest.mark.long
def test_a_record_that_is_too_large_stops_every_route_and_is_named(begin: Begin) -> None:
    """Topic, partition, offset and size in the last line, at each start; nothing is skipped on either route."""
    copy = begin("a", "b").create(config={**KEPT, "max.message.bytes": "2000000"}).seed()
    copier = copy.copier().start().wait_running()
    copy.send(3, partition=1)
    copy.wait_copied()
    # The source has it, and takes such records no more: both topics have the same limit at each start.
    value = random.Random(5).randbytes(1_500_000)
    for topic in (copy.target, copy.source):
        copy.configure(topic, max_message_bytes="100000" if topic == copy.target else "2000000")
    produce(producer := copy.producer(**{"message.max.bytes": 3_000_000}), copy.source, 3, 1, value=value)
    assert producer.flush(30) == 0
    assert copier.end() == REFUSED
    copy.configure(copy.source, max_message_bytes="100000")
    _, other = copy.routes
    copy.send(5, topic=other)
    for start in range(2):
        assert f"{copy.source} partition 1 offset 3 (key 5 bytes, value 1,500,000 bytes) cannot" in copier.last_line
        assert f"Raise max.message.bytes of {copy.target}" in copier.last_line
        if not start:
            assert copier.start().end() == REFUSED
    assert len(copy.records(copy.target)[1]) == 3
    for topic in (copy.target, copy.source):
        copy.configure(topic, max_message_bytes="2000000")
    with started(copier):
        copy.wait_copied()
    assert copy.require_equal() == 9


@pytest.mark.long
def test_a_record_without_a_key_does_not_pass_a_target_that_is_compacted_meanwhile(begin: Begin) -> None:
    """The broker refuses it, and the copier ends with the remedy."""
    copy = begin().create(1).seed()
    copier = copy.copier().start().wait_running()
    copy.configure(copy.target, cleanup_policy="compact")
    produce(producer := copy.producer(), copy.source, 0, 0, key=None)
    assert producer.flush(30) == 0
    assert copier.end() == REFUSED
    assert f"{copy.source} partition 0 offset 0 (key null, value " in copier.last_line
    copy.require_nothing_copied()


@pytest.mark.long
def test_a_target_that_is_deleted_ends_the_copier(begin: Begin) -> None:
    """It is not created again."""
    copy = begin().create().seed()
    copier = copy.copier().start().wait_running()
    copy.delete(copy.target)
    assert copier.end() == REFUSED
    assert f"Topic {copy.target} does not exist" in copier.last_line


@pytest.mark.long
@pytest.mark.parametrize("protocol", ["classic", "streams"])
def test_no_copy_with_another_time_is_ever_committed(begin: Begin, protocol: str) -> None:
    """The target gets LogAppendTime while the copier runs; with CreateTime again, it goes on where it was."""
    copy = begin().create(1).seed()
    copy.send(10)
    copier = copy.copier(group_protocol=protocol).start().wait_running()
    copy.wait_copied()
    copy.configure(copy.target, message_timestamp_type="LogAppendTime")
    copy.send(10, begin=10)
    assert copier.end() == REFUSED
    assert f"{copy.target} has message.timestamp.type=LogAppendTime" in copier.last_line
    copy.configure(copy.target, message_timestamp_type="CreateTime")
    with started(copier):
        copy.wait_copied()
    assert copy.require_equal() == 20


@pytest.mark.long
@pytest.mark.parametrize("protocol", ["classic", "streams"])
def test_an_instance_that_copies_otherwise_gets_no_partition(begin: Begin, protocol: str) -> None:
    """The records of a key would be in two partitions."""
    copy = begin().create(2).seed()
    with started(copy.copier("one", group_protocol=protocol)) as one:
        for partition in range(2):
            copy.send(20, partition=partition)
        other = copy.copier("other", group_protocol=protocol, mode="by-key")
        assert other.start().end() == REFUSED
        assert f"Group {copy.name} has a member with other routes, mode, until or order" in other.last_line
        copy.wait_copied()
        assert one.runs
    assert copy.require_equal() == 40


@pytest.mark.long
def test_the_record_that_is_not_taken_is_named_and_no_other_one(begin: Begin) -> None:
    """The broker answers while the copier is at later ones; the page lets a person leave out the one that is named."""
    copy = begin().create(2, config={**KEPT, "max.message.bytes": "2000000"}, target_config=KEPT).seed()
    copy.send(5)
    value = random.Random(6).randbytes(1_500_000)
    produce(producer := copy.producer(**{"message.max.bytes": 3_000_000}), copy.source, 5, 0, value=value)
    assert producer.flush(30) == 0
    copy.send(10, begin=6)
    copy.configure(copy.source, max_message_bytes="1048588")
    copier = copy.copier()
    assert copier.start().end() == REFUSED
    assert f"{copy.source} partition 0 offset 5 (key 5 bytes, value 1,500,000 bytes) cannot" in copier.last_line
    assert copy.copier("until", until=until_setting({0: 5, 1: 0}, copy.source)).start().end() == 0
    copy.seed({0: 6, 1: 0})
    with started(copy.copier("rest")):
        copy.wait_copied()
    assert [len(records) for records in copy.records(copy.target).values()] == [15]


@pytest.mark.long
def test_two_that_start_at_once_and_copy_otherwise_do_not_share_the_source(begin: Begin) -> None:
    """Neither was a member when the other one looked: each looks again before its first record."""
    copy = begin().create(2).seed()
    for partition in range(2):
        copy.send(2_000, partition=partition)
    both = [copy.copier(), copy.copier("until", until=until_setting({0: 2_000, 1: 2_000}, copy.source))]
    for copier in both:
        copier.start()
    until(lambda: not all(copier.runs for copier in both), 60, "one of them ends")
    left = [copier for copier in both if copier.runs]
    # The one with `until` may be ready before the other one is a member.
    assert {copier.end() for copier in both if copier not in left} <= {0, REFUSED}
    if not left:
        with started(copy.copier()):
            copy.wait_copied()
    else:
        copy.wait_copied()
    assert copy.require_equal() == 4_000


@pytest.mark.long
@pytest.mark.parametrize(
    ("setting", "value"), [("retention_ms", "60000"), ("cleanup_policy", "compact"), ("max_message_bytes", "1000")]
)
def test_a_setting_that_is_changed_meanwhile_is_named_and_the_copy_goes_on(
    begin: Begin, setting: str, value: str
) -> None:
    """Its readers need the copies; the next start is refused."""
    copy = begin().create(1).seed()
    copier = copy.copier().start().wait_running()
    copy.configure(copy.target, **{setting: value})
    name = setting.replace("_", ".")
    until(lambda: any("WARNING: a setting of a topic was changed" in line for line in copier.lines), 60, "it says so")
    assert any(f"{copy.target} has {name}={value}" in line for line in copier.lines)
    copier.terminate()
    assert copier.start().end() == REFUSED


@pytest.mark.long
def test_an_offset_that_another_client_commits_for_a_suspended_copier_is_found(begin: Begin) -> None:
    """Its tasks begin again at that offset; its own next commit would hide it for good."""
    copy = begin().create(1).seed()
    copy.send(20)
    copier = copy.copier().start().wait_running()
    copy.wait_copied()
    # Not one record more is copied until it is suspended: what is sent now is behind the foreign offset.
    with copy.transaction() as producer:
        produce(producer, copy.source, 20, 0)
        producer.flush(30)
        copy.send(19, begin=21)
        copy.moved_while_suspended(copier, 40)
        assert copier.end() == REFUSED
        producer.commit_transaction(30)
    assert f"another program has committed as group {copy.name}" in copier.last_line
    assert f"--replace {copy.source} --may-repeat {copy.target} --execute" in copier.last_line
    copy.seed({0: 20})
    with started(copier):
        copy.wait_copied()
    assert copy.require_equal() == 40
