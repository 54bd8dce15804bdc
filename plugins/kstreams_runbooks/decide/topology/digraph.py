"""A directed graph of operators and topics: the arrows of each in both directions, and its circles in order."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

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
        # R. Tarjan, Depth-First Search and Linear Graph Algorithms (1972), without recursion: a chain may be long.
        found: list[list[Key]] = []
        # The place of each key in the search; of those that are on the path the first place they lead back to.
        places: dict[Key, int] = {}
        back: dict[Key, int] = {}
        path: list[Key] = []
        left: dict[Key, Iterator[Key]] = {}
        for first in self.successors:
            ahead = [] if first in places else [first]
            while ahead:
                key = ahead[-1]
                if key not in places:
                    places[key] = back[key] = len(places)
                    path.append(key)
                    left[key] = iter(self.successors[key])
                if (new := next((other for other in left[key] if other not in places), None)) is not None:
                    ahead.append(new)
                    continue
                ahead.pop()
                back[key] = min([places[key], *(back[other] for other in self.successors[key] if other in back)])
                if back[key] == places[key]:
                    circle = [path.pop()]
                    while circle[-1] != key:
                        circle.append(path.pop())
                    found.append(circle)
                    for one in circle:
                        del back[one]
        return found[::-1]
