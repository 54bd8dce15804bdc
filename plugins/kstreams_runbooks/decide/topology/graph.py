"""A topology as a graph, and the role of each store and internal topic in it."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from kstreams_runbooks.decide.topology.digraph import Digraph, Key
from kstreams_runbooks.decide.topology.names import is_generated, may_be_read_back, repartition_base, stem
from kstreams_runbooks.decide.topology.reach import Around, Reach
from kstreams_runbooks.model.topology.topology import Node, Processor, Sink, Source, Subtopology, Topology

Labels = tuple[tuple[str, int], ...]

# The kind of a topic among the keys of a graph.
TOPIC_KEY = "topic:"
_AROUND = re.compile(r".*-repartition-(filter|sink|source)")


@dataclass(frozen=True, slots=True)
class Role:
    """The role of a store or an internal topic, apart from its name.

    `owners` are the operators that keep or write it, as labels with their number, and `has_named_owners` whether all of
    them have chosen names; `before` and `behind` all operators upstream and downstream; `inputs` and `outputs` the
    external topics at either end.
    """

    owners: Labels
    before: Around
    behind: Around
    inputs: frozenset[str]
    outputs: frozenset[str]
    has_named_owners: bool = False

    def __hash__(self) -> int:
        """Of what differs between most roles: a role is looked up many times."""
        return hash((self.before.fingerprint, self.behind.fingerprint, self.owners))


@lru_cache(maxsize=4)
def graph(topology: Topology) -> Digraph:
    """Operators and topics; an internal topic leads on from its writers to its readers.

    A shared store is not an edge: the text does not show its writer. Every query about a topology uses its graph, and
    the last ones are cached.
    """
    return Digraph.of(_operators(topology), _arrows(topology))


def _operators(topology: Topology) -> dict[Key, Node]:
    return {(sub.topology, node.name): node for sub, node in topology.nodes()}


def _arrows(topology: Topology) -> Iterator[tuple[Key, Key]]:
    for sub, node in topology.nodes():
        own = (sub.topology, node.name)
        for after in () if isinstance(node, Sink) else node.successors:
            yield own, (sub.topology, after)
        for topic in _topics(node):
            yield (own, (TOPIC_KEY, topic)) if isinstance(node, Sink) else ((TOPIC_KEY, topic), own)


@lru_cache(maxsize=4)
def keys_by_name(topology: Topology) -> Mapping[str, Sequence[Key]]:
    """The operators and topics of each name, in the order of the graph."""
    found: dict[str, list[Key]] = {}
    for key in graph(topology).successors:
        found.setdefault(key[1], []).append(key)
    return found


@lru_cache(maxsize=4)
def reach_of(topology: Topology) -> Reach:
    """What leads to each operator and topic, and what follows it; each is known by its label."""
    return Reach(graph(topology), _labels(topology))


@lru_cache(maxsize=4)
def _roles(topology: Topology) -> "_Roles":
    return _Roles(graph(topology), reach_of(topology), _labels(topology))


@lru_cache(maxsize=4)
def internal_topics(topology: Topology) -> frozenset[str]:
    """Repartition topics and those of foreign-key joins, as printed: written, read, and with a library name.

    Source: Kafka Streams developer guide, Managing Streams Application Topics; KIP-213, KIP-221, KIP-775. A user topic
    that the topology writes and reads again and that has such a name is among them: they are indistinguishable.
    """
    nodes = [node for _, node in topology.nodes()]
    written = {node.topic for node in nodes if isinstance(node, Sink) and node.topic is not None}
    read = {topic for node in nodes if isinstance(node, Source) for topic in node.topics}
    return frozenset(topic for topic in written & read if may_be_read_back(topic))


@lru_cache(maxsize=4)
def rounds(topology: Topology) -> Mapping[str, frozenset[str]]:
    """Topics that lead back to themselves, each with the operators of its round, sources and sinks among them."""
    return {
        name: frozenset(operator for other, operator in circle if other != TOPIC_KEY)
        for circle in graph(topology).circles()
        if len(circle) > 1
        for kind, name in circle
        if kind == TOPIC_KEY
    }


@lru_cache(maxsize=4)
def store_roles(topology: Topology) -> Mapping[str, Role]:
    """The role of every store, by its name; a global one has none: its topic restores it."""
    keepers = _keepers(sub for sub in topology.subtopologies if not sub.is_global)
    return _roles(topology).of_each(keepers)


@lru_cache(maxsize=4)
def chosen_names(topology: Topology) -> frozenset[str]:
    """Operators with chosen names, and external topics."""
    internal = internal_topics(topology)
    nodes = [node for _, node in topology.nodes()]
    operators = {node.name for node in nodes if not is_generated(node.name)}
    return frozenset(operators | {topic for node in nodes for topic in _topics(node) if topic not in internal})


@dataclass(frozen=True, slots=True)
class Marked:
    """Some names as bits in their order: the own one of each operator and topic, and those before and behind it.

    The bits of what leads to it and of what follows it include its own.
    """

    own: Mapping[Key, int]
    led: Mapping[Key, int]
    followed: Mapping[Key, int]


@lru_cache(maxsize=4)
def marked(topology: Topology, names: tuple[str, ...]) -> Marked:
    """The bits of `names` for each operator: its own, those that lead to it, and those that follow it."""
    place = {name: 1 << number for number, name in enumerate(names)}
    own = {key: place.get(name, 0) for name, keys in keys_by_name(topology).items() for key in keys}
    return Marked(own, *reach_of(topology).led_and_followed(own))


def neighbours(topology: Topology, names: tuple[str, ...]) -> dict[str, int]:
    """Which of `names`, as bits in their order, are before the operators of each store.

    Of internal topics those before and behind them. A name that both have is the store's.
    """
    reach, called, marks = reach_of(topology), keys_by_name(topology), marked(topology, names)
    bits, led, followed = marks.own, marks.led, marks.followed

    def without(own: Key, found: int, keys: int) -> int:
        """Take its own name away, unless something else that is there has the same."""
        namesakes = [key for key in called[own[1]] if key != own]
        return found if keys & reach.bits(namesakes) else found & ~bits[own]

    around: dict[str, int] = {}
    for topic in internal_topics(topology):
        own = (TOPIC_KEY, topic)
        before = without(own, led[own], reach.before([own]))
        around[topic] = before | without(own, followed[own], reach.behind([own]))
    for store, keepers in _keepers(topology.subtopologies).items():
        around[store] = 0
        for own in keepers:
            around[store] |= without(own, led[own], reach.before([own]))
    return around


def origins(topology: Topology, names: tuple[str, ...], topics: Iterable[str]) -> dict[str, int]:
    """Which of `names`, as bits in their order, are before each of `topics`."""
    marks = marked(topology, names)
    return {topic: marks.led[TOPIC_KEY, topic] & ~marks.own[TOPIC_KEY, topic] for topic in topics}


def feeds(topology: Topology, shared: Collection[str]) -> dict[str, Labels]:
    """For every store the `shared` topics that lead to each of its operators, independent of all names.

    In a join of two sides each store has an operator that fills it and one that reads it; the second one comes behind
    the one that fills the other store, which distinguishes them.
    """
    reach = reach_of(topology)
    keeping = [(sub, node) for sub, node in topology.nodes() if isinstance(node, Processor) and node.stores]
    keepers = reach.bits({(sub.topology, node.name) for sub, node in keeping})
    wanted = reach.bits(
        (kind, name) for kind, name in graph(topology).successors if kind == TOPIC_KEY and name in shared
    )
    found: dict[str, list[str]] = {}
    named: dict[int, list[str]] = {}
    for sub, node in keeping:
        before = reach.before([(sub.topology, node.name)])
        if before & wanted not in named:
            named[before & wanted] = sorted(name for _, name in reach.keys(before & wanted))
        topics = named[before & wanted]
        for store in node.stores if not sub.is_global else ():
            found.setdefault(store, []).append(" ".join(("behind" if before & keepers else "fills", *topics)))
    return {store: _counted(each) for store, each in found.items()}


@lru_cache(maxsize=4)
def topic_roles(topology: Topology) -> Mapping[str, Role]:
    """The role of every internal topic, by its name as printed: its owners are the sinks that write it."""
    owners: dict[str, list[Key]] = {}
    internal = internal_topics(topology)
    for sub, node in topology.nodes():
        if isinstance(node, Sink) and node.topic in internal:
            owners.setdefault(node.topic, []).append((sub.topology, node.name))
    return _roles(topology).of_each(owners)


@lru_cache(maxsize=4)
def operator_roles(topology: Topology) -> Mapping[str, Role]:
    """The role of every operator, by its name."""
    return _roles(topology).of_each({node.name: [(sub.topology, node.name)] for sub, node in topology.nodes()})


def _keepers(subtopologies: Iterable[Subtopology]) -> dict[str, list[Key]]:
    """The operators that a thing belongs to, as they are found."""
    found: dict[str, list[Key]] = {}
    for sub in subtopologies:
        for node in sub.nodes:
            for store in node.stores if isinstance(node, Processor) else ():
                found.setdefault(store, []).append((sub.topology, node.name))
    return found


class _Roles:
    """The roles in one graph."""

    def __init__(self, made: Digraph, reach: Reach, labels: Mapping[Key, str]) -> None:
        self._reach = reach
        self._labels = labels
        topics = [key for key in made.successors if key[0] == TOPIC_KEY]
        self._inputs = self._reach.bits(key for key in topics if not made.predecessors[key])
        self._outputs = self._reach.bits(key for key in topics if not made.successors[key])
        self._named: dict[int, frozenset[str]] = {}
        self._found: dict[tuple[Key, ...], Role] = {}

    def of_each(self, owners: Mapping[str, list[Key]]) -> dict[str, Role]:
        """The role of each thing, by the operators that it belongs to; all stores of one operator share one role."""
        return {name: self._role(tuple(own)) for name, own in owners.items()}

    def _role(self, owners: tuple[Key, ...]) -> Role:
        if owners not in self._found:
            self._found[owners] = self._of(owners)
        return self._found[owners]

    def _of(self, owners: Sequence[Key]) -> Role:
        before, behind = self._reach.before(owners), self._reach.behind(owners)
        return Role(
            owners=_counted([self._labels[key] for key in owners]),
            before=self._reach.around(before),
            behind=self._reach.around(behind),
            inputs=self._names(before & self._inputs),
            outputs=self._names(behind & self._outputs),
            has_named_owners=not any(is_generated(name) or _AROUND.fullmatch(name) for _, name in owners),
        )

    def _names(self, topics: int) -> frozenset[str]:
        """Names by bits; equal sets are one object."""
        if topics not in self._named:
            self._named[topics] = frozenset(name for _, name in self._reach.keys(topics))
        return self._named[topics]


@lru_cache(maxsize=4)
def _labels(topology: Topology) -> Mapping[Key, str]:
    """The label of each operator: its kind if its name was generated, else the chosen name.

    Sources and sinks also by their topics. An internal topic is named after the store or operator that it is there for:
    its name is not a role.
    """
    made = graph(topology)
    topics = {
        key: f"{TOPIC_KEY} internal" if made.predecessors[key] and made.successors[key] else f"{TOPIC_KEY} {key[1]}"
        for key in made.successors
        if key[0] == TOPIC_KEY
    }
    operators: dict[Key, str] = {}
    for key, node in _operators(topology).items():
        called = "" if _AROUND.fullmatch(node.name) else stem(node.name)
        operators[key] = (
            f"{type(node).__name__} {called} {' '.join(topics[TOPIC_KEY, topic] for topic in _topics(node))}"
        )
    return {**operators, **topics}


def _counted(labels: Sequence[str]) -> Labels:
    if len(labels) == 1:
        return ((labels[0], 1),)
    return tuple(sorted(Counter(labels).items()))


def _topics(node: Node) -> tuple[str, ...]:
    if isinstance(node, Source):
        return tuple(sorted(node.topics)) if node.pattern is None else (node.pattern,)
    if isinstance(node, Sink):
        return (node.topic,) if node.topic is not None else ()
    return ()


def plumbing(nodes: Mapping[str, Node], internal: frozenset[str]) -> set[str]:
    """Operators added by the library: the source, the sink, and the filter and key that belong to an internal topic.

    A named `groupBy` is the processor of that name; an unnamed one is a key-select right before the topic.
    """
    found: set[str] = set()
    only = leading_only_to(nodes)
    for node in nodes.values():
        if isinstance(node, Source) and node.topics & internal:
            found.add(node.name)
        elif isinstance(node, Sink) and node.topic in internal:
            found |= {node.name, *leading_to(node, only, node.topic or "")}
    return found


def leading_only_to(nodes: Mapping[str, Node]) -> dict[str, list[str]]:
    """The operators without a store that lead to one operator and to no other, by that one."""
    found: dict[str, list[str]] = {}
    for node in nodes.values():
        if isinstance(node, Processor) and len(node.successors) == 1 and not node.stores:
            [after] = node.successors
            found.setdefault(after, []).append(node.name)
    return found


def leading_to(sink: Sink, only: Mapping[str, Sequence[str]], topic: str) -> Iterator[str]:
    """The filter right before a sink of an internal topic, and the key-select before that.

    `only` is what `leading_only_to` finds.
    """
    name, base = sink.name, repartition_base(topic)
    for begins, called in (("KSTREAM-FILTER-", f"{base}-repartition-filter"), ("KSTREAM-KEY-SELECT-", base)):
        found = [one for one in only.get(name, ()) if one.startswith(begins) or one == called]
        if len(found) != 1:
            return
        [name] = found
        yield name
