"""A topology as its description prints it: nodes, the topics and stores they use, and their subtopologies."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True, slots=True)
class Source:
    """A node that reads topics, or every topic that `pattern` matches; names as printed, without application.id."""

    name: str
    topics: frozenset[str]
    pattern: str | None
    successors: frozenset[str]


@dataclass(frozen=True, slots=True)
class Processor:
    """A node that processes records; it shares each of its stores with every other node that names them."""

    name: str
    stores: frozenset[str]
    successors: frozenset[str]


@dataclass(frozen=True, slots=True)
class Sink:
    """A node that writes to `topic`, or to the topics that its `extractor` (a class or a lambda) chooses."""

    name: str
    topic: str | None
    extractor: str | None


Node = Source | Processor | Sink


@dataclass(frozen=True, slots=True)
class Subtopology:
    """Nodes that are connected by edges or by a store, and run in one task.

    `topology` is the name of a named topology, empty for the usual one. A subtopology of a global store has no tasks.
    """

    number: int
    nodes: tuple[Node, ...]
    is_global: bool = False
    topology: str = ""

    @property
    def id(self) -> str:
        """The prefix of task directories: `0`, or `name__0` in a named topology."""
        return f"{self.topology}__{self.number}" if self.topology else str(self.number)

    @property
    def sources(self) -> tuple[Source, ...]:
        """The nodes that read."""
        return tuple(node for node in self.nodes if isinstance(node, Source))

    @property
    def sinks(self) -> tuple[Sink, ...]:
        """The nodes that write."""
        return tuple(node for node in self.nodes if isinstance(node, Sink))

    @property
    def stores(self) -> frozenset[str]:
        """State stores of its processors."""
        return frozenset(store for node in self.nodes if isinstance(node, Processor) for store in node.stores)


@dataclass(frozen=True)
class Topology:
    """All subtopologies, by number; equal if they have the same content, in any order of the text."""

    subtopologies: tuple[Subtopology, ...]

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(self.subtopologies)

    def nodes(self) -> Iterator[tuple[Subtopology, Node]]:
        """Every node with its subtopology."""
        return ((sub, node) for sub in self.subtopologies for node in sub.nodes)

    @cached_property
    def operators(self) -> frozenset[str]:
        """Names of the nodes."""
        return frozenset(node.name for _, node in self.nodes())

    @cached_property
    def stores(self) -> frozenset[str]:
        """State stores, global ones included."""
        return frozenset(store for sub in self.subtopologies for store in sub.stores)

    def subtopology_of(self, store: str) -> Subtopology | None:
        """The subtopology of a store, None for an unknown store."""
        return next((sub for sub in self.subtopologies if store in sub.stores), None)
