"""Counts the unread records as a step: at once if they are few, by a submitted Spark job otherwise.

Over Connect (SPARK_REMOTE) no job is submitted. Without Connect and without the Airflow connection, or if the job
fails, a consumer counts all records, slower. docs/spark.md lists what each way needs.
"""

import os
from collections.abc import Mapping
from typing import Any

from kstreams_runbooks.decide.lag import total_lag
from kstreams_runbooks.errors import Inconclusive, RunbookError
from kstreams_runbooks.frames.job import REMOTE
from kstreams_runbooks.frames.ranges import OffsetRange
from kstreams_runbooks.model.readings.lag import MOST_AT_ONCE, unread_ranges
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing
from kstreams_runbooks.steps.run.ending import reported
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.run.spark_job import SparkJob
from kstreams_runbooks.watch.drain.counter import Counter

_Ranges = dict[tuple[str, int], tuple[int, int]]


def count_unread(**settings: Any) -> "CountUnread":
    """The task that counts the unread records of the reading that `observe` took."""
    return CountUnread(task_id="count_unread", retries=0, **settings)


class CountUnread(SparkJob):
    """Counts the records that `observe` found unread, keeps the count as evidence, returns the sum; changes nothing."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(job="lag_check.py", **settings)

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
            if why := self.no_connection():
                run.say(f"{why}: create it to have Spark count large ranges")
                return None
            run.say(f"{offsets:,} offsets are more than are counted at once (limit {MOST_AT_ONCE:,}): to Spark")
            document = self.submitted(run, [OffsetRange(*place, *ends) for place, ends in ranges.items()])
            return {**document, "partitions": _rows_of(document), "counted_by": "spark-submit"}
        except RunbookError as error:
            run.say(f"a consumer counts, no Spark job: {error}")
            return None


def _rows_of(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of the job's document; Inconclusive if one is not a count."""
    rows = document.get("partitions")
    if not isinstance(rows, list) or not all(map(_is_counted, rows)):
        raise Inconclusive(
            "the answer of spark-submit has no row for each partition; look at what spark-submit printed"
        )
    return rows


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
