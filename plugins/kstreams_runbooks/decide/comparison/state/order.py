"""Operators in front of a store in another order than before, and those that may give its records other keys."""

from collections.abc import Collection, Sequence

from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.topology.graph import keys_by_name, marked, reach_of
from kstreams_runbooks.decide.topology.names import selects_key
from kstreams_runbooks.model.topology.topology import Processor

_BEFORE, _BEHIND = "in front of it", "behind it"


def reordered(compared: Compared) -> dict[str, str]:
    """For each store the operators of both versions that come from behind it to its front, or the other way, in words.

    An operator with a generated name has another one in another place: it is new there.
    """
    names = sorted(
        name
        for name in compared.shared_names
        if all(isinstance(side.nodes.get(name), Processor) for side in (compared.before, compared.after))
    )
    stores = compared.before.keepers.keys() & compared.after.keepers.keys()
    was, now = (_around(side, names, stores) for side in (compared.before, compared.after))
    found = {}
    for store in sorted(stores):
        (before, behind), (new_before, new_behind) = was[store], now[store]
        words = [
            f"{', '.join(name for place, name in enumerate(names) if which >> place & 1)} {where} now"
            for which, where in ((behind & new_before, _BEFORE), (before & new_behind, _BEHIND))
            if which
        ]
        if words:
            found[store] = "; ".join(words)
    return found


def _around(side: Side, names: Sequence[str], stores: Collection[str]) -> dict[str, tuple[int, int]]:
    """For each store which of `names`, as bits in their order, lead to its operators, and which follow them."""
    called, bits = keys_by_name(side.topology), marked(side.topology, names)
    led, followed = reach_of(side.topology).led_and_followed(bits)
    found = {}
    for store in stores:
        own = before = behind = 0
        for key in (key for keeper in side.keepers[store] for key in called[keeper.name]):
            own |= bits[key]
            before |= led[key]
            behind |= followed[key]
        found[store] = before & ~behind & ~own, behind & ~before & ~own
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
