"""Forecasts what more partitions do to the keys of topics: which move, and the load of each partition afterwards.

    forecast_partitions.py --bootstrap B --ranges FILE --topics JSON [--max-scan-records N]
        [--command-config FILE] [--remote sc://HOST:PORT] [--result URI]

JSON is [{topic, kind, after}]: `after` is the number of partitions that the topic gets, `kind` is `input`, or the kind
of store whose changelog it is. Give one range for each partition of each topic, at most to its last stable offset, also
if it is empty. stdout is one JSON document; docs/partition_increase.md describes its `topics`:

    {"schema_version": 1, "read_offsets": 2000, "seconds": 6.1, "topics": [{"topic": "orders", "before": 4, "after": 12,
     "kept": {"keys": 347, …}, "moved": {"keys": 653, …}, …}]}

Exit codes: 0 forecast, with any result; 2 bad input; 3 inconclusive (a limit is reached, an offset of a range is gone,
or cannot be read yet); 4 Kafka or Spark does not answer.
"""

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from kstreams_runbooks.documents.json_document import json_document
from kstreams_runbooks.errors import BadInput, Inconclusive
from kstreams_runbooks.frames.arguments import given_kafka, given_ranges, job_parser, whole_topic
from kstreams_runbooks.frames.failures import spoken
from kstreams_runbooks.frames.forecast import KINDS, ForecastQuestion, forecast
from kstreams_runbooks.frames.job import opened, run_job
from kstreams_runbooks.frames.partitioning import tasks_for
from kstreams_runbooks.frames.ranges import MAX_SCAN_RECORDS, OffsetRange

NAME = "forecast_partitions"


def main(words: Sequence[str]) -> int:
    """Run the command; returns its exit code."""
    parser = job_parser(NAME, __doc__)
    parser.add_argument("--topics", required=True, metavar="JSON", help="[{topic, kind, after}]")
    parser.add_argument("--max-scan-records", type=int, default=MAX_SCAN_RECORDS, help="default: %(default)s")
    given = parser.parse_args(words)
    return run_job(NAME, lambda: _forecast(given), given.result)


def _forecast(given: argparse.Namespace) -> Mapping[str, Any]:
    began = time.monotonic()
    ranges, kafka = given_ranges(given), given_kafka(given)
    questions = _questions(given.topics, ranges)
    read = [one for question in questions for one in question.ranges]
    offsets = sum(one.offsets for one in read)
    if not offsets:
        raise BadInput("ranges: have nothing to read (expected a range that is not empty): nothing to forecast")
    if offsets > given.max_scan_records:
        raise Inconclusive(
            f"the topics have {offsets:,} offsets to read (limit {given.max_scan_records:,}): nothing was forecast; "
            "raise --max-scan-records, or give smaller ranges"
        )
    with spoken(kafka["bootstrap.servers"]), opened(NAME, given.remote, tasks_for(read)) as spark:
        topics = forecast(spark, kafka, questions)
    return {
        "read_offsets": offsets,
        "seconds": round(time.monotonic() - began, 3),
        "topics": [asdict(one) for one in topics],
    }


def _questions(text: str, ranges: Sequence[OffsetRange]) -> tuple[ForecastQuestion, ...]:
    """What is asked of each topic; BadInput for an invalid one, or none."""
    rows = json_document(text)
    if not isinstance(rows, list) or not rows:
        raise BadInput("--topics: is not an array with a topic (expected [{topic, kind, after}, …]); give one")
    found = []
    for number, row in enumerate(rows):
        if not isinstance(row, dict) or set(row) != {"topic", "kind", "after"} or row["kind"] not in KINDS:
            raise BadInput(f"--topics[{number}]: is not an object of topic, kind ({', '.join(KINDS)}) and after")
        own = tuple(whole_topic(ranges, str(row["topic"])))
        if type(row["after"]) is not int or row["after"] < len(own):
            raise BadInput(
                f"--topics[{number}]: after is {row['after']!r} (expected a number of at least {len(own)}, the "
                f"partitions that {row['topic']} has); correct it"
            )
        found.append(ForecastQuestion(row["kind"], row["after"], own))
    return tuple(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
