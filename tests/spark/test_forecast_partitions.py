"""Which keys move with more partitions: topics of a real broker, forecast by Spark, next to Kafka's own partitioner."""

import os
import struct
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient
from kstreams_runbooks.demo.traffic.partitioner import partition_of
from kstreams_runbooks.errors import Inconclusive
from kstreams_runbooks.frames.forecast import ForecastQuestion
from kstreams_runbooks.frames.ranges import OffsetRange
from kstreams_runbooks.model.readings.growth import ForecastKind, KeyShare, TopicForecast
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.kafka.ends import ends_of
from kstreams_runbooks.watch.growth import Forecast, forecast_here
from lab.settings import CHECKOUT
from world.given import Kafka
from world.placed_keys import PARTITIONS, Placed, placed

KEYS = [f"customer-{number}" for number in range(1_000)]
AFTER = 12
OF_WINDOW = struct.pack(">qi", 1_763_750_000_000, 0)
_JARS = CHECKOUT / "tests" / "apps" / "broker" / "target" / "libs"
_PROGRAM = CHECKOUT / "tests" / "integration" / "java" / "KafkaPartitions.java"


@pytest.fixture
def pair(kafka: Kafka, remote: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Placed]:
    """Two empty topics, and a Connect server."""
    monkeypatch.setenv("SPARK_REMOTE", remote)
    with placed(kafka.bootstrap) as made:
        yield made


def by_kafka(keys: Sequence[str], partitions: int) -> dict[str, int]:
    """Ask `BuiltInPartitioner` of the broker's own client jar."""
    words = ["java", "-Xmx128m", "-cp", f"{_JARS}/*", str(_PROGRAM), str(partitions)]
    answer = subprocess.run(words, input="\n".join(keys), capture_output=True, encoding="utf-8", check=True)
    return dict(zip(keys, map(int, answer.stdout.split()), strict=True))


def asked(made: Placed, topic: str, kind: ForecastKind = "input", after: int = AFTER) -> ForecastQuestion:
    """All of a topic."""
    with ClusterReader({"bootstrap.servers": made.bootstrap}) as reader:
        ends = ends_of(reader, reader.topics([topic]))
    ranges = []
    for (name, number), (start, stable, _) in sorted(ends.items()):
        assert isinstance(start, int)
        assert isinstance(stable, int)
        ranges.append(OffsetRange(name, number, start, stable))
    return ForecastQuestion(kind, after, tuple(ranges))


def told(made: Placed, *questions: ForecastQuestion) -> tuple[TopicForecast, ...]:
    """The answer of Spark."""
    ask: Forecast = forecast_here({"bootstrap.servers": made.bootstrap})
    return ask(questions)


def test_the_keys_that_move_are_those_of_kafkas_own_partitioner(pair: Placed) -> None:
    """Their number, their records and bytes, and the load of each partition; one key has a tenth of all records."""
    pair.as_kafka_puts(pair.input, [*(key.encode() for key in KEYS), *[KEYS[0].encode()] * 100])
    [found] = told(pair, asked(pair, pair.input))
    before, after = by_kafka(KEYS, PARTITIONS), by_kafka(KEYS, AFTER)
    moved = {key for key in KEYS if before[key] != after[key]}
    records = {key: 101 if key == KEYS[0] else 1 for key in KEYS}
    for keys, share in ((moved, found.moved), (set(KEYS) - moved, found.kept)):
        size = sum(records[key] * (len(key) + 1) for key in keys)
        assert share == KeyShare(len(keys), sum(records[key] for key in keys), size)
    for where, loads in ((before, found.loads_before), (after, found.loads_after)):
        wanted: Counter[int] = Counter()
        for key, partition in where.items():
            wanted[partition] += records[key]
        assert {one.partition: one.share.records for one in loads} == wanted
    assert (found.several, found.misplaced, found.short) == (0, 0, 0)
    hottest = found.most_records[0]
    assert (hottest.key, hottest.records) == (KEYS[0], 101)
    assert (hottest.before, hottest.after) == (before[KEYS[0]], after[KEYS[0]])
    assert len(found.most_records) == len(found.most_bytes) == 20
    for placed_key in found.examples["moved"]:
        assert placed_key.key in moved


