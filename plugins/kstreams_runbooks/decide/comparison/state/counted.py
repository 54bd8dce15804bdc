"""Stores with a record cache whose updates are counted: their number depends on the cache and on commits.

A cache combines the updates of a key until it is full or a commit comes. What takes each record by itself, as an
aggregation of a stream does, has another result for another number of them; an aggregation of a table does not.
Code alone shows what fills a store, and whether it has a cache: of a version that was not read nothing is known here.
Source: Kafka Streams developer guide, Memory Management, Record caches in the DSL; KIP-63.
"""

from kstreams_runbooks.decide.comparison.compared import Side
from kstreams_runbooks.decide.comparison.state.kinds import OF_STREAM, fed_by
from kstreams_runbooks.decide.topology.digraph import Key
from kstreams_runbooks.decide.topology.graph import keys_by_name, reach_of
from kstreams_runbooks.model.topology.declaration import DeclaredStore

_AGGREGATES = {"count", "reduce", "aggregate"}


def counting_behind(side: Side, store: str) -> tuple[str, ...]:
    """Stores of aggregations of a stream that the updates of a store lead to, sorted."""
    reach, filled = reach_of(side.topology), _filling(side, store)
    behind = {name for _, name in reach.keys(reach.behind(filled))}
    return tuple(sorted(name for name in _counting(side) if name != store and _fillers(side, name) & behind))


def cached_updates_are_counted(side: Side) -> bool:
    """Whether the updates of a store with a record cache lead to an aggregation of a stream."""
    reach = reach_of(side.topology)
    before = 0
    for name in _counting(side):
        before |= reach.before(_filling(side, name))
    cached = [name for name, store in side.declared.stores.items() if store.caching and name in side.keepers]
    return any(reach.bits(_filling(side, name)) & before for name in cached)


def _counting(side: Side) -> list[str]:
    stores = side.declared.stores
    return [
        name
        for name in side.keepers
        if stores.get(name, DeclaredStore()).made_by in _AGGREGATES and fed_by(side, name) == OF_STREAM
    ]


def _fillers(side: Side, store: str) -> frozenset[str]:
    return side.declared.stores[store].filled_by or frozenset()


def _filling(side: Side, store: str) -> list[Key]:
    called = keys_by_name(side.topology)
    return [key for name in _fillers(side, store) for key in called.get(name, ())]
