"""`python -m benchmarks.forecast_partitions`: which keys move with more partitions, beside a bare Spark count.

A broker and a Connect server of its own. Count and forecast alternate, so that a machine whose speed drifts hits both;
the first round warms the server up and does not count. The keys that move are compared with murmur2 in Python.
PORT_BASE and RUN_DIR as everywhere; RECORDS, KEYS for another number of them, ROUNDS.
"""

import json
import os
from collections.abc import Callable
from typing import Any

from confluent_kafka import Producer
from kstreams_runbooks.demo.traffic.partitioner import key_hash
from kstreams_runbooks.frames.connect import configure
from kstreams_runbooks.frames.forecast import ForecastQuestion, forecast
from kstreams_runbooks.frames.partitioning import tasks_for
from kstreams_runbooks.frames.ranges import OffsetRange
from kstreams_runbooks.frames.source import read_ranges
from lab import spark
from lab.settings import Lab
from lab.stack import Parts, stack
from world.compared import compared

from benchmarks.compare_topics import seconds, spread

SCHEMA_VERSION = 1
RECORDS = 5_000_000
KEYS = 100_000
ROUNDS = 3
_BEFORE, _AFTER = 4, 12
_VALUE_BYTES = 92
_CONNECT = 6


def main() -> None:
    """Print the document."""
    lab = Lab.of()
    records, keys = (int(os.environ.get(name) or most) for name, most in (("RECORDS", RECORDS), ("KEYS", KEYS)))
    spark.build_jars()
    with (
        stack(lab, Parts(deployed=None, airflow=False, built=True)),
        compared(lab.bootstrap, (_BEFORE, _BEFORE)) as topics,
    ):
        ranges = fill(lab.bootstrap, topics.first, records, keys)
        with spark.connect_server(lab.ports.base + _CONNECT, lab.logs / "connect.log") as remote:
            print(json.dumps(measured(lab.bootstrap, remote, ranges, keys)))


def _key(number: int) -> bytes:
    return b"%08d" % number


def fill(bootstrap: str, topic: str, records: int, keys: int) -> tuple[OffsetRange, ...]:
    """Records of a hundred bytes, each where murmur2 puts its key; the ranges of all of them."""
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 50, "queue.buffering.max.messages": 1_000_000})
    homes = [key_hash(_key(number)) % _BEFORE for number in range(keys)]
    ends = [0] * _BEFORE
    value = bytes(_VALUE_BYTES)
    for number in range(records):
        partition = homes[number % keys]
        ends[partition] += 1
        while True:
            try:
                producer.produce(topic, value, _key(number % keys), partition=partition)
                break
            except BufferError:
                producer.poll(0.1)
        if number % 10_000 == 0:
            producer.poll(0)
    assert producer.flush(60) == 0
    return tuple(OffsetRange(topic, partition, 0, end) for partition, end in enumerate(ends))


def measured(bootstrap: str, remote: str, ranges: tuple[OffsetRange, ...], keys: int) -> dict[str, Any]:
    """Records per second of a bare count and of the forecast, and its ratio to the count, per round."""
    from pyspark.sql import SparkSession

    session: Any = SparkSession.builder.remote(remote).getOrCreate()
    settings = {"bootstrap.servers": bootstrap}
    records = sum(one.offsets for one in ranges)
    moved = sum(key_hash(_key(number)) % _BEFORE != key_hash(_key(number)) % _AFTER for number in range(keys))

    def bare() -> int:
        configure(session)
        return int(read_ranges(session, settings, ranges).count())

    def ahead() -> int:
        configure(session, tasks_for(ranges))
        [found] = forecast(session, settings, [ForecastQuestion("input", _AFTER, ranges)])
        assert (found.moved.keys, found.misplaced) == (moved, 0), "the forecast is not that of murmur2"
        return found.keyed.records

    works: dict[str, Callable[[], int]] = {"bare_count": bare, "forecast": ahead}
    rounds = int(os.environ.get("ROUNDS") or ROUNDS)
    try:
        took = [{name: seconds(work, records) for name, work in works.items()} for _ in range(rounds + 1)][1:]
    finally:
        # A session that outlives its server is looked for by its client for ten minutes when this process ends.
        session.stop()
    return {
        "schema_version": SCHEMA_VERSION,
        "records": records,
        "keys": keys,
        "load_after": round(os.getloadavg()[0], 1),
        "records_per_s": {name: spread([records / one[name] for one in took], 0) for name in works},
        "throughput_ratio": spread([one["bare_count"] / one["forecast"] for one in took], 2),
    }


if __name__ == "__main__":
    main()