def test_keys_that_are_not_at_home_are_counted(pair: Placed) -> None:
    """The default of librdkafka, a key in two partitions, and records without a key, which keep their number."""
    pair.write(pair.input, [key.encode() for key in KEYS])
    home = partition_of(b"twice", PARTITIONS)
    pair.at(pair.input, [(b"twice", home), (b"twice", (home + 1) % PARTITIONS), (None, 2), (None, 2), (b"", 0)])
    [found] = told(pair, asked(pair, pair.input))
    assert 700 < found.misplaced < 800
    assert found.several == 1
    assert [one.key for one in found.examples["several"]] == ["twice"]
    assert found.null_keys == KeyShare(0, 2, 2)
    assert found.keyed.keys == 1_002


def test_the_state_of_a_window_is_counted_by_the_key_of_its_record(pair: Placed) -> None:
    """Several windows of a key, a newer value of one, a deleted one, and a key that is too short."""
    keys = [key.encode() for key in KEYS[:100]]
    pair.as_kafka_puts(pair.input, keys)
    pair.as_kafka_puts(pair.state, keys, OF_WINDOW)
    pair.as_kafka_puts(pair.state, keys[:10], struct.pack(">qi", 1, 0))
    pair.as_kafka_puts(pair.state, keys[:5], OF_WINDOW, value=b"newer")
    pair.as_kafka_puts(pair.state, keys[-3:], OF_WINDOW, value=None)
    pair.at(pair.state, [(b"short", 0)])
    read, kept = told(pair, asked(pair, pair.input), asked(pair, pair.state, "window"))
    assert (read.topic, read.keyed.keys) == (pair.input, 100)
    assert (kept.keyed.keys, kept.keyed.records, kept.short) == (97, 107, 1)
    assert kept.misplaced == 0
    moved = sum(partition_of(key, PARTITIONS) != partition_of(key, AFTER) for key in keys[:-3])
    assert kept.moved.keys == moved


def test_a_number_that_is_no_multiple(pair: Placed) -> None:
    """Four to six: the same rule."""
    pair.as_kafka_puts(pair.input, [key.encode() for key in KEYS])
    [found] = told(pair, asked(pair, pair.input, after=6))
    before, after = by_kafka(KEYS, PARTITIONS), by_kafka(KEYS, 6)
    assert found.moved.keys == sum(before[key] != after[key] for key in KEYS)


def test_what_kafka_streams_has_deleted_of_a_repartition_topic_is_left_out(pair: Placed) -> None:
    """It deletes what it has read, also between the look at the offsets and the reading; of an input it is an error."""
    keys = [key.encode() for key in KEYS]
    pair.as_kafka_puts(pair.repartition, keys)
    before, of_input = (asked(pair, pair.repartition, kind) for kind in ("repartition", "input"))
    gone = [key for key in keys if partition_of(key, PARTITIONS) == 0]
    place = TopicPartition(pair.repartition, 0, len(gone) - 10)
    # Its answers come as long as the client is there.
    admin = AdminClient({"bootstrap.servers": pair.bootstrap})
    [deleted] = admin.delete_records([place]).values()
    deleted.result(30)
    [found] = told(pair, before)
    assert (found.keyed.keys, found.misplaced) == (len(keys) - len(gone) + 10, 0)
    with pytest.raises(Inconclusive, match="an offset of the ranges does not exist"):
        told(pair, of_input)


@pytest.mark.long
def test_without_a_connect_server_a_job_forecasts(kafka: Kafka, jars: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same answer from a process of its own, also for a topic without a record next to it."""
    assert jars
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    assert "SPARK_REMOTE" not in os.environ
    with placed(kafka.bootstrap) as made:
        made.as_kafka_puts(made.input, [key.encode() for key in KEYS])
        read, empty = told(made, asked(made, made.input), asked(made, made.state, "key_value"))
    assert read.keyed.keys == 1_000
    assert (empty.keyed.keys, empty.loads_before) == (0, ())
