"""The fate of the operators of the program itself."""

from collections.abc import Iterator

from kstreams_runbooks.decide.comparison.compared import Compared, Side, target_of, topics_of
from kstreams_runbooks.decide.comparison.facts import duration
from kstreams_runbooks.decide.comparison.state.kinds import is_join_buffer
from kstreams_runbooks.decide.topology.names import is_generated
from kstreams_runbooks.model.topology.change import Fact, Subject, Undeclared
from kstreams_runbooks.model.topology.declaration import DEFAULT
from kstreams_runbooks.model.topology.topology import Node, Processor, Source

_Known = tuple[bool | None, tuple[Undeclared, ...]]
_PARTITIONER = "partitioner"
_FIELDS = ("offset_reset", "join", "grace_ms")


def operators(compared: Compared) -> Iterator[Subject]:
    """Operators, without those that come and go with an internal topic."""
    found = compared.program
    for name in (*found.removed, *(name for tie in found.ties for name in tie.before[len(tie.after) :])):
        # A key-select that two topics shared belongs to one of them once they are merged, and the reverse.
        if name not in compared.after.around:
            yield _operator(compared, name, name, removed=True)
    for name in (*found.added, *(name for tie in found.ties for name in tie.after[len(tie.before) :])):
        if name not in compared.before.around:
            yield _operator(compared, name, name, added=True)
    for was, name in found.pairs:
        held = _held(compared.after.nodes[name]) & compared.renamed
        later = was != name and not (is_generated(was) and is_generated(name)) and not held
        yield _operator(compared, was, name, named_later=later)


def _operator(compared: Compared, was: str, name: str, **true: bool) -> Subject:
    """One operator; what a program sets of it is compared if it stays."""
    facts: dict[str, Fact] = {"added": False, "removed": False, "named_later": False, **true}
    said, asked = {"name": name, "before": was}, dict[str, tuple[Undeclared, ...]]()
    for field in _FIELDS:
        changes, missing = operator_changed(compared, [was], [name], field)
        stays = not (facts["added"] or facts["removed"])
        facts[f"{field}_changed"] = stays and changes
        asked[f"{field}_changed"] = missing
        said |= {f"{field}_before": _value(compared.before, [was], field)}
        said |= {f"{field}_after": _value(compared.after, [name], field)}
    # A join that keeps its result or its records has a store, which has a row of its own.
    facts["join_changed"] = False if _keeps(compared.after, name) else facts["join_changed"]
    return Subject("operator", name, facts, said, asked)


def operator_changed(compared: Compared, was: list[str], now: list[str], field: str) -> _Known:
    """Whether a field of some operators differs, and what to declare if it was not read.

    A field that is declared for one side alone, or for none, is not part of the change: a description lacks it, and
    most programs do not set it.
    """
    unread = [
        Undeclared(f"operators.{name}", field, label)
        for side, names, label in ((compared.before, was, "old"), (compared.after, now, "new"))
        for name in names
        if f"operators.{name}.{field}" in side.declared.not_read and not _values(side, [name], field)
    ]
    if unread:
        return None, tuple(unread)
    old, new = _values(compared.before, was, field), _values(compared.after, now, field)
    return (bool(old) and bool(new) and old != new), ()


def _values(side: Side, names: list[str], field: str) -> set[str | int]:
    found = (getattr(side.declared.operators.get(name), field, None) for name in names)
    return {one for one in found if one is not None}


def _value(side: Side, names: list[str], field: str) -> str:
    found = (duration(one) if isinstance(one, int) else one for one in _values(side, names, field))
    return " and ".join(sorted(found)) or "not declared"


def _keeps(side: Side, name: str) -> bool:
    """Whether a join fills a store of its operator; the table that a stream is joined with is another's."""
    node = side.nodes.get(name)
    for store in node.stores if isinstance(node, Processor) else ():
        declared = side.declared.stores.get(store)
        of_join = declared is not None and (declared.kind == "join" or declared.join is not None)
        alone = len(side.keepers.get(store, ())) == 1 and not is_join_buffer(side, store)
        if of_join or alone:
            return True
    return False


def partitioners(compared: Compared, was: str, now: str) -> tuple[bool | None, tuple[Undeclared, ...], dict[str, str]]:
    """Whether the partitioner of a topic's sinks differs, what to declare if that is unknown, and the words for it.

    A class that one version alone declares is asked for in the other: keys may move to tasks without their state.
    """
    old, new = compared.before.writers.get(was, []), compared.after.writers.get(now, [])
    changes, asked = operator_changed(compared, old, new, _PARTITIONER)
    known = [_values(side, names, _PARTITIONER) for side, names in ((compared.before, old), (compared.after, new))]
    if old and new and sum(map(bool, known)) == 1 and not known[0] | known[1] <= {DEFAULT}:
        names, label = (new, "new") if known[0] else (old, "old")
        changes, asked = None, tuple(Undeclared(f"operators.{name}", _PARTITIONER, label) for name in names)
    said = {
        "partitioner_before": _value(compared.before, old, _PARTITIONER),
        "partitioner_after": _value(compared.after, new, _PARTITIONER),
    }
    return changes, asked, said


def _held(node: Node) -> set[str]:
    """Things named after an operator: its stores, or the topic that it reads or writes."""
    if isinstance(node, Processor):
        return set(node.stores)
    return set(topics_of(node)) if isinstance(node, Source) else {target_of(node)}
