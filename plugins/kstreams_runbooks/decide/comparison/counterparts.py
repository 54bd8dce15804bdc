"""Counterparts of stores and internal topics between the topologies: by their role, not by their name."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field

from kstreams_runbooks.decide.topology.graph import Role
from kstreams_runbooks.decide.topology.names import index_of, is_generated, stem


@dataclass(frozen=True, slots=True)
class Tie:
    """Things with the same role, of different number in the topologies: their counterparts are ambiguous."""

    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Counterparts:
    """Pairs of old and new name, removed things, added things, and ambiguous ones."""

    pairs: tuple[tuple[str, str], ...]
    removed: tuple[str, ...]
    added: tuple[str, ...]
    ties: tuple[Tie, ...]

    @property
    def renamed(self) -> tuple[tuple[str, str], ...]:
        """Pairs whose names differ."""
        return tuple((old, new) for old, new in self.pairs if old != new)


_Likeness = Callable[[str, Role], Hashable]


def _ends(role: Role) -> Hashable:
    return role.inputs, role.outputs


def _place(role: Role) -> Hashable:
    """The position of something, independent of all names around it."""
    return role.inputs, role.outputs, role.before.size, role.behind.size


def _named_owners(_: str, role: Role) -> Hashable:
    """The operators with chosen names that something belongs to; with a generated one it is like nothing else."""
    return role.owners if role.has_named_owners else object()


# From the most alike to the least; a pair found by one of them is settled for those below it.
_LIKENESSES: tuple[_Likeness, ...] = (
    lambda _, role: role,
    lambda _, role: (role.owners, role.before),
    lambda name, role: (role.owners, _ends(role)) if is_generated(name) else name,
    lambda _, role: (role.owners, _ends(role)),
    lambda _, role: (role.owners, role.inputs),
    lambda name, role: (stem(name), _ends(role)),
    lambda name, role: (stem(name), role.inputs),
    _named_owners,
    lambda _, role: _place(role),
)


@dataclass(slots=True)
class _Search:
    # Both in the order of the program.
    before: dict[str, Role]
    after: dict[str, Role]
    pairs: list[tuple[str, str]] = field(default_factory=list)
    ties: list[Tie] = field(default_factory=list)

    def pair(self, old: str, new: str) -> None:
        self.pairs.append((old, new))
        del self.before[old], self.after[new]

    def tie(self, old: list[str], new: list[str]) -> None:
        self.ties.append(Tie(tuple(old), tuple(new)))
        for name in old:
            del self.before[name]
        for name in new:
            del self.after[name]


def counterparts(before: Mapping[str, Role], after: Mapping[str, Role], *, hold_data: bool = True) -> Counterparts:
    """Pair similar things, the most alike first.

    Of several that are equally alike those with one name belong together; the rest are ambiguous: a tie. Things that
    hold data (`hold_data`) are never taken for new while a similar one was removed: that is a tie too.
    """
    search = _Search(_in_order(before), _in_order(after))
    for likeness in _LIKENESSES:
        _match(search, likeness)
    _overlapping(search, hold_data=hold_data)
    if hold_data:
        _behind_other_inputs(search, _inputs(before), _inputs(after))
    return Counterparts(
        tuple(sorted(search.pairs)), tuple(sorted(search.before)), tuple(sorted(search.after)), tuple(search.ties)
    )


def _match(search: _Search, likeness: _Likeness) -> None:
    old, new = (_grouped(roles, likeness) for roles in (search.before, search.after))
    for like in [like for like in old if like in new]:
        if len(old[like]) == len(new[like]) == 1:
            # Most of them.
            _pair_of_one_kind(search, *old[like], *new[like])
            continue
        # Ordered sets: one operator may have thousands of stores.
        olds, news = dict.fromkeys(old[like]), dict.fromkeys(new[like])
        for name in [name for name in olds if name in news and not is_generated(name)]:
            search.pair(name, name)
            del olds[name], news[name]
        for name in [name for name in olds if name in news] if len(olds) == len(news) else ():
            search.pair(name, name)
            del olds[name], news[name]
        if len(olds) == len(news) == 1:
            _pair_of_one_kind(search, *olds, *news)
        elif olds and news:
            search.tie([*olds], [*news])


def _pair_of_one_kind(search: _Search, old: str, new: str) -> None:
    if not _of_two_kinds(old, new):
        search.pair(old, new)


def _overlapping(search: _Search, *, hold_data: bool) -> None:
    """Pair the rest by kind and a shared external topic: the other topics read or written may differ.

    If several fit, or people chose all the names and no generated one distinguishes them, the counterparts are
    ambiguous: a tie.
    """
    olds = {name: _Kin.of(name, role) for name, role in search.before.items()}
    news = {name: _Kin.of(name, role) for name, role in search.after.items()}
    old_sizes, new_sizes = Counter(olds.values()), Counter(news.values())
    near = {one: {other for other in new_sizes if one.is_near(other)} for one in old_sizes}
    for old, kin in olds.items():
        if sum(new_sizes[other] for other in near[kin]) == 1:
            [new] = (name for name, other in news.items() if other in near[kin])
            alone = sum(old_sizes[one] for one in old_sizes if news[new] in near[one]) == 1
            if alone and _alike(search.before[old], search.after[new], old, new):
                search.pair(old, new)
                continue
        if hold_data and old in search.before:
            found = [new for new in search.after if news[new] in near[kin]]
            if found:
                search.tie([one for one in search.before if news[found[0]] in near[olds[one]]], found)


def _behind_other_inputs(search: _Search, read_before: frozenset[str], read_after: frozenset[str]) -> None:
    """A tie of things of one generated kind if nothing reads the inputs of the old ones now, nor read those of the new.

    Other inputs may have taken their place, or one part of the program may have been exchanged for an unrelated one.
    """
    gone, come = (
        {name: stem(name) for name, role in roles.items() if is_generated(name) and role.inputs.isdisjoint(read)}
        for roles, read in ((search.before, read_after), (search.after, read_before))
    )
    for kind in sorted(set(gone.values()) & set(come.values())):
        search.tie(*([name for name, one in found.items() if one == kind] for found in (gone, come)))


def _inputs(roles: Mapping[str, Role]) -> frozenset[str]:
    return frozenset[str]().union(*(role.inputs for role in roles.values()))


@dataclass(frozen=True, slots=True)
class _Kin:
    """All that decides whether two things may be one: things of one kind with the same ends are compared once."""

    kind: str | None
    inputs: frozenset[str]
    outputs: frozenset[str]

    @classmethod
    def of(cls, name: str, role: Role) -> "_Kin":
        return cls(_kind(name) if is_generated(name) else None, role.inputs, role.outputs)

    def is_near(self, other: "_Kin") -> bool:
        """Whether both may be of one kind, and share an external topic."""
        if None not in {self.kind, other.kind} and self.kind != other.kind:
            return False
        return not (self.inputs.isdisjoint(other.inputs) and self.outputs.isdisjoint(other.outputs))


def _alike(one: Role, other: Role, old: str, new: str) -> bool:
    return bool(set(one.owners) & set(other.owners)) or (is_generated(old) and is_generated(new))


def _of_two_kinds(old: str, new: str) -> bool:
    """Whether both names were generated, for different operators: a reduce has not become a count."""
    return is_generated(old) and is_generated(new) and _kind(old) != _kind(new)


def _kind(name: str) -> str:
    """The kind in a generated name; an inner join and an outer one keep the same two sides."""
    return stem(name).replace("OUTERTHIS", "JOINTHIS").replace("OUTEROTHER", "JOINOTHER")


def _in_order(roles: Mapping[str, Role]) -> dict[str, Role]:
    """By the number in the name if it was generated, chosen names behind those."""
    keys = sorted((index is None, index or 0, name) for name in roles for index in (index_of(name),))
    return {name: roles[name] for _, _, name in keys}


def _grouped(roles: Mapping[str, Role], likeness: _Likeness) -> dict[Hashable, list[str]]:
    """Names by likeness, each list in the order of the program."""
    found: defaultdict[Hashable, list[str]] = defaultdict(list)
    for name, role in roles.items():
        found[likeness(name, role)].append(name)
    return found
