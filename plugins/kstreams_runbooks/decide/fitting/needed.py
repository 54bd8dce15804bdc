"""Topics that have to exist before a topology may start."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kstreams_runbooks.decide.topology.described import ParsedDescription, parsed
from kstreams_runbooks.decide.topology.partitions import possible_changelogs, repartition_topics
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.fleet_entry import DeclaredApplication
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.topology.declaration import Described
from kstreams_runbooks.model.topology.topology import Sink, Topology


@dataclass(frozen=True, slots=True)
class NeededTopics:
    """Topics by full name, each with its reason; the library creates the `internal` ones if they do not exist."""

    external: dict[str, str]
    internal: frozenset[str]
    patterns: frozenset[str]


def parsed_or_missing(wanted: Iterable[Described | Missing]) -> tuple[ParsedDescription | Missing, ...]:
    """Each description with its topology; Missing if it is absent or cannot be read."""
    return tuple(one if isinstance(one, Missing) else _parsed(one) for one in wanted)


def _parsed(one: Described) -> ParsedDescription | Missing:
    try:
        return parsed(one)
    except BadInput as error:
        return Missing(str(error))


def topics_needed(wanted: Iterable[ParsedDescription | Missing], application: DeclaredApplication) -> NeededTopics:
    """Every topic that a start of the `wanted` releases depends on, and the declared control and rule topics.

    Kafka Streams creates its repartition topics and changelogs, and no other topic: its consumers and the global
    consumer do not create topics, and a producer only does if the brokers create topics automatically, with the
    brokers' default number of partitions. If a sink chooses its topic record by record, the declared outputs take its
    place. Source: Kafka Streams developer guide, Managing Streams Application Topics.
    """
    entry = f"in the fleet entry of {application.name}"
    external = dict.fromkeys(application.rule_topics, f"rule topic {entry}")
    external |= dict.fromkeys(application.control, f"control topic {entry}")
    internal: set[str] = set()
    patterns: set[str] = set()
    for one in wanted:
        if isinstance(one, Missing):
            continue
        topology = one.topology
        own = repartition_topics(topology)
        for name, why in _external(topology, own, application, title(one.described)):
            external.setdefault(name, why)
        internal |= {f"{application.application_id}-{name}" for name in (*own, *possible_changelogs(topology))}
        patterns |= {source.pattern for sub in topology.subtopologies for source in sub.sources if source.pattern}
    return NeededTopics(external, frozenset(internal), frozenset(patterns))


def repartitions_read(wanted: Iterable[ParsedDescription | Missing], application_id: str) -> dict[str, str]:
    """Full names of the repartition topics that the `wanted` releases read, each with the first release that does."""
    return {
        f"{application_id}-{name}": title(one.described)
        for one in reversed(tuple(wanted))
        if not isinstance(one, Missing)
        for name in repartition_topics(one.topology)
    }


def title(one: Described) -> str:
    """A version in a sentence."""
    return f"release {one.release}" if one.release else one.source


def _external(
    topology: Topology, own: frozenset[str], application: DeclaredApplication, name: str
) -> Iterator[tuple[str, str]]:
    for sub in topology.subtopologies:
        store = " for a global store" if sub.is_global else ""
        for source in sub.sources:
            yield from ((topic, f"{name} reads it{store}") for topic in sorted(source.topics - own))
    sinks = [node for _, node in topology.nodes() if isinstance(node, Sink)]
    for sink in sinks:
        if sink.topic is not None and sink.topic not in own:
            yield sink.topic, f"{name} writes to it"
    if any(sink.topic is None for sink in sinks):
        for topic in application.outputs:
            yield topic, f"output in the fleet entry of {application.name}; {name} chooses topics record by record"
