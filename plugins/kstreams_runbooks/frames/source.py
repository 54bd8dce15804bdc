"""Reads Kafka with Spark in batch: exact ranges, only committed records, and an error if a record is gone."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.frames.ranges import OffsetRange, offsets_json, places_json

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# A larger range is split: several cores then share a large partition.
_OFFSETS_PER_TASK = 1_000_000

# Settings for the start of Spark, which no query can set. By default each task leaves its consumer and its last
# records to the next task of the same group, for five minutes. No two counts have the same group, so a
# thousand partitions fill a driver of 1 GiB in one count.
STARTED_WITH: Final = {
    f"spark.kafka.consumer.{cache}.{name}": "1s"
    for cache in ("cache", "fetchedData.cache")
    for name in ("timeout", "evictorThreadRunInterval")
}

# Settings that the user's own file may tune.
_DEFAULTS = {
    # A quarter more per second on small records than the defaults of 1 MiB and 500. More records at once are a
    # tenth faster still, but stay in the memory of a server that was started without STARTED_WITH.
    "kafka.max.partition.fetch.bytes": "4194304",
    "kafka.max.poll.records": "1000",
    # A consumer fetches beyond a range as soon as it has it, and Spark then requests offsets. At the end of a log the
    # broker delays the fetch by half a second by default, and with it the second request.
    "kafka.fetch.max.wait.ms": "1",
    # How long the driver waits for brokers that do not answer. Kafka's default is a minute; Spark tries three times.
    "kafka.request.timeout.ms": "8000",
    "kafka.default.api.timeout.ms": "8000",
    "fetchOffset.numRetries": "1",
}
# Settings that the correctness of the answer depends on.
_FIXED = {
    "kafka.isolation.level": "read_committed",
    # How long a task waits for a record that does not come. The default is two minutes.
    "kafkaConsumer.pollTimeoutMs": "5000",
    "groupIdPrefix": "kstreams-runbooks",
}
# A file shared with other tools may have these; Spark refuses most of them, and none is about the connection.
_NOT_THEIRS = frozenset(
    {
        "auto.offset.reset",
        "enable.auto.commit",
        "group.id",
        "interceptor.classes",
        "isolation.level",
        "key.deserializer",
        "value.deserializer",
    }
)


def read_ranges(
    spark: "SparkSession",
    kafka: Mapping[str, str],
    ranges: Sequence[OffsetRange],
    *,
    headers: bool = False,
    split: bool = True,
    gaps: bool = False,
) -> "DataFrame":
    """The readable records of `ranges` with the columns of the Kafka source: key, value, topic, partition, offset, ….

    `kafka` are the settings of a Java client with bootstrap.servers; those of groups, offsets and isolation are
    ignored. Leave out empty ranges: reading one costs as much as a thousand records. `headers` adds their column, null
    for a record without any. Without `split` one task reads each range, in the order of its offsets. With `gaps`
    records that are deleted meanwhile are left out: Kafka Streams deletes those of a repartition topic once it has
    read them.
    """
    empty = next((one for one in ranges if not one.offsets), None)
    if not ranges or empty:
        raise BadInput(f"{f'{empty.topic}-{empty.partition}' if empty else 'ranges'}: nothing to read; leave it out")
    given = {f"kafka.{name}": value for name, value in kafka.items() if name not in _NOT_THEIRS}
    # An end past an open transaction, or a deleted record, is an error, never a smaller number.
    source = (
        spark.read.format("kafka")
        .options(**{**_DEFAULTS, **given, **_FIXED})
        .option("assign", places_json(ranges))
        .option("startingOffsets", offsets_json(ranges, ends=False))
        .option("endingOffsets", offsets_json(ranges, ends=True))
        .option("includeHeaders", str(headers).lower())
        .option("failOnDataLoss", str(not gaps).lower())
    )
    if split:
        source = source.option("minPartitions", sum(-(-one.offsets // _OFFSETS_PER_TASK) for one in ranges))
    return source.load()
