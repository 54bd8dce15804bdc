"""An old and a new version of an application side by side, with the counterparts of each in the other."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from kstreams_runbooks.decide.comparison.counterparts import Counterparts, counterparts
from kstreams_runbooks.decide.comparison.facts import either
from kstreams_runbooks.decide.topology.digraph import Key
from kstreams_runbooks.decide.topology.graph import (
    Role,
    chosen_names,
    graph,
    internal_topics,
    keys_by_name,
    leading_only_to,
    leading_to,
    neighbours,
    operator_roles,
    origins,
    plumbing,
    reach_of,
    store_roles,
    topic_roles,
)
from kstreams_runbooks.decide.topology.names import is_generated, is_registration
from kstreams_runbooks.decide.topology.partitions import partition_counts, undetermined
from kstreams_runbooks.decide.topology.threads import Parallelism, parallelism, threads_of
from kstreams_runbooks.model.topology.declaration import Declaration
from kstreams_runbooks.model.topology.topology import Node, Processor, Sink, Source, Topology


@dataclass(frozen=True)
class Side:
    """One version: its topology and its declaration."""

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
    def predecessors(self) -> dict[str, list[str]]:
        """The operators right before each, by name, within its subtopology."""
        found: dict[str, list[str]] = {}
        for node in self.nodes.values():
            for name in () if isinstance(node, Sink) else node.successors:
                found.setdefault(name, []).append(node.name)
        return found

    @cached_property
    def writers(self) -> dict[str, list[str]]:
        """The sinks of each topic by name, without those whose extractor chooses it."""
        found: dict[str, list[str]] = {}
        for node in self.nodes.values():
            if isinstance(node, Sink) and node.topic is not None:
                found.setdefault(node.topic, []).append(node.name)
        return found

    @cached_property
    def readers(self) -> dict[str, list[Source]]:
        """The sources of each topic by name, without those of a pattern."""
        found: dict[str, list[Source]] = {}
        for node in self.nodes.values():
            if isinstance(node, Source):
                for topic in node.topics:
                    found.setdefault(topic, []).append(node)
        return found

    @cached_property
    def keepers(self) -> dict[str, list[Processor]]:
        """The operators of each store; global ones apart."""
        found: dict[str, list[Processor]] = {}
        for sub in self.topology.subtopologies:
            for node in () if sub.is_global else sub.nodes:
                if isinstance(node, Processor):
                    for store in node.stores:
                        found.setdefault(store, []).append(node)
        return found

    @cached_property
    def around(self) -> set[str]:
        """Operators that the library put around internal topics."""
        return plumbing(self.nodes, self.internal)

    @cached_property
    def store_places(self) -> Mapping[str, str]:
        """The subtopology that keeps each store; global ones apart."""
        return {store: sub.id for sub in self.topology.subtopologies if not sub.is_global for store in sub.stores}

    @cached_property
    def kept_at(self) -> dict[str, list[str]]:
        """The stores of each subtopology; global ones apart."""
        found: dict[str, list[str]] = {}
        for store, place in self.store_places.items():
            found.setdefault(place, []).append(store)
        return found

    @cached_property
    def subscription_stores(self) -> frozenset[str]:
        """Stores that a foreign-key join makes: those of the operators right behind its registration topics."""
        behind = {
            name
            for node in self.nodes.values()
            if isinstance(node, Source) and any(is_registration(topic) for topic in node.topics & self.internal)
            for name in node.successors
        }
        nodes = (self.nodes[name] for name in behind)
        return frozenset(store for node in nodes if isinstance(node, Processor) for store in node.stores)

    @cached_property
    def counts(self) -> dict[str, int]:
        """Partitions by topic, as printed: declared ones, and those that follow for internal topics."""
        given = {name: one.partitions for name, one in self.declared.topics.items() if one.partitions is not None}
        return partition_counts(self.topology, given, self.declared.suppressions.keys())

    @cached_property
    def by_order(self) -> frozenset[str]:
        """Repartition topics whose partitions depend on the order in which the library counts them."""
        return undetermined(self.topology, self.counts)

    @cached_property
    def parallelism(self) -> Parallelism | None:
        """Its threads and tasks, None if instances, settings or the partitions of an input are not declared."""
        threads = threads_of(self.declared.config, self.declared.instance_count)
        return None if threads is None else parallelism(self.topology, self.counts, threads)

    @cached_property
    def global_stores(self) -> dict[str, tuple[str, ...]]:
        """The stores of each topic that a global store reads: its number among the subtopologies names no directory."""
        return {
            topic: tuple(sorted(sub.stores))
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
        """External topics that it reads, a pattern as one; None for both kinds."""
        return {
            topic
            for sub in self.topology.subtopologies
            if is_global is None or sub.is_global is is_global
            for source in sub.sources
            for topic in topics_of(source)
            if topic not in self.internal
        }

    @cached_property
    def patterns(self) -> frozenset[str]:
        """The patterns of its sources."""
        return frozenset(
            source.pattern for sub in self.topology.subtopologies for source in sub.sources if source.pattern
        )

    @cached_property
    def sinks(self) -> dict[str, tuple[str, ...]]:
        """The names of the sinks of each topic, sorted, an extractor as one topic."""
        found: dict[str, list[str]] = {}
        for name in sorted(self.nodes):
            if target := target_of(self.nodes[name]):
                found.setdefault(target, []).append(name)
        return {target: tuple(names) for target, names in found.items()}

    def written(self) -> set[str]:
        """External topics that it writes, an extractor as one."""
        return self.sinks.keys() - self.internal


@dataclass(frozen=True)
class Compared:
    """The old and the new version, and the counterparts among their stores, internal topics and operators.

    `state_cleared`: all local state is deleted between them, because the new library does not open what is there.
    """

    before: Side
    after: Side
    state_cleared: bool = field(default=False, kw_only=True)

    @cached_property
    def stores(self) -> Counterparts:
        """Stores by their role; a kept table is its own, whichever side of a join it is on."""
        roles = [
            {name: role for name, role in store_roles(side.topology).items() if name not in self.kept_tables}
            for side in (self.before, self.after)
        ]
        found = counterparts(*roles)
        other = set(self._of_two_tables(found.renamed))
        pairs = (*(pair for pair in found.pairs if pair not in other), *((name, name) for name in self.kept_tables))
        return replace(
            found,
            pairs=tuple(sorted(pairs)),
            removed=tuple(sorted((*found.removed, *(old for old, _ in other)))),
            added=tuple(sorted((*found.added, *(new for _, new in other)))),
        )

    def _of_two_tables(self, renamed: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
        """Those pairs of stores that are tables of topics which the other version does not read.

        A table alone fills its store: what another topic leads to only looks into it.
        """
        filled = fillers(self.before), fillers(self.after)
        read_before, read_after = self.before.read(), self.after.read()
        for old, new in renamed:
            was, now = filled[0].get(old, {}), filled[1].get(new, {})
            before, after = ({topic for topic, is_table in topics.items() if is_table} for topics in (was, now))
            known = None not in (*was.values(), *now.values())
            if known and before and after and not (before & read_after or after & read_before):
                yield old, new

    @cached_property
    def topics(self) -> Counterparts:
        """Internal topics by their role."""
        return counterparts(topic_roles(self.before.topology), topic_roles(self.after.topology))

    @cached_property
    def operators(self) -> Counterparts:
        """Operators by their role."""
        return counterparts(operator_roles(self.before.topology), operator_roles(self.after.topology), hold_data=False)

    @cached_property
    def program(self) -> Counterparts:
        """Operators of the program itself, by their role."""
        if not self.before.around and not self.after.around:
            return self.operators
        return counterparts(_program_roles(self.before), _program_roles(self.after), hold_data=False)

    @cached_property
    def shared_names(self) -> frozenset[str]:
        """Chosen names of operators and external topics that both versions have, plumbing apart."""
        both = chosen_names(self.before.topology) & chosen_names(self.after.topology)
        return both - self.before.around - self.after.around

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The shared names in their order."""
        return tuple(sorted(self.shared_names))

    @cached_property
    def kept_tables(self) -> frozenset[str]:
        """Stores that a table fills from the same external topics in both versions: no other one has their records."""
        both = filled_by_tables(self.before).items() & filled_by_tables(self.after).items()
        return frozenset(store for store, _ in both)

    @cached_property
    def fed_by_other(self) -> frozenset[str]:
        """Stores and internal topics of both versions behind other operators or topics, which both versions have.

        An operator that is only added in front, or only removed, changes the processing of records, not their origin.
        What else uses the store of a table looks into it: the table alone fills it.
        """
        # A grouping is named after its topic, which has a subject of its own.
        was, now = (neighbours(side.topology, self.names) for side in (self.before, self.after))
        both = was.keys() & now.keys() - self.kept_tables
        return frozenset(name for name in both if was[name] & ~now[name] and now[name] & ~was[name])

    @cached_property
    def written_by_other(self) -> frozenset[str]:
        """External topics that both versions write, behind other operators or topics, which both versions have."""
        # A sink belongs to its topic.
        sinks = {name for side in (self.before, self.after) for named in side.sinks.values() for name in named}
        but = sum(1 << place for place, name in enumerate(self.names) if name in sinks)
        topics = self.before.writers.keys() & self.after.writers.keys() - self.before.internal - self.after.internal
        was, now = (origins(side.topology, self.names, topics) for side in (self.before, self.after))
        return frozenset(one for one in topics if was[one] & ~now[one] & ~but and now[one] & ~was[one] & ~but)

    @cached_property
    def renamed(self) -> set[str]:
        """New names of renamed stores and internal topics."""
        return {new for found in (self.stores, self.topics) for _, new in found.renamed}

    @cached_property
    def stateful(self) -> bool:
        """Whether either version keeps state."""
        return bool(self.before.topology.stores | self.after.topology.stores)

    @property
    def same_program(self) -> bool:
        """Whether both are known to be one build: only settings, releases and the cluster can differ."""
        return bool(self.after.declared.same_program)

    @property
    def nothing_in_common(self) -> bool:
        """Whether the two share neither an external topic nor a name of anything persistent: two applications."""
        shared = (self.before.read() & self.after.read()) | (self.before.written() & self.after.written())
        return not shared and all(old != new for old, new in (*self.stores.pairs, *self.topics.pairs))


