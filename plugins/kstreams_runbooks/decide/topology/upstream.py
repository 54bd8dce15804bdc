"""The store from which an operator gets its updates."""

import networkx as nx

from kstreams_runbooks.decide.topology.graph import graph
from kstreams_runbooks.decide.topology.names import stem
from kstreams_runbooks.model.topology.declaration import Declaration, DeclaredStore
from kstreams_runbooks.model.topology.topology import Processor, Topology


def between_store_and(topology: Topology, operator: str) -> frozenset[str]:
    """The operators between an operator and the nearest store before it, as its names without their numbers."""
    made = graph(topology)
    nodes = {node.name: node for _, node in topology.nodes()}
    own = next((key for key in made if key[1] == operator and operator in nodes), None)
    found: set[str] = set()
    left = list(made.predecessors(own)) if own is not None else []
    while left:
        key = left.pop()
        node = nodes.get(key[1])
        if isinstance(node, Processor) and not node.stores and stem(key[1]) not in found:
            found.add(stem(key[1]))
            left.extend(made.predecessors(key))
    return frozenset(found)


def store_before(topology: Topology, declared: Declaration, operator: str) -> DeclaredStore | None:
    """The declaration of the nearest store before an operator, its own apart; None without one."""
    made = graph(topology)
    nodes = {node.name: node for _, node in topology.nodes()}
    own = next((key for key in made if key[1] == operator and operator in nodes), None)
    if own is None:
        return None
    for key in nx.single_source_shortest_path_length(made.reverse(), own):
        node = nodes.get(key[1])
        if key != own and isinstance(node, Processor) and node.stores:
            stores = (declared.stores[store] for store in sorted(node.stores) if store in declared.stores)
            return next(stores, None)
    return None
