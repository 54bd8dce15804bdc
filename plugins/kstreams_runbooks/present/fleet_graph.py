"""The fleet as a graph: a Mermaid flowchart, and JSON."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, Final

from kstreams_runbooks.decide.fleet_graph import downstream
from kstreams_runbooks.model.fleet_graph import FleetGraph, GraphEntry
from kstreams_runbooks.present.diagram import escaped

SCHEMA_VERSION: Final = 1
_CLASSES = (
    "classDef topic fill:#e8eefc,stroke:#4662a8",
    "classDef copier fill:#fff3d6,stroke:#b8860b",
    "classDef consumer fill:#e6f4ea,stroke:#3c763d",
)
# A topic whose records change how an application processes.
_RULES = "-.->"


def graph_document(graph: FleetGraph) -> dict[str, Any]:
    """Entries with what follows each, and edges; a topic belongs to its cluster."""
    return {
        "schema_version": SCHEMA_VERSION,
        "entries": [
            {**asdict(one), "downstream": [asdict(other) for other in downstream(graph, one.name)]}
            for one in graph.entries
        ],
        "edges": [asdict(one) for one in graph.edges],
    }


def graph_mermaid(graph: FleetGraph) -> str:
    """A flowchart with a group for each cluster: copiers, applications, consumers, and the topics between them."""
    return "\n".join(["flowchart LR", *(f"    {line}" for line in _lines(graph))])


def _lines(graph: FleetGraph) -> Iterator[str]:
    entries = {one.name: f"e{number}" for number, one in enumerate(graph.entries)}
    places = dict.fromkeys((one.cluster, one.topic) for one in graph.edges)
    topics = {place: f"t{number}" for number, place in enumerate(places)}
    for number, cluster in enumerate(sorted({one.cluster for one in graph.entries})):
        yield f'subgraph c{number}["cluster {escaped(cluster)}"]'
        for entry in graph.entries:
            if entry.cluster == cluster:
                opening, closing = _box(entry)
                yield f'    {entries[entry.name]}{opening}"{escaped(entry.name)}"{closing}'
        for (there, topic), name in topics.items():
            if there == cluster:
                yield f'    {name}>"{escaped(topic)}"]'
        yield "end"
    for edge in graph.edges:
        box, place = entries[edge.entry], topics[edge.cluster, edge.topic]
        if edge.use == "output":
            yield f"{box} --> {place}"
        else:
            yield f"{place} {_RULES if edge.use == 'rule' else '-->'} {box}"
    yield from _CLASSES
    if topics:
        yield f"class {','.join(topics.values())} topic"
    for kind, names in (
        ("copier", [entries[one.name] for one in graph.entries if one.copies]),
        ("consumer", [entries[one.name] for one in graph.entries if one.consumes]),
    ):
        yield from (f"class {','.join(names)} {kind}" for _ in names[:1])


def _box(entry: GraphEntry) -> tuple[str, str]:
    """The shape of an entry in the chart."""
    if entry.copies:
        return "[/", "/]"
    return ("([", "])") if entry.consumes else ("[", "]")
