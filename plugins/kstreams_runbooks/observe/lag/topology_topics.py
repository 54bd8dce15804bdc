"""Which topics an application reads through its group, and which changelogs it keeps, from its topology.

Small on purpose: names only. Kafka Streams prints internal topics without the application.id prefix, and nothing in a
description marks them. What marks them is their names, and that the same topology writes them (Kafka Streams developer
guide, "Managing topics: internal topics"; KIP-221 for repartition, KIP-213 and KIP-775 for foreign-key joins): a source
that is also a sink of the topology and ends in `-repartition`, or in `subscription-registration-topic` /
`subscription-response-topic` in either case, with a number in generated names. A user's topic that fits both, written
and read by the same topology, would be taken for an internal one. If the names on the cluster are given, the topic that
exists decides.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Final

from kstreams_runbooks.decide.topology.java_pattern import matched, matcher
from kstreams_runbooks.decide.topology.names import may_be_read_back
from kstreams_runbooks.decide.topology.partitions import possible_changelogs
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.matching import PatternTooSlow
from kstreams_runbooks.model.readings.lag import LagRole
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.topology.topology import Sink, Topology
from kstreams_runbooks.observe.kafka.topic_names import TopicNames


@dataclass(frozen=True, slots=True)
class TopologyTopics:
    """Topics of one topology, full names.

    `external` and `internal` are read through the group; `patterns` are regex sources, whose topics only the cluster
    knows; `changelogs` are candidates: a store without logging, or one that uses its source topic, has none. `outputs`
    are written for others; `extractors` name the sinks whose topics only their records name.
    """

    external: frozenset[str]
    internal: frozenset[str]
    patterns: frozenset[str]
    changelogs: frozenset[str]
    outputs: frozenset[str] = frozenset()
    extractors: frozenset[str] = frozenset()

    def sources(self, cluster: Collection[str] = ()) -> frozenset[str]:
        """Every topic whose offsets the group commits; patterns are matched with the names in `cluster`."""
        found = {name for name in cluster for pattern in self.patterns if matched(pattern, name)}
        return self.external | self.internal | found

    def inputs(self, read: Collection[str], declared: Collection[str]) -> frozenset[str]:
        """Of the topics that it reads, those that others write; `declared` are the `inputs` of its fleet entry.

        A topic that it also writes is an input only if the entry names it: other programs write to it then, so it is
        held, copied and read by a second side like any input. Undeclared it is a loop of the application alone, which
        goes on with it as an internal topic does: held, the loop would keep records that nothing resumes.
        """
        return frozenset(read) - self.internal - (self.outputs - set(declared))

    def roles(self, sources: Collection[str]) -> dict[str, LagRole]:
        """Role of each of these topics, which the group reads."""
        return {name: "repartition" if name in self.internal else "source" for name in sources}

    def read_on(self, names: TopicNames) -> tuple[frozenset[str], str]:
        """The same on a cluster, with hidden topics that a pattern matches, and why these may not be all of them.

        The sentence is empty if it is proven that they are, and if there is no pattern: then no request is sent. A
        pattern may become too slow after it was tried: others of this process are matched with it too.
        """
        if not self.patterns:
            return self.sources(), ""
        try:
            found = self.sources(names.every())
        except PatternTooSlow as error:
            return self.external | self.internal, str(error)
        if not isinstance(names.hidden, Missing):
            return found, ""
        pattern, *others = sorted(self.patterns)
        more = f" (and {len(others)} more)" if others else ""
        return found, (
            f"source pattern {pattern}{more}: whether it matches a topic that is not visible to this login is not "
            f"known; {names.hidden.missing}"
        )


_NONE: Final = TopicNames.of(())


def topology_topics(topology: Topology, application_id: str, names: TopicNames = _NONE) -> TopologyTopics:
    """Topics that a topology names.

    BadInput for a source pattern that cannot be read here, PatternTooSlow for one that takes too long on the names:
    what it matches is not known. A global store's source is not among them: no group commits it.
    """
    topics = _topics(topology, application_id, names)
    for pattern in sorted(topics.patterns):
        try_pattern(pattern, names)
    return topics


def readable_topics(topology: Topology, application_id: str, names: TopicNames = _NONE) -> tuple[TopologyTopics, str]:
    """The same without the source patterns that cannot be read here, and the reasons in one text, empty for none."""
    topics, refused = _topics(topology, application_id, names), {}
    for pattern in sorted(topics.patterns):
        try:
            try_pattern(pattern, names)
        except (BadInput, PatternTooSlow) as error:
            refused[pattern] = str(error)
    return replace(topics, patterns=topics.patterns - refused.keys()), "; ".join(refused.values())


def try_pattern(pattern: str, names: TopicNames) -> None:
    """Match the pattern with every name once: BadInput or PatternTooSlow before its answer is needed."""
    matcher(pattern)
    for name in names.every():
        matched(pattern, name)


def _topics(topology: Topology, application_id: str, names: TopicNames) -> TopologyTopics:
    sources, patterns, sinks = _named(topology)
    internal = {name for name in sources if _is_internal(name, sinks, application_id, names)}
    return TopologyTopics(
        outputs=frozenset(sinks - internal),
        extractors=frozenset(
            node.name for _, node in topology.nodes() if isinstance(node, Sink) and node.topic is None
        ),
        external=frozenset(sources - internal),
        internal=frozenset(f"{application_id}-{name}" for name in internal),
        patterns=frozenset(patterns),
        changelogs=frozenset(f"{application_id}-{name}" for name in possible_changelogs(topology)),
    )


def read_by(topology: Topology, application_id: str, names: TopicNames = _NONE) -> dict[str, str]:
    """Which subtopology reads each source topic, full names; BadInput as `topology_topics`.

    A topic is read by one subtopology: its tasks are one for each partition number that any of its topics has.
    """
    sources, patterns, sinks = _named(topology)
    # Only a pattern needs the names of hidden topics.
    cluster = names.every() if patterns else names.visible
    internal = {name for name in sources if _is_internal(name, sinks, application_id, names)}
    found: dict[str, str] = {}
    for sub in topology.subtopologies:
        if sub.is_global:
            continue
        for source in sub.sources:
            by_pattern = {name for name in cluster if source.pattern is not None and matched(source.pattern, name)}
            for name in source.topics | by_pattern:
                found[f"{application_id}-{name}" if name in internal else name] = sub.id
    return found


def _named(topology: Topology) -> tuple[set[str], set[str], set[str]]:
    """Source names, source patterns and sink names outside of global stores."""
    sources: set[str] = set()
    patterns: set[str] = set()
    sinks: set[str] = set()
    for sub in topology.subtopologies:
        if sub.is_global:
            continue
        for source in sub.sources:
            sources |= source.topics
            patterns |= {source.pattern} if source.pattern is not None else set()
        sinks |= {node.topic for node in sub.nodes if isinstance(node, Sink) and node.topic is not None}
    return sources, patterns, sinks


def _is_internal(name: str, sinks: set[str], application_id: str, names: TopicNames) -> bool:
    if name not in sinks or not may_be_read_back(name):
        return False
    own = f"{application_id}-{name}"
    # Before the first start neither name exists: then the naming rule alone decides.
    if own in names.visible or name not in names.visible:
        return True
    # The user's topic, unless the internal one is hidden.
    return isinstance(names.hidden, Missing) or own in names.hidden
