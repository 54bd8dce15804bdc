"""Reads what decides a growth of partitions, and has Spark forecast the keys of the topics that grow."""

import json
import os
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from kstreams_runbooks.decide.comparison.compared import Side
from kstreams_runbooks.decide.growth.closure import Closure, closure
from kstreams_runbooks.decide.topology.described import parsed
from kstreams_runbooks.errors import Inconclusive
from kstreams_runbooks.fleet import Application, Fleet
from kstreams_runbooks.frames.failures import spoken
from kstreams_runbooks.frames.forecast import ForecastQuestion, forecast
from kstreams_runbooks.frames.job import REMOTE, opened
from kstreams_runbooks.frames.partitioning import tasks_for
from kstreams_runbooks.frames.ranges import OffsetRange
from kstreams_runbooks.ledger.codec import decode
from kstreams_runbooks.model.readings.growth import ForecastKind, ForecastReading, ForecastTopic, TopicForecast
from kstreams_runbooks.model.readings.readings import GroupReading, Missing
from kstreams_runbooks.model.topology.declaration import Described
from kstreams_runbooks.model.topology.growth import GrowthSeen, WriterSeen
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.kafka.topic_users import read_topic_users
from kstreams_runbooks.watch.drain.java_client import java_settings
from kstreams_runbooks.watch.internal_topics import read_internal_topics
from kstreams_runbooks.watch.spark_job import answered_by_job, submit_here
from kstreams_runbooks.watch.topic_ends import existing_topics, known_ends

JOB: Final = "forecast_partitions.py"

Forecast = Callable[[tuple[ForecastQuestion, ...]], tuple[TopicForecast, ...]]


@dataclass(frozen=True, slots=True)
class GrowthAsked:
    """The number of partitions, the inputs that are named to grow (none: all), and a wish for an uneven number.

    `records` are the most offsets that Spark reads.
    """

    wanted: int
    topics: tuple[str, ...] = ()
    uneven: bool = False
    records: int = 0


def read_growth(
    fleet: Fleet, entry: Application, config: Mapping[str, Any], described: Described, asked: GrowthAsked
) -> GrowthSeen:
    """What decides the growth of an application that runs as `described`.

    Unreachable if no broker answers, Inconclusive if topics cannot be read.
    """
    side = Side(parsed(described).topology, described.declaration)
    ids = {one.application_id for one in fleet.applications.values() if one.cluster == entry.cluster}
    with ClusterReader(config) as reader:
        _, seen = read_internal_topics(reader, side, entry.application_id, ids)
        outputs = {*side.written(), *entry.outputs}
        names = reader.names()
        there = {name: one.partitions for name, one in seen.there.items()}
        there |= {one.name: one.partitions for one in reader.topics(outputs & names.visible)}
        group = reader.group(entry.application_id)
        users, problems = read_topic_users(reader, {*seen.inputs, *seen.there}, entry.application_id)
    groups: defaultdict[str, set[str]] = defaultdict(set)
    for user in users:
        groups[user.topic].add(user.group_id)
    # An entry that did not load may read or write them too.
    unknown = (*problems, *fleet.not_looked_at)
    writers, readers = _of_fleet(fleet, entry)
    return GrowthSeen(
        application=entry.name,
        application_id=entry.application_id,
        wanted=asked.wanted,
        described=described,
        group_type=group.type if isinstance(group, GroupReading) else group,
        inputs=seen.inputs,
        there=there,
        topics=asked.topics,
        uneven=asked.uneven,
        hidden={**seen.hidden, **names.unseen(outputs)},
        control=tuple(entry.control),
        writers=writers,
        readers=readers,
        groups=Missing("; ".join(unknown)) if unknown else {name: tuple(sorted(own)) for name, own in groups.items()},
    )


def _of_fleet(fleet: Fleet, entry: Application) -> tuple[dict[str, tuple[WriterSeen, ...]], dict[str, tuple[str, ...]]]:
    """The other entries of the cluster that write each topic, and those that read it."""
    writers: defaultdict[str, list[WriterSeen]] = defaultdict(list)
    readers: defaultdict[str, list[str]] = defaultdict(list)
    for name, other in sorted(fleet.entries.items()):
        if other.cluster != entry.cluster or name == entry.name:
            continue
        for topic in other.outputs:
            writers[topic].append(WriterSeen(name, other.declared().routes))
        for topic in dict.fromkeys((*other.inputs, *other.control, *other.rule_topics)):
            readers[topic].append(name)
    return {name: tuple(own) for name, own in writers.items()}, {name: tuple(own) for name, own in readers.items()}


