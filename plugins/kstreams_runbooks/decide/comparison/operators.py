"""The fate of the operators of the program itself."""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import replace

from kstreams_runbooks.decide.comparison.compared import Compared, Side, target_of, topics_of
from kstreams_runbooks.decide.comparison.facts import duration
from kstreams_runbooks.decide.comparison.state.order import filtered_before_join
from kstreams_runbooks.decide.topology.graph import operator_roles
from kstreams_runbooks.decide.topology.names import index_of, is_generated, is_join_window, stem
from kstreams_runbooks.model.topology.change import Fact, Subject, Undeclared
from kstreams_runbooks.model.topology.declaration import DEFAULT
from kstreams_runbooks.model.topology.topology import Node, Processor, Source

_Known = tuple[bool | None, tuple[Undeclared, ...]]
_PARTITIONER, _JOIN = "partitioner", "join"
_FIELDS = ("offset_reset", _JOIN, "grace_ms")
# Fields on which records or state depend. An offset reset counts for partitions without a committed offset alone, and
# its rule asks for nothing.
_ASKED_FOR = {_PARTITIONER, _JOIN}
_NOT_DECLARED = "not declared"
_UNTOLD_FACTS: dict[str, Fact] = {f"{field}_changed": False for field in _FIELDS}
_UNTOLD_WORDS = {f"{field}_{when}": _NOT_DECLARED for field in _FIELDS for when in ("before", "after")}
_UNTOLD_ASKED: dict[str, tuple[Undeclared, ...]] = {f"{field}_changed": () for field in _FIELDS}
# The serdes of windowed keys as topology facts name them, and what chooses partitions by them and by other keys.
_WINDOWED_SERDES = ("TimeWindowed(", "SessionWindowed(")
_OF_WINDOWED_KEYS = "of windowed keys (by the key without its window)"
_OF_PRODUCER = "of the producer (by the bytes of the whole key)"
# Of an operator that a reader knows, and that joins nothing.
_NO_JOIN = "no join"
_USUAL = {DEFAULT, _NO_JOIN}
# The library names a lookup of a stream in a table by its kind, if the program gives it no name.
# The operator of the left table of a join, of each kind, and its end where the join has a name.
_LEFT_TABLE = ("KTABLE-JOINTHIS-", "KTABLE-LEFTTHIS-", "KTABLE-OUTERTHIS-", "KTABLE-FK-JOIN-SUBSCRIPTION-REGISTRATION-")
_LEFT_TABLE_NAMED = ("-join-this", "-subscription-registration-processor")
_LOOKUPS = {"KSTREAM-JOIN-N": "inner", "KSTREAM-LEFTJOIN-N": "left"}


def operators(compared: Compared) -> Iterator[Subject]:
    """Operators, without those that come and go with an internal topic."""
    found = compared.program
    lookups = _lookups_of_another_kind(compared)
    for was, name in lookups.items():
        yield _lookup(compared, was, name)
    for name in (*found.removed, *(name for tie in found.ties for name in tie.before[len(tie.after) :])):
        # A key-select that two topics shared belongs to one of them once they are merged, and the reverse.
        if name not in compared.after.around and name not in lookups:
            yield _operator(compared, name, name, removed=True)
    for name in (*found.added, *(name for tie in found.ties for name in tie.after[len(tie.before) :])):
        if name not in compared.before.around and name not in lookups.values():
            yield _operator(compared, name, name, added=True)
    filtered = filtered_before_join(compared)
    for was, name in found.pairs:
        held = _held(compared.after.nodes[name]) & compared.renamed
        later = was != name and not (is_generated(was) and is_generated(name)) and not held
        made = _operator(compared, was, name, named_later=later)
        leading = filtered.get(name, "")
        yield replace(made, facts={**made.facts, "rows_left": bool(leading)}, said={**made.said, "leading": leading})


def _operator(compared: Compared, was: str, name: str, **true: bool) -> Subject:
    """One operator; what a program sets of it is compared if it stays."""
    facts: dict[str, Fact] = {
        "added": False,
        "removed": False,
        "named_later": False,
        "rows_left": False,
        **true,
    }
    facts["joins_tables"] = facts["added"] and joins_tables(name)
    said, asked = {"name": name, "before": was}, dict[str, tuple[Undeclared, ...]]()
    if not (_is_told_of(compared.before, was) or _is_told_of(compared.after, name)):
        # Most operators of a large program: the same answers without a look at each field.
        return Subject("operator", name, {**facts, **_UNTOLD_FACTS}, {**said, **_UNTOLD_WORDS}, _UNTOLD_ASKED)
    stays = not (facts["added"] or facts["removed"])
    for field in _FIELDS:
        changes, missing = operator_changed(compared, [was], [name], field) if stays else (False, ())
        facts[f"{field}_changed"] = changes
        asked[f"{field}_changed"] = missing
        said |= {f"{field}_before": _value(compared.before, [was], field)}
        said |= {f"{field}_after": _value(compared.after, [name], field)}
    if _has_row_of_its_store(compared.after, name) or (stays and _has_row_of_its_store(compared.before, was)):
        facts["join_changed"] = False
    return Subject("operator", name, facts, said, asked)


def _is_told_of(side: Side, name: str) -> bool:
    """Whether a declaration or a reader may have something about an operator."""
    return side.declared.was_read or bool(side.declared.not_read) or name in side.declared.operators


def joins_tables(name: str) -> bool:
    """Whether a name shows the operator of the left table of a join of tables, by key or by foreign key."""
    return stem(name).startswith(_LEFT_TABLE) or name.endswith(_LEFT_TABLE_NAMED)


