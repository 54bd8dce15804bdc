"""Operators in front of a store in another order than before, and those that may give its records other keys."""

from collections.abc import Collection

from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.comparison.state.kinds import OF_STREAM, carries
from kstreams_runbooks.decide.topology.graph import keys_by_name, marked, reach_of
from kstreams_runbooks.decide.topology.names import selects_key
from kstreams_runbooks.model.topology.topology import Processor, Source

_BEFORE, _BEHIND = "in front of it", "behind it"


def reordered(compared: Compared) -> dict[str, str]:
    """For each store the operators of both versions that come from behind it to its front, or the other way, in words.

    An operator with a generated name has another one in another place: it is new there.
    """
    stores = compared.before.keepers.keys() & compared.after.keepers.keys()
    was, now = (_around(side, compared.names, stores) for side in (compared.before, compared.after))
    found = {}
    for store in sorted(stores):
        (before, behind), (new_before, new_behind) = was[store], now[store]
        words = [
            f"{', '.join(operators)} {where} now"
            for which, where in ((behind & new_before, _BEFORE), (before & new_behind, _BEHIND))
            if which and (operators := _processors(compared, which))
        ]
        if words:
            found[store] = "; ".join(words)
    return found


def _processors(compared: Compared, which: int) -> list[str]:
    """The processors of both versions among the shared names with these bits."""
    names = (name for place, name in enumerate(compared.names) if which >> place & 1)
    sides = (compared.before, compared.after)
    return [name for name in names if all(isinstance(side.nodes.get(name), Processor) for side in sides)]


def _around(side: Side, names: tuple[str, ...], stores: Collection[str]) -> dict[str, tuple[int, int]]:
    """For each store which of `names`, as bits in their order, lead to its operators, and which follow them."""
    called, marks = keys_by_name(side.topology), marked(side.topology, names)
    found = {}
    for store in stores:
        own = before = behind = 0
        for key in (key for keeper in side.keepers[store] for key in called[keeper.name]):
            own |= marks.own[key]
            before |= marks.led[key]
            behind |= marks.followed[key]
        found[store] = before & ~behind & ~own, behind & ~before & ~own
    return found


def rows_led_otherwise(compared: Compared) -> dict[str, str]:
    """For each aggregation of a table the operators that change in front of its grouping, in words.

    An update takes the old row out of its group as the operators make it now, and not as they did when it was added:
    new ones, those that went, joins of another type, and operators with a new store, which has no old row yet.
    """
    before, after = compared.before, compared.after
    joins = {
        name
        for name, operator in before.declared.operators.items()
        if name in after.declared.operators and operator.join != after.declared.operators[name].join
    }
    new_stores = set(compared.stores.added)
    stored = {name for name, node in after.nodes.items() if isinstance(node, Processor) and node.stores & new_stores}
    gone, come = (
        _leading_to_groups(side, {*names, *joins})
        for side, names in ((before, compared.program.removed), (after, {*compared.program.added, *stored}))
    )
    found = {store: gone[store] | come[store] for store in gone.keys() & come.keys()}
    return {store: ", ".join(sorted(names)) for store, names in found.items() if names}


def _leading_to_groups(side: Side, changed: Collection[str]) -> dict[str, set[str]]:
    """The stores right behind groupings of tables, each with those of `changed` in front, sources of tables apart."""
    reach, called = reach_of(side.topology), keys_by_name(side.topology)
    counted = [
        name for name in changed if isinstance(side.nodes[name], Processor) and not _is_behind_source(side, name)
    ]
    bits = reach.bits(key for name in counted for key in called[name])
    found: dict[str, set[str]] = {}
    for source in (node for node in side.nodes.values() if isinstance(node, Source)):
        groups = [topic for topic in source.topics & side.internal if carries(side, topic) != OF_STREAM]
        writers = [key for topic in groups for name in side.writers.get(topic, ()) for key in called[name]]
        leading = {name for _, name in reach.keys(reach.before(writers) & bits)}
        for node in (side.nodes[name] for name in source.successors) if groups else ():
            for store in node.stores if isinstance(node, Processor) else ():
                found.setdefault(store, set()).update(leading)
    return found


def _is_behind_source(side: Side, name: str) -> bool:
    return any(isinstance(side.nodes[one], Source) for one in side.predecessors.get(name, ()))


def keys_selected(compared: Compared) -> dict[str, str]:
    """For each store the new operators in front of it, with no internal topic between, whose names show another key."""
    added = {name for name in compared.operators.added if selects_key(name)}
    found: dict[str, set[str]] = {}
    for name in added:
        for store in _stores_behind(compared.after, name):
            found.setdefault(store, set()).add(name)
    return {store: ", ".join(sorted(names)) for store, names in found.items()}


def _stores_behind(side: Side, name: str) -> set[str]:
    """Stores of its own subtopology behind an operator; a table in between has a key of its own."""
    found, seen, waiting = set[str](), set[str](), [name]
    while waiting:
        node = side.nodes[waiting.pop()]
        if node.name not in seen and isinstance(node, Processor):
            seen.add(node.name)
            found |= node.stores
            waiting += node.successors
    return found
