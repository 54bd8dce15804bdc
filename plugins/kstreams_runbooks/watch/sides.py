"""Reads two sides of an output below the ends that were noted of both, and has Spark compare them."""

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.frames.compare_rows import MOST_SECONDS, CompareQuestion
from kstreams_runbooks.frames.job import REMOTE
from kstreams_runbooks.frames.ranges import OffsetRange
from kstreams_runbooks.model.output_classes import OutputClass
from kstreams_runbooks.model.readings.outputs import IGNORED, CompareLimits, OutputComparison
from kstreams_runbooks.model.readings.sides import ComparedSides, NotedEnd, NotedEnds
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.watch.outputs import (
    CompareOutputs,
    OutputsAsked,
    job_options,
    outputs_of,
    outputs_over_connect,
    read_outputs,
)
from kstreams_runbooks.watch.spark_job import answered_by_job, submit_here
from kstreams_runbooks.watch.topic_ends import existing_topics, known_ends

JOB: Final = "compare_outputs.py"
# As the command compare-outputs has them.
LIMITS: Final = CompareLimits(20_000_000, 20_000_000_000, MOST_SECONDS)


@dataclass(frozen=True, slots=True)
class OutputPair:
    """An output of the side that serves, and the other side's."""

    first: str
    second: str
    output: OutputClass


def note_ends(reader: ClusterReader, topics: Sequence[str]) -> NotedEnds:
    """The starts and the ends of all partitions now, up to which committed records can be read.

    BadInput if a topic does not exist; Inconclusive if one is hidden, or an end is not known.
    """
    began = reader.taken().at_ms
    return NotedEnds(
        began,
        tuple(
            NotedEnd(topic.name, number, known.start, known.stable)
            for topic in existing_topics(reader, topics)
            for number, known in enumerate(known_ends(reader, topic))
        ),
    )


def read_sides(
    config: Mapping[str, Any],
    pair: OutputPair,
    noted: NotedEnds,
    compare: CompareOutputs,
    limits: CompareLimits = LIMITS,
) -> ComparedSides:
    """Both topics of a pair below their noted ends: keys and values; headers and timestamps are not compared.

    BadInput if a topic was not noted; else errors as `read_outputs`.
    """
    if absent := [topic for topic in (pair.first, pair.second) if not noted.of(topic)]:
        raise BadInput(f"topic {absent[0]}: its ends were not noted; note those of both sides together, at rest")
    asked = OutputsAsked(
        first=pair.first,
        second=pair.second,
        limits=limits,
        mode=pair.output.compare,
        ignored=tuple(reversed(IGNORED)),
        ranges=tuple(
            OffsetRange(one.topic, one.partition, one.start, one.end)
            for topic in (pair.first, pair.second)
            for one in noted.of(topic)
        ),
        masked=pair.output.mask,
        ignored_paths=pair.output.ignore,
        reads_behind=True,
    )
    reading = read_outputs(config, asked, compare)
    return ComparedSides(pair.output, noted.at_ms, time.time_ns() // 1_000_000, reading)


def sides_here(config: Mapping[str, Any]) -> CompareOutputs:
    """Compares on the Connect server in SPARK_REMOTE, or without one by a job on this machine."""
    if os.environ.get(REMOTE):
        return outputs_over_connect(config)

    def compare(question: CompareQuestion, limit_s: float) -> OutputComparison:
        with sides_options(question, limit_s) as options:
            return outputs_of(answered_by_job(JOB, config, question.ranges, submit_here, options))

    return compare


@contextmanager
def sides_options(question: CompareQuestion, limit_s: float) -> Iterator[dict[str, str]]:
    """The job's own arguments, as long as the files of some of them exist."""
    with job_options(question, limit_s) as shared:
        yield {**shared, "--ignore-paths": ",".join(question.ignored_paths)}
