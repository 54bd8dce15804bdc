"""Counts the records that a read_committed consumer still gets from ranges of offsets, and dates the oldest.

    lag_check.py --bootstrap B --ranges FILE [--command-config FILE] [--remote sc://HOST:PORT] [--result URI]

Offsets are not records: transaction markers, aborted records and compacted gaps have offsets too. Give the ranges
[committed, last stable offset) of the partitions that are not empty. stdout is one JSON document:

    {"schema_version": 1, "scanned_offsets": 9, "seconds": 0.7, "partitions": [{"topic": "orders", "partition": 0,
     "start": 4, "end": 13, "scanned_to": 13, "readable_records": 6, "bytes": 131, "oldest_unread_ms": 1763750000000,
     "at_least": false}]}

Past --max-scan-records the job reads a part of each range, [start, scanned_to), and its figures are `at_least`: lower
bounds of records, bytes and age. Exit codes: 0 ok, 2 bad input, 3 inconclusive (an offset of a range is gone, or
cannot be read yet), 4 Kafka or Spark does not answer.
"""

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

from kstreams_runbooks.frames.arguments import given_kafka, given_ranges, job_parser
from kstreams_runbooks.frames.counting import counted
from kstreams_runbooks.frames.failures import spoken
from kstreams_runbooks.frames.job import opened, run_job
from kstreams_runbooks.frames.ranges import MAX_SCAN_RECORDS, OffsetRange, cut
from kstreams_runbooks.model.readings.lag import Readable

NAME = "lag_check"


def main(words: Sequence[str]) -> int:
    """Run the command; returns its exit code."""
    given = _parser().parse_args(words)
    return run_job(NAME, lambda: _checked(given), given.result)


def _parser() -> argparse.ArgumentParser:
    parser = job_parser(NAME, __doc__)
    parser.add_argument("--max-scan-records", type=_count, default=MAX_SCAN_RECORDS, help="default: %(default)s")
    return parser


def _count(text: str) -> int:
    """A number of offsets, which Kafka counts in 64 bits; argparse prints the sentence and ends with 2."""
    try:
        number = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a whole number") from None
    if not 0 <= number < 1 << 63:
        raise argparse.ArgumentTypeError("is not a number of offsets; give one from 1 to 2^63 - 1")
    return number


def _checked(given: argparse.Namespace) -> Mapping[str, Any]:
    began = time.monotonic()
    ranges, kafka = given_ranges(given), given_kafka(given)
    parts = cut(ranges, given.max_scan_records)
    found = _counted(given.remote, kafka, [part for part in parts if part.offsets])
    return {
        "partitions": [
            _row(whole, part, found.get((whole.topic, whole.partition), Readable()))
            for whole, part in zip(ranges, parts, strict=True)
        ],
        "scanned_offsets": sum(part.offsets for part in parts),
        "seconds": round(time.monotonic() - began, 3),
    }


def _counted(
    remote: str | None, kafka: Mapping[str, str], ranges: Sequence[OffsetRange]
) -> dict[tuple[str, int], Readable]:
    """A row for each partition with a readable record; opens no session without a range."""
    if not ranges:
        return {}
    with spoken(kafka["bootstrap.servers"]), opened(NAME, remote) as spark:
        return counted(spark, kafka, ranges)


def _row(whole: OffsetRange, part: OffsetRange, found: Readable) -> dict[str, Any]:
    return {
        "topic": whole.topic,
        "partition": whole.partition,
        "start": whole.start,
        "end": whole.end,
        "scanned_to": part.end,
        "readable_records": found.records,
        "bytes": found.bytes,
        "oldest_unread_ms": found.oldest_ms,
        "at_least": part.end < whole.end,
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
