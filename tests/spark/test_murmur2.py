"""Kafka's default partitioner in Spark next to kafka-python's, over keys of every length."""

import random

from kstreams_runbooks.demo.traffic.partitioner import partition_of
from kstreams_runbooks.frames.connect import connect_mode, connected, disconnect
from kstreams_runbooks.frames.murmur2 import default_partition


def test_spark_puts_each_key_where_kafka_puts_it(remote: str) -> None:
    """Each remainder of four, bytes above 127, no byte at all, and no key."""
    chance = random.Random(7)
    keys = [*(chance.randbytes(length) for length in range(41) for _ in range(20)), b"", b"\xff" * 7]
    with connect_mode():
        session = connected(remote)
        try:
            rows = session.createDataFrame([(bytearray(key),) for key in keys] + [(None,)], "key binary")
            found = rows.select("key", default_partition(rows.key, 7).alias("partition")).collect()
        finally:
            disconnect(session, remote)
    assert len(found) == len(keys) + 1
    for row in found:
        assert row.partition == (None if row.key is None else partition_of(bytes(row.key), 7)), row.key
