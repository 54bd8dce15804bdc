"""Whether repartition topics stand side by side that the library would have merged."""

from itertools import combinations

import networkx as nx

from kstreams_runbooks.decide.compared import Version
from kstreams_runbooks.decide.plumbing import leading_to
from kstreams_runbooks.decide.reach import Key
from kstreams_runbooks.decide.topology_graph import graph
from kstreams_runbooks.model.topology import Sink


def mergeable(version: Version, *, through: bool) -> bool:
    """Whether two repartition topics are filled behind one operator, without a new key for each of them.

    With `through` other operators may stand between it and one of them.

    Source: KIP-295; what the library builds with and without it, tests/apps/topologies
    (optimization-set-but-settings-not-passed, repartition-topics-merged-by-optimization).
    """
    made = graph(version.topology)
    origins = [origin for origin in (_origin(version, made, sink) for sink in _sinks(version)) if origin is not None]
    return any(
        one == other or (through and (nx.has_path(made, one, other) or nx.has_path(made, other, one)))
        for one, other in combinations(origins, 2)
    )


def _sinks(version: Version) -> list[Sink]:
    nodes = version.nodes.values()
    return [node for node in nodes if isinstance(node, Sink) and node.topic in version.internal]


def _origin(version: Version, made: "nx.DiGraph[Key]", sink: Sink) -> Key | None:
    """The operator before the filter of a repartition topic; None where the topic has a key-select of its own."""
    plumbing = list(leading_to(sink, version.nodes, sink.topic or ""))
    if len(plumbing) != 1:
        return None
    filters = [key for key in made if key[1] == plumbing[0]]
    before = [key for own in filters for key in made.predecessors(own)]
    return before[0] if len(before) == 1 and before[0][0] != "topic:" else None
