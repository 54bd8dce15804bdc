"""Reads two topics, up to ends that are fixed first, and has Spark compare their records."""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from kstreams_runbooks.decide.outputs.equal import can_be_compared
from kstreams_runbooks.errors import BadInput, Inconclusive
from kstreams_runbooks.frames.compare import compare_outputs
from kstreams_runbooks.frames.compare_examples import Masks
from kstreams_runbooks.frames.compare_rows import EXAMPLES, CompareQuestion
from kstreams_runbooks.frames.failures import spoken
from kstreams_runbooks.frames.job import REMOTE, opened
from kstreams_runbooks.frames.partitioning import tasks_for
from kstreams_runbooks.frames.ranges import OffsetRange
from kstreams_runbooks.ledger.codec import decode
from kstreams_runbooks.model.readings.outputs import (
    ComparedOutput,
    CompareLimits,
    CompareMode,
    IgnoredPart,
    OutputComparison,
    OutputRange,
    OutputsReading,
)
from kstreams_runbooks.model.readings.readings import Missing, TopicReading
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.watch.drain.java_client import java_settings
from kstreams_runbooks.watch.spark_job import answered_by_job, submit_here
from kstreams_runbooks.watch.topic_ends import KnownEnds, existing_topics, known_ends
from kstreams_runbooks.wording import outside

JOB: Final = "compare_topics.py"
_CLEANUP, _LAG = "cleanup.policy", "min.compaction.lag.ms"


@dataclass(frozen=True, slots=True)
class OutputsAsked:
    """Which topics to compare, and how.

    `ranges` are those of all partitions of both topics; empty, they are the whole topics: from offset 0, or
    `from_log_start`, to the ends of now. `masked`, `examples` and `ignored_paths` as in `CompareQuestion`.
    `reads_behind`: the keys behind the ranges are counted too. `is_copy`: the second topic keeps the partitions of the
    first one, so a key counts in each, and the records that are deleted in front of a range are left out of both.
    """

    first: str
    second: str
    limits: CompareLimits
    mode: CompareMode = "record"
    ignored: tuple[IgnoredPart, ...] = ()
    ranges: tuple[OffsetRange, ...] = ()
    from_log_start: bool = False
    masked: tuple[str, ...] = ()
    examples: int = EXAMPLES
    ignored_paths: tuple[str, ...] = ()
    reads_behind: bool = False
    is_copy: bool = False


CompareOutputs = Callable[[CompareQuestion, float], OutputComparison]


def read_outputs(config: Mapping[str, Any], asked: OutputsAsked, compare: CompareOutputs) -> OutputsReading:
    """The comparison of two topics of a cluster, with what its logs had of the ranges.

    Spark is not asked if the topics cannot be compared, or are above a limit. BadInput if a topic does not exist, or
    for a range that no partition has; Inconclusive if a topic is hidden, an end is not known, or Spark takes too long.
    """
    if asked.first == asked.second:
        raise BadInput(f"topic {outside(asked.first)}: is given twice (expected two topics); give the other one")
    Masks.parse(asked.masked)
    if other := [one.topic for one in asked.ranges if one.topic not in (asked.first, asked.second)]:
        raise BadInput(f"ranges: {outside(other[0])} is neither of the topics; leave it out, or give the topic's name")
    with ClusterReader(config) as reader:
        topics = existing_topics(reader, (asked.first, asked.second))
        # A copy first: each record of it is then below the end of its source.
        ends = [known_ends(reader, topic) for topic in reversed(topics)][::-1]
        policies = reader.settings([asked.first, asked.second], [_CLEANUP, _LAG])
        first, second = (
            _output(topic, its_ends, policies.get(topic.name, {}), asked)
            for topic, its_ends in zip(topics, ends, strict=True)
        )
        reading = OutputsReading(
            taken=reader.taken(),
            mode=asked.mode,
            ignored=asked.ignored,
            first=first,
            second=second,
            limits=asked.limits,
            bytes=_bytes(reader, (first, second)),
            ignored_paths=asked.ignored_paths,
        )
        if not can_be_compared(reading):
            return reading
        question = CompareQuestion(
            first=_readable(first),
            second=_readable(second),
            mode=asked.mode,
            ignored=asked.ignored,
            masked=asked.masked,
            examples=asked.examples,
            ignored_paths=asked.ignored_paths,
            behind=(*_behind(first), *_behind(second)) if asked.reads_behind else (),
            deleted=(*_deleted(first, asked), *_deleted(second, asked)),
            keys_by_partition=asked.is_copy,
        )
        reading = replace(reading, comparison=compare(question, asked.limits.seconds))
        first, second = (_grown(reader, topic, output) for topic, output in zip(topics, (first, second), strict=True))
        return replace(reading, first=first, second=second)


def outputs_here(config: Mapping[str, Any]) -> CompareOutputs:
    """Compares on the Connect server in SPARK_REMOTE, or without one by a job on this machine."""
    return outputs_over_connect(config) if os.environ.get(REMOTE) else _by_job(config)


def outputs_over_connect(config: Mapping[str, Any]) -> CompareOutputs:
    """Compares on the Connect server in SPARK_REMOTE; Unreachable if it does not listen."""

    def compare(question: CompareQuestion, limit_s: float) -> OutputComparison:
        kafka = java_settings(config)
        with spoken(kafka["bootstrap.servers"]), opened(JOB, None, tasks_for(question.ranges)) as spark:
            return compare_outputs(spark, kafka, question, limit_s)

    return compare


