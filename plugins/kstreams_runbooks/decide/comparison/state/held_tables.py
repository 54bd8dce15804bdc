"""The tables that suppressions hold back, and buffers that keep records of another table."""

from collections.abc import Iterable, Iterator

from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.comparison.facts import changed, either
from kstreams_runbooks.decide.topology.graph import keys_by_name, reach_of
from kstreams_runbooks.decide.topology.names import is_suppression
from kstreams_runbooks.model.topology.change import Fact, Undeclared
from kstreams_runbooks.model.topology.declaration import DeclaredStore, DeclaredSuppression, Serde
from kstreams_runbooks.model.topology.topology import Processor

# What a record in a buffer has of its table, and the same with the format of its value.
_KEYED = ("key", "kind", "key_serde")
_FIELDS = (*_KEYED, "value_serde")


def held_back(side: Side) -> dict[str, frozenset[str]]:
    """For each buffer of a suppression the nearest stores before it."""
    found: dict[str, frozenset[str]] = {}
    for name, node in side.nodes.items():
        if isinstance(node, Processor) and (name in side.declared.suppressions or is_suppression(name)):
            found |= dict.fromkeys(node.stores, _tables(side, name))
    return found


def table_change(
    compared: Compared, name: str, old: DeclaredSuppression | None, new: DeclaredSuppression | None
) -> tuple[Fact, tuple[Undeclared, ...], str]:
    """Whether the buffer of a suppression that keeps its name has records of another table, what to declare, and words.

    A table that both versions have, by one name or by two, has findings of its own. If another table is in its place,
    keys and formats of both have to be declared: the new version restores the records of the old one as its own.
    """
    before, after = _tables(compared.before, name), _tables(compared.after, name)
    kept = dict(compared.stores.pairs)
    if not before or not after or {kept.get(table) for table in before} & after:
        return False, (), ""
    of_value = all(one is not None and one.value_serde is not None for one in (old, new))
    facts: list[Fact] = []
    asked: list[Undeclared] = []
    for field in _KEYED if of_value else _FIELDS:
        known = []
        for side, version, tables in ((compared.before, "old", before), (compared.after, "new", after)):
            values = _values(side, tables, field)
            known.append(values)
            asked += [Undeclared(f"stores.{table}", field, version) for table in sorted(tables) if values is None]
        facts.append(_changed(*known))
    return either(*facts), tuple(asked), _words(compared, before, after)


def _changed(old: frozenset[object] | None, new: frozenset[object] | None) -> bool | None:
    """Whether the values differ; a class in both may write either format."""
    of_class = any(isinstance(one, Serde) and one.is_class for one in old or ())
    return None if old == new and of_class else changed(old, new)


def bypassing(compared: Compared, was: str, name: str) -> tuple[str, ...]:
    """Operators that got their records through a suppression and get them from its table now, without it."""
    before, after = _behind(compared.before, was), _behind(compared.after, name)
    table = _behind(compared.after, *compared.after.predecessors.get(name, ()))
    kept = dict(compared.operators.pairs)
    return tuple(sorted(now for old in before if (now := kept.get(old)) in table - after - {name}))


def _behind(side: Side, *names: str) -> frozenset[str]:
    reach, called = reach_of(side.topology), keys_by_name(side.topology)
    found = reach.keys(reach.behind([key for name in names for key in called[name]]))
    return frozenset(name for _, name in found) & side.nodes.keys()


def _values(side: Side, tables: frozenset[str], field: str) -> frozenset[object] | None:
    """What is declared for a field of tables, None if one of them lacks it."""
    found = frozenset(getattr(side.declared.stores.get(table), field, None) for table in tables)
    return None if None in found else found


def _words(compared: Compared, before: frozenset[str], after: frozenset[str]) -> str:
    """`a (key-value, key device) → b (session, key country)`, as far as is declared."""
    old, new = compared.before.declared.stores, compared.after.declared.stores
    return " → ".join(
        ", ".join(f"{table}{_declared(stores.get(table))}" for table in sorted(tables))
        for stores, tables in ((old, before), (new, after))
    )


def _declared(store: DeclaredStore | None) -> str:
    if store is None:
        return ""
    known = (
        store.kind and store.kind.replace("_", "-"),
        store.key and f"key {store.key}",
        store.value_serde and f"values {store.value_serde.name}",
    )
    return f" ({', '.join(one for one in known if one)})" if any(known) else ""


def _tables(side: Side, operator: str) -> frozenset[str]:
    return frozenset(_nearest_stores(side, side.predecessors.get(operator, ())))


def _nearest_stores(side: Side, names: Iterable[str]) -> Iterator[str]:
    waiting, seen = [*names], set[str]()
    while waiting:
        name = waiting.pop()
        node = side.nodes[name]
        if name in seen:
            continue
        seen.add(name)
        if isinstance(node, Processor) and node.stores:
            yield from node.stores
        else:
            waiting += side.predecessors.get(name, ())
