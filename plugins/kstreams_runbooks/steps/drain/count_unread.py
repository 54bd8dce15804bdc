"""Counts the unread records as a step: at once if they are few, by a submitted Spark job otherwise.

Over Connect (SPARK_REMOTE) no job is submitted. Without Connect and without the Airflow connection, or if the job
fails, a consumer counts all records, slower. docs/spark.md lists what each way needs.
"""

import json
import os
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.providers.common.compat.sdk import AirflowException
from airflow.sdk.bases.hook import BaseHook
from airflow.sdk.exceptions import AirflowNotFoundException, AirflowRuntimeError

from kstreams_runbooks import CHECKOUT
from kstreams_runbooks.decide.lag import total_lag
from kstreams_runbooks.documents.json_document import json_document
from kstreams_runbooks.documents.text import read_text
from kstreams_runbooks.errors import BadInput, Inconclusive, RunbookError, Unreachable
from kstreams_runbooks.fleet.deployers.environment import is_ours
from kstreams_runbooks.frames.bundle import write_bundle
from kstreams_runbooks.frames.job import REMOTE
from kstreams_runbooks.frames.ranges import LARGEST_RANGES
from kstreams_runbooks.model.readings.lag import MOST_AT_ONCE, unread_ranges
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing
from kstreams_runbooks.properties import dump
from kstreams_runbooks.steps.run.ending import reported
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.watch.drain.counter import Counter
from kstreams_runbooks.watch.drain.java_client import java_settings
from kstreams_runbooks.wording import sentence

_JOBS = "KSTREAMS_RUNBOOKS_SPARK_JOBS"
_MOST_VALUES = 2_000_000
_MEANING: Mapping[int, type[RunbookError]] = {2: BadInput, 3: Inconclusive, 4: Unreachable}

_Ranges = dict[tuple[str, int], tuple[int, int]]


def count_unread(**settings: Any) -> "CountUnread":
    """The task that counts the unread records of the reading that `observe` took."""
    return CountUnread(task_id="count_unread", retries=0, **settings)