def _program_roles(side: Side) -> dict[str, Role]:
    return {name: role for name, role in operator_roles(side.topology).items() if name not in side.around}


def target_of(node: Node) -> str:
    """The target of a sink: a topic, or the extractor that chooses one; empty for any other node."""
    return (node.topic or node.extractor or "") if isinstance(node, Sink) else ""


def topics_of(source: Source) -> tuple[str, ...]:
    """The topics of a source, sorted; a pattern as one."""
    return tuple(sorted(source.topics)) if source.pattern is None else (source.pattern,)


# A table without a chosen name, and the end of the source of one with a name: `x` is behind `x-source`.
_GENERATED, _ITS_SOURCE = "KTABLE-SOURCE-", "-source"
# Kinds of store that no table has.
_NO_TABLE = {"window", "session", "join"}


def fillers(side: Side) -> dict[str, dict[str, bool | None]]:
    """What fills each store straight from a source: external topics, each with whether a table reads it.

    None if names hide it. An operator that only looks into a store, such as a join right behind its source, fills
    nothing: the processor of the table does. Global tables are not among them.
    """
    found: dict[str, dict[str, bool | None]] = {}
    for store, keepers in side.keepers.items():
        behind = {keeper.name: _sources_of(side, keeper) for keeper in keepers}
        tables = {name: _is_table(side, store, name, sources, behind) for name, sources in behind.items() if sources}
        of: dict[str, bool | None] = {}
        for name, is_table in tables.items():
            for topic in {topic for source in behind[name] for topic in source.topics} - side.internal:
                of[topic] = either(of.get(topic, False), is_table)
        found[store] = of
    return found


