"""Instances of one group that run different topologies: a roll that its plan would have refused, had it seen them."""

from collections.abc import Iterator, Mapping

from kstreams_runbooks.decide.instances.members import owner_of
from kstreams_runbooks.decide.topology.partitions import repartition_topics
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.readings.readings import ApplicationReading, GroupReading, Missing, StreamsReading
from kstreams_runbooks.model.topology.topology import Topology
from kstreams_runbooks.wording import first_of

# A group rebalances for a moment after every start: only what two readings in a row show does not pass by itself.
_CERTAIN = 2
_MOST = 3


def mixed_topologies(samples: tuple[ApplicationReading, ...]) -> str:
    """Why a roll cannot end well: members read different topics, and their group shows it; empty if it may.

    Source: Kafka Streams upgrade guide, rolling upgrades (all members of a group need the same source topics); members
    of other topologies leave the assignor without a plan, or keep partitions that they do not read (KIP-345).
    """
    last = [_mix(reading) for reading in samples[-_CERTAIN:]]
    return last[-1] if len(last) == _CERTAIN and all(last) else ""


def _mix(reading: ApplicationReading) -> str:
    reads = dict(_reads(reading))
    different = {topics for topics in reads.values() if topics is not None}
    signs = tuple(_signs(reading, reads))
    if len(different) < _CERTAIN or not signs:
        return ""
    every, common = frozenset[str]().union(*different), frozenset.intersection(*different)
    alone = {topic: sorted(name for name, topics in reads.items() if topics and topic in topics) for topic in every}
    only = [f"{topic} is read by {', '.join(alone[topic])} alone" for topic in sorted(every - common)]
    return (
        f"instances run different topologies: {first_of(only, _MOST, '; ')}; they cannot share a group "
        f"({first_of(signs, _MOST, '; ')}), and no topic or instance that is repaired changes that: undo this run"
    )


def _reads(reading: ApplicationReading) -> Iterator[tuple[str, frozenset[str] | None]]:
    """The topics that each instance reads, by full name; None if its topology is not known or reads a pattern."""
    for one in reading.instances:
        streams = one.streams
        topics = None
        if isinstance(streams, StreamsReading) and isinstance(streams.topology, str):
            try:
                topics = _topics(parse_topology(streams.topology), streams.application_id)
            except BadInput:
                topics = None
        yield one.instance, topics


def _topics(topology: Topology, application_id: str) -> frozenset[str] | None:
    sources = [source for sub in topology.subtopologies if not sub.is_global for source in sub.sources]
    if any(source.pattern for source in sources):
        return None
    own = repartition_topics(topology)
    names = {name for source in sources for name in source.topics}
    return frozenset(f"{application_id}-{name}" if name in own else name for name in names)


def _signs(reading: ApplicationReading, reads: Mapping[str, frozenset[str] | None]) -> Iterator[str]:
    """What shows that the members do not agree: a rebalance, a topic that was never created, a foreign assignment."""
    group = reading.group
    if isinstance(group, GroupReading) and group.state.upper() != "STABLE":
        yield f"group {group.group_id} is in {group.state}"
    rows = () if isinstance(reading.partitions, Missing) else reading.partitions
    for topic in sorted({row.topic for row in rows if row.state == "missing" and row.role == "repartition"}):
        yield f"topic {topic} does not exist"
    members = group.members if isinstance(group, GroupReading) else ()
    for instance in reading.instances:
        topics = reads[instance.instance]
        held = {
            partition.rpartition("-")[0]
            for member in members
            if owner_of(member, (instance,)) is not None
            for partition in member.partitions
        }
        if topics is not None and (foreign := sorted(held - topics)):
            yield f"{instance.instance} holds partitions of {first_of(foreign, _MOST)}, which it does not read"
