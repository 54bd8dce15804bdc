"""Compares the outputs of two sides: the last value of each key, or each window once, below noted ends.

    compare_outputs.py --bootstrap B --ranges FILE --first TOPIC --second TOPIC [--mode latest|windows]
        [--ignore-paths '$.event,$.customer.seq'] [--behind FILE] [--mask value,$.customer.email] [--examples N]
        [--max-scan-records N] [--max-seconds N] [--command-config FILE] [--remote sc://HOST:PORT] [--result URI]

Give one range for each partition of both topics, from the start of its log to its noted end, also if it is empty, and
with --behind those from there to its last stable offset of now. Keys and values are compared. stdout is one JSON
document; docs/compare_outputs.md describes its `comparison`:

    {"schema_version": 1, "read_offsets": 2000, "seconds": 6.1, "comparison": {"first": [{"partition": 0, "records":
     1000}], "second": […], "keys": {"equal": 997, "changed": 3, …}, "fields": [{"field": "$.sum", "keys": 3}], …}}

Exit codes: 0 compared, with any result; 2 bad input; 3 inconclusive (a limit is reached, an offset of a range is gone,
or cannot be read yet); 4 Kafka or Spark does not answer.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from kstreams_runbooks.frames.arguments import given_ranges
from kstreams_runbooks.frames.compare_job import compared_by, comparing_parser, question_of
from kstreams_runbooks.frames.job import run_job
from kstreams_runbooks.model.readings.outputs import IGNORED, SIDE_MODES

NAME = "compare_outputs"


def main(words: Sequence[str]) -> int:
    """Run the command; returns its exit code."""
    parser = comparing_parser(NAME, __doc__)
    parser.add_argument("--mode", choices=SIDE_MODES, default="latest", help="default: %(default)s")
    parser.add_argument("--ignore-paths", default="", metavar="PATHS", help="paths of JSON values, with commas")
    given = parser.parse_args(words)
    return run_job(NAME, lambda: _compared(given), given.result)


def _compared(given: argparse.Namespace) -> Mapping[str, Any]:
    ranges = given_ranges(given)
    question = replace(
        question_of(given, ranges),
        ignored=IGNORED,
        ignored_paths=tuple(filter(None, given.ignore_paths.split(","))),
    )
    return compared_by(NAME, given, question)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
