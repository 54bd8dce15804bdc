"""Compares two topics, or ranges of their offsets: record by record, by key, or the last value of each key.

    compare_topics.py --bootstrap B --ranges FILE --first TOPIC --second TOPIC [--mode record|by-key|latest]
        [--ignore headers,timestamp] [--behind FILE] [--deleted FILE] [--keys topic|partition]
        [--mask value,$.customer.email] [--examples N] [--max-scan-records N] [--max-seconds N]
        [--command-config FILE] [--remote sc://HOST:PORT] [--result URI]

Give one range for each partition of both topics, at most to its last stable offset, also if it is empty; with --behind
those from there to its last stable offset of now, and with --deleted those in front that no longer exist. stdout is one
JSON document; docs/compare_topics.md describes its `comparison`:

    {"schema_version": 1, "read_offsets": 2000, "seconds": 6.1, "comparison": {"first": [{"partition": 0, "records":
     1000}], "second": […], "partitions": [], "keys": null, "examples": []}}

Exit codes: 0 compared, with any result; 2 bad input; 3 inconclusive (a limit is reached, an offset of a range is gone,
or cannot be read yet); 4 Kafka or Spark does not answer.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.frames.arguments import given_ranges, ranges_of
from kstreams_runbooks.frames.compare_job import compared_by, comparing_parser, question_of
from kstreams_runbooks.frames.job import run_job
from kstreams_runbooks.model.readings.outputs import IGNORED, MODES

NAME = "compare_topics"


def main(words: Sequence[str]) -> int:
    """Run the command; returns its exit code."""
    parser = comparing_parser(NAME, __doc__)
    parser.add_argument("--mode", choices=MODES, default="record", help="default: %(default)s")
    parser.add_argument("--ignore", default="", metavar="PARTS", help="headers, timestamp or both, with commas")
    parser.add_argument("--deleted", metavar="JSON", help="ranges in front that no longer exist, as --ranges")
    parser.add_argument("--keys", choices=("topic", "partition"), default="topic", help="where a key counts once")
    given = parser.parse_args(words)
    return run_job(NAME, lambda: _compared(given), given.result)


def _compared(given: argparse.Namespace) -> Mapping[str, Any]:
    question = question_of(given, given_ranges(given))
    ignored = tuple(filter(None, given.ignore.split(",")))
    if unknown := [part for part in ignored if part not in IGNORED]:
        raise BadInput(f"--ignore {unknown[0]}: is not a part that can be left out ({' or '.join(IGNORED)}); give one")
    deleted = () if given.deleted is None else ranges_of("--deleted", given.deleted)
    by_partition = given.keys == "partition"
    question = replace(question, ignored=ignored, deleted=deleted, keys_by_partition=by_partition)
    return compared_by(NAME, given, question)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
