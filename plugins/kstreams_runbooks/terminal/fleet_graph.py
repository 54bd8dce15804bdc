"""`fleet --graph` for the terminal."""

import json

from kstreams_runbooks.decide.fleet_graph import fleet_graph
from kstreams_runbooks.fleet import Fleet
from kstreams_runbooks.present.fleet_graph import graph_document, graph_mermaid


def drawn_fleet(fleet: Fleet, *, as_json: bool) -> str:
    """The graph of all valid entries, as JSON or as Mermaid."""
    graph = fleet_graph(one.declared() for one in fleet.entries.values())
    return json.dumps(graph_document(graph), indent=2) if as_json else graph_mermaid(graph)
