"""A directed graph of operators and topics: the arrows of each in both directions, and its circles in order."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

# (name of the topology, name of the node); a topic has "topic:" in place of the first.
Key = tuple[str, str]
Arrows = Mapping[Key, Collection[Key]]


@dataclass(frozen=True, slots=True)
class Digraph:
    """The keys that each key leads to, and those that lead to it, in the order in which they were given.

    Each key is in both; two arrows between the same keys count once.
    """

    successors: Arrows
    predecessors: Arrows

    @classmethod
    def of(cls, keys: Iterable[Key], arrows: Iterable[tuple[Key, Key]]) -> "Digraph":
        """The graph of `keys`, and of the keys of `arrows` behind them."""
        successors: dict[Key, dict[Key, None]] = {key: {} for key in keys}
        predecessors: dict[Key, dict[Key, None]] = {key: {} for key in successors}
        for one, other in arrows:
            for key in (one, other):
                if key not in successors:
                    successors[key], predecessors[key] = {}, {}
            successors[one][other] = predecessors[other][one] = None
        return cls(successors, predecessors)

    def circles(self) -> list[list[Key]]:
        """Keys that lead to each other as one circle, each circle before those that it leads to."""
        try:
            return [[key] for key in TopologicalSorter(self.predecessors).static_order()]
        except CycleError:
            return _with_cycles(self.successors)


def _with_cycles(successors: Arrows) -> list[list[Key]]:
    """The same of a graph where an arrow leads back: a program that reads what it writes."""
    # Few programs do, and the library takes as long to import as a small plan to make.
    import networkx as nx

    condensed = nx.condensation(nx.DiGraph(successors))
    return [[*condensed.nodes[number]["members"]] for number in nx.topological_sort(condensed)]
