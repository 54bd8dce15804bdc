"""Stores that keep their names and get the records of another: sides of a join, and suppressions that moved."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.topology.graph import keys_by_name, operator_roles, reach_of
from kstreams_runbooks.decide.topology.names import is_suppression
from kstreams_runbooks.model.topology.topology import Processor


@dataclass(frozen=True, slots=True)
class _Sides:
    """What fills the store of one side of a join, and the store of the other side."""

    filler: str
    other: str


def crossed_sides(compared: Compared) -> dict[str, str]:
    """Stores of a join whose sides have changed places, each with the store that had its records before.

    Both sides may come from one topic. What leads to each is compared by the names that both versions have, and by the
    kinds of operators.
    """
    was, now = _joins(compared.before), _joins(compared.after)
    if not was.keys() & now.keys():
        return {}
    shared = compared.shared_names
    named = [_names_before(side, shared, joins) for side, joins in ((compared.before, was), (compared.after, now))]
    kinds = [operator_roles(side.topology) for side in (compared.before, compared.after)]
    found: dict[str, str] = {}
    for store in was.keys() & now.keys():
        old, new = was[store], now[store]
        if old.other not in was or new.other not in now:
            continue
        before = old.filler, was[old.other].filler
        after = new.filler, now[new.other].filler
        by_name = [tuple(named[0][name] for name in before), tuple(named[1][name] for name in after)]
        by_kind = [tuple(kinds[0][name].before for name in before), tuple(kinds[1][name].before for name in after)]
        if _crossed(*by_name) or _crossed(*by_kind):
            found[store] = old.other
    return found


def moved_suppressions(compared: Compared) -> frozenset[str]:
    """Buffers of suppressions that keep their names and hold back another table, which both versions have."""
    before, after = _held_back(compared.before), _held_back(compared.after)
    pairs = dict(compared.stores.pairs)
    there = set(pairs.values())
    return frozenset(
        buffer
        for buffer in before.keys() & after.keys()
        if (tables := {pairs[store] for store in before[buffer] if store in pairs})
        and after[buffer] & there
        and not tables & after[buffer]
    )


def _crossed(before: tuple[object, ...], after: tuple[object, ...]) -> bool:
    return before[0] != before[1] and before == after[::-1]


def _joins(side: Side) -> dict[str, _Sides]:
    """Each side of a join: a keeper fills its store and leads to an operator that looks into the other one."""
    looks: dict[tuple[str, str], str] = {}
    for node in side.nodes.values():
        for store in node.stores if isinstance(node, Processor) else ():
            for name in node.successors if isinstance(node, Processor) else ():
                after = side.nodes[name]
                for other in after.stores if isinstance(after, Processor) else ():
                    if other != store:
                        looks[store, other] = node.name
    return {one: _Sides(filler, other) for (one, other), filler in looks.items() if (other, one) in looks}


def _names_before(side: Side, shared: frozenset[str], joins: Mapping[str, _Sides]) -> Mapping[str, frozenset[str]]:
    """For each operator that fills a side of a join the `shared` names that lead to it."""
    reach, called = reach_of(side.topology), keys_by_name(side.topology)
    wanted = reach.bits(key for name in shared for key in called[name])
    fillers = {sides.filler for sides in joins.values()}
    return {name: frozenset(key[1] for key in reach.keys(reach.before(called[name]) & wanted)) for name in fillers}


def _held_back(side: Side) -> dict[str, set[str]]:
    """For each buffer of a suppression the nearest stores before it."""
    found: dict[str, set[str]] = {}
    for name, node in side.nodes.items():
        if isinstance(node, Processor) and (name in side.declared.suppressions or is_suppression(name)):
            nearest = set(_nearest_stores(side, side.predecessors.get(name, ())))
            found |= dict.fromkeys(node.stores, nearest)
    return found


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
