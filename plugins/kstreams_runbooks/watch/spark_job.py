"""A job of `spark_jobs` with the files that it needs, for Airflow's operator and for a terminal."""

import json
import os
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any, Final

from kstreams_runbooks import CHECKOUT
from kstreams_runbooks.documents.json_document import json_document
from kstreams_runbooks.documents.text import read_text
from kstreams_runbooks.errors import BadInput, Inconclusive, RunbookError, Unreachable
from kstreams_runbooks.fleet.deployers.environment import is_ours
from kstreams_runbooks.frames.bundle import write_bundle
from kstreams_runbooks.frames.ranges import LARGEST_RANGES, OffsetRange
from kstreams_runbooks.properties import dump
from kstreams_runbooks.watch.drain.java_client import java_settings
from kstreams_runbooks.wording import sentence

_JOBS = "KSTREAMS_RUNBOOKS_SPARK_JOBS"
_MOST_VALUES = 2_000_000
# Of the lines of a job without an answer, in bytes.
_MOST_SAID = 100_000
_MEANING: Mapping[int, type[RunbookError]] = {2: BadInput, 3: Inconclusive, 4: Unreachable}
# Without a web page, and without a port that other machines reach.
_ALONE: Final = {
    "spark.ui.enabled": "false",
    "spark.log.level": "ERROR",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}


@dataclass(frozen=True, slots=True)
class Submission:
    """What `spark-submit` gets: the job's file, its arguments, the zip, the jars, and the environment to add.

    The job leaves its answer in `result`.

    The environment hides each connection, key and login of this process, which the job does not need.
    """

    application: str
    words: tuple[str, ...]
    py_files: str
    jars: str
    environment: dict[str, str]
    result: Path


def job_file(name: str) -> Path:
    """The file of a job, in the folder next to the plugins or in KSTREAMS_RUNBOOKS_SPARK_JOBS."""
    return Path(os.environ.get(_JOBS) or CHECKOUT / "spark_jobs") / name


def answered_by_job(
    name: str,
    kafka: Mapping[str, Any],
    ranges: Sequence[OffsetRange],
    submit: Callable[[Submission], bool],
    options: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The document of the job `name`; `kafka` are librdkafka's settings, `options` its own arguments.

    `submit` runs it and returns whether Spark reported success. An error in the document is raised as such;
    Inconclusive without an answer, BadInput without the connector's jars.
    """
    with _submission(name, kafka, ranges, options or {}) as (made, result):
        if not submit(made) and not result.is_file():
            raise Inconclusive("spark-submit ended without an answer; look at what it printed")
        document = _answer(result)
    if "error" in document:
        raise _MEANING.get(document.get("exit_code", 3), Inconclusive)(sentence(document["error"]))
    return document


def submit_here(made: Submission) -> bool:
    """Run a job on all cores of this machine; Spark's own lines go to stderr if the job left no answer.

    Its warnings would be above our sentence otherwise.
    """
    conf = [word for name, value in _ALONE.items() for word in ("--conf", f"{name}={value}")]
    options = ["--master", "local[*]", "--py-files", made.py_files, "--jars", made.jars, *conf]
    with TemporaryFile() as said:
        done = subprocess.run(
            [str(Path(sysconfig.get_path("scripts")) / "spark-submit"), *options, made.application, *made.words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=said,
            env=os.environ | made.environment | {"PYSPARK_PYTHON": sys.executable},
            check=False,
        )
        if not made.result.is_file():
            said.seek(max(0, said.tell() - _MOST_SAID))
            sys.stderr.write(said.read().decode("utf-8", "replace"))
    return done.returncode == 0


@contextmanager
def _submission(
    name: str, kafka: Mapping[str, Any], ranges: Sequence[OffsetRange], options: Mapping[str, str]
) -> Iterator[tuple[Submission, Path]]:
    with TemporaryDirectory(prefix=f"{Path(name).stem}-") as made:
        directory = Path(made)
        given, settings, result = (directory / file for file in ("ranges.json", "client.properties", "result.json"))
        given.write_text(json.dumps([asdict(one) for one in ranges]), encoding="utf-8")
        settings.touch(mode=0o600)
        settings.write_text(dump(java_settings(kafka)), encoding="latin-1")
        words = {"--ranges": given, "--command-config": settings, "--result": result, **options}
        yield (
            Submission(
                str(job_file(name)),
                tuple(str(word) for option in words.items() for word in option),
                str(write_bundle(directory / "frames.zip")),
                _jars(),
                # spark-submit is where this Python's own commands are.
                {name: "" for name in os.environ if is_ours(name)}
                | {"PATH": f"{sysconfig.get_path('scripts')}:{os.environ.get('PATH', '')}"},
                result,
            ),
            result,
        )


def _jars() -> str:
    folder = job_file("target") / "libs"
    found = sorted(str(path) for path in folder.glob("*.jar"))
    if not found:
        raise BadInput(f"no jars in {folder}; run make build there, or set {_JOBS}")
    return ",".join(found)


def _answer(result: Path) -> dict[str, Any]:
    try:
        document = json_document(read_text(result, limit=LARGEST_RANGES), largest=LARGEST_RANGES, nodes=_MOST_VALUES)
    except BadInput as error:
        raise Inconclusive(f"the answer of spark-submit {error}") from None
    if not isinstance(document, dict) or not isinstance(document.get("error", ""), str):
        raise Inconclusive("the answer of spark-submit is not an object of a job; look at what spark-submit printed")
    return document
