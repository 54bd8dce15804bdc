"""The fleet as a graph: entries, the topics that each declares, and what follows an entry."""

from dataclasses import dataclass
from typing import Literal

TopicUse = Literal["input", "control", "rule", "output"]


@dataclass(frozen=True, slots=True)
class GraphEntry:
    """An application of the fleet, a copier (`copies`) or a consumer (`consumes`)."""

    name: str
    cluster: str
    application_id: str
    copies: bool
    consumes: bool = False


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """An entry and a topic of its cluster: it writes an output, and reads the others."""

    entry: str
    cluster: str
    topic: str
    use: TopicUse


@dataclass(frozen=True, slots=True)
class FleetGraph:
    """All entries by name, and their edges; as declared, so without internal topics and undeclared groups."""

    entries: tuple[GraphEntry, ...]
    edges: tuple[GraphEdge, ...]


@dataclass(frozen=True, slots=True)
class DownstreamEntry:
    """An entry that gets results of another one: `topics` are what it reads, `behind` the entry that writes these.

    `steps` is 1 for an entry that reads the outputs themselves.
    """

    entry: str
    topics: tuple[str, ...]
    behind: str
    steps: int
