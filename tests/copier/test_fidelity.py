"""A copy is its source: partition, order, key, value, headers and time of every record that can be read."""

import pytest
from lab.topic_copier import REFUSED, TERMINATED, started
from world.copied import Begin, Copied, load, produce, until_setting

# Times that a record may have: long ago, none before 1970, far apart, going back.
TIMES = (1_700_000_000_000, 1, 1_600_000_000_000, 1_700_000_000_001, 1_650_000_000_000)
HEADERS: tuple[list[tuple[str, bytes | None]], ...] = (
    [],
    [("a", b"1")],
    [("b", b"2"), ("a", b"1"), ("b", b"3")],
    [("none", None), ("empty", b""), ("none", None)],
    [("\N{SNOWMAN}", bytes(range(256)))],
)
KEYS = (None, b"", b"key", bytes(range(256)))
VALUES = (None, b"", b"value", bytes(range(256)) * 40)


def test_every_shape_of_record_arrives_as_it_is_and_a_signal_ends_cleanly(begin: Begin) -> None:
    """Null and empty keys, tombstones, headers in order, repeated and null, times that go back, aborted transactions.

    Two routes, every codec; SIGTERM leaves the group EMPTY and no transaction open.
    """
    copy = begin("a", "b").create().seed()
    shapes = [
        {"key": key, "value": value, "headers": headers, "timestamp": at_ms}
        for key in KEYS
        for value in VALUES
        for headers in HEADERS
        for at_ms in TIMES
    ]
    copy.aborted(10, partition=1)
    for codec in ("none", "gzip", "snappy", "lz4", "zstd"):
        producer = copy.producer(**{"compression.type": codec})
        for topic in copy.routes:
            for number, shape in enumerate(shapes):
                produce(producer, topic, number, number % 4, **shape)
        assert producer.flush(30) == 0
        copy.aborted(5, partition=2)
    with started(copy.copier()) as copier:
        copy.wait_copied()
        assert copier.terminate() == TERMINATED
        assert copier.last_line.endswith("STOPPED by a signal: what was copied is committed, and the group is left")
    copy.require_left()
    assert copy.require_equal() == 2 * 5 * len(shapes)


@pytest.mark.long
def test_the_times_of_a_source_with_append_times_are_those_of_its_broker(begin: Begin) -> None:
    """The order is kept, and the remark says what the time is."""
    copy = begin().create(config={"message.timestamp.type": "LogAppendTime"}, target_config={}).seed()
    copy.send(100, partition=3)
    with started(copy.copier()) as copier:
        copy.wait_copied()
        assert any("a copy has the time at which the broker appended its record" in line for line in copier.lines)
    assert copy.require_equal() == 100


@pytest.mark.long
def test_a_time_of_zero_is_copied(begin: Begin) -> None:
    """Librdkafka takes 0 for now; Kafka's Java producer and kafka-python write it."""
    from kafka import KafkaProducer

    copy = begin().create().seed()
    producer = KafkaProducer(bootstrap_servers=copy.bootstrap)
    producer.send(copy.source, b"at zero", partition=0, timestamp_ms=0).get(30)
    producer.close()
    with started(copy.copier()):
        copy.wait_copied()
    assert copy.records(copy.target) == {0: [Copied(None, b"at zero", (), 0)]}


@pytest.mark.long
def test_a_record_before_1970_ends_the_copier_and_is_not_dropped(begin: Begin) -> None:
    """Kafka Streams alone drops it with a warning, and no Java producer can write it."""
    copy = begin().create().seed()
    copy.send(3, partition=2)
    produce(producer := copy.producer(), copy.source, 3, 2, timestamp=-5_000)
    assert producer.flush(30) == 0
    assert copy.records(copy.source)[2][3].at_ms == -5_000
    copier = copy.copier()
    assert copier.start().end() == REFUSED
    assert f"{copy.source} partition 2 offset 3 (key 5 bytes, value " in copier.last_line
    assert "its timestamp is -5000, and Java producers write none below 0" in copier.last_line
    copier.settings["until"] = until_setting({0: 0, 1: 0, 2: 3, 3: 0}, copy.source)
    assert copier.start().end() == 0
    copier.settings.pop("until")
    copy.seed({2: 4})
    copy.send(2, partition=2, begin=10)
    with started(copier):
        copy.wait_copied()
    assert copy.records(copy.target) == {2: [one for one in copy.records(copy.source)[2] if one.at_ms >= 0]}


@pytest.mark.long
def test_a_hundred_partitions_and_two_routes(begin: Begin) -> None:
    """Under load, with a second instance that comes later and shares them."""
    copy = begin("a", "b").create(100).seed()
    with started(copy.copier("one")), load(copy, rate=2000, partitions=100), started(copy.copier("two")):
        pass
    with started(copy.copier("three")):
        copy.wait_copied()
    assert copy.require_equal() > 0
