"""What the jobs that compare two topics have in common: options, the question, and the document."""

import argparse
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from kstreams_runbooks.errors import BadInput, Inconclusive
from kstreams_runbooks.frames.arguments import given_kafka, job_parser, ranges_of, whole_topic
from kstreams_runbooks.frames.compare import compare_outputs
from kstreams_runbooks.frames.compare_rows import EXAMPLES, MOST_SECONDS, CompareQuestion
from kstreams_runbooks.frames.failures import spoken
from kstreams_runbooks.frames.job import opened
from kstreams_runbooks.frames.partitioning import tasks_for
from kstreams_runbooks.frames.ranges import MAX_SCAN_RECORDS, OffsetRange


def comparing_parser(name: str, doc: str | None) -> argparse.ArgumentParser:
    """A parser with the options of both jobs; each adds its modes."""
    parser = job_parser(name, doc)
    parser.add_argument("--first", required=True, metavar="TOPIC", help="the topic that the second should equal")
    parser.add_argument("--second", required=True, metavar="TOPIC", help="the topic to compare with it")
    parser.add_argument("--behind", metavar="JSON", help="ranges behind the ends, as --ranges")
    parser.add_argument("--mask", default="", metavar="PATHS", help="what examples leave out, with commas")
    parser.add_argument("--examples", type=int, default=EXAMPLES, help="the most of them; default: %(default)s")
    parser.add_argument("--max-scan-records", type=int, default=MAX_SCAN_RECORDS, help="default: %(default)s")
    parser.add_argument("--max-seconds", type=float, default=MOST_SECONDS, help="default: %(default)s")
    return parser


def question_of(given: argparse.Namespace, ranges: Sequence[OffsetRange]) -> CompareQuestion:
    """The question of these options; BadInput if both topics are one, or a range is missing."""
    if given.first == given.second:
        raise BadInput(f"--second {given.second}: is the first topic too (expected two topics); give the other one")
    first, second = (tuple(whole_topic(ranges, topic)) for topic in (given.first, given.second))
    masked = tuple(filter(None, given.mask.split(",")))
    behind = () if given.behind is None else ranges_of("--behind", given.behind)
    examples = max(0, given.examples)
    return CompareQuestion(first, second, given.mode, masked=masked, examples=examples, behind=behind)


def compared_by(name: str, given: argparse.Namespace, question: CompareQuestion) -> Mapping[str, Any]:
    """The document of the comparison; Inconclusive above the limit of offsets, BadInput without any."""
    began = time.monotonic()
    kafka = given_kafka(given)
    offsets = sum(one.offsets for one in question.ranges)
    if not offsets:
        raise BadInput("ranges: have nothing to read (expected a range that is not empty): nothing to compare")
    if offsets > given.max_scan_records:
        raise Inconclusive(
            f"{given.first} and {given.second} have {offsets:,} offsets to compare (limit {given.max_scan_records:,}): "
            "nothing was compared; raise --max-scan-records, or give smaller ranges"
        )
    with spoken(kafka["bootstrap.servers"]), opened(name, given.remote, tasks_for(question.ranges)) as spark:
        comparison = compare_outputs(spark, kafka, question, given.max_seconds)
    return {
        "read_offsets": offsets,
        "seconds": round(time.monotonic() - began, 3),
        "comparison": asdict(comparison),
    }
