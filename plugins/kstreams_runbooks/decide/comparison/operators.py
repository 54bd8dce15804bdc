"""The fate of the operators of the program itself."""

from collections.abc import Iterator

from kstreams_runbooks.decide.comparison.compared import Compared, target_of, topics_of
from kstreams_runbooks.decide.topology.names import is_generated
from kstreams_runbooks.model.topology.change import Fact, Subject
from kstreams_runbooks.model.topology.topology import Node, Processor, Source


def operators(compared: Compared) -> Iterator[Subject]:
    """Operators, without those that come and go with an internal topic."""
    found = compared.program
    for name in (*found.removed, *(name for tie in found.ties for name in tie.before[len(tie.after) :])):
        # A key-select that two topics shared belongs to one of them once they are merged, and the reverse.
        if name not in compared.after.around:
            yield _operator(name, name, removed=True)
    for name in (*found.added, *(name for tie in found.ties for name in tie.after[len(tie.before) :])):
        if name not in compared.before.around:
            yield _operator(name, name, added=True)
    for was, name in found.pairs:
        held = _held(compared.after.nodes[name]) & compared.renamed
        later = was != name and not (is_generated(was) and is_generated(name)) and not held
        yield _operator(was, name, named_later=later)


def _operator(was: str, name: str, **true: bool) -> Subject:
    facts: dict[str, Fact] = {"added": False, "removed": False, "named_later": False, **true}
    return Subject("operator", name, facts, {"name": name, "before": was})


def _held(node: Node) -> set[str]:
    """Things named after an operator: its stores, or the topic that it reads or writes."""
    if isinstance(node, Processor):
        return set(node.stores)
    return set(topics_of(node)) if isinstance(node, Source) else {target_of(node)}
