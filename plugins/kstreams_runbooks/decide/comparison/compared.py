"""An old and a new version of an application side by side, with what in the one is what in the other."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from kstreams_runbooks.decide.comparison.counterparts import Counterparts, counterparts
from kstreams_runbooks.decide.topology.graph import (
    Role,
    graph,
    internal_topics,
    keys_by_name,
    leading_only_to,
    leading_to,
    operator_roles,
    plumbing,
    reach_of,
    store_roles,
    topic_roles,
)
from kstreams_runbooks.decide.topology.names import is_generated
from kstreams_runbooks.decide.topology.reach import Key
from kstreams_runbooks.model.topology.declaration import Declaration
from kstreams_runbooks.model.topology.topology import Node, Processor, Sink, Source, Topology


@dataclass(frozen=True)
class Version:
    """One version: its topology, and what it declares beside it."""

    topology: Topology
    declared: Declaration = field(default_factory=Declaration)

    @cached_property
    def internal(self) -> frozenset[str]:
        """Topics that it both writes and reads."""
        return internal_topics(self.topology)

    @cached_property
    def nodes(self) -> dict[str, Node]:
        """Its operators by name."""
        return {node.name: node for _, node in self.topology.nodes()}

    @cached_property
    def around(self) -> set[str]:
        """Operators that the library put around internal topics."""
        return plumbing(self.nodes, self.internal)

    @cached_property
    def store_places(self) -> Mapping[str, str]:
        """The subtopology that keeps each store; global ones apart."""
        return {store: sub.id for sub in self.topology.subtopologies if not sub.is_global for store in sub.stores}

    @cached_property
    def global_stores(self) -> dict[str, tuple[str, ...]]:
        """The stores of each topic that a global store reads, and the number of its subtopology before them."""
        return {
            topic: (sub.id, *sorted(sub.stores))
            for sub in self.topology.subtopologies
            if sub.is_global
            for source in sub.sources
            for topic in topics_of(source)
        }

    @cached_property
    def topic_places(self) -> dict[str, str]:
        """The subtopology that reads each internal topic."""
        return {
            topic: sub.id
            for sub in self.topology.subtopologies
            for source in sub.sources
            for topic in source.topics
            if topic in self.internal
        }

    def read(self, *, is_global: bool | None = None) -> set[str]:
        """Topics of others that it reads, a pattern as one; None for both kinds."""
        return {
            topic
            for sub in self.topology.subtopologies
            if is_global is None or sub.is_global is is_global
            for source in sub.sources
            for topic in topics_of(source)
            if topic not in self.internal
        }

    def written(self) -> set[str]:
        """Topics of others that it writes, an extractor as one."""
        targets = (target_of(node) for _, node in self.topology.nodes())
        return {target for target in targets if target and target not in self.internal}


@dataclass(frozen=True)
class Compared:
    """The old and the new version, and which store, internal topic and operator of the one is which of the other."""

    before: Version
    after: Version

    @cached_property
    def stores(self) -> Counterparts:
        """Stores by what they do."""
        return counterparts(store_roles(self.before.topology), store_roles(self.after.topology))

    @cached_property
    def topics(self) -> Counterparts:
        """Internal topics by what they do."""
        return counterparts(topic_roles(self.before.topology), topic_roles(self.after.topology))

    @cached_property
    def operators(self) -> Counterparts:
        """Operators by what they do."""
        return counterparts(operator_roles(self.before.topology), operator_roles(self.after.topology), hold_data=False)

    @cached_property
    def program(self) -> Counterparts:
        """Operators that somebody wrote, by what they do."""
        return counterparts(_program_roles(self.before), _program_roles(self.after), hold_data=False)

    @cached_property
    def renamed(self) -> set[str]:
        """New names of stores and internal topics that had another."""
        return {new for found in (self.stores, self.topics) for _, new in found.renamed}

    @cached_property
    def stateful(self) -> bool:
        """Whether either version keeps anything."""
        return bool(self.before.topology.stores | self.after.topology.stores)

    @property
    def nothing_in_common(self) -> bool:
        """Whether the two share neither a topic of others nor anything persistent: two applications, mixed up."""
        shared = (self.before.read() & self.after.read()) | (self.before.written() & self.after.written())
        return not shared and not self.stores.pairs and not self.topics.pairs


def _program_roles(version: Version) -> dict[str, Role]:
    return {name: role for name, role in operator_roles(version.topology).items() if name not in version.around}


def target_of(node: Node) -> str:
    """What a sink writes to: a topic, or the extractor that says which; empty for any other node."""
    return (node.topic or node.extractor or "") if isinstance(node, Sink) else ""


def topics_of(source: Source) -> tuple[str, ...]:
    """What a source reads, sorted; a pattern as one."""
    return tuple(sorted(source.topics)) if source.pattern is None else (source.pattern,)


_GENERATED = "KTABLE-SOURCE-"


def source_tables(version: Version) -> dict[str, bool | None]:
    """Topics that a processor with one store reads first, and whether it is a table: a name hides it (None).

    A store says of itself with `source_table` what a name hides. Global tables never have a changelog.
    """
    found: dict[str, bool | None] = {}
    for sub in version.topology.subtopologies:
        for source in (node for node in sub.nodes if isinstance(node, Source) and not sub.is_global):
            for name in source.successors:
                node = version.nodes[name]
                if isinstance(node, Processor) and node.stores:
                    for topic in source.topics - version.internal:
                        answer = _is_table(version, node)
                        if found.get(topic) is not True:
                            found[topic] = answer
    return found


def _is_table(version: Version, node: Processor) -> bool | None:
    if node.name.startswith(_GENERATED):
        return True
    told = [version.declared.stores[store].source_table for store in node.stores if store in version.declared.stores]
    if True in told:
        return True
    # An aggregation, a join or a processor of one's own has a kind of store that no table has.
    kinds = [version.declared.stores[store].kind for store in node.stores if store in version.declared.stores]
    if is_generated(node.name) or len(node.stores) != 1 or False in told or {"window", "session", "join"} & set(kinds):
        return False
    return None


def mergeable(version: Version, *, through: bool) -> bool:
    """Whether two repartition topics are filled behind one operator, without a new key for each of them.

    With `through` other operators may stand between it and one of them.

    Source: KIP-295; what the library builds with and without it, tests/apps/topologies
    (optimization-set-but-settings-not-passed, repartition-topics-merged-by-optimization).
    """
    origins = list(_origins(version))
    if len(set(origins)) < len(origins):
        return True
    reach = reach_of(version.topology)
    return through and any(reach.before([one]) & reach.bits(origins) for one in origins)


def _sinks(version: Version) -> list[Sink]:
    nodes = version.nodes.values()
    return [node for node in nodes if isinstance(node, Sink) and node.topic in version.internal]


def _origins(version: Version) -> Iterator[Key]:
    """The operator before the filter of each repartition topic; none where the topic has a key-select of its own."""
    made, only = graph(version.topology), leading_only_to(version.nodes)
    called = keys_by_name(version.topology)
    for sink in _sinks(version):
        plumbing = list(leading_to(sink, only, sink.topic or ""))
        if len(plumbing) == 1:
            before = [key for own in called[plumbing[0]] for key in made.predecessors(own)]
            if len(before) == 1 and before[0][0] != "topic:":
                yield before[0]
