"""Topologies that demonstrably work with the partition counts of a cluster."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

from kstreams_runbooks.decide.topology.java_pattern import matched
from kstreams_runbooks.decide.topology.partitions import partition_counts, repartition_topics
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.matching import PatternTooSlow
from kstreams_runbooks.model.readings.readings import ApplicationReading, GroupReading, Missing, StreamsReading
from kstreams_runbooks.model.topology.topology import Topology


@dataclass(frozen=True, slots=True)
class Proven:
    """A working topology, the partitions of topics when it was seen (full names), and the counts its text demands.

    `demanded` has names as printed, without the application.id.
    """

    topology: Topology
    counts: Mapping[str, int]
    demanded: Mapping[str, int]


def proven_counts(
    reading: ApplicationReading, application_id: str, suppressions: Collection[str] = ()
) -> tuple[Proven, ...]:
    """Topologies of instances that are RUNNING while members of the group hold every partition of what they read.

    The library checks every assignment: an internal topic with another number of partitions than it wants, or joined
    topics that differ, end the assignment (`InternalTopicManager`, `CopartitionedTopicsEnforcer`, Apache Kafka 4.3).
    `suppressions` are suppress operators with chosen names, which a running text does not show. A topic that has
    grown since the last assignment has partitions without a member: nothing is proven then.
    """
    group, topics = reading.group, reading.topics
    if not isinstance(group, GroupReading) or group.state.upper() != "STABLE" or isinstance(topics, Missing):
        return ()
    counts = {topic.name: topic.partitions for topic in topics}
    held = {name for member in group.members for name in member.partitions}
    return tuple(
        Proven(topology, counts, partition_counts(topology, _external(topology, counts), suppressions))
        for topology in dict.fromkeys(_running(reading))
        if _holds_all(_read(topology, application_id, counts), counts, held)
    )


def _holds_all(read: set[str], counts: Mapping[str, int], held: set[str]) -> bool:
    partitions = {f"{name}-{number}" for name in read for number in range(counts.get(name, 0))}
    return bool(partitions) and read <= counts.keys() and partitions <= held


def _running(reading: ApplicationReading) -> Iterator[Topology]:
    clients = [one.streams for one in reading.instances if isinstance(one.streams, StreamsReading)]
    running = [one.topology for one in clients if one.state == "RUNNING"]
    for text in dict.fromkeys(text for text in running if isinstance(text, str)):
        with suppress(BadInput):
            yield parse_topology(text)


def _read(topology: Topology, application_id: str, counts: Mapping[str, int]) -> set[str]:
    """Full names of the topics that the topology reads through its group."""
    internal = repartition_topics(topology)
    found: set[str] = set()
    for sub in topology.subtopologies:
        for source in () if sub.is_global else sub.sources:
            found |= {f"{application_id}-{name}" if name in internal else name for name in source.topics}
            found |= {name for name in counts if _matches(source.pattern, name)}
    return found


def _external(topology: Topology, counts: Mapping[str, int]) -> dict[str, int]:
    """Partitions of topics that others write, by name as printed; those of a pattern under `<pattern>*`."""
    internal = repartition_topics(topology)
    found: dict[str, int] = {}
    for sub in topology.subtopologies:
        for source in sub.sources:
            found |= {name: counts[name] for name in source.topics - internal if name in counts}
            if sizes := [count for name, count in counts.items() if _matches(source.pattern, name)]:
                found[f"{source.pattern}*"] = max(sizes)
    return found


def _matches(pattern: str | None, name: str) -> bool:
    try:
        return pattern is not None and matched(pattern, name)
    except (BadInput, PatternTooSlow):
        return False
