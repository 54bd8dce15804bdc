"""A topology as lines in a fixed order, for a comparison that a person reads."""

from kstreams_runbooks.model.topology.topology import Node, Processor, Source, Topology


def lines(topology: Topology) -> list[str]:
    """Subtopologies by number, nodes by name, names in brackets sorted; otherwise as the library prints them."""
    found = []
    for sub in topology.subtopologies:
        found.append(f"Sub-topology: {sub.id}{' for global store' if sub.is_global else ''}")
        for node in sorted(sub.nodes, key=lambda node: node.name):
            found += [f"  {_line(node)}", *_arrow(node)]
    return found


def _line(node: Node) -> str:
    if isinstance(node, Source):
        read = node.pattern if node.pattern is not None else f"[{', '.join(sorted(node.topics))}]"
        return f"Source: {node.name} (topics: {read})"
    if isinstance(node, Processor):
        return f"Processor: {node.name} (stores: [{', '.join(sorted(node.stores))}])"
    written = f"topic: {node.topic}" if node.topic is not None else f"extractor class: {node.extractor}"
    return f"Sink: {node.name} ({written})"


def _arrow(node: Node) -> list[str]:
    if not isinstance(node, Source | Processor):
        return []
    return [f"    --> {', '.join(sorted(node.successors)) or 'none'}"]
