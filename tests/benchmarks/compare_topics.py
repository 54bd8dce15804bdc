"""`python -m benchmarks.compare_topics`: two equal topics compared in each mode, beside a bare Spark count of both.

A broker and a Connect server of its own. Count and comparisons alternate, so that a machine whose speed drifts hits all
of them; the first round warms the server up and does not count. PORT_BASE and RUN_DIR as everywhere; RECORDS for
another number in each topic, HEADERS=1 for two headers a record, ROUNDS, ONLY=record for one mode.
"""

import json
import os
import statistics
import time
from collections.abc import Callable
from typing import Any

from confluent_kafka import Producer
from kstreams_runbooks.frames.compare import compare_outputs
from kstreams_runbooks.frames.compare_rows import CompareQuestion
from kstreams_runbooks.frames.connect import configure
from kstreams_runbooks.frames.partitioning import tasks_for
from kstreams_runbooks.frames.ranges import OffsetRange
from kstreams_runbooks.frames.source import read_ranges
from kstreams_runbooks.model.readings.outputs import MODES, CompareMode
from lab import spark
from lab.settings import Lab
from lab.stack import Parts, stack
from world.compared import BEGAN_MS, compared

SCHEMA_VERSION = 1
RECORDS = 5_000_000
ROUNDS = 3
_PARTITIONS = 4
_KEYS = 100_000
_VALUE_BYTES = 92
_HEADERS = [("trace", b"0123456789abcdef"), ("source", b"orders")]
_CONNECT = 6
_LIMIT_S = 600.0


def main() -> None:
    """Print the document."""
    lab = Lab.of()
    records = int(os.environ.get("RECORDS") or RECORDS)
    spark.build_jars()
    with (
        stack(lab, Parts(deployed=None, airflow=False, built=True)),
        compared(lab.bootstrap, (_PARTITIONS, _PARTITIONS)) as topics,
    ):
        for topic in (topics.first, topics.second):
            fill(lab.bootstrap, topic, records)
        first, second = (ranges_of(topic, records) for topic in (topics.first, topics.second))
        with spark.connect_server(lab.ports.base + _CONNECT, lab.logs / "connect.log") as remote:
            print(json.dumps(measured(lab.bootstrap, remote, first, second)))


def fill(bootstrap: str, topic: str, records: int) -> None:
    """Equal records in each topic: a hundred bytes, the same number in each partition, each key in one of them."""
    settings = {"linger.ms": 50, "queue.buffering.max.messages": 1_000_000}
    # Without idempotence a retry changes the order.
    producer = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True, **settings})
    headers: Any = _HEADERS if os.environ.get("HEADERS") else None
    rest = bytes(range(_VALUE_BYTES - 8))
    for number in range(records):
        while True:
            try:
                producer.produce(
                    topic,
                    b"%08d" % number + rest,
                    b"%08d" % (number % _KEYS),
                    partition=number % _PARTITIONS,
                    timestamp=BEGAN_MS + number,
                    headers=headers,
                )
                break
            except BufferError:
                producer.poll(0.1)
        if number % 10_000 == 0:
            producer.poll(0)
    assert producer.flush(60) == 0


def ranges_of(topic: str, records: int) -> tuple[OffsetRange, ...]:
    """All that was filled in."""
    return tuple(
        OffsetRange(topic, number, 0, len(range(number, records, _PARTITIONS))) for number in range(_PARTITIONS)
    )


def measured(
    bootstrap: str, remote: str, first: tuple[OffsetRange, ...], second: tuple[OffsetRange, ...]
) -> dict[str, Any]:
    """Records of both topics per second: of a bare count, and of each mode; and its ratio to the count, per round."""
    from pyspark.sql import SparkSession

    session: Any = SparkSession.builder.remote(remote).getOrCreate()
    settings = {"bootstrap.servers": bootstrap}
    ranges = (*first, *second)
    records = sum(one.offsets for one in ranges)

    def bare() -> int:
        configure(session)
        return int(read_ranges(session, settings, ranges).count())

    def of(mode: CompareMode) -> Callable[[], int]:
        def work() -> int:
            configure(session, tasks_for(ranges))
            found = compare_outputs(session, settings, CompareQuestion(first, second, mode), _LIMIT_S)
            assert not found.examples, f"{mode}: the topics are equal, and differ in {found.examples}"
            return sum(found.records)

        return work

    works: dict[str, Callable[[], int]] = {"bare_count": bare}
    modes = [mode for mode in MODES if os.environ.get("ONLY", mode) == mode]
    works |= {mode: of(mode) for mode in modes}
    rounds = int(os.environ.get("ROUNDS") or ROUNDS)
    try:
        took = [{name: seconds(work, records) for name, work in works.items()} for _ in range(rounds + 1)][1:]
    finally:
        # A session that outlives its server is looked for by its client for ten minutes when this process ends.
        session.stop()
    return {
        "schema_version": SCHEMA_VERSION,
        "records_of_each_topic": records // 2,
        "headers": bool(os.environ.get("HEADERS")),
        "load_after": round(os.getloadavg()[0], 1),
        "records_per_s": {name: spread([records / one[name] for one in took], 0) for name in works},
        "throughput_ratio": {mode: spread([one["bare_count"] / one[mode] for one in took], 2) for mode in modes},
    }


def seconds(work: Callable[[], int], expected: int) -> float:
    """How long it took to read all that was written."""
    began = time.monotonic()
    found = work()
    assert found == expected, f"{found} records read, {expected} are there"
    return time.monotonic() - began


def spread(values: list[float], digits: int) -> dict[str, float]:
    """Median, smallest and largest of some figures."""
    return {
        "median": round(statistics.median(values), digits),
        "min": round(min(values), digits),
        "max": round(max(values), digits),
        "n": len(values),
    }


if __name__ == "__main__":
    main()
