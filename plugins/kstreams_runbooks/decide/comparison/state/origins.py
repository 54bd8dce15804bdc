"""Stores that keep their names and are made of other topics than before."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping

from kstreams_runbooks.decide.comparison.compared import Compared, Side, filled_by_tables
from kstreams_runbooks.decide.comparison.content import contents
from kstreams_runbooks.decide.topology.digraph import Key
from kstreams_runbooks.decide.topology.graph import graph, keys_by_name, reach_of
from kstreams_runbooks.decide.topology.names import is_generated, stem
from kstreams_runbooks.model.topology.declaration import DeclaredStore
from kstreams_runbooks.model.topology.topology import Processor, Source

_Topics = frozenset[str]
# The topics that lead to each operator of a store, by the operator's name without its number.
_Fillers = Mapping[str, _Topics]

# Operators of a join that look something up in a store which another operator fills, by their generated names.
_LOOKS_UP = ("KSTREAM-JOIN", "KSTREAM-LEFTJOIN-", "KSTREAM-OUTER", "KTABLE-JOIN", "KTABLE-OUTER", "KTABLE-LEFT")
# The same where the join has a chosen name.
_LOOKS_UP_BY_SUFFIX = ("-this-join", "-other-join", "-join-this", "-join-other")
# What makes the rows of a table from those of another.
_OF_ROWS = {"filter", "map_values", "transform_values"}
_TOPIC = "topic:"


def made_of_others(compared: Compared) -> frozenset[str]:
    """Stores of both versions that another operator of both fills, or that have no input topic of theirs any more.

    A topic that is new takes the place of one that goes: the new one may continue the old one (`inputs_replaced`). If
    the new one was read before, or the old one still is, they are two inputs.
    """
    before, after = compared.before, compared.after
    both = before.keepers.keys() & after.keepers.keys()
    was, now = (_fillers(side, both) for side in (before, after))
    read_before, read_after = before.read(), after.read()
    keeping = _keeping(after)

    def exchanged(store: str) -> bool:
        """Whether other operators fill it now, and those that filled it before keep another store."""
        old, new = was[store].keys(), now[store].keys()
        return bool(old) and bool(new) and not old & new and old <= keeping

    def moved(store: str) -> bool:
        return any(
            old and new and not old & new and (new & read_before or old & read_after)
            for old, new in _counterparts(was[store], now[store])
        )

    return frozenset(store for store in both if exchanged(store) or moved(store))


def inputs_replaced(compared: Compared) -> dict[str, tuple[str, str]]:
    """Stores whose input topics have all gone, with these and the new ones in their place, in words.

    Whether the new topics go on where the old ones ended is known to people alone. Patterns are left to the findings of
    the topics: two may match the same ones.
    """
    before, after = compared.before, compared.after
    renamed = {new: old for old, new in compared.stores.pairs}
    now = _fillers(after, after.keepers.keys() & renamed.keys())
    was = _fillers(before, before.keepers.keys() & {renamed[store] for store in now})
    read_before, read_after, patterns = before.read(), after.read(), before.patterns | after.patterns
    found = {}
    for store, fillers in now.items():
        old = frozenset[str]().union(*was.get(renamed[store], {}).values())
        new = frozenset[str]().union(*fillers.values())
        if old and new and not (old & read_after or new & read_before or (old | new) & patterns):
            found[store] = ", ".join(sorted(old)), ", ".join(sorted(new))
    return found


def writers_lost(compared: Compared) -> dict[str, tuple[str, str]]:
    """Stores that lose an operator which may fill them, in words: what is lost, and what is left, which may only look.

    An operator of a known kind that fills the store is enough. One that only looks things up does not count.
    """
    now_called = dict(compared.operators.pairs)
    found: dict[str, tuple[str, str]] = {}
    for store, keepers in compared.before.keepers.items():
        left = {one.name for one in compared.after.keepers.get(store, ())}
        lost = [
            one.name
            for one in keepers
            if now_called.get(one.name) not in left and not _only_looks_up(compared.before, one.name)
        ]
        stays = left <= {now_called.get(one.name) for one in keepers}
        if left and lost and stays and not any(is_generated(name) and not _looks_up(name) for name in left):
            found[store] = ", ".join(sorted(lost)), ", ".join(sorted(left))
    return found


def tables_behind(compared: Compared) -> dict[str, str]:
    """New stores of tables whose topics the old version reads already, with these topics: the group has offsets."""
    read = compared.before.read(is_global=False)
    tables = filled_by_tables(compared.after)
    declared, places = compared.after.declared.stores, contents(compared.after)
    found = {}
    for store in compared.stores.added:
        if store in places and places[store].place == "input":
            # The topic itself restores it, from its beginning to the offsets of the group.
            continue
        topics = [tables[store]] if store in tables else []
        if not topics and store in declared and declared[store].source_table:
            topics = list(_read_first(compared.after, store))
        # A chosen name hides which operator fills the table and which one is joined with it.
        if topics and all(one & read for one in topics):
            found[store] = ", ".join(sorted(frozenset[str]().union(*topics) & read))
    return found


def rows_missing(compared: Compared) -> frozenset[str]:
    """New stores of rows that a table already has, filtered, mapped or joined, behind inputs that are read already.

    Code alone shows them. Each row comes to such a store when its table updates it. A join that is new itself has no
    results from before in any case.
    """
    declared, read = compared.after.declared.stores, compared.before.read(is_global=False)
    stays = {now for _, now in compared.operators.pairs}
    new = {
        name
        for name in compared.stores.added
        if name in declared and (declared[name].made_by in _OF_ROWS or _is_result_of(declared[name], stays))
    }
    found = _fillers(compared.after, new & compared.after.keepers.keys())
    return frozenset(
        store
        for store, fillers in found.items()
        if not declared[store].loss_acceptable and frozenset[str]().union(*fillers.values()) & read
    )


def _is_result_of(store: DeclaredStore, operators: Collection[str]) -> bool:
    """Whether a store keeps the results of a join of tables that is one of `operators`."""
    filling = store.filled_by or frozenset()
    return store.made_by == "join" and store.kind != "join" and bool(filling) and filling <= set(operators)


def looked_into_anew(compared: Compared) -> dict[str, tuple[str, str]]:
    """New stores that an operator of both versions uses in place of another, behind inputs that are read already.

    In words: those operators, and the stores that they used. The group goes on from its offsets, so such a store has
    no row from before. A named filter of a table does it that gets a store of its own: the join behind it looked
    through the filter into the table's store.
    """
    before, after = compared.before, compared.after
    if not compared.stores.added:
        return {}
    was_called = {new: old for old, new in compared.operators.pairs}
    renamed = dict(compared.stores.pairs)
    used = {name: {renamed.get(one, one) for one in _stores_of(before, name)} for name in was_called.values()}
    read = before.read(is_global=False)
    found = {}
    for store, fillers in sorted(_fillers(after, after.keepers.keys() & set(compared.stores.added)).items()):
        instead = {one.name: used.get(was_called.get(one.name, ""), set()) - one.stores for one in after.keepers[store]}
        lookers = sorted(name for name, stores in instead.items() if stores)
        fed = [topics for name, topics in fillers.items() if name not in map(stem, lookers)] or fillers.values()
        if lookers and frozenset[str]().union(*fed) & read:
            found[store] = ", ".join(lookers), ", ".join(sorted(set[str]().union(*instead.values())))
    return found


def _stores_of(side: Side, name: str) -> frozenset[str]:
    node = side.nodes[name]
    return node.stores if isinstance(node, Processor) else frozenset()


def _read_first(side: Side, store: str) -> Iterator[_Topics]:
    """The topics of the sources right before each operator of a store, without those that are known to join with it."""
    for name in (one.name for one in side.keepers.get(store, ())):
        before = (side.nodes[source] for source in side.predecessors.get(name, ()))
        if not _only_looks_up(side, name) and (topics := [node.topics for node in before if isinstance(node, Source)]):
            yield frozenset[str]().union(*topics)


def _keeping(side: Side) -> set[str]:
    """Operators with chosen names that keep a store."""
    return {one.name for keepers in side.keepers.values() for one in keepers if not is_generated(one.name)}


def _counterparts(was: _Fillers, now: _Fillers) -> list[tuple[_Topics, _Topics]]:
    """The topics of each operator in both versions; of operators without a counterpart, those of all together."""
    pairs = [(was[name], now[name]) for name in was.keys() & now.keys()]
    gone = Counter(topics for name, topics in was.items() if name not in now)
    come = Counter(topics for name, topics in now.items() if name not in was)
    pairs.append((frozenset[str]().union(*(gone - come)), frozenset[str]().union(*(come - gone))))
    return pairs


def _fillers(side: Side, stores: frozenset[str] | set[str]) -> dict[str, _Fillers]:
    """The operators that may fill each of `stores`: one whose name shows that it only looks things up does not."""
    reach, called = reach_of(side.topology), keys_by_name(side.topology)
    made = graph(side.topology)
    inputs = reach.bits(key for key, before in made.predecessors.items() if key[0] == _TOPIC and not before)
    named: dict[int, _Topics] = {}

    def topics_before(keys: list[Key]) -> _Topics:
        bits = reach.before(keys) & inputs
        if bits not in named:
            named[bits] = frozenset(name for _, name in reach.keys(bits))
        return named[bits]

    found: dict[str, _Fillers] = {}
    for store in stores:
        keepers = side.keepers[store]
        fillers = [one.name for one in keepers if not _only_looks_up(side, one.name)] or [one.name for one in keepers]
        # A generated name shows what its operator does: of such a one and chosen names, it is the one that fills.
        shown = [name for name in fillers if is_generated(name)] or fillers
        found[store] = {
            one: topics_before([key for name in shown if stem(name) == one for key in called[name]])
            for one in map(stem, shown)
        }
    return found


def _only_looks_up(side: Side, name: str) -> bool:
    """Whether an operator is known to join, by its name or by what was read of the program."""
    operator = side.declared.operators.get(name)
    return _looks_up(name) or (operator is not None and operator.join is not None)


def _looks_up(operator: str) -> bool:
    return stem(operator).startswith(_LOOKS_UP) or operator.endswith(_LOOKS_UP_BY_SUFFIX)