class CountUnread(SparkSubmitOperator):
    """Counts the records that `observe` found unread, keeps the count as evidence, returns the sum; changes nothing.

    `conn_id` is an Airflow connection of type spark, deploy mode client: ranges and result are files of this worker.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(application=str(_jobs() / "lag_check.py"), **settings)

    def execute(self, context: Mapping[str, Any]) -> dict[str, Any] | None:  # type: ignore[override] # the operator gives nothing, this one its figure
        """Count, by the way that fits the number of offsets; None, with a line in the log, if that is not possible.

        The figure is for the waiting operator: later steps read for themselves, and no certificate depends on it.
        """
        with reported(context, "counts the records that are left to read") as run:
            try:
                return self._count(run)
            except RunbookError as error:
                run.say(f"not counted: {error}")
                return None

    def _count(self, run: Run) -> dict[str, Any]:
        ranges = _unread(run.observed())
        offsets = sum(end - start for start, end in ranges.values())
        document = self._by_job(run, ranges, offsets) or _counted(run, ranges)
        run.keep("reading", "readable_records", document)
        found = {
            "records": sum(row["readable_records"] for row in document["partitions"]),
            "at_least": any(row["at_least"] for row in document["partitions"]),
            "counted_by": document["counted_by"],
        }
        least = "at least " if found["at_least"] else ""
        run.say(f"{least}{found['records']:,} records to read of {offsets:,} offsets")
        return found

    def _by_job(self, run: Run, ranges: _Ranges, offsets: int) -> dict[str, Any] | None:
        """The count of a submitted job; None, with a line in the log, if no job is needed or possible, or if it fails.

        A problem for any reader, such as an offset that is gone, also stops the consumer.
        """
        if offsets <= MOST_AT_ONCE or os.environ.get(REMOTE):
            return None
        try:
            if not self._is_connected(run):
                return None
            run.say(f"{offsets:,} offsets are more than are counted at once (limit {MOST_AT_ONCE:,}): to Spark")
            return self._submitted(run.kafka, ranges)
        except RunbookError as error:
            run.say(f"a consumer counts, no Spark job: {error}")
            return None

    def _is_connected(self, run: Run) -> bool:
        """Whether there is a connection to submit to; without one the hook would try YARN."""
        try:
            connection = BaseHook.get_connection(self._conn_id)
        except (AirflowNotFoundException, AirflowRuntimeError):
            run.say(f"no Airflow connection {self._conn_id} (type spark): create it to have Spark count large ranges")
            return False
        mode = connection.extra_dejson.get("deploy-mode") or "client"
        if mode != "client":
            raise BadInput(
                f"Airflow connection {self._conn_id}: deploy-mode {mode} (expected client): ranges and result are "
                "files of this worker; correct it, or set another conn_id"
            )
        return True

    def _submitted(self, kafka: Mapping[str, Any], ranges: _Ranges) -> dict[str, Any]:
        with TemporaryDirectory(prefix="lag-check-") as made:
            directory = Path(made)
            given, settings, result = (directory / name for name in ("ranges.json", "client.properties", "result.json"))
            given.write_text(json.dumps(_rows(ranges)), encoding="utf-8")
            settings.touch(mode=0o600)
            settings.write_text(dump(java_settings(kafka)), encoding="latin-1")
            words = {"--ranges": given, "--command-config": settings, "--result": result}
            self.application_args = [str(word) for option in words.items() for word in option]
            self.py_files = str(write_bundle(directory / "frames.zip"))
            self.jars = _jars()
            # Airflow's hook passes the whole environment: the job needs no connection, key or login of this worker.
            blank = {name: "" for name in os.environ if is_ours(name)}
            # spark-submit is where this Python's own commands are.
            self.env_vars = blank | {"PATH": f"{sysconfig.get_path('scripts')}:{os.environ.get('PATH', '')}"}
            self._hook = self._get_hook()
            try:
                self._hook.submit(self.application)
            except AirflowException:
                if not result.is_file():
                    raise Inconclusive("spark-submit ended without an answer; its lines above show why") from None
            document = _answer(result)
        if "error" in document:
            raise _MEANING.get(document.get("exit_code", 3), Inconclusive)(sentence(document["error"]))
        return {**document, "counted_by": "spark-submit"}


def _answer(result: Path) -> dict[str, Any]:
    """The job's result: an error, or a row for each range; Inconclusive for anything else."""
    try:
        document = json_document(read_text(result, limit=LARGEST_RANGES), largest=LARGEST_RANGES, nodes=_MOST_VALUES)
    except BadInput as error:
        raise Inconclusive(f"the answer of spark-submit {error}") from None
    rows = document.get("partitions") if isinstance(document, dict) else None
    if isinstance(document, dict) and isinstance(document.get("error"), str):
        return document
    if not isinstance(rows, list) or not all(map(_is_counted, rows)):
        raise Inconclusive("the answer of spark-submit has no row for each partition; look at the lines above")
    return {**document, "partitions": rows}


def _is_counted(row: Any) -> bool:
    return isinstance(row, dict) and type(row.get("readable_records")) is int and type(row.get("at_least")) is bool


def _unread(reading: ApplicationReading) -> _Ranges:
    """The unread range of each partition, [start, end); Inconclusive if one of them is not known."""
    if isinstance(reading.partitions, Missing):
        raise Inconclusive(reading.partitions.missing)
    if unknown := total_lag(reading.partitions).unknown:
        raise Inconclusive(unknown[0])
    return unread_ranges(reading.partitions)


def _counted(run: Run, ranges: _Ranges) -> dict[str, Any]:
    with Counter(run.kafka, say=run.say) as count:
        counted = count(ranges)
    return {
        "schema_version": 1,
        "counted_by": counted.by,
        "partitions": [
            {
                **row,
                "readable_records": readable.records,
                "oldest_unread_ms": readable.oldest_ms,
                "at_least": readable.at_least,
            }
            for row, readable in zip(_rows(ranges), counted.readable.values(), strict=True)
        ],
    }


def _rows(ranges: _Ranges) -> list[dict[str, Any]]:
    return [
        {"topic": topic, "partition": partition, "start": start, "end": end}
        for (topic, partition), (start, end) in ranges.items()
    ]


def _jobs() -> Path:
    """The folder of the Spark jobs: next to the plugins, or from KSTREAMS_RUNBOOKS_SPARK_JOBS."""
    return Path(os.environ.get(_JOBS) or CHECKOUT / "spark_jobs")


def _jars() -> str:
    found = sorted(str(path) for path in (_jobs() / "target" / "libs").glob("*.jar"))
    if not found:
        raise BadInput(f"no jars in {_jobs() / 'target' / 'libs'}; run make build there, or set {_JOBS}")
    return ",".join(found)
