"""Small changes of the program that make a runbook milder: each is applied to the topology, and planned again.

A cure is proposed only if the plan with it gives up less than the plan without it. Undeclared facts are left aside
in both.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from kstreams_runbooks.decide.change.answer import MILDEST_FIRST
from kstreams_runbooks.decide.comparison.compared import Compared, Side, topics_of
from kstreams_runbooks.decide.topology.names import (
    changelog_of,
    index_of,
    is_generated,
    is_suppression,
    may_give_new_key,
    repartition_base,
)
from kstreams_runbooks.model.topology.change import ChangeRunbook
from kstreams_runbooks.model.topology.declaration import DeclaredStore
from kstreams_runbooks.model.topology.topology import Node, Processor, Sink, Source, Subtopology, Topology
from kstreams_runbooks.wording import first_of

Runbooks = tuple[ChangeRunbook, ...]
# What a side would take: None if no runbook makes it safe.
Planner = Callable[[Side], Runbooks | None]

_FIXED = "each of these names stays in the program as long as its data does; without it the data starts empty"
# Source: tests/apps/topologies, store-name-added-to-first-of-two-unnamed-counts.
_NUMBERS = (
    "; a store with a chosen name takes no number, so generated names behind it change: plan the new program again"
)
_LAST = "until every store and topic behind them has a name, each operator that comes later has to be the last as well"
# Operators and calls listed in a cure; more are counted. A person has to write every call.
_MOST, _MOST_CALLS = 3, 8
# What names of a join's stores and topics end in, longest first, and the call that gives the part before it.
_CALLS = {
    "-outer-this-join-store": "StreamJoined.withStoreName",
    "-outer-other-join-store": "StreamJoined.withStoreName",
    "-outer-shared-join-store": "StreamJoined.withStoreName",
    "-this-join-store": "StreamJoined.withStoreName",
    "-other-join-store": "StreamJoined.withStoreName",
    "-subscription-registration-topic": "TableJoined.as",
    "-subscription-response-topic": "TableJoined.as",
    "-subscription-store": "TableJoined.as",
    "-left-repartition": "StreamJoined.withName",
    "-right-repartition": "StreamJoined.withName",
}
# Generated names of operators that run a processor of the program.
_PROCESSORS = ("KSTREAM-PROCESSOR", "KSTREAM-PROCESSVALUES", "KSTREAM-TRANSFORM")
_ENDING_OF_ITS_OWN = ("KTABLE-SUPPRESS-", "KTABLE-FK-JOIN-", "KSTREAM-JOIN", "KSTREAM-OUTER")


@dataclass(frozen=True, slots=True)
class Cure:
    """What to change in the program, the runbooks that are enough then, and what it costs later."""

    what: str
    runbooks: Runbooks
    cost: str


@dataclass(frozen=True, slots=True)
class _Names:
    """New names by present ones: of operators, of stores and of internal topics."""

    nodes: Mapping[str, str]
    stores: Mapping[str, str]
    topics: Mapping[str, str]


def cures(compared: Compared, runbooks: Runbooks | None, plan: Planner) -> tuple[Cure, ...]:
    """Every cure that makes the plan milder, the mildest first; `runbooks` are those without a cure."""
    if runbooks is not None and not _given_up(runbooks):
        # Nothing is milder.
        return ()
    found = []
    for what, cost, cured_side in _candidates(compared):
        cured = plan(cured_side)
        if cured is not None and (runbooks is None or _given_up(cured) < _given_up(runbooks)):
            found.append(Cure(what, cured, cost))
    return tuple(sorted(found, key=lambda cure: _given_up(cure.runbooks)))


def _given_up(runbooks: Runbooks) -> int:
    return max((MILDEST_FIRST.index(one) for one in runbooks), default=0)


def _candidates(compared: Compared) -> Iterator[tuple[str, str, Side]]:
    """What to change, what that costs later, and the new version with it."""
    for what, cost, names in _renamings(compared):
        yield what, cost, _renamed(compared.after, names)
    if (ordered := _in_old_order(compared)) is not None:
        new = [sub for sub in ordered.topology.subtopologies if sub.number not in _numbers(compared.before)]
        read = first_of(sorted(name for sub in new for source in sub.sources for name in topics_of(source)), _MOST)
        parts = sorted(ordered.topology.subtopologies, key=lambda sub: sub.number)
        order = first_of([", ".join(sorted(_read(sub))) for sub in parts], _MOST, ", then ")
        what = f"build what reads {read} at the end of the program" if read else f"build first what reads {order}"
        yield f"{what}: no other subtopology gets another number", "nothing", ordered


def _in_old_order(compared: Compared) -> Side | None:
    """The new version with new subtopologies behind the old ones; None if they are, or if an old one changes."""
    before, after = compared.before, compared.after
    old = {_read(sub): sub.number for sub in before.topology.subtopologies}
    subs = after.topology.subtopologies
    new = [sub for sub in subs if _read(sub) not in old]
    if len(subs) != len(old) + len(new) or any(sub.topology for sub in subs):
        return None
    numbers = {_read(sub): number for number, sub in enumerate(new, len(old))} | old
    ordered = Topology(tuple(replace(sub, number=numbers[_read(sub)]) for sub in subs))
    return None if ordered == after.topology else Side(ordered, after.declared)


def _read(sub: Subtopology) -> frozenset[str]:
    return frozenset(name for source in sub.sources for name in topics_of(source))


def _numbers(side: Side) -> set[int]:
    return {sub.number for sub in side.topology.subtopologies}


def _renamings(compared: Compared) -> Iterator[tuple[str, str, _Names]]:
    stores = {new: old for old, new in compared.stores.renamed}
    topics = {new: old for old, new in compared.topics.renamed}
    nodes = _suppressions(compared)
    given = _Names(
        {new: old for new, old in nodes.items() if not is_generated(old)},
        {new: old for new, old in stores.items() if _can_be_given(old, new)},
        {new: old for new, old in topics.items() if _topic_can_be_given(old, new)},
    )
    if named := _new_suppressions(compared) if stores or topics else []:
        names = {name: f"suppress-{number}" for number, name in enumerate(named, 1)}
        buffers = {_buffer(compared.after, old): f"{new}-store" for old, new in names.items()}
        what = f"name {first_of(named, _MOST)} with Suppressed.withName, which takes no number"
        yield what, _FIXED, _Names({**nodes, **names}, {**stores, **buffers}, topics)
    if _moves(compared, [*stores, *topics]):
        added = first_of(compared.program.added, _MOST)
        last = {name: f"{name}-last" for name in (*compared.stores.added, *compared.topics.added)}
        moved = _Names(nodes, {**last, **stores}, {**last, **topics})
        yield f"move {added} to the end of the program, where nothing follows to be shifted", _LAST, moved
    if (calls := _calls(compared, given)) and not _taken(compared.after, given) and not _shifted(compared, given):
        cost = f"{_FIXED}{_NUMBERS}" if any(map(is_generated, given.stores.values())) else _FIXED
        yield f"keep the old names: {first_of(calls, _MOST_CALLS)}", cost, given


def _suppressions(compared: Compared) -> dict[str, str]:
    """Suppress operators that get another name, with the old one."""
    declared = compared.after.declared.suppressions
    return {
        new: old for old, new in compared.operators.pairs if old != new and (is_suppression(new) or new in declared)
    }


def _can_be_given(old: str, new: str) -> bool:
    """Whether a program can give the old name: one that was chosen, or the generated one of an aggregation or a table.

    Stores and topics of a join have the join's own endings, which another kind of join does not have.
    """
    if _ending(old) or _ending(new):
        return not is_generated(old) and _ending(old) == _ending(new)
    return not is_generated(old) or ("STATE-STORE-" in old and not any(kind in old for kind in _ENDING_OF_ITS_OWN))


def _topic_can_be_given(old: str, new: str) -> bool:
    """The same of an internal topic: a repartition topic is called after its grouping, its join or the operator."""
    if _ending(old) or _ending(new):
        return _can_be_given(old, new)
    return _can_be_given(repartition_base(old), repartition_base(new))


def _shifted(compared: Compared, names: _Names) -> bool:
    """Whether a name that is given shifts another one, which the change leaves alone.

    A store with a chosen name takes no number, and everything generated behind it moves up by one.
    """
    first = min((index for new in names.stores if (index := index_of(new)) is not None), default=None)
    kept = [new for found in (compared.stores, compared.topics) for old, new in found.pairs if old == new]
    return first is not None and any((index := index_of(name)) is not None and index > first for name in kept)


def _taken(side: Side, names: _Names) -> bool:
    """Whether something else has one of the old names now: a program cannot give it twice."""
    stores = side.store_places.keys() - names.stores.keys()
    topics = side.internal - names.topics.keys()
    return bool(stores & set(names.stores.values()) or topics & set(names.topics.values()))


def _ending(name: str) -> str:
    return next((ending for ending in _CALLS if name.endswith(ending)), "")


def _call(name: str, otherwise: str) -> str:
    """The call of the DSL that gives a store or a topic its name."""
    ending = _ending(name)
    return f'{_CALLS.get(ending, otherwise)}("{name.removesuffix(ending)}")'


def _store_call(compared: Compared, name: str, old: str) -> str:
    """The call that gives a store its old name: that of the DSL, or its builder if a processor of the program keeps it.

    A description hides which it is if the operator has a chosen name.
    """
    call = _call(old, "Materialized.as")
    if _ending(old) or is_generated(old) or is_generated(name):
        return call
    keepers = [keeper.name for keeper in compared.after.keepers.get(name, ())]
    if any(keeper.startswith(_PROCESSORS) for keeper in keepers):
        return f'"{old}" as the name in its builder (Stores)'
    declared = compared.after.declared.stores.get(name)
    if any(map(is_generated, keepers)) or (declared is not None and _of_dsl(declared)):
        return call
    return f"{call} or that name in its builder (Stores)"


def _of_dsl(store: DeclaredStore) -> bool:
    aggregates = store.aggregation not in {None, "none"} or store.aggregate == "count"
    return aggregates or store.window is not None or store.join is not None or bool(store.source_table)


def _buffer(side: Side, name: str) -> str:
    node = side.nodes.get(name)
    return min(node.stores, default="") if isinstance(node, Processor) else ""


def _repartitions(compared: Compared, topic: str) -> str:
    """The calls that may give a repartition topic its name, joined by "or" if the description does not show which.

    A `groupBy` is a processor of that name, and a grouping without a name takes that of its store. Other groupings have
    a topic only if the key may be another one, and what they go on to keeps a store.
    """
    if _ending(topic):
        return _call(topic, "")
    base, before = repartition_base(topic), compared.before
    behind = [before.nodes[name] for source in before.readers.get(topic, ()) for name in source.successors]
    if base in before.nodes or base in before.topology.stores:
        calls = ["Grouped.as"]
    elif any(not isinstance(node, Processor) or not node.stores for node in behind) or not _new_key(before, topic):
        calls = ["Repartitioned.as"]
    else:
        calls = ["Grouped.as", "Repartitioned.as"]
    return " or ".join(f'{call}("{base}")' for call in calls)


def _new_key(side: Side, topic: str) -> bool:
    """Whether an operator before a repartition topic gives another key, or hides by its name whether it does."""
    before = _upstream(side, side.writers.get(topic, ())) - side.around
    return any(
        may_give_new_key(name) or not is_generated(name) for name in before if isinstance(side.nodes[name], Processor)
    )


def _calls(compared: Compared, names: _Names) -> list[str]:
    """The calls that give the names, each once."""
    buffers = {f"{old}-store" for old in names.nodes.values()}
    stores = {old: new for new, old in names.stores.items()}
    calls = [
        *(f'Suppressed.withName("{old}")' for old in sorted(names.nodes.values())),
        *(_store_call(compared, new, old) for old, new in sorted(stores.items()) if old not in buffers),
        *(_repartitions(compared, old) for old in sorted(names.topics.values())),
    ]
    return [*dict.fromkeys(calls)]


def _moves(compared: Compared, moved: list[str]) -> bool:
    """Whether the new operators shift every name, and neither what is shifted nor an old operator hangs on them."""
    found, after = compared.program, compared.after
    if not moved or not found.added or found.removed or not all(map(is_generated, moved)):
        return False
    new = {*found.added, *after.around}
    if any(not new.issuperset(_successors(after, name)) for name in found.added):
        return False
    first = min((index for name in moved if (index := index_of(name)) is not None), default=0)
    if any((own := index_of(name)) is None or own > first for name in found.added):
        return False
    keepers = [keeper for name in moved for keeper in _keepers(compared.after, name)]
    return _upstream(compared.after, keepers).isdisjoint(found.added)


def _successors(side: Side, name: str) -> frozenset[str]:
    node = side.nodes[name]
    return frozenset() if isinstance(node, Sink) else node.successors


def _keepers(side: Side, name: str) -> list[str]:
    return [node.name for node in side.keepers.get(name, ())] or side.writers.get(name, [])


def _upstream(side: Side, names: Iterable[str]) -> set[str]:
    """The operators of `names` and those before them, in their own subtopologies."""
    found, waiting = set[str](), [*names]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting += side.predecessors.get(one, ())
    return found


def _new_suppressions(compared: Compared) -> list[str]:
    """New suppress operators without a name, if nothing else was added or removed."""
    found = compared.program
    new = [name for name in found.added if is_suppression(name) and is_generated(name)]
    return [] if found.removed or len(new) < len(found.added) else new


def _renamed(side: Side, names: _Names) -> Side:
    """The side with other names in its topology and in what is declared of it."""
    topology = Topology(
        tuple(
            replace(sub, nodes=tuple(_node(node, names) for node in sub.nodes)) for sub in side.topology.subtopologies
        )
    )
    topics = {**names.topics, **{changelog_of(new): changelog_of(old) for new, old in names.stores.items()}}
    declared = replace(
        side.declared,
        stores={names.stores.get(name, name): one for name, one in side.declared.stores.items()},
        suppressions={names.nodes.get(name, name): one for name, one in side.declared.suppressions.items()},
        topics={topics.get(name, name): one for name, one in side.declared.topics.items()},
    )
    return Side(topology, declared)


def _node(node: Node, names: _Names) -> Node:
    name = names.nodes.get(node.name, node.name)
    if isinstance(node, Sink):
        return replace(node, name=name, topic=names.topics.get(node.topic or "", node.topic))
    successors = frozenset(names.nodes.get(one, one) for one in node.successors)
    if isinstance(node, Source):
        topics = frozenset(names.topics.get(one, one) for one in node.topics)
        return replace(node, name=name, topics=topics, successors=successors)
    stores = frozenset(names.stores.get(one, one) for one in node.stores)
    return replace(node, name=name, stores=stores, successors=successors)
