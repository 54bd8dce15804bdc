"""Runs of the lag check on logs of `eos`, and what their documents say."""

import importlib.util
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from kstreams_runbooks.model.readings.lag import Readable
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.kafka.offsets import Place, read_ends
from kstreams_runbooks.observe.lag.count import count_readable
from lab import spark
from world.eos import Log

_JOB_S = 180


def unread(made: Sequence[Log]) -> dict[Place, tuple[int, int]]:
    """[committed, last stable offset) of each log, as the project reads it."""
    with ClusterReader(made[0].config) as reader:
        ends = read_ends(reader.librdkafka, [one.place for one in made])
    found = {}
    for one in made:
        stable = ends[one.place].stable
        assert isinstance(stable, int), stable
        found[one.place] = (one.start, stable)
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


def lag_check() -> ModuleType:
    """The job's module: a file, and no package's."""
    spec = importlib.util.spec_from_file_location("lag_check", spark.LAG_CHECK)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def check_here(capsys: pytest.CaptureFixture[str], ranges: Sequence[Mapping[str, Any]] | str, *words: str) -> Ended:
    """The job in this process, which has imported Spark's client already."""
    given = ranges if isinstance(ranges, str) else json.dumps(ranges)
    capsys.readouterr()
    code = lag_check().main(["--ranges", given, *words])
    said = capsys.readouterr()
    return Ended(code, said.out, said.err)


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
