"""Tables that are read straight from a topic: what the library may keep without a changelog of its own."""

from kstreams_runbooks.decide.compared import Version
from kstreams_runbooks.decide.generated_names import is_generated
from kstreams_runbooks.model.topology import Processor, Source

_GENERATED = "KTABLE-SOURCE-"


def source_tables(version: Version) -> dict[str, bool | None]:
    """Topics that a processor with one store reads first, and whether it is a table: a name hides it (None).

    A store says of itself with `source_table` what a name hides. Global tables never have a changelog.
    """
    found: dict[str, bool | None] = {}
    for sub in version.topology.subtopologies:
        for source in (node for node in sub.nodes if isinstance(node, Source) and not sub.is_global):
            for name in source.successors:
                node = version.nodes[name]
                if isinstance(node, Processor) and node.stores:
                    for topic in source.topics - version.internal:
                        answer = _is_table(version, node)
                        if found.get(topic) is not True:
                            found[topic] = answer
    return found


def _is_table(version: Version, node: Processor) -> bool | None:
    if node.name.startswith(_GENERATED):
        return True
    told = [version.declared.stores[store].source_table for store in node.stores if store in version.declared.stores]
    if True in told:
        return True
    # An aggregation, a join or a processor of one's own has a kind of store that no table has.
    kinds = [version.declared.stores[store].kind for store in node.stores if store in version.declared.stores]
    if is_generated(node.name) or len(node.stores) != 1 or False in told or {"window", "session", "join"} & set(kinds):
        return False
    return None