def read_forecast(
    config: Mapping[str, Any], seen: GrowthSeen, asked: GrowthAsked, ask_spark: Forecast
) -> ForecastReading | None:
    """The forecast of each grown input, and of each changelog whose keys can be read; None if nothing can grow.

    Spark is not asked above the limit of records, and without a record. Inconclusive if an end is not known.
    """
    closed = closure(seen)
    if closed.refused or closed.unknown:
        return None
    kinds = forecast_topics(closed)
    after = {one.name: one.after for one in closed.grown}
    with ClusterReader(config) as reader:
        topics = {one.name: one for one in existing_topics(reader, tuple(kinds))}
        ends = {name: known_ends(reader, topic) for name, topic in topics.items()}
        taken = reader.taken()
    read = tuple(
        ForecastTopic(
            name,
            kind,
            topics[name].partitions,
            after[name],
            offsets=sum(one.stable - one.start for one in ends[name]),
            deleted=sum(one.start for one in ends[name]),
            open=sum(one.end - one.stable for one in ends[name]),
        )
        for name, kind in kinds.items()
    )
    offsets = sum(one.offsets for one in read)
    if not offsets:
        return ForecastReading(taken, read, Missing("the topics have no record (expected at least one)"))
    if offsets > asked.records:
        why = (
            f"the topics have {offsets:,} offsets to read (limit {asked.records:,}); raise --max-records, or name "
            "fewer inputs"
        )
        return ForecastReading(taken, read, Missing(why))
    questions = tuple(
        ForecastQuestion(
            kind,
            after[name],
            tuple(OffsetRange(name, number, one.start, one.stable) for number, one in enumerate(ends[name])),
        )
        for name, kind in kinds.items()
    )
    return ForecastReading(taken, read, ask_spark(questions))


def forecast_topics(closed: Closure) -> dict[str, ForecastKind]:
    """The topics whose keys are forecast, inputs first, and how their keys begin."""
    kinds: dict[str, ForecastKind] = {one.name: "input" for one in closed.inputs}
    grown = {one.name for one in closed.grown}
    return kinds | {one.changelog: one.kind for one in closed.stores if one.kind and one.changelog in grown}


def forecast_here(config: Mapping[str, Any]) -> Forecast:
    """Forecasts on the Connect server in SPARK_REMOTE, or without one by a job on this machine."""
    return forecast_over_connect(config) if os.environ.get(REMOTE) else _by_job(config)


def forecast_over_connect(config: Mapping[str, Any]) -> Forecast:
    """Forecasts on the Connect server in SPARK_REMOTE; Unreachable if it does not listen."""

    def ask(questions: tuple[ForecastQuestion, ...]) -> tuple[TopicForecast, ...]:
        kafka = java_settings(config)
        with spoken(kafka["bootstrap.servers"]), opened(JOB, None, tasks_for(_ranges(questions))) as spark:
            return forecast(spark, kafka, questions)

    return ask


def _by_job(config: Mapping[str, Any]) -> Forecast:
    def ask(questions: tuple[ForecastQuestion, ...]) -> tuple[TopicForecast, ...]:
        document = answered_by_job(JOB, config, _ranges(questions), submit_here, job_options(questions))
        return forecast_of(document)

    return ask


def job_options(questions: Sequence[ForecastQuestion]) -> dict[str, str]:
    """The job's own arguments; the limit of records was kept before."""
    topics = [{"topic": one.topic, "kind": one.kind, "after": one.after} for one in questions]
    return {
        "--topics": json.dumps(topics),
        "--max-scan-records": str(sum(one.offsets for one in _ranges(questions))),
    }


def forecast_of(document: Mapping[str, Any]) -> tuple[TopicForecast, ...]:
    """The forecast in a job's document; Inconclusive if it has none."""
    try:
        topics: tuple[TopicForecast, ...] = decode(tuple[TopicForecast, ...], document.get("topics"))
    except ValueError:
        raise Inconclusive("the answer of spark-submit has no forecast; look at what spark-submit printed") from None
    return topics


def _ranges(questions: Sequence[ForecastQuestion]) -> tuple[OffsetRange, ...]:
    return tuple(one for question in questions for one in question.ranges)
