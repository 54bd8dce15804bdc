"""The fleet as a graph, from its declarations: the entries that read what others write."""

from collections.abc import Collection, Iterable

from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.fleet_entry import DeclaredApplication
from kstreams_runbooks.model.fleet_graph import DownstreamEntry, FleetGraph, GraphEdge, GraphEntry, TopicUse
from kstreams_runbooks.wording import first_of, outside


def fleet_graph(declared: Iterable[DeclaredApplication]) -> FleetGraph:
    """Entries by name, with an edge for each topic that an entry declares; a control topic that is an input has one."""
    entries = sorted(declared, key=lambda one: one.name)
    edges: dict[tuple[str, str, bool], GraphEdge] = {}
    for entry in entries:
        uses: tuple[tuple[TopicUse, tuple[str, ...]], ...] = (
            ("control", entry.control),
            ("rule", entry.rule_topics),
            ("input", entry.inputs),
            ("output", entry.outputs),
        )
        for use, topics in uses:
            for topic in topics:
                edges.setdefault((entry.name, topic, use == "output"), GraphEdge(entry.name, entry.cluster, topic, use))
    found = (GraphEntry(one.name, one.cluster, one.application_id, one.copies, one.consumes) for one in entries)
    return FleetGraph(tuple(found), tuple(edges.values()))


def readers_of(graph: FleetGraph, cluster: str, topic: str) -> tuple[str, ...]:
    """Entries that declare to read a topic."""
    own = (one for one in graph.edges if (one.cluster, one.topic) == (cluster, topic))
    return tuple(dict.fromkeys(one.entry for one in own if one.use != "output"))


def writers_of(graph: FleetGraph, cluster: str, topic: str) -> tuple[str, ...]:
    """Entries that declare a topic as an output."""
    own = (one for one in graph.edges if (one.cluster, one.topic) == (cluster, topic))
    return tuple(one.entry for one in own if one.use == "output")


def outputs_of(graph: FleetGraph, name: str) -> tuple[str, ...]:
    """The outputs of an entry, as declared."""
    return tuple(one.topic for one in graph.edges if one.entry == name and one.use == "output")


def downstream(graph: FleetGraph, name: str, outputs: Collection[str] | None = None) -> tuple[DownstreamEntry, ...]:
    """Every entry that gets results of `name`, directly or through others, the nearest first, each once.

    `outputs` are what it writes (default: as declared). An entry that reads its own results is not downstream of
    itself. Only topics of its own cluster connect entries.
    """
    cluster = next((one.cluster for one in graph.entries if one.name == name), "")
    found: dict[str, DownstreamEntry] = {}
    ahead = [(name, tuple(outputs_of(graph, name) if outputs is None else outputs))]
    for steps in range(1, len(graph.entries) + 1):
        behind, ahead = ahead, []
        for writer, topics in behind:
            read: dict[str, list[str]] = {}
            for topic in topics:
                for reader in readers_of(graph, cluster, topic):
                    read.setdefault(reader, []).append(topic)
            for reader, theirs in sorted(read.items()):
                if reader != name and reader not in found:
                    found[reader] = DownstreamEntry(reader, tuple(sorted(theirs)), writer, steps)
                    ahead.append((reader, outputs_of(graph, reader)))
    return tuple(found.values())


def require_own_outputs(graph: FleetGraph, name: str, outputs: Iterable[str], known: Collection[str]) -> None:
    """BadInput for a topic that is not among the outputs of `name` (`known`), or that another entry writes as well.

    Records of an output may be deleted only if nothing else writes it.
    """
    cluster = next((one.cluster for one in graph.entries if one.name == name), "")
    for topic in outputs:
        if topic not in known:
            listed = first_of(sorted(known)) or "none"
            raise BadInput(
                f"output {outside(topic)}: is not an output of {name} (its outputs: {listed}); name one of them"
            )
        if others := [one for one in writers_of(graph, cluster, topic) if one != name]:
            raise BadInput(
                f"output {outside(topic)}: is written by {first_of(others)} too (expected: by {name} alone), whose "
                "records would be deleted; leave it out"
            )
