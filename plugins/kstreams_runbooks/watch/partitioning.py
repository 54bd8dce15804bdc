"""Reads a pair of topics, up to ends that are fixed first, and has Spark compare where their keys are."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from kstreams_runbooks.decide.fitting.state_kind import state_kind, store_name
from kstreams_runbooks.errors import BadInput, Inconclusive
from kstreams_runbooks.fleet import Application, release_declaration
from kstreams_runbooks.frames.failures import spoken
from kstreams_runbooks.frames.job import REMOTE, opened
from kstreams_runbooks.frames.partitioning import compared, tasks_for
from kstreams_runbooks.frames.ranges import OffsetRange
from kstreams_runbooks.ledger.codec import decode
from kstreams_runbooks.model.readings.partitioning import (
    ComparedTopic,
    KeyCounts,
    KeyPair,
    PartitioningReading,
    StateKind,
)
from kstreams_runbooks.model.readings.readings import TopicReading
from kstreams_runbooks.model.topology.declaration import StoreKind
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.watch.drain.java_client import java_settings
from kstreams_runbooks.watch.spark_job import answered_by_job, submit_here
from kstreams_runbooks.watch.topic_ends import KnownEnds, existing_topics, known_ends
from kstreams_runbooks.wording import outside

JOB: Final = "partitioning_check.py"
_CLEANUP = "cleanup.policy"


@dataclass(frozen=True, slots=True)
class KeyQuestion:
    """What Spark compares: ranges of all partitions of the input and of the state topic, and the kind of the latter."""

    input: tuple[OffsetRange, ...]
    state: tuple[OffsetRange, ...]
    kind: StateKind

    @property
    def ranges(self) -> tuple[OffsetRange, ...]:
        """All ranges."""
        return (*self.input, *self.state)

    @property
    def options(self) -> dict[str, str]:
        """The job's own arguments."""
        return {"--input": self.input[0].topic, "--state": self.state[0].topic, "--kind": self.kind}


Compare = Callable[[KeyQuestion], KeyCounts]


def read_partitioning(
    entry: Application, config: Mapping[str, Any], pair: KeyPair, sample: int | None, compare: Compare
) -> PartitioningReading:
    """The partitions of the keys of a pair; with `sample` of the newest offsets of each partition alone, that many.

    Spark is not asked if the topics cannot be compared. BadInput if a topic does not exist, or the kind of the store is
    not known; Refused for a kind that is not read; Inconclusive if a topic is hidden, or an end is not known.
    """
    if pair.input == pair.state:
        raise BadInput(f"input {outside(pair.input)}: is the state topic too (expected two topics); give the input")
    kind = state_kind(pair, entry.application_id, declared_kinds(entry, pair))
    with ClusterReader(config) as reader:
        given, kept = existing_topics(reader, (pair.input, pair.state))
        # The state first: each record behind a state that is read is then in front of the input's end.
        kept_ends, given_ends = known_ends(reader, kept), known_ends(reader, given)
        policies = reader.settings([pair.input, pair.state], [_CLEANUP])
        taken = reader.taken()
    read, changes = _ranges(given, given_ends, sample), _ranges(kept, kept_ends, sample)
    found = PartitioningReading(
        taken=taken,
        kind=kind,
        input=_compared(given, read, given_ends, policies.get(given.name, {})),
        state=_compared(kept, changes, kept_ends, policies.get(kept.name, {})),
    )
    if given.partitions != kept.partitions or not found.input.offsets or not found.state.offsets:
        return found
    return replace(found, keys=compare(KeyQuestion(read, changes, kind)))


def declared_kinds(entry: Application, pair: KeyPair) -> frozenset[StoreKind | None]:
    """The kinds that the declared releases of an application give the store of a pair."""
    store, declared = store_name(pair, entry.application_id), entry.declared()
    if store is None:
        return frozenset()
    releases = (release_declaration(entry.name, name, declared.library(name)) for name in declared.releases)
    return frozenset(one.stores[store].kind for one in releases if one is not None and store in one.stores)


def compare_here(config: Mapping[str, Any]) -> Compare:
    """Compares on the Connect server in SPARK_REMOTE, or without one by a job on this machine."""
    return (
        over_connect(config)
        if os.environ.get(REMOTE)
        else lambda question: counts_of(answered_by_job(JOB, config, question.ranges, submit_here, question.options))
    )


def over_connect(config: Mapping[str, Any]) -> Compare:
    """Compares on the Connect server in SPARK_REMOTE; Unreachable if it does not listen."""

    def compare(question: KeyQuestion) -> KeyCounts:
        kafka = java_settings(config)
        with spoken(kafka["bootstrap.servers"]), opened(JOB, None, tasks_for(question.ranges)) as spark:
            return compared(spark, kafka, question.input, question.state, question.kind)

    return compare


def counts_of(document: Mapping[str, Any]) -> KeyCounts:
    """The counts in a job's document; Inconclusive if it has none."""
    try:
        found: KeyCounts = decode(KeyCounts, document.get("keys"))
    except ValueError:
        raise Inconclusive(
            "the answer of spark-submit has no counts of keys; look at what spark-submit printed"
        ) from None
    return found


def _ranges(topic: TopicReading, ends: Sequence[KnownEnds], sample: int | None) -> tuple[OffsetRange, ...]:
    return tuple(
        OffsetRange(
            topic.name, number, one.start if sample is None else max(one.start, one.stable - sample), one.stable
        )
        for number, one in enumerate(ends)
    )


def _compared(
    topic: TopicReading, ranges: Sequence[OffsetRange], ends: Sequence[KnownEnds], policies: Mapping[str, str]
) -> ComparedTopic:
    offsets = sum(one.stable - one.start for one in ends)
    policy = policies.get(_CLEANUP)
    return ComparedTopic(
        name=topic.name,
        topic_id=topic.topic_id,
        partitions=topic.partitions,
        offsets=offsets,
        unread=offsets - sum(one.offsets for one in ranges),
        deleted=sum(one.start for one in ends),
        open=sum(one.end - one.stable for one in ends),
        compacted=None if policy is None else "compact" in policy,
    )
