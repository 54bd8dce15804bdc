"""The fate of the operators of the program itself."""

from collections.abc import Iterator

from kstreams_runbooks.decide.comparison.compared import Compared, Side, target_of, topics_of
from kstreams_runbooks.decide.comparison.facts import duration
from kstreams_runbooks.decide.topology.names import is_generated, is_join_window
from kstreams_runbooks.model.topology.change import Fact, Subject, Undeclared
from kstreams_runbooks.model.topology.declaration import DEFAULT
from kstreams_runbooks.model.topology.topology import Node, Processor, Source

_Known = tuple[bool | None, tuple[Undeclared, ...]]
_PARTITIONER, _JOIN = "partitioner", "join"
_FIELDS = ("offset_reset", _JOIN, "grace_ms")
# Fields on which records or state depend. An offset reset counts for partitions without a committed offset alone, and
# its rule asks for nothing.
_ASKED_FOR = {_PARTITIONER, _JOIN}
# Of an operator that a reader knows, and that joins nothing.
_NO_JOIN = "no join"
_USUAL = {DEFAULT, _NO_JOIN}


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
    if _has_row_of_its_store(compared.after, name):
        facts["join_changed"] = False
    return Subject("operator", name, facts, said, asked)


def operator_changed(compared: Compared, was: list[str], now: list[str], field: str) -> _Known:
    """Whether a field of some operators differs, and what to declare if that is unknown.

    A field that neither side declares is not part of the change: a description lacks it, and most programs do not set
    it. What one side alone declares is asked for in the other if records or state depend on it, unless it is the choice
    of the library.
    """
    unread = [
        Undeclared(f"operators.{name}", field, label)
        for side, names, label in ((compared.before, was, "old"), (compared.after, now, "new"))
        for name in names
        if f"operators.{name}.{field}" in side.declared.not_read and not _values(side, [name], field)
    ]
    old, new = _values(compared.before, was, field), _values(compared.after, now, field)
    if not unread and field in _ASKED_FOR and was and now and bool(old) != bool(new) and not old | new <= _USUAL:
        lacking, label = (now, "new") if old else (was, "old")
        unread = [Undeclared(f"operators.{name}", field, label) for name in lacking]
    if unread:
        declared_same = field == _JOIN and _JOIN in compared.after.declared.unchanged
        return (False, ()) if declared_same else (None, tuple(unread))
    return (bool(old) and bool(new) and old != new), ()


def _values(side: Side, names: list[str], field: str) -> set[str | int]:
    declared = {name: getattr(side.declared.operators.get(name), field, None) for name in names}
    found = (_known_without(side, name, field) if one is None else one for name, one in declared.items())
    return {one for one in found if one is not None}


def _known_without(side: Side, name: str, field: str) -> str | None:
    """A reader shows every join, or that it could not read it."""
    unread = f"operators.{name}.{field}" in side.declared.not_read
    return _NO_JOIN if field == _JOIN and side.declared.was_read and not unread else None


def _value(side: Side, names: list[str], field: str) -> str:
    found = (duration(one) if isinstance(one, int) else one for one in _values(side, names, field))
    return " and ".join(sorted(found)) or "not declared"


def _has_row_of_its_store(side: Side, name: str) -> bool:
    """Whether the store of a join shows its kind: one of its windows, or that of its result.

    A join of a stream with a table has one operator before it, and the store of that table.
    """
    node = side.nodes.get(name)
    if not isinstance(node, Processor) or not node.stores:
        return False
    declared = [side.declared.stores.get(store) for store in node.stores]
    of_join = any(one is not None and (one.kind == "join" or one.join is not None) for one in declared)
    return of_join or any(map(is_join_window, node.stores)) or len(side.predecessors.get(name, ())) > 1


def partitioners(compared: Compared, was: str, now: str) -> tuple[bool | None, tuple[Undeclared, ...], dict[str, str]]:
    """Whether the partitioner of a topic's sinks differs, what to declare if that is unknown, and the words for it.

    Keys may move to tasks without their state.
    """
    old, new = compared.before.writers.get(was, []), compared.after.writers.get(now, [])
    changes, asked = operator_changed(compared, old, new, _PARTITIONER)
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