def source_tables(side: Side) -> dict[str, bool | None]:
    """Topics that operators with a store read first, and whether a table is among them: a name hides it (None).

    A store declares with `source_table` what a name hides. Global tables never have a changelog.
    """
    found: dict[str, bool | None] = {}
    for topics in fillers(side).values():
        for topic, is_table in topics.items():
            found[topic] = either(found.get(topic, False), is_table)
    return found


def filled_by_tables(side: Side) -> dict[str, frozenset[str]]:
    """The stores of tables whose names show that, each with the external topics that its table reads."""
    found: dict[str, frozenset[str]] = {}
    for store, keepers in side.keepers.items():
        tables = [one.name for one in keepers if one.name.startswith(_GENERATED)]
        sources = [side.nodes[source] for name in tables for source in side.predecessors.get(name, ())]
        topics = frozenset(topic for source in sources if isinstance(source, Source) for topic in source.topics)
        if topics and not topics & side.internal:
            found[store] = topics
    return found


def _sources_of(side: Side, keeper: Processor) -> list[Source]:
    nodes = (side.nodes[name] for name in side.predecessors.get(keeper.name, ()))
    return [node for node in nodes if isinstance(node, Source)]


def _is_table(
    side: Side, store: str, name: str, sources: list[Source], behind: Mapping[str, list[Source]]
) -> bool | None:
    """Whether an operator right behind `sources` is the table of a store; `behind` has all operators of the store.

    Kafka Streams names a table and its source alike (KIP-307). Two operators behind sources of their own cannot both
    be the table: the one whose name shows it fills the store, and the other looks into it.
    """
    declared = side.declared.stores.get(store)
    if declared is not None and declared.changelog is not None:
        # The topic that restores a store fills it; the name of the operator shows nothing then.
        return any(declared.changelog in source.topics for source in sources)
    if name.startswith(_GENERATED):
        return True
    # An aggregation, a join or a processor of one's own has a kind of store that no table has.
    told = None if declared is None else declared.source_table
    kind = None if declared is None else declared.kind
    operator, node = side.declared.operators.get(name), side.nodes[name]
    joins = operator is not None and operator.join is not None
    several = isinstance(node, Processor) and len(node.stores) != 1
    others = [one for one, its in behind.items() if its and one != name]
    generated = is_generated(name) and not (told and not others)
    if generated or joins or told is False or kind in _NO_TABLE or (several and not told):
        return False
    if any(one.startswith(_GENERATED) for one in others):
        return False
    alike = {one for one, its in behind.items() if any(source.name == f"{one}{_ITS_SOURCE}" for source in its)}
    if others and name not in alike and alike:
        return False
    open_ = [one for one in others if one not in alike and not _joins(side, one)] if name not in alike else []
    return True if told and not open_ else None


