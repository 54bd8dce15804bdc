"""The store from which an operator gets its updates."""

from collections import deque
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache

from kstreams_runbooks.decide.topology.digraph import Arrows, Key
from kstreams_runbooks.decide.topology.graph import graph, keys_by_name, store_roles
from kstreams_runbooks.decide.topology.java_pattern import matched
from kstreams_runbooks.decide.topology.names import stem
from kstreams_runbooks.model.topology.declaration import Declaration, DeclaredStore, StoreKind
from kstreams_runbooks.model.topology.topology import Node, Processor, Source, Topology


def between_store_and(topology: Topology, operator: str) -> frozenset[str]:
    """The operators between an operator and the nearest store before it, as its names without their numbers."""
    before = graph(topology).predecessors
    nodes = _nodes(topology)
    own = _key(topology, operator)
    found: set[str] = set()
    left = list(before[own]) if own is not None else []
    while left:
        key = left.pop()
        node = nodes.get(key[1])
        if isinstance(node, Processor) and not node.stores and stem(key[1]) not in found:
            found.add(stem(key[1]))
            left.extend(before[key])
    return frozenset(found)


def store_before(topology: Topology, declared: Declaration, operator: str) -> DeclaredStore | None:
    """The declaration of the nearest store before an operator, its own apart; None without one."""
    nodes, own = _nodes(topology), _key(topology, operator)
    if own is None:
        return None
    for key in _from_near_to_far(graph(topology).predecessors, own):
        node = nodes.get(key[1])
        if key != own and isinstance(node, Processor) and node.stores:
            stores = (declared.stores[store] for store in sorted(node.stores) if store in declared.stores)
            return next(stores, None)
    return None


def kinds_before(topology: Topology, declared: Declaration, operator: str) -> frozenset[StoreKind | None]:
    """The declared kinds of all stores before an operator, its own apart; None for an undeclared one."""
    nodes, own = _nodes(topology), _key(topology, operator)
    before = () if own is None else _from_near_to_far(graph(topology).predecessors, own)
    return frozenset(
        declared.stores.get(store, DeclaredStore()).kind
        for key in before
        if key != own and isinstance(node := nodes.get(key[1]), Processor)
        for store in node.stores
    )


def topics_before(topology: Topology, store: str) -> frozenset[str] | None:
    """Topics that lead to a store within its subtopology, as printed; None if one of its sources is a pattern."""
    found: set[str] = set()
    for sub in topology.subtopologies:
        successors = {node.name: node.successors for node in sub.nodes if isinstance(node, Source | Processor)}
        users = {node.name for node in sub.nodes if isinstance(node, Processor) and store in node.stores}
        for source in sub.sources if users else ():
            if not users & _behind(source.name, successors):
                continue
            if source.pattern is not None:
                return None
            found |= source.topics
    return frozenset(found)


def inputs_of(topology: Topology, store: str, there: Collection[str]) -> tuple[str, ...]:
    """The inputs that lead to a store, sorted; of a pattern those that match among the topics that are `there`."""
    return matching(topology, store_roles(topology)[store].inputs, there)


def matching(topology: Topology, inputs: Collection[str], there: Collection[str]) -> tuple[str, ...]:
    """Inputs as printed, sorted, with the topics that are `there` in place of each pattern that they match."""
    patterns = {source.pattern for sub in topology.subtopologies for source in sub.sources if source.pattern}
    leading = frozenset(inputs)
    found = {topic for one in patterns & leading for topic in there if matched(one, topic)}
    return tuple(sorted((leading - patterns) | found))


def _behind(name: str, successors: Mapping[str, frozenset[str]]) -> set[str]:
    found: set[str] = set()
    ahead = [*successors[name]]
    while ahead:
        if (one := ahead.pop()) not in found:
            found.add(one)
            ahead += successors.get(one, ())
    return found


def _from_near_to_far(arrows: Arrows, own: Key) -> Iterator[Key]:
    """Everything that `own` leads to, level by level; a caller that has found what it wants goes no further."""
    seen, ahead = {own}, deque([own])
    while ahead:
        key = ahead.popleft()
        yield key
        new = [other for other in arrows[key] if other not in seen]
        seen.update(new)
        ahead.extend(new)


def _key(topology: Topology, operator: str) -> Key | None:
    return keys_by_name(topology)[operator][0] if operator in _nodes(topology) else None


@lru_cache(maxsize=4)
def _nodes(topology: Topology) -> Mapping[str, Node]:
    return {node.name: node for _, node in topology.nodes()}
