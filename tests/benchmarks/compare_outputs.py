"""`python -m benchmarks.compare_outputs`: two sides of an output compared, beside a bare Spark count of both topics.

A broker and a Connect server of its own. `equal`: the last values of all keys are the same bytes, which one read shows.
`without_fields`: each differs in an ignored field, so a second read compares the rest. Count and comparisons alternate;
the first round warms the server up and does not count. PORT_BASE and RUN_DIR as everywhere; RECORDS for another number
in each topic, ROUNDS.
"""

import json
import os
from collections.abc import Callable
from typing import Any

from confluent_kafka import Producer
from kstreams_runbooks.frames.compare import compare_outputs
from kstreams_runbooks.frames.compare_rows import CompareQuestion
from kstreams_runbooks.frames.connect import configure
from kstreams_runbooks.frames.partitioning import tasks_for
from kstreams_runbooks.frames.ranges import OffsetRange
from kstreams_runbooks.frames.source import read_ranges
from kstreams_runbooks.model.readings.outputs import IGNORED
from lab import spark
from lab.settings import Lab
from lab.stack import Parts, stack
from world.compared import BEGAN_MS, compared

from benchmarks.compare_topics import RECORDS, ROUNDS, SCHEMA_VERSION, ranges_of, seconds, spread

_PARTITIONS = 4
_KEYS = 100_000
_CONNECT = 6
_LIMIT_S = 600.0
_EVENT = ("$.event",)


def main() -> None:
    """Print the document."""
    lab = Lab.of()
    records = int(os.environ.get("RECORDS") or RECORDS)
    spark.build_jars()
    with (
        stack(lab, Parts(deployed=None, airflow=False, built=True)),
        compared(lab.bootstrap, (_PARTITIONS, _PARTITIONS)) as equal,
        compared(lab.bootstrap, (_PARTITIONS, _PARTITIONS)) as other,
    ):
        for topic, event in ((equal.first, "a"), (equal.second, "a"), (other.first, "b")):
            fill(lab.bootstrap, topic, records, event)
        blue, green, later = (ranges_of(topic, records) for topic in (equal.first, equal.second, other.first))
        with spark.connect_server(lab.ports.base + _CONNECT, lab.logs / "connect.log") as remote:
            print(json.dumps(measured(lab.bootstrap, remote, blue, green, later)))


def fill(bootstrap: str, topic: str, records: int, event: str) -> None:
    """A hundred bytes each as JSON; each key in one partition."""
    settings = {"linger.ms": 50, "queue.buffering.max.messages": 1_000_000}
    producer = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True, **settings})
    for number in range(records):
        key = number % _KEYS
        value = b'{"v":1,"customer":"customer-%08d","count":%d,"sum":%d,"event":"%s-%08d"}' % (
            key,
            number // _KEYS,
            number,
            event.encode(),
            number,
        )
        while True:
            try:
                producer.produce(
                    topic, value, b"%08d" % key, partition=number % _PARTITIONS, timestamp=BEGAN_MS + number
                )
                break
            except BufferError:
                producer.poll(0.1)
        if number % 10_000 == 0:
            producer.poll(0)
    assert producer.flush(60) == 0


def measured(
    bootstrap: str,
    remote: str,
    blue: tuple[OffsetRange, ...],
    green: tuple[OffsetRange, ...],
    later: tuple[OffsetRange, ...],
) -> dict[str, Any]:
    """Records of both topics per second: of a bare count, and of each comparison; and its ratio to the count."""
    from pyspark.sql import SparkSession

    session: Any = SparkSession.builder.remote(remote).getOrCreate()
    settings = {"bootstrap.servers": bootstrap}
    records = sum(one.offsets for one in (*blue, *green))

    def bare() -> int:
        configure(session)
        return int(read_ranges(session, settings, (*blue, *green)).count())

    def of(second: tuple[OffsetRange, ...], ignored: tuple[str, ...]) -> Callable[[], int]:
        question = CompareQuestion(blue, second, "latest", ignored=IGNORED, ignored_paths=ignored)

        def work() -> int:
            configure(session, tasks_for(question.ranges))
            found = compare_outputs(session, settings, question, _LIMIT_S)
            assert found.keys is not None
            assert (found.keys.equal, found.keys.unlike) == (min(_KEYS, records // 2), 0), found
            return sum(found.records)

        return work

    works = {"bare_count": bare, "equal": of(green, ()), "without_fields": of(later, _EVENT)}
    rounds = int(os.environ.get("ROUNDS") or ROUNDS)
    try:
        took = [{name: seconds(work, records) for name, work in works.items()} for _ in range(rounds + 1)][1:]
    finally:
        session.stop()
    return {
        "schema_version": SCHEMA_VERSION,
        "records_of_each_topic": records // 2,
        "load_after": round(os.getloadavg()[0], 1),
        "records_per_s": {name: spread([records / one[name] for one in took], 0) for name in works},
        "throughput_ratio": {
            name: spread([one["bare_count"] / one[name] for one in took], 2) for name in ("equal", "without_fields")
        },
    }


if __name__ == "__main__":
    main()
