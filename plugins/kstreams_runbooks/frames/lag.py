"""The unread records of each partition: number, bytes, and the time of the oldest."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def lag_by_partition(records: "DataFrame") -> "DataFrame":
    """topic, partition, records, bytes (keys and values), oldest_ms (Unix ms): a row per partition that has a record.

    `records` has the columns of Spark's Kafka source. The source decides which offsets are records: with
    read_committed, markers and aborted records never arrive.
    """
    from pyspark.sql import functions as F  # noqa: N812 - the name that every Spark program gives it

    size = F.coalesce(F.octet_length("key"), F.lit(0)) + F.coalesce(F.octet_length("value"), F.lit(0))
    return (
        records.groupBy("topic", "partition")
        .agg(
            F.count(F.lit(1)).alias("records"),
            F.sum(size).alias("bytes"),
            F.min("timestamp").alias("oldest"),
        )
        .select("topic", "partition", "records", "bytes", F.unix_millis("oldest").alias("oldest_ms"))
    )
