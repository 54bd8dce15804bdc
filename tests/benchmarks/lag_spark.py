"""`python -m benchmarks.lag_spark`: the Spark lag check beside a bare Spark count of the same range, in one run.

A broker and a Connect server of its own. The two alternate, so that a machine whose speed drifts hits both; the first
pair warms the server up and does not count. PORT_BASE and RUN_DIR as everywhere, RECORDS for another size.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from confluent_kafka import Producer
from kstreams_runbooks.frames.connect import configure
from kstreams_runbooks.frames.counting import ConnectCounter, counted
from kstreams_runbooks.frames.ranges import OffsetRange
from kstreams_runbooks.frames.source import read_ranges
from kstreams_runbooks.model.readings.lag import Readable
from lab import kafka, spark
from lab.settings import Lab
from lab.stack import Parts, stack

SCHEMA_VERSION = 1
RECORDS = 5_000_000
REPEATS = 5
_PARTITIONS = 8
_VALUE_BYTES = 92
_TOPIC, _SMALL = "unread", "a-little"
_CONNECT = 6


def main() -> None:
    """Print the document."""
    lab = Lab.of()
    records = int(os.environ.get("RECORDS") or RECORDS)
    spark.build_jars()
    with stack(lab, Parts(deployed=None, airflow=False, built=True)):
        kafka.create_topics(lab.bootstrap, (_TOPIC, _SMALL), _PARTITIONS)
        fill(lab.bootstrap, _TOPIC, records)
        fill(lab.bootstrap, _SMALL, 1_000)
        port = lab.ports.base + _CONNECT
        with spark.connect_server(port, lab.logs / "connect.log") as remote:
            print(json.dumps(measured(lab.bootstrap, remote, records)))


def fill(bootstrap: str, topic: str, records: int) -> None:
    """Records of a hundred bytes, the same number in each partition."""
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 50, "queue.buffering.max.messages": 1_000_000})
    value = os.urandom(_VALUE_BYTES)
    for number in range(records):
        while True:
            try:
                producer.produce(topic, value, b"%08d" % (number % 100_000), partition=number % _PARTITIONS)
                break
            except BufferError:
                producer.poll(0.1)
        if number % 10_000 == 0:
            producer.poll(0)
    producer.flush()


def ranges_of(topic: str, records: int) -> list[OffsetRange]:
    """All that was filled in."""
    return [OffsetRange(topic, number, 0, len(range(number, records, _PARTITIONS))) for number in range(_PARTITIONS)]


def measured(bootstrap: str, remote: str, records: int) -> dict[str, Any]:
    """Records per second of both, their ratio per repeat, and what a check of a little takes on the warm server.

    Beside it a command that asks the server for nothing: what Python and its imports take on this machine.
    """
    from pyspark.sql import SparkSession

    session: Any = SparkSession.builder.remote(remote).getOrCreate()
    configure(session)
    settings = {"bootstrap.servers": bootstrap}
    ranges = ranges_of(_TOPIC, records)

    def bare() -> int:
        return int(read_ranges(session, settings, ranges).count())

    def check() -> int:
        return _sum(counted(session, settings, ranges))

    pairs = [(seconds(bare, records), seconds(check, records)) for _ in range(REPEATS + 1)][1:]
    # A session that outlives its server is looked for by its client for ten minutes when this process ends.
    session.stop()
    opened = ConnectCounter(remote)
    little = ranges_of(_SMALL, 1_000)
    kept_open = [seconds(lambda: _sum(opened.count(settings, little, 600)), 1_000) for _ in range(REPEATS + 1)][1:]
    opened.close()
    small = json.dumps([asdict(one) for one in ranges_of(_SMALL, 1_000)])
    command = (sys.executable, str(spark.LAG_CHECK), "--ranges", small, "--bootstrap", bootstrap, "--remote", remote)
    code = (
        f"from pyspark.sql import SparkSession as S; print(S.builder.remote({remote!r}).getOrCreate().range(3).count())"
    )
    trivial = [took((sys.executable, "-c", code))[1] for _ in range(REPEATS + 1)][1:]
    warm = [whole(command) for _ in range(REPEATS + 1)][1:]
    return {
        "schema_version": SCHEMA_VERSION,
        "records": records,
        "bare_count_records_per_s": _spread([records / one for one, _ in pairs], 0),
        "lag_check_records_per_s": _spread([records / one for _, one in pairs], 0),
        "throughput_ratio": _spread([count / check for count, check in pairs], 2),
        "trivial_command_over_connect_s": _spread(trivial, 2),
        "warm_check_in_an_open_session_s": _spread(kept_open, 2),
        "warm_check_over_connect_s": _spread([inside for inside, _ in warm], 2),
        "warm_command_over_connect_s": _spread([command for _, command in warm], 2),
    }


def _sum(found: Mapping[tuple[str, int], Readable]) -> int:
    return sum(one.records for one in found.values())


def seconds(work: Callable[[], int], expected: int) -> float:
    """How long it took to count what is there."""
    began = time.monotonic()
    found = work()
    assert found == expected, f"{found} records counted, {expected} are there"
    return time.monotonic() - began


def whole(command: tuple[str, ...]) -> tuple[float, float]:
    """Seconds that the check says it took, and those of the whole command with Python's start and imports."""
    out, took_s = took(command)
    return float(json.loads(out)["seconds"]), took_s


def took(command: tuple[str, ...]) -> tuple[str, float]:
    """What a command prints, and its seconds."""
    began = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=spark.environment())
    return done.stdout, time.monotonic() - began


def _spread(values: list[float], digits: int) -> dict[str, float]:
    return {
        "median": round(statistics.median(values), digits),
        "min": round(min(values), digits),
        "max": round(max(values), digits),
        "n": len(values),
    }


if __name__ == "__main__":
    main()
