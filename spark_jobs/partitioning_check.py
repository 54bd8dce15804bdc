"""Counts the keys of an input topic that are in another partition than their state.

    partitioning_check.py --bootstrap B --ranges FILE --input TOPIC --state TOPIC --kind KIND
        [--command-config FILE] [--remote sc://HOST:PORT] [--result URI]

Give one range for each partition of both topics, [log start, last stable offset), also if it is empty; the state topic
is a changelog or a repartition topic. Keys are compared as bytes: KIND decides which bytes of a changelog's key are the
record's key. stdout is one JSON document; docs/partitioning.md describes its `keys`:

    {"schema_version": 1, "read_offsets": 2000, "seconds": 6.1, "keys": {"same": 276, "elsewhere": 724, …,
     "examples": {"elsewhere": [{"key": "customer-1", "input": [3], "state": [1]}]}}}

Exit codes: 0 compared, with any result; 2 bad input; 3 inconclusive (an offset of a range is gone, or cannot be read
yet); 4 Kafka or Spark does not answer.
"""

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.frames.arguments import given_kafka, given_ranges, job_parser, whole_topic
from kstreams_runbooks.frames.failures import spoken
from kstreams_runbooks.frames.job import opened, run_job
from kstreams_runbooks.frames.partitioning import compared, tasks_for
from kstreams_runbooks.frames.ranges import OffsetRange
from kstreams_runbooks.model.readings.partitioning import KEY_SUFFIX

NAME = "partitioning_check"


def main(words: Sequence[str]) -> int:
    """Run the command; returns its exit code."""
    parser = job_parser(NAME, __doc__)
    parser.add_argument("--input", required=True, metavar="TOPIC", help="the topic in front of the repartition")
    parser.add_argument("--state", required=True, metavar="TOPIC", help="its changelog, or the repartition topic")
    parser.add_argument("--kind", required=True, choices=sorted(KEY_SUFFIX), help="how the keys of the state begin")
    given = parser.parse_args(words)
    return run_job(NAME, lambda: _checked(given), given.result)


def _checked(given: argparse.Namespace) -> Mapping[str, Any]:
    began = time.monotonic()
    ranges, kafka = given_ranges(given), given_kafka(given)
    read, kept = (_of(ranges, topic) for topic in (given.input, given.state))
    if len(read) != len(kept):
        raise BadInput(
            f"ranges: {given.input} has {len(read)} partitions and {given.state} {len(kept)} (expected the same "
            "number): their keys cannot be compared; bring the partition counts together first"
        )
    with spoken(kafka["bootstrap.servers"]), opened(NAME, given.remote, tasks_for(ranges)) as spark:
        keys = compared(spark, kafka, read, kept, given.kind)
    return {
        "read_offsets": sum(one.offsets for one in (*read, *kept)),
        "seconds": round(time.monotonic() - began, 3),
        "keys": asdict(keys),
    }


def _of(ranges: Sequence[OffsetRange], topic: str) -> list[OffsetRange]:
    """The ranges of a topic, by partition; BadInput if they are not all of its partitions, or all are empty."""
    own = whole_topic(ranges, topic)
    if not any(one.offsets for one in own):
        raise BadInput(f"ranges: {topic} has nothing to read (expected a range that is not empty): nothing to compare")
    return own


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
