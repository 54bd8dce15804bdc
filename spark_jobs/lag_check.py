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
from pathlib import Path
from typing import Any

from kstreams_runbooks.documents.text import LARGEST_BYTES, read_text
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.frames.counting import counted
from kstreams_runbooks.frames.failures import spoken
from kstreams_runbooks.frames.job import opened, run_job
from kstreams_runbooks.frames.ranges import LARGEST_RANGES, MAX_SCAN_RECORDS, OffsetRange, cut, parse_ranges
from kstreams_runbooks.model.readings.lag import Readable
from kstreams_runbooks.properties import parse

NAME = "lag_check"


def main(words: Sequence[str]) -> int:
    """Run the command; returns its exit code."""
    given = _parser().parse_args(words)
    return run_job(NAME, lambda: _checked(given), given.result)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=NAME, description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--ranges", required=True, help="[{topic, partition, start, end}] as JSON, or a file of it")
    parser.add_argument("--bootstrap", help="Kafka's bootstrap servers, where the command config has none")
    parser.add_argument("--command-config", metavar="FILE", help="properties of a Java client; secrets belong here")
    parser.add_argument("--result", metavar="URI", help="a path or file: that also gets the document")
    parser.add_argument("--max-scan-records", type=_count, default=MAX_SCAN_RECORDS, help="default: %(default)s")
    parser.add_argument("--remote", help="Spark Connect, sc://host:port; default: SPARK_REMOTE, else submitted")
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
    ranges = parse_ranges(
        given.ranges if given.ranges.lstrip().startswith("[") else _text("--ranges", given.ranges, LARGEST_RANGES)
    )
    kafka = {} if given.command_config is None else parse(_text("--command-config", given.command_config))
    if given.bootstrap:
        kafka["bootstrap.servers"] = given.bootstrap
    if not kafka.get("bootstrap.servers"):
        raise BadInput("no bootstrap.servers; give --bootstrap, or set it in the file of --command-config")
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


def _text(option: str, path: str, limit: int = LARGEST_BYTES) -> str:
    try:
        return read_text(Path(path), limit=limit)
    except BadInput as error:
        raise BadInput(f"{option} {path}: cannot be read: it {error}") from None


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
