"""Which topics one pass of a drain reads: the application's inputs and outputs, and those that hold its state."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from kstreams_runbooks.model.readings.lag import LagRole
from kstreams_runbooks.model.readings.readings import TopicReading
from kstreams_runbooks.observe.kafka.cluster import ClusterReader
from kstreams_runbooks.observe.kafka.topic_names import TopicNames
from kstreams_runbooks.observe.lag.topology_topics import TopologyTopics

_STATE_GONE = "this changelog existed and is gone: the state in it is lost; find out what deleted it"


@dataclass(frozen=True, slots=True)
class DrainTopics:
    """The topics of one pass.

    `sources` are read through the group, and `unproven` is why these may not be all of them. `outputs` are written for
    others; `unnamed` are sinks whose topics only their records name. `changelogs` may hold the state; `kept` are those
    that exist, now or in an earlier pass. `found` are all that the brokers described, by name; `hidden` has a sentence
    for each topic that is not visible to this login.
    """

    names: TopicNames
    sources: frozenset[str]
    unproven: str
    roles: Mapping[str, LagRole]
    outputs: frozenset[str]
    unnamed: frozenset[str]
    changelogs: frozenset[str]
    kept: frozenset[str]
    found: Mapping[str, TopicReading]
    hidden: Mapping[str, str]

    @property
    def _state(self) -> frozenset[str]:
        return self.changelogs & self.names.visible

    @property
    def moving(self) -> dict[str, TopicReading]:
        """Topics whose ends have to stop moving: those that are read and those that are written for others."""
        state = self._state
        return {name: topic for name, topic in self.found.items() if name not in state}

    @property
    def counts(self) -> dict[str, int]:
        """Partitions of these by topic."""
        return {topic.name: topic.partitions for topic in self.moving.values()}

    @property
    def other_ids(self) -> dict[str, str]:
        """Ids of the outputs and of the changelogs."""
        others = self.outputs | self._state
        return {name: topic.topic_id for name, topic in self.found.items() if name in others}

    def sinks(self, ends: Mapping[str, int]) -> dict[str, int]:
        """The outputs among these ends, by `topic-number`."""
        return {name: end for name, end in ends.items() if name.rpartition("-")[0] in self.outputs}

    def problems(self) -> Iterator[str]:
        """Outputs and changelogs that are hidden or gone: a topic that was not read may have changed."""
        if self.unnamed:
            yield f"sink {min(self.unnamed)} writes to topics that its records name; declare them as outputs"
        else:
            for name in sorted(self.outputs - self.names.visible):
                yield f"output {name}: {self.hidden.get(name, 'the topic does not exist on the cluster')}"
        yield from (self.hidden[name] for name in sorted(self.changelogs & self.hidden.keys()))
        for name in sorted(self.kept - self.names.visible - self.hidden.keys()):
            yield f"{name}: {_STATE_GONE}"


def drain_topics(
    reader: ClusterReader,
    topology: TopologyTopics,
    outputs: Collection[str],
    names: TopicNames,
    kept: Collection[str],
) -> DrainTopics:
    """The topics of a topology on the cluster.

    `outputs` are those that the fleet declares, `kept` the changelogs that this pass or an earlier one has seen.
    Unreachable if no broker answers, Inconclusive if one refuses a topic.
    """
    sources, unproven = topology.read_on(names)
    written = (topology.outputs | set(outputs)) - sources
    changelogs = topology.changelogs - sources
    state = changelogs & names.visible
    found = {topic.name: topic for topic in reader.topics((sources | written | state) & names.visible)}
    return DrainTopics(
        names=names,
        sources=sources,
        unproven=unproven,
        roles=topology.roles(sources),
        outputs=written,
        # With declared outputs they are known.
        unnamed=frozenset() if outputs else topology.extractors,
        changelogs=changelogs,
        kept=frozenset(kept) - sources,
        found=found,
        hidden=names.unseen((sources | written | changelogs).union(kept) - found.keys()),
    )
