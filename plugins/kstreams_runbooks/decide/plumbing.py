"""Operators that the library puts around an internal topic."""

from collections.abc import Iterator, Mapping

from kstreams_runbooks.model.topology import Node, Processor, Sink, Source


def plumbing(nodes: Mapping[str, Node], internal: frozenset[str]) -> set[str]:
    """Operators that nobody wrote: the source, the sink, and the filter and key that belong to an internal topic.

    A `groupBy` that has a name is the processor of that name; one that has none is a key-select right before the topic.
    """
    found: set[str] = set()
    for node in nodes.values():
        if isinstance(node, Source) and node.topics & internal:
            found.add(node.name)
        elif isinstance(node, Sink) and node.topic in internal:
            found |= {node.name, *leading_to(node, nodes, node.topic or "")}
    return found


def leading_to(sink: Sink, nodes: Mapping[str, Node], topic: str) -> Iterator[str]:
    """The filter right before a sink of an internal topic, and the key-select before that."""
    name, base = sink.name, topic.removesuffix("-repartition")
    for kinds in (("KSTREAM-FILTER-", f"{base}-repartition-filter"), ("KSTREAM-KEY-SELECT-", base)):
        found = [
            node.name
            for node in nodes.values()
            if isinstance(node, Processor)
            and node.successors == {name}
            and not node.stores
            and (node.name.startswith(kinds[0]) or node.name == kinds[1])
        ]
        if len(found) != 1:
            return
        [name] = found
        yield name