def outputs_of(document: Mapping[str, Any]) -> OutputComparison:
    """The comparison in a job's document; Inconclusive if it has none."""
    try:
        comparison: OutputComparison = decode(OutputComparison, document.get("comparison"))
    except ValueError:
        raise Inconclusive("the answer of spark-submit has no comparison; look at what spark-submit printed") from None
    return comparison


@contextmanager
def topics_options(question: CompareQuestion, limit_s: float) -> Iterator[dict[str, str]]:
    """The arguments of the job that compares topics, as long as the files of some of them exist."""
    with job_options(question, limit_s) as shared, TemporaryDirectory(prefix="compare-topics-") as made:
        yield {
            **shared,
            "--ignore": ",".join(question.ignored),
            "--deleted": _file(made, "deleted", question.deleted),
            "--keys": "partition" if question.keys_by_partition else "topic",
        }


@contextmanager
def job_options(question: CompareQuestion, limit_s: float) -> Iterator[dict[str, str]]:
    """The arguments that both jobs take, as long as the file of one exists; the limit of records was kept before."""
    with TemporaryDirectory(prefix="compare-") as made:
        yield {
            "--first": question.first[0].topic,
            "--second": question.second[0].topic,
            "--mode": question.mode,
            "--mask": ",".join(question.masked),
            "--examples": str(question.examples),
            "--behind": _file(made, "behind", question.behind),
            "--max-scan-records": str(sum(one.offsets for one in question.ranges)),
            "--max-seconds": str(limit_s),
        }


def _file(directory: str, name: str, ranges: Sequence[OffsetRange]) -> str:
    file = Path(directory) / f"{name}.json"
    file.write_text(json.dumps([asdict(one) for one in ranges]), encoding="utf-8")
    return str(file)


def _by_job(config: Mapping[str, Any]) -> CompareOutputs:
    def compare(question: CompareQuestion, limit_s: float) -> OutputComparison:
        with topics_options(question, limit_s) as options:
            return outputs_of(answered_by_job(JOB, config, question.ranges, submit_here, options))

    return compare


def _output(
    topic: TopicReading, ends: Sequence[KnownEnds], policies: Mapping[str, str], asked: OutputsAsked
) -> ComparedOutput:
    policy, lag = policies.get(_CLEANUP), policies.get(_LAG, "")
    given = {one.partition: one for one in asked.ranges if one.topic == topic.name}
    if asked.ranges and sorted(given) != list(range(topic.partitions)):
        raise BadInput(
            f"ranges: {topic.name} has {topic.partitions} partitions, and ranges of {sorted(given)}; give one range "
            "for each, also an empty one"
        )
    ranges = []
    for number, known in enumerate(ends):
        one = given.get(number)
        start, end = (known.start if asked.from_log_start else 0, known.end) if one is None else (one.start, one.end)
        if end > known.end:
            raise BadInput(
                f"ranges: {topic.name}-{number} ends at offset {known.end:,} (compared up to {end:,}); give an end "
                "that exists"
            )
        ranges.append(OutputRange(number, start, end, known.start, known.stable, known.end, known.end))
    return ComparedOutput(
        topic.name,
        topic.topic_id,
        None if policy is None else "compact" in policy,
        tuple(ranges),
        int(lag) if lag.isdecimal() else None,
    )


def _readable(output: ComparedOutput) -> tuple[OffsetRange, ...]:
    return tuple(OffsetRange(output.name, one.partition, one.readable_from, one.readable_to) for one in output.ranges)


def _behind(output: ComparedOutput) -> tuple[OffsetRange, ...]:
    """What can be read behind the ranges of a topic."""
    return tuple(OffsetRange(output.name, one.partition, one.end, max(one.end, one.stable)) for one in output.ranges)


def _deleted(output: ComparedOutput, asked: OutputsAsked) -> Iterator[OffsetRange]:
    """What no longer exists in front of the ranges of a topic, where records are compared that are left."""
    for one in output.ranges:
        if asked.is_copy:
            yield OffsetRange(output.name, one.partition, one.start, one.start + one.deleted)
        elif asked.from_log_start and asked.mode == "record":
            yield OffsetRange(output.name, one.partition, 0, one.start)


def _bytes(reader: ClusterReader, outputs: Sequence[ComparedOutput]) -> int | None:
    """The share of the ranges in the topics' size on disk, None if no broker reports it: seconds are limited too."""
    sizes = reader.bytes_of([output.name for output in outputs])
    if isinstance(sizes, Missing) or any(output.name not in sizes for output in outputs):
        return None
    shares = (
        (sizes[output.name], output.offsets, sum(one.log_end - one.log_start for one in output.ranges))
        for output in outputs
    )
    return sum(size * part // whole for size, part, whole in shares if whole)


def _grown(reader: ClusterReader, topic: TopicReading, output: ComparedOutput) -> ComparedOutput:
    """The topic with its ends of after the comparison; Inconclusive if it is another topic of this name."""
    ends = known_ends(reader, topic)
    if any(ends[one.partition].end < one.log_end for one in output.ranges):
        raise Inconclusive(f"topic {output.name}: was created again while it was compared; compare again")
    ranges = (replace(one, grown_to=max(one.log_end, ends[one.partition].end)) for one in output.ranges)
    return replace(output, ranges=tuple(ranges))
