"""Logs where offsets and records are not the same, the run of the job beside them, and what has to come out.

For each scenario the truth is what a read_committed consumer gets from the same offsets.
"""

import json
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]
from kstreams_runbooks.model.readable import Readable
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.offsets import Place, read_ends
from kstreams_runbooks.observe.readable import count_readable
from lab import spark

_TRANSACTION_MS = 60_000
_JOB_S = 180


@dataclass
class Log:
    """One topic of one partition, with the producers that wrote to it; `committed` is where its reader stands."""

    config: dict[str, Any]
    topic: str
    committed: int = 0
    producers: list[Producer] = field(default_factory=list)

    @property
    def place(self) -> Place:
        """Topic and partition."""
        return self.topic, 0

    def write(self, records: int, **settings: Any) -> None:
        """Records outside of any transaction: with keys and without, one without a value."""
        producer = Producer({**self.config, **settings})
        for number in range(records):
            key = f"key-{number}" if number % 2 else None
            value = None if number == 1 else f"value {number} " * 20
            producer.produce(self.topic, value, key, partition=0)
        producer.flush()

    def transaction(self, records: int) -> Producer:
        """A transaction that is open, with these records."""
        producer = Producer(
            {**self.config, "transactional.id": uuid.uuid4().hex, "transaction.timeout.ms": _TRANSACTION_MS}
        )
        producer.init_transactions()
        producer.begin_transaction()
        for number in range(records):
            producer.produce(self.topic, str(number), partition=0)
        producer.flush()
        self.producers.append(producer)
        return producer


def committed_tail(log: Log) -> None:
    """Three committed records and their marker, behind the reader."""
    log.write(2)
    log.committed = 2
    log.transaction(3).commit_transaction()


def aborted_tail(log: Log) -> None:
    """Nothing to read: three aborted records and their marker."""
    log.write(2)
    log.committed = 2
    log.transaction(3).abort_transaction()


def marker_only(log: Log) -> None:
    """The records are read, the marker behind them is an offset of its own."""
    log.transaction(3).commit_transaction()
    log.committed = 3


def between_aborted(log: Log) -> None:
    """Committed records before, between and behind aborted ones."""
    log.write(3)
    log.transaction(4).abort_transaction()
    log.transaction(2).commit_transaction()
    log.transaction(1).abort_transaction()
    log.write(1)


def open_transaction(log: Log) -> None:
    """Two records that can be read, then an open transaction, then a record that waits behind it."""
    log.write(2)
    log.transaction(3)
    log.write(1)


def behind_open_transaction(log: Log) -> None:
    """Read up to the open transaction: nothing can be read, and nothing is asked for."""
    log.write(2)
    log.committed = 2
    log.transaction(3)


def read_to_the_end(log: Log) -> None:
    """Nothing is left."""
    log.write(4)
    log.committed = 4


def empty(log: Log) -> None:
    """Never written to."""


def compressed(codec: str) -> Callable[[Log], None]:
    """Ten records compressed by a codec whose library the connector's jars leave to Spark."""

    def write(log: Log) -> None:
        log.write(10, **{"compression.type": codec, "linger.ms": 50})

    write.__name__ = codec
    return write


# The records that can be read in each.
SCENARIOS: Mapping[Callable[[Log], None], int] = {
    committed_tail: 3,
    aborted_tail: 0,
    marker_only: 0,
    between_aborted: 6,
    open_transaction: 2,
    behind_open_transaction: 0,
    read_to_the_end: 0,
    empty: 0,
    **{compressed(codec): 10 for codec in ("gzip", "lz4", "snappy", "zstd")},
}


@contextmanager
def logs(bootstrap: str, scenarios: Sequence[Callable[[Log], None]]) -> Iterator[list[Log]]:
    """A topic for each scenario, as it says."""
    config: dict[str, Any] = {"bootstrap.servers": bootstrap}
    admin = AdminClient(config)
    made = [Log(config, f"lag-{scenario.__name__}-{uuid.uuid4().hex[:8]}") for scenario in scenarios]
    for future in admin.create_topics([NewTopic(one.topic, 1, 1) for one in made]).values():
        future.result()
    try:
        for scenario, one in zip(scenarios, made, strict=True):
            scenario(one)
        yield made
    finally:
        for producer in (producer for one in made for producer in one.producers):
            producer.purge()
        for future in admin.delete_topics([one.topic for one in made]).values():
            future.result()


def unread(made: Sequence[Log]) -> dict[Place, tuple[int, int]]:
    """[committed, last stable offset) of each log, as the project reads it."""
    with ClusterReader(made[0].config) as reader:
        ends = read_ends(reader.librdkafka, [one.place for one in made])
    found = {}
    for one in made:
        stable = ends[one.place].stable
        assert isinstance(stable, int), stable
        found[one.place] = (one.committed, stable)
    return found


def counted_directly(made: Sequence[Log], ranges: Mapping[Place, tuple[int, int]]) -> dict[Place, Readable]:
    """What a read_committed consumer gets."""
    return count_readable(made[0].config, ranges)


def as_ranges(ranges: Mapping[Place, tuple[int, int]]) -> list[dict[str, Any]]:
    """The ranges as the job takes them."""
    return [
        {"topic": topic, "partition": partition, "start": start, "end": end}
        for (topic, partition), (start, end) in ranges.items()
    ]


def counted(document: Mapping[str, Any]) -> dict[Place, Readable]:
    """What the job's document says, in the words of the direct count."""
    return {
        (row["topic"], row["partition"]): Readable(row["readable_records"], row["bytes"], row["oldest_unread_ms"])
        for row in document["partitions"]
    }


@dataclass(frozen=True)
class Ended:
    """How a run of the job ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """What it printed: one JSON document and nothing else."""
        found: dict[str, Any] = json.loads(self.out)
        return found


def run_job(ranges: Sequence[Mapping[str, Any]] | str, *words: str, environ: Mapping[str, str] | None = None) -> Ended:
    """The job as a person runs it, with the Python of the tests."""
    given = ranges if isinstance(ranges, str) else json.dumps(ranges)
    return run((sys.executable, str(spark.LAG_CHECK), "--ranges", given, *words), environ)


def submit_job(
    master: str, jars: str, bundle: Path, words: Sequence[str], *, python: str = sys.executable, **settings: str
) -> Ended:
    """The job as spark-submit runs it."""
    conf = {**spark.LOOPBACK, **spark.SHORT, "spark.pyspark.driver.python": python, **settings}
    options = [word for name, value in conf.items() for word in ("--conf", f"{name}={value}")]
    submit = str(spark.spark_home() / "bin" / "spark-submit")
    command = (submit, "--master", master, "--jars", jars, "--py-files", str(bundle), *options)
    return run((*command, str(spark.LAG_CHECK), *words))


def run(command: Sequence[str], environ: Mapping[str, str] | None = None) -> Ended:
    """A command to its end."""
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        timeout=_JOB_S,
        stdin=subprocess.DEVNULL,
        env={**spark.environment(), **(environ or {})},
    )
    return Ended(done.returncode, done.stdout, done.stderr)
