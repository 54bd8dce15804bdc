"""Topics that an application writes and reads again in front of a store: their keys belong to its own tasks."""

from kstreams_runbooks.decide.comparison.compared import Side, topics_of
from kstreams_runbooks.decide.topology.graph import store_roles
from kstreams_runbooks.decide.topology.pattern_names import matches
from kstreams_runbooks.model.topology.declaration import DeclaredStore
from kstreams_runbooks.model.topology.topology import Source


def read_back(side: Side) -> frozenset[str]:
    """External topics that a version writes, and that lead to a store of the tasks which read them.

    A store that may be lost does not count, nor does one behind another repartition: that one decides its keys. Of the
    topics that a pattern reads, those count that it is known to match.
    """
    declared = side.declared.stores
    kept = [name for name in store_roles(side.topology) if not declared.get(name, DeclaredStore()).loss_acceptable]
    leading = {topic for name in kept for topic in read_in_its_tasks(side, name)}
    patterns = leading & side.patterns
    return frozenset(
        topic
        for topic in side.written()
        if topic in leading or any(matches(pattern, topic) for pattern in sorted(patterns))
    )


def read_in_its_tasks(side: Side, store: str) -> set[str]:
    """The topics that lead to a store within its subtopology, patterns among them."""
    seen: set[str] = set()
    left = [keeper.name for keeper in side.keepers[store]]
    while left:
        name = left.pop()
        if name not in seen:
            seen.add(name)
            left += side.predecessors.get(name, ())
    sources = (node for name in seen if isinstance(node := side.nodes[name], Source))
    return {topic for source in sources for topic in topics_of(source)}
