"""Operators in front of a store in another order than before, and those that may give its records other keys."""

from collections.abc import Collection

from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.topology.graph import keys_by_name, reach_of
from kstreams_runbooks.decide.topology.names import selects_key
from kstreams_runbooks.model.topology.topology import Processor

_BEFORE, _BEHIND = "in front of it", "behind it"


def reordered(compared: Compared) -> dict[str, str]:
    """For each store the operators of both versions that come from behind it to its front, or the other way, in words.

    An operator with a generated name has another one in another place: it is new there.
    """
    both = {
        name
        for name in compared.shared_names
        if all(isinstance(side.nodes.get(name), Processor) for side in (compared.before, compared.after))
    }
    stores = compared.before.keepers.keys() & compared.after.keepers.keys()
    was, now = (_around(side, both, stores) for side in (compared.before, compared.after))
    found = {}
    for store in sorted(stores):
        (before, behind), (new_before, new_behind) = was[store], now[store]
        words = [
            f"{', '.join(sorted(which))} {where} now"
            for which, where in ((behind & new_before, _BEFORE), (before & new_behind, _BEHIND))
            if which
        ]
        if words:
            found[store] = "; ".join(words)
    return found


def _around(side: Side, names: set[str], stores: Collection[str]) -> dict[str, tuple[set[str], set[str]]]:
    """For each store those of `names` that lead to its operators, and those that follow them."""
    reach, called = reach_of(side.topology), keys_by_name(side.topology)
    wanted = reach.bits(key for name in names for key in called[name])
    found = {}
    for store in stores:
        keys = [key for keeper in side.keepers[store] for key in called[keeper.name]]
        before, behind = (
            {name for _, name in reach.keys(bits & wanted)} for bits in (reach.before(keys), reach.behind(keys))
        )
        found[store] = before - behind, behind - before
    return found


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
