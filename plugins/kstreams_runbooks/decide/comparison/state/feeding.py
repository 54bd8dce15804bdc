"""Which topics fill a store: those that a merge brings together, and the tables of a foreign-key join."""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from itertools import combinations

from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.comparison.state.crossing import fits_crosswise
from kstreams_runbooks.decide.topology.names import stem
from kstreams_runbooks.decide.topology.partitions import joined_topics
from kstreams_runbooks.model.topology.topology import Node, Processor, Sink, Source

Pair = frozenset[str]

# What the left table of a foreign-key join asks the right one goes through a topic of such a name.
_ASKED = "subscription-registration"


def exchanged_tables(compared: Compared) -> frozenset[str]:
    """Stores of foreign-key joins whose tables have changed places under names that stay.

    A join keeps its names, and the left table is the one that writes the topic it asks through: what is kept behind
    that topic is of the other table from then on. If both tables have the same chosen names before them, they are
    distinguished by the kinds of the operators before one alone.
    """
    before, after = compared.before, compared.after
    shared = compared.shared_names | (before.topology.stores & after.topology.stores)
    asked = [
        name
        for name in sorted(before.internal & after.internal)
        if _ASKED in name.lower()
        and (
            _askers(before, name) & shared != _askers(after, name) & shared
            or fits_crosswise(_tables(before, name), _tables(after, name))
        )
    ]
    found: set[str] = set()
    for topic in asked:
        behind = _behind(after, topic)
        for store, keepers in after.keepers.items():
            if all(keeper.name in behind for keeper in keepers):
                found.add(store)
        first = (after.nodes[name] for reader in after.readers.get(topic, ()) for name in reader.successors)
        found |= {store for node in first if isinstance(node, Processor) for store in node.stores}
    return frozenset(found)


def merged_unevenly(compared: Compared) -> dict[str, tuple[bool | None, tuple[str, ...]]]:
    """Topics that fill one store with another since this change: whether their partitions differ, and the others.

    The library joins them in no co-partition group, so nothing is refused: a key is in a task of each topic's own
    number, and each task keeps a part of what belongs together. None where a number is not known.
    """
    before, after = compared.before, compared.after
    was, counts = dict(_uneven(before)), after.counts
    found: dict[str, tuple[bool | None, tuple[str, ...]]] = {}
    for pair, uneven in _uneven(after):
        if uneven is False or (pair in was and (uneven is None or was[pair] is not False)):
            continue
        for topic in pair:
            known, others = found.get(topic, (None, ()))
            if uneven or known is None:
                worse = uneven or known
                # A topic whose own number is known waits for that of the other.
                if uneven or topic not in counts:
                    found[topic] = (worse, tuple(sorted({*others, *(pair - {topic})})))
    return found


def _uneven(side: Side) -> Iterator[tuple[Pair, bool | None]]:
    """Pairs of topics that fill one store without a join between them, and whether their partitions differ.

    The application does not start on joined topics with different partitions, so those are a finding of their own.
    """
    counts, read = side.counts, _read_before(side)
    together = {read[keeper.name] for keepers in side.keepers.values() for keeper in keepers}
    pairs = {frozenset(pair) for topics in together for pair in combinations(sorted(topics), 2)}
    joined = joined_topics(side.topology, side.declared.suppressions.keys()) if pairs else []
    for pair in pairs:
        if any(pair <= group for group in joined):
            continue
        one, other = pair
        yield pair, counts[one] != counts[other] if pair <= counts.keys() else None


def _read_before(side: Side) -> dict[str, frozenset[str]]:
    """For each operator the topics read before it in its own subtopology; a store between leaves a key in its task."""
    found: dict[str, frozenset[str]] = {}
    left = {name: len(side.predecessors.get(name, ())) for name in side.nodes}
    ready = [name for name, count in left.items() if not count]
    while ready:
        node = side.nodes[ready.pop()]
        before = side.predecessors.get(node.name, ())
        own = node.topics if isinstance(node, Source) else frozenset[str]()
        found[node.name] = own if not before else own.union(*(found[name] for name in before))
        for name in () if isinstance(node, Sink) else node.successors:
            left[name] -= 1
            if not left[name]:
                ready.append(name)
    return found


def _tables(side: Side, topic: str) -> tuple[Counter[Hashable], Counter[Hashable]]:
    """Kinds of the operators before the left table of a foreign-key join alone, and before the right one alone."""
    behind = _behind(side, topic)
    first = (side.nodes[name] for reader in side.readers.get(topic, ()) for name in reader.successors)
    stores = {store for node in first if isinstance(node, Processor) for store in node.stores}
    answering = {one.name for store in stores for one in side.keepers[store] if one.name not in behind}
    # Each table is right before an operator of the join; the left one's writes the topic.
    asking = _right_before(side, side.writers.get(topic, ()))
    left, right = (_before(side, _right_before(side, names)) for names in (asking, answering))
    return _kinds(side, left - right), _kinds(side, right - left)


def _right_before(side: Side, names: Iterable[str]) -> set[str]:
    return {one for name in names for one in side.predecessors.get(name, ())}


def _kinds(side: Side, names: Iterable[str]) -> Counter[Hashable]:
    return Counter(stem(name) for name in names if name not in side.around)


def _askers(side: Side, topic: str) -> frozenset[str]:
    """Topics, operators and stores before the sink of a topic, in its own subtopology."""
    return _before(side, side.writers.get(topic, ()))


def _before(side: Side, names: Iterable[str]) -> frozenset[str]:
    """These operators and those before them, with their topics and stores, in their own subtopology."""
    found: set[str] = set()
    waiting = [*names]
    while waiting:
        node = side.nodes[waiting.pop()]
        if node.name not in found:
            found |= {node.name, *_kept_or_read(node)}
            waiting += side.predecessors.get(node.name, ())
    return frozenset(found)


def _kept_or_read(node: Node) -> frozenset[str]:
    if isinstance(node, Processor):
        return node.stores
    return node.topics if isinstance(node, Source) else frozenset()


def _behind(side: Side, topic: str) -> set[str]:
    """Operators that a topic leads to, through other internal topics as well."""
    found: set[str] = set()
    waiting = [reader.name for reader in side.readers.get(topic, ())]
    while waiting:
        node = side.nodes[waiting.pop()]
        if node.name not in found:
            found.add(node.name)
            if isinstance(node, Sink):
                waiting += [reader.name for reader in side.readers.get(node.topic or "", ())]
            else:
                waiting += node.successors
    return found
