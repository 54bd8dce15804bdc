"""Stores that keep their names and get the records of another: sides of a join, and suppressions that moved."""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass

from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.comparison.state.held_tables import held_back
from kstreams_runbooks.decide.topology.graph import keys_by_name, operator_roles, reach_of, store_roles
from kstreams_runbooks.decide.topology.names import index_of, is_generated, is_join_window, stem
from kstreams_runbooks.model.topology.topology import Processor


@dataclass(frozen=True, slots=True)
class _Sides:
    """What fills the store of one side of a join, what fills that of the other side, and that store."""

    filler: str
    other_filler: str
    other: str


# What leads to one side of a join alone, in words that get less sure from one to the next.
_Shown = tuple[Counter[Hashable], ...]


def crossed_sides(compared: Compared) -> dict[str, str]:
    """Stores of a join whose sides have changed places, each with the store that had its records before.

    Both sides may come from one topic. What leads to one side alone is compared by the names that both versions have,
    then by the kinds of operators and the topics behind them, then by the kinds, then by their number, since an
    operator may have got another name, then by the chosen names of internal topics, which may have been exchanged. The
    first of these that fits one order of the sides better decides. If none does, the order in the program decides: a
    description shows no more.
    """
    was, now = _joins(compared.before), _joins(compared.after)
    both = was.keys() & now.keys()
    if not both:
        return {}
    shared = compared.shared_names
    old, new = (_Leading(side, shared) for side in (compared.before, compared.after))
    return {
        store: was[store].other
        for store in both
        if _is_the_other(was[store].other, now[store].other)
        and _crossed(old.of(was[store]), new.of(now[store]), old.order(was[store]), new.order(now[store]))
    }


def _is_the_other(was: str, now: str) -> bool:
    """Whether the store of the other side is the same; another kind of join of streams gives it another name."""
    return was == now or (is_join_window(was) and is_join_window(now))


class _Leading:
    """What leads to each side of a join and not to the other, in one version."""

    def __init__(self, side: Side, shared: frozenset[str]) -> None:
        self._shared = shared
        self._around, self._nodes, self._internal = side.around, side.nodes, side.internal
        self._reach, self._called = reach_of(side.topology), keys_by_name(side.topology)
        self._roles = operator_roles(side.topology)

    def of(self, sides: _Sides) -> tuple[_Shown, _Shown]:
        """What is before the own side, and what is before the other one."""
        one, other = self._alone(sides)
        return self._shown(one), self._shown(other)

    def order(self, sides: _Sides) -> bool | None:
        """Whether the own side begins first in the program; None if a name hides it."""
        first = [
            min((place for name in names if (place := index_of(name)) is not None), default=None)
            for names in self._alone(sides)
        ]
        return None if first[0] is None or first[1] is None else first[0] < first[1]

    def _alone(self, sides: _Sides) -> tuple[list[str], list[str]]:
        one, other = (self._reach.before(self._called[name]) for name in (sides.filler, sides.other_filler))
        return self._names(one & ~other), self._names(other & ~one)

    def _names(self, bits: int) -> list[str]:
        return [name for _, name in self._reach.keys(bits)]

    def _shown(self, names: Iterable[str]) -> _Shown:
        kinds = [(self._kind(name), self._roles[name].outputs) for name in names if name in self._roles]
        return (
            Counter(name for name in names if name in self._shared),
            Counter(kinds),
            Counter(kind for kind, _ in kinds),
            Counter(type(self._nodes[name]).__name__ for name in names if name in self._roles),
            Counter(name for name in names if name in self._internal and not is_generated(name)),
        )

    def _kind(self, name: str) -> str:
        """The kind of an operator; the parts of a repartition are named after the side that they are for."""
        return type(self._nodes[name]).__name__ if name in self._around else stem(name)


def _crossed(
    before: tuple[_Shown, _Shown], after: tuple[_Shown, _Shown], first_before: bool | None, first_after: bool | None
) -> bool:
    for own, other, new_own, new_other in zip(*before, *after, strict=True):
        if (crosswise := fits_crosswise((own, other), (new_own, new_other))) is not None:
            return crosswise
    alike = before[0] == before[1] and after[0] == after[1]
    return alike and None not in {first_before, first_after} and first_before != first_after


def fits_crosswise(
    before: tuple[Counter[Hashable], Counter[Hashable]], after: tuple[Counter[Hashable], Counter[Hashable]]
) -> bool | None:
    """Whether two sides fit the two of the other version better in exchanged places; None if neither fits better."""
    straight = sum((old & new).total() for old, new in zip(before, after, strict=True))
    across = sum((old & new).total() for old, new in zip(before, after[::-1], strict=True))
    return None if straight == across else across > straight


def in_exchanged_places(compared: Compared, settled: Collection[str]) -> dict[str, str]:
    """Stores that get what another one got, and the reverse, by the kinds of all operators in front and what is behind.

    Two operators of one kind that keep a store have no names that show which of them it is. `settled` are stores that
    stay with their operator.
    """
    before, after = compared.before, compared.after
    both = (before.keepers.keys() & after.keepers.keys()) - set(settled)
    kinds = {store: _kinds_of_keepers(before, store) & _kinds_of_keepers(after, store) for store in both}
    was, now = (_places(side, kinds) for side in (before, after))
    moved = [store for store in sorted(both) if kinds[store] and was[store] != now[store]]
    places = {(was[store], now[store]): store for store in moved}
    return {store: other for store in moved if (other := places.get((now[store], was[store]))) is not None}


def _kinds_of_keepers(side: Side, store: str) -> frozenset[str]:
    return frozenset(stem(keeper.name) for keeper in side.keepers[store] if is_generated(keeper.name))


def _places(side: Side, kinds: Mapping[str, frozenset[str]]) -> dict[str, Hashable]:
    """For each store the kinds of the operators that lead to those of `kinds` that keep it, and the topics behind."""
    reach, called, roles = reach_of(side.topology), keys_by_name(side.topology), store_roles(side.topology)
    found: dict[str, Hashable] = {}
    for store, shown in kinds.items():
        keys = [key for one in side.keepers[store] if stem(one.name) in shown for key in called[one.name]]
        found[store] = shown, reach.around(reach.before(keys)), roles[store].outputs
    return found


def moved_suppressions(compared: Compared) -> frozenset[str]:
    """Buffers of suppressions that keep their names and hold back another table, which both versions have."""
    before, after = held_back(compared.before), held_back(compared.after)
    pairs = dict(compared.stores.pairs)
    there = set(pairs.values())
    return frozenset(
        buffer
        for buffer in before.keys() & after.keys()
        if (tables := {pairs[store] for store in before[buffer] if store in pairs})
        and after[buffer] & there
        and not tables & after[buffer]
    )


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
    return {
        one: _Sides(filler, looks[other, one], other) for (one, other), filler in looks.items() if (other, one) in looks
    }