def _joins(side: Side, name: str) -> bool:
    """Whether an operator is known not to be a table: a generated name, or a join that keeps no result."""
    operator = side.declared.operators.get(name)
    return is_generated(name) or (operator is not None and operator.join is not None)


def mergeable(side: Side, *, through: bool) -> bool:
    """Whether two repartition topics are filled behind one operator, without a new key for each of them.

    With `through` there may be other operators between it and one of them.

    Source: KIP-295; what the library builds with and without it, tests/apps/topologies
    (optimization-set-but-settings-not-passed, repartition-topics-merged-by-optimization).
    """
    origins = list(_origins(side))
    if len(set(origins)) < len(origins):
        return True
    reach = reach_of(side.topology)
    return through and any(reach.before([one]) & reach.bits(origins) for one in origins)


def _sinks(side: Side) -> list[Sink]:
    nodes = side.nodes.values()
    return [node for node in nodes if isinstance(node, Sink) and node.topic in side.internal]


def _origins(side: Side) -> Iterator[Key]:
    """The operator before the filter of a repartition topic; None if the topic has a key-select of its own."""
    arrows, only = graph(side.topology).predecessors, leading_only_to(side.nodes)
    called = keys_by_name(side.topology)
    for sink in _sinks(side):
        plumbing = list(leading_to(sink, only, sink.topic or ""))
        if len(plumbing) == 1:
            before = [key for own in called[plumbing[0]] for key in arrows[own]]
            if len(before) == 1 and before[0][0] != "topic:":
                yield before[0]
