"""What the records of each operator have of the order of their inputs: whose keys, and whose order.

Records of one key that come from one partition of one topic have one order, on any side of an application. Behind a
change of key, or where two topics meet, their order is that in which partitions were read. A count does not depend on
it, nor does a join of tables; a reduce or an aggregate may.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from kstreams_runbooks.decide.comparison.compared import Side, fillers, topics_of
from kstreams_runbooks.decide.topology.names import (
    is_generated,
    is_join_window,
    is_made_of_foreign_keys,
    may_give_new_key,
    suppression_of,
)
from kstreams_runbooks.model.topology.declaration import DeclaredStore
from kstreams_runbooks.model.topology.topology import Processor, Sink, Source

# How the format of a repartition topic begins that a grouped table writes: both values, the old one is subtracted.
_OF_TABLE = "Changed("
# What a program that was read has of an operator of its own (docs/facts.md).
_OWN = "punctuators"
# How the filter before a repartition topic with a chosen name is named, which drops records without a key.
_FILTER = "-repartition-filter"
# The generated name of the operator that groups a table by another key.
_SELECTS = "KTABLE-SELECT-"
_TABLE_SIDES = ("KTABLE-JOINTHIS-", "KTABLE-JOINOTHER-", "-join-this", "-join-other")

# unknown: names hide whether it fills its store or looks into it.
Operator = Literal[
    "aggregation",
    "table",
    "table_join",
    "stream_join",
    "foreign_key",
    "lookup",
    "global_lookup",
    "unknown",
    "other",
]


@dataclass(frozen=True, slots=True)
class Flow:
    """The records of an operator.

    `origins` are topics, stores and joins that put them in order; `updates`: they are those of a table, as many as its
    cache lets through. `keeps_key`: names alone show that each operator from there on keeps the key. `is_final`: each
    window comes once, when it closes.
    """

    origins: frozenset[str]
    updates: bool = False
    keeps_key: bool = True
    is_final: bool = False


@dataclass
class Flows:
    """The records of each operator and, of aggregations, those before it.

    `doubts` are, by operator, the reasons why the last value of a key depends on an order.
    """

    operators: Mapping[str, Operator]
    of: dict[str, Flow] = field(default_factory=dict)
    into: dict[str, Flow] = field(default_factory=dict)
    doubts: dict[str, list[str]] = field(default_factory=dict)


def is_own_code(side: Side, name: str) -> bool:
    """Whether a program that was read has an operator of its own there, or a generated name shows one."""
    return f"operators.{name}.{_OWN}" in side.declared.not_read or name.startswith(
        ("KSTREAM-PROCESS", "KSTREAM-TRANSFORM", "KSTREAM-FLATTRANSFORM", "KTABLE-TRANSFORM")
    )


def operators_of(side: Side) -> dict[str, Operator]:
    """What each operator of the library does to the order of records."""
    tables = fillers(side)
    return {name: _operator(side, node, tables) for name, node in side.nodes.items() if isinstance(node, Processor)}


def _operator(side: Side, node: Processor, tables: Mapping[str, Mapping[str, bool | None]]) -> Operator:
    stores = {name: side.declared.stores.get(name, DeclaredStore()) for name in node.stores}
    before = side.predecessors.get(node.name, [])
    declared = side.declared.operators.get(node.name)
    joins = declared is not None and declared.join is not None
    if any(is_join_window(name) or one.kind == "join" for name, one in stores.items()):
        return "stream_join"
    if any(part in name for name in before for part in _TABLE_SIDES):
        return "table_join"
    if _is_of_foreign_key(side, node.name):
        return "foreign_key"
    looks = joins and not node.name.startswith("KTABLE-")
    if looks or node.name.startswith(("KSTREAM-JOIN-", "KSTREAM-LEFTJOIN-")):
        return "lookup" if stores else "global_lookup"
    if any(_aggregation(one, node.name) != "none" for one in stores.values()):
        return "aggregation"
    if node.name.startswith("KTABLE-JOIN") or node.name.endswith(_TABLE_SIDES[2:]):
        return "other"
    return _of_its_table(side, node, tables)


def _of_its_table(side: Side, node: Processor, tables: Mapping[str, Mapping[str, bool | None]]) -> Operator:
    """Whether an operator fills the store of a table, or looks into it: another one may fill it."""
    own = {
        topic
        for name in side.predecessors.get(node.name, ())
        if isinstance(source := side.nodes[name], Source)
        for topic in source.topics
    }
    found: set[Operator] = set()
    for store in node.stores:
        filled = tables.get(store, {})
        fills = [filled[topic] for topic in own if topic in filled]
        others = [is_table for topic, is_table in filled.items() if topic not in own]
        if True in fills or (None in fills and not others):
            found.add("table")
        elif True in others:
            found.add("lookup" if False in fills else "unknown")
        elif None in fills:
            found.add("unknown")
    return next((kind for kind in ("unknown", "lookup", "table") if kind in found), "other")


def _is_of_foreign_key(side: Side, name: str) -> bool:
    """Whether an operator writes to, or is right behind, a topic of a foreign-key join."""
    node = side.nodes[name]
    near = [side.nodes[one] for one in (*side.predecessors.get(name, ()), *getattr(node, "successors", ()))]
    topics = {topic for one in near if isinstance(one, Source) for topic in one.topics}
    topics |= {one.topic for one in near if isinstance(one, Sink) and one.topic is not None}
    return any(is_made_of_foreign_keys(topic) for topic in topics & side.internal)


def _aggregation(store: DeclaredStore, operator: str) -> str:
    """count, aggregate (or a reduce), or none for a store that keeps records as they come, or joined ones."""
    if store.join is not None or store.source_table:
        return "none"
    if store.aggregation is not None:
        return store.aggregation
    if store.aggregate is not None:
        return store.aggregate if store.aggregate in {"count", "none"} else "aggregate"
    return "aggregate" if is_generated(operator) and ("-AGGREGATE-" in operator or "-REDUCE-" in operator) else "none"


def flows_of(side: Side) -> Flows:
    """The records of all operators; a circle of topics ends where it begins, with a doubt."""
    found = Flows(operators_of(side))
    for name in _in_order(side):
        node = side.nodes[name]
        if isinstance(node, Source):
            found.of[name] = _source(side, node, found)
        else:
            flows = [found.of[one] for one in side.predecessors.get(name, ()) if one in found.of]
            if len(flows) < len(side.predecessors.get(name, ())):
                _doubt(found, name, f"operator {name} is in a circle of topics: it reads what it led to")
            found.of[name] = _processor(side, node, flows, found) if isinstance(node, Processor) else _united(flows)
    for store, keepers in side.keepers.items():
        _of_store(side, store, [one for one in keepers if one.name in found.into], found)
    for topic, sinks in side.sinks.items():
        if topic not in side.internal:
            flow = _united([found.of[name] for name in sinks])
            for sink in sinks:
                found.doubts.setdefault(sink, []).extend(_last_value(side, flow, f"topics.{topic}", topic))
    return found


def _in_order(side: Side) -> Iterator[str]:
    """Every operator behind all that lead to it, also over internal topics."""
    seen: set[str] = set()
    for start in side.nodes:
        stack = [(start, False)]
        while stack:
            name, is_left = stack.pop()
            if is_left:
                yield name
            elif name not in seen:
                seen.add(name)
                stack.append((name, True))
                stack += [(one, False) for one in before(side, name) if one not in seen]


def before(side: Side, name: str) -> list[str]:
    """The operators that lead to one, over internal topics too."""
    node = side.nodes[name]
    if isinstance(node, Source):
        return [sink for topic in sorted(node.topics & side.internal) for sink in side.writers.get(topic, ())]
    return side.predecessors.get(name, [])


def _source(side: Side, node: Source, found: Flows) -> Flow:
    if node.pattern is not None:
        return Flow(frozenset({node.pattern, f"{node.pattern} (another topic)"}))
    written = [found.of[name] for name in before(side, node.name) if name in found.of]
    if node.topics & side.internal and len(written) < len(before(side, node.name)):
        _doubt(found, node.name, f"operator {node.name} is in a circle of topics: it reads what it led to")
    if any(is_made_of_foreign_keys(topic) for topic in node.topics & side.internal):
        # A foreign-key join resolves the order of both tables, and not that of the records of each.
        tables = (name for sink in before(side, node.name) for name in side.predecessors.get(sink, ()))
        for name in tables:
            found.doubts.setdefault(node.name, []).extend(_joined(found.of[name], f"the join of {min(node.topics)}"))
        return Flow(frozenset(node.topics), updates=True)
    external = frozenset(topics_of(node)) - side.internal
    return _united([*written, *(Flow(frozenset({topic})) for topic in sorted(external))])


def _processor(side: Side, node: Processor, flows: list[Flow], found: Flows) -> Flow:
    kind, flow = found.operators[node.name], _united(flows)
    if kind == "aggregation":
        found.into[node.name] = flow
        windows = [side.declared.stores[one].window for one in node.stores if one in side.declared.stores]
        closes = any(window is not None and window.emit == "on_window_close" for window in windows)
        return Flow(node.stores, updates=True, is_final=closes)
    if kind == "table":
        return Flow(flow.origins, updates=True, keeps_key=flow.keeps_key or _keeps_key(side, node, flow))
    if kind == "foreign_key":
        return flow
    if kind == "table_join":
        for one in flows:
            found.doubts.setdefault(node.name, []).extend(_joined(one, f"join {node.name}"))
        return Flow(frozenset({node.name}), updates=True)
    if kind == "stream_join":
        # Its results have one order if records come by their times: both sides lead to the operator that merges them.
        return Flow(node.successors or frozenset({node.name}))
    keeps = _keeps_key(side, node, flow)
    suppressed = side.declared.suppressions.get(next((suppression_of(one) for one in node.stores), node.name))
    closes = suppressed is not None and suppressed.mode == "until_window_closes"
    return Flow(flow.origins, flow.updates, keeps, flow.is_final or closes)


def _keeps_key(side: Side, node: Processor, flow: Flow) -> bool:
    """Whether records have the key of their origin behind an operator, by its name or by the keys of its store."""
    if any(_has_key_of(side, f"stores.{store}", origin) for store in node.stores for origin in flow.origins):
        return True
    is_filter = node.name.endswith(_FILTER) and node.name in side.around
    is_suppression = any(suppression_of(store) in side.declared.suppressions for store in node.stores)
    gives_new = may_give_new_key(node.name) or node.name.startswith(_SELECTS) or is_own_code(side, node.name)
    by_name = is_generated(node.name) and not gives_new
    return flow.keeps_key and (by_name or is_filter or is_suppression)


def _of_store(side: Side, store: str, fillers: list[Processor], found: Flows) -> None:
    """Doubts about a store of an aggregation; a cogroup has several operators that fill it."""
    flow = _united([found.into[one.name] for one in fillers])
    for node in fillers:
        kind = _aggregation(side.declared.stores.get(store, DeclaredStore()), node.name)
        if _reads_table(side, node):
            if kind != "count":
                code = "its adder and subtractor may depend on the order of updates"
                _doubt(found, node.name, f"store {store} aggregates a table ({kind}): {code}")
        elif flow.updates:
            origin = min(flow.origins, default="a table")
            why = f"store {store} takes each update of {origin}: their number depends on its record cache"
            _doubt(found, node.name, why)
        elif kind != "count":
            for why in _last_value(side, flow, f"stores.{store}", f"store {store}"):
                _doubt(found, node.name, f"{why} ({kind})")


def _reads_table(side: Side, node: Processor) -> bool:
    """Whether an aggregation is that of a grouped table, by the format of the topic before it."""
    topics = {
        topic
        for name in side.predecessors.get(node.name, ())
        if isinstance(source := side.nodes[name], Source)
        for topic in source.topics
    }
    serdes = [one.value_serde for name, one in side.declared.topics.items() if name in topics]
    return node.name.startswith("KTABLE-") or any(one and one.name.startswith(_OF_TABLE) for one in serdes)


def _united(flows: Iterable[Flow]) -> Flow:
    each = list(flows)
    return Flow(
        frozenset().union(*(one.origins for one in each)),
        any(one.updates for one in each),
        all(one.keeps_key for one in each),
        bool(each) and all(one.is_final for one in each),
    )


def _mixed(flow: Flow, what: str) -> Iterator[str]:
    if len(flow.origins) > 1:
        origins = " and ".join(sorted(flow.origins)[:2])
        yield f"{what} has records of {origins}: the order in which both are read decides"


def _joined(flow: Flow, what: str) -> Iterator[str]:
    """Why the last value of a key of a joined table depends on an order."""
    yield from _mixed(flow, what)
    if len(flow.origins) == 1 and not flow.keeps_key:
        yield f"{what} may have other keys than {min(flow.origins)}: the order of its partitions decides the last value"


def _last_value(side: Side, flow: Flow, where: str, what: str) -> Iterator[str]:
    """Why the last record of a key depends on an order of partitions or topics."""
    if len(flow.origins) > 1:
        yield from _mixed(flow, what)
        return
    for origin in flow.origins:
        if not (flow.keeps_key or _has_key_of(side, where, origin)):
            yield (
                f"{what} may have other keys than {origin}: records of several partitions then share a key, and the "
                "order in which these are read decides the last one"
            )


def _has_key_of(side: Side, where: str, origin: str) -> bool:
    """Whether facts show that something has the keys of its origin."""
    section, _, name = where.partition(".")
    declared = (side.declared.topics if section == "topics" else side.declared.stores).get(name)
    if declared is not None and declared.key_of:
        return True
    if origin not in side.topology.stores:
        return False
    first = side.declared.stores.get(origin)
    if declared is not None and first is not None and declared.key is not None and declared.key == first.key:
        return True
    # The same operator keeps the reader from both: from the store on, each one keeps the key.
    reasons = [side.declared.not_read.get(f"{one}.key_of") for one in (where, f"stores.{origin}")]
    return reasons[0] is not None and reasons[0] == reasons[1]


def _doubt(found: Flows, name: str, why: str) -> None:
    found.doubts.setdefault(name, []).append(why)