def _lookup(compared: Compared, was: str, name: str) -> Subject:
    """A join of a stream with a table whose generated name shows its kind."""
    found = _operator(compared, was, name)
    facts: dict[str, Fact] = {**found.facts, "join_changed": True}
    said = {**found.said, "join_before": _LOOKUPS[stem(was)], "join_after": _LOOKUPS[stem(name)]}
    return replace(found, facts=facts, said=said)


def _lookups_of_another_kind(compared: Compared) -> dict[str, str]:
    """Generated names of lookups in one table and between the same topics that were inner and are left now.

    Or the reverse. Only the lookup in a table has them and a store: that in a global table has none in the text.
    """
    pairs = dict(compared.stores.pairs)
    was = _lookups(compared.before, compared.program.removed, pairs)
    now = _lookups(compared.after, compared.program.added, {store: store for store in pairs.values()})
    return {
        old: new
        for place in was.keys() & now.keys()
        if len(was[place]) == len(now[place])
        for old, new in zip(was[place], now[place], strict=True)
        if stem(old) != stem(new)
    }


def _lookups(side: Side, names: Iterable[str], stores: Mapping[str, str]) -> dict[Hashable, list[str]]:
    """Those among `names` in the order of the program, by the new names of their tables and the topics at both ends."""
    found: dict[Hashable, list[str]] = {}
    for name in sorted((one for one in names if stem(one) in _LOOKUPS), key=lambda one: index_of(one) or 0):
        tables = frozenset(stores.get(store) for store in _held(side.nodes[name]))
        if tables and None not in tables:
            role = operator_roles(side.topology)[name]
            found.setdefault((tables, role.inputs, role.outputs), []).append(name)
    return found


def operator_changed(compared: Compared, was: list[str], now: list[str], field: str) -> _Known:
    """Whether a field of some operators differs, and what to declare if that is unknown.

    A field that neither side declares is not part of the change: a description lacks it, and most programs do not set
    it. What one side alone declares is asked for in the other if records or state depend on it, unless it is the choice
    of the library.
    """
    unread = [
        Undeclared(f"operators.{name}", field, label)
        for side, names, label in ((compared.before, was, "old"), (compared.after, now, "new"))
        for name in (names if side.declared.not_read else ())
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
    found = set[str | int]()
    for name in names:
        declared = getattr(side.declared.operators.get(name), field, None)
        if (value := _known_without(side, name, field) if declared is None else declared) is not None:
            found.add(value)
    return found


def _known_without(side: Side, name: str, field: str) -> str | None:
    """A reader shows every join, or that it could not read it."""
    if field != _JOIN or not side.declared.was_read:
        return None
    return None if f"operators.{name}.{field}" in side.declared.not_read else _NO_JOIN


def _value(side: Side, names: list[str], field: str) -> str:
    found = _values(side, names, field)
    return " and ".join(sorted(duration(one) if isinstance(one, int) else one for one in found)) or _NOT_DECLARED


def _has_row_of_its_store(side: Side, name: str) -> bool:
    """Whether the store of a join shows its kind: one of its windows, or that of its result.

    A join of a stream with a table has one operator before it, and the store of that table, which another one fills.
    """
    node = side.nodes.get(name)
    if not isinstance(node, Processor) or not node.stores:
        return False
    declared = {store: side.declared.stores.get(store) for store in node.stores}
    of_join = any(
        one is not None and (one.kind == "join" or (one.join is not None and len(side.keepers[store]) == 1))
        for store, one in declared.items()
    )
    return of_join or any(map(is_join_window, node.stores)) or len(side.predecessors.get(name, ())) > 1


def partitioners(compared: Compared, was: str, now: str) -> tuple[bool | None, tuple[Undeclared, ...], dict[str, str]]:
    """Whether the partitioner of a topic's sinks differs, what to declare if that is unknown, and the words for it.

    Keys may move to tasks without their state.
    """
    old, new = compared.before.writers.get(was, []), compared.after.writers.get(now, [])
    by_serde = _by_key_serde(compared.before, was), _by_key_serde(compared.after, now)
    if all(by_serde) and len(set(by_serde)) > 1:
        return True, (), dict(zip(("partitioner_before", "partitioner_after"), by_serde, strict=True))
    changes, asked = operator_changed(compared, old, new, _PARTITIONER)
    said = {
        "partitioner_before": _value(compared.before, old, _PARTITIONER),
        "partitioner_after": _value(compared.after, new, _PARTITIONER),
    }
    return changes, asked, said


def _by_key_serde(side: Side, topic: str) -> str:
    """What chooses the partitions of an output without a partitioner of the program, as its code shows; else empty.

    The library partitions windowed keys by the key without its window, if the program gives their serde to the sink.
    Source: Apache Kafka, StreamSinkNode#writeToTopology, WindowedStreamPartitioner.
    """
    declared, writers = side.declared.topics.get(topic), side.writers.get(topic, [])
    serde = None if declared is None else declared.key_serde
    if serde is None or not side.declared.was_read or topic in side.internal:
        return ""
    if _values(side, writers, _PARTITIONER) != {DEFAULT}:
        return ""
    given = not any(f"operators.{name}.key_serde" in side.declared.of_settings for name in writers)
    return _OF_WINDOWED_KEYS if given and serde.name.startswith(_WINDOWED_SERDES) else _OF_PRODUCER


def _held(node: Node) -> set[str]:
    """Things named after an operator: its stores, or the topic that it reads or writes."""
    if isinstance(node, Processor):
        return set(node.stores)
    return set(topics_of(node)) if isinstance(node, Source) else {target_of(node)}
