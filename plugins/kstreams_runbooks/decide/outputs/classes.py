"""The class of each output of an application: what two sides that read the same inputs have in common in it.

Parts of a topology that lead to an output decide it, each with the least that it allows. A stream that looks into a
table is late-sensitive: which value of the table it meets is a matter of order, as a window is, and a history that is
filled in the order of time restores both. A global table is read before everything else, at any pace: a join with one
is a matter of the clock.

What code alone decides is a doubt: the order across partitions, and processors of the program. A declared class or
ignored fields settle those. What a fact decides is never settled by them.

Source: Kafka Streams core concepts, "Out-of-Order Handling"; developer guide, "Joining" and "Windowing"; KIP-328
(suppress), KIP-633 and KAFKA-10847 (left joins), KIP-825 (emit on window close), KIP-923 (grace of table joins).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from kstreams_runbooks.decide.catch_up.disorder import grace_of
from kstreams_runbooks.decide.comparison.compared import Side, filled_by_tables, topics_of
from kstreams_runbooks.decide.outputs.flows import Flows, before, flows_of, is_own_code
from kstreams_runbooks.decide.topology.names import (
    is_generated,
    is_subscription_store,
    is_suppress_buffer,
    suppression_of,
)
from kstreams_runbooks.model.output_classes import KINDS, OutputClass, OutputKind, OutputSemantics, SideMode
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.times import SECOND_MS
from kstreams_runbooks.model.topology.declaration import DEFAULT, DeclaredStore, DeclaredTopic
from kstreams_runbooks.model.topology.topology import Processor, Source
from kstreams_runbooks.wording import first_of

_EXTRACTOR = "default.timestamp.extractor"
_WALL_CLOCK = "org.apache.kafka.streams.processor.WallclockTimestampExtractor"
_SEMANTICS = "output_semantics"


@dataclass(frozen=True, slots=True)
class _Part:
    """What one part of the topology allows at best; `asked`: a fact that is not known, and decides it."""

    kind: OutputKind
    reason: str
    asked: str = ""


def output_classes(
    side: Side, semantics: Mapping[str, OutputSemantics], punctuators: Sequence[str] = ()
) -> tuple[OutputClass, ...]:
    """The class of each output, sorted by its name; `semantics` and `punctuators` are those of the fleet entry.

    An extractor that chooses topics is one output.
    """
    flows = flows_of(side)
    found = []
    for topic in sorted(side.written()):
        leading = _leading(side, flows, side.sinks[topic])
        parts = [part for name in sorted(leading) for part in _parts(side, flows, name)]
        parts += _clocks(side, leading, parts)
        code = sorted(name for name in leading if is_own_code(side, name))
        maybe = _unread(side, leading)
        if punctuators and (code or maybe):
            parts.append(_Part("wall_clock", f"punctuator {first_of(punctuators)} is declared, and may write to it"))
        order = [why for name in sorted(leading) for why in flows.doubts.get(name, ())]
        final = all(flows.of[sink].is_final for sink in side.sinks[topic])
        declared = semantics.get(topic, OutputSemantics(topic))
        found.append(_decided(declared, parts, _Doubts(order, code, maybe), "windows" if final else "latest"))
    return tuple(found)


def class_of_both(first: OutputClass, second: OutputClass) -> OutputClass:
    """The class of an output of two sides, named as that of the first one: what both versions promise.

    A path that either side ignores is not compared, and an example leaves out what either one masks.
    """
    known = first.kind is not None and second.kind is not None
    one, other = sorted((first, second), key=lambda side: -KINDS.index(side.kind or side.at_least))
    refused = (*first.refused, *second.refused)
    if first.compare != second.compare:
        refused = (
            *refused,
            f"output {first.topic}: is compared by {first.compare}, and {second.topic} by {second.compare} (expected "
            f"the same); declare compare in {_SEMANTICS} of both fleet entries",
        )
    return replace(
        first,
        kind=one.kind if known else None,
        at_least=max(first.at_least, second.at_least, key=KINDS.index),
        ignore=tuple(dict.fromkeys((*first.ignore, *second.ignore))),
        reasons=tuple(dict.fromkeys((*one.reasons, *other.reasons))),
        asked=tuple(dict.fromkeys((*first.asked, *second.asked))),
        refused=refused,
        mask=tuple(dict.fromkeys((*first.mask, *second.mask))),
    )


@dataclass(frozen=True, slots=True)
class _Doubts:
    """What code alone decides: orders that it may depend on, operators of its own, and those that may be."""

    order: Sequence[str]
    code: Sequence[str]
    maybe: Sequence[str]


def _decided(declared: OutputSemantics, parts: Sequence[_Part], doubts: _Doubts, mode: SideMode) -> OutputClass:
    by_rank = sorted(parts, key=lambda one: -KINDS.index(one.kind))
    certain = [one for one in by_rank if not one.asked]
    floor: OutputKind = by_rank[0].kind if by_rank else "exact"
    reasons = [one.reason for one in by_rank]
    field = f"{_SEMANTICS}.{declared.topic}"
    asked = [one.asked for one in by_rank if one.asked]
    kind: OutputKind | None = max(floor, _of_fields(declared), key=KINDS.index)
    if doubts.code and declared.kind is None:
        # No fact makes it any worse.
        kind = "not_comparable"
        reasons.insert(0, f"operator {first_of(doubts.code)} is code of the program")
        asked.append(field)
    elif asked:
        kind = None
    elif declared.kind is not None:
        kind = max(declared.kind, kind or floor, key=KINDS.index)
        reasons.append(f"declared {declared.kind}: {declared.because}")
    elif doubts.maybe:
        kind = None
        reasons.append(f"the program was not read: operator {first_of(doubts.maybe)} may be code of its own")
        asked.append(f"facts of the program (docs/facts.md), or {field}")
    elif doubts.order and not declared.ignore:
        kind = None
        asked.append(field)
    if declared.kind is None:
        reasons += doubts.order
    return OutputClass(
        topic=declared.topic,
        kind=kind,
        at_least=floor,
        compare=declared.compare or mode,
        ignore=declared.ignore,
        reasons=tuple(dict.fromkeys(reasons)),
        asked=tuple(dict.fromkeys(asked)),
        mask=declared.mask,
        refused=tuple(_contradictions(declared, certain, mode, is_known=not asked)),
    )


def _of_fields(declared: OutputSemantics) -> OutputKind:
    return "exact_without_fields" if declared.ignore else "exact"


def _contradictions(
    declared: OutputSemantics, certain: Sequence[_Part], mode: SideMode, *, is_known: bool
) -> Iterator[str]:
    """What is declared, and facts show otherwise."""
    where = f"output {declared.topic}: {_SEMANTICS}"
    worst = certain[0] if certain else None
    if declared.kind is not None and worst is not None and KINDS.index(declared.kind) < KINDS.index(worst.kind):
        yield f"{where} declares {declared.kind} (at least {worst.kind}: {worst.reason}); correct the fleet entry"
    if declared.compare == "windows" and mode != "windows" and is_known:
        yield (
            f"{where} compares windows, and no window before it is written once, when it closes (expected compare: "
            "latest); correct the fleet entry"
        )


def _leading(side: Side, flows: Flows, sinks: Iterable[str]) -> set[str]:
    """The operators that lead to some sinks, also by filling a store that one of them looks into."""
    seen: set[str] = set()
    ahead = list(sinks)
    while ahead:
        name = ahead.pop()
        if name in seen:
            continue
        seen.add(name)
        ahead += before(side, name)
        node = side.nodes[name]
        for store in node.stores if isinstance(node, Processor) else ():
            users = side.keepers.get(store, ())
            ahead += [one.name for one in users if flows.operators[one.name] != "lookup"]
    return seen


def _parts(side: Side, flows: Flows, name: str) -> Iterator[_Part]:
    """What one operator allows at best, with its stores."""
    node = side.nodes[name]
    if not isinstance(node, Processor):
        return
    kind = flows.operators[name]
    if kind == "unknown":
        yield _Part("exact", f"whether {name} fills its store or looks into it is not known", f"operators.{name}.join")
    if kind == "lookup":
        yield _Part("late_sensitive", f"join {name} looks into a table: its order with the stream decides")
        return
    if kind == "global_lookup":
        yield _Part("wall_clock", f"join {name} looks into a global table, which is read at a pace of its own")
    for store in sorted(node.stores):
        yield from _of_store(side, store, name, joins_streams=kind == "stream_join")


def _of_store(side: Side, store: str, operator: str, *, joins_streams: bool) -> Iterator[_Part]:
    declared = side.declared.stores.get(store, DeclaredStore())
    grace = grace_of(side, store)
    if isinstance(grace, Missing):
        fact = {"versioned": "history_retention_ms", "window": "window", "session": "window", "join": "window"}
        asked = f"stores.{store}.{fact.get(declared.kind or '', 'kind')}"
        yield _Part("late_sensitive" if joins_streams else "exact", grace.missing, asked)
    elif grace is not None:
        yield _Part(
            "late_sensitive", f"store {store} drops records that come more than {grace / SECOND_MS:,.1f} s late"
        )
    if suppression_of(store) in side.declared.suppressions or is_suppress_buffer(store):
        yield _Part("late_sensitive", f"suppression {suppression_of(store)} holds results until stream time has passed")
    if declared.window is not None and declared.window.emit == "on_window_close":
        yield _Part("wall_clock", f"store {store} emits closed windows at most once in a while of wall clock")
    if declared.is_lru_map:
        yield _Part("not_comparable", f"store {store} is an LRU map: which keys it forgets depends on every read")
    if joins_streams:
        yield from _stream_join(side, store, operator)
    elif _keeps_unknown(side, store, declared):
        yield _Part(
            "exact", f"how records become the values of store {store} is not known", f"stores.{store}.aggregate"
        )


def _keeps_unknown(side: Side, store: str, declared: DeclaredStore) -> bool:
    """Whether the library may aggregate in a store, in a way that nothing shows."""
    known = declared.aggregation or declared.aggregate or declared.join or declared.source_table
    users = [one.name for one in side.keepers.get(store, ())]
    of_library = is_suppress_buffer(store) or is_subscription_store(store)
    suppresses = suppression_of(store) in side.declared.suppressions
    of_code = any(is_own_code(side, name) for name in users)
    return not (known or of_library or suppresses or of_code or store in filled_by_tables(side))


def _stream_join(side: Side, store: str, operator: str) -> Iterator[_Part]:
    of_operator = side.declared.operators.get(operator)
    join = side.declared.stores.get(store, DeclaredStore()).join or (of_operator and of_operator.join)
    if join in {"left", "outer"} or operator.startswith("KSTREAM-OUTER"):
        shown = join if join in {"left", "outer"} else "left or outer"
        yield _Part("wall_clock", f"join {operator} is {shown}: a result without a match waits for the clock")
    elif join is None and not _has_join(side, store):
        yield _Part("late_sensitive", f"whether join {operator} is inner is not known", f"stores.{store}.join")


def _has_join(side: Side, store: str) -> bool:
    """Whether another operator of a window shows how it joins: that which fills it shows nothing."""
    users = (side.declared.operators.get(one.name) for one in side.keepers.get(store, ()))
    return any(one is not None and one.join is not None for one in users)


def _clocks(side: Side, leading: Iterable[str], parts: Sequence[_Part]) -> Iterator[_Part]:
    """The topics whose records are dated by the clock, if something before the output depends on their times."""
    if not any(one.kind == "late_sensitive" for one in parts):
        return
    default = (side.declared.config or {}).get(_EXTRACTOR, "")
    for name in sorted(leading):
        node = side.nodes[name]
        for topic in topics_of(node) if isinstance(node, Source) else ():
            extractor = side.declared.topics.get(topic, DeclaredTopic()).timestamp_extractor
            if (default if extractor in {DEFAULT, None} else extractor) == _WALL_CLOCK and topic not in side.internal:
                yield _Part("wall_clock", f"topic {topic}: records have the time at which they are read")


def _unread(side: Side, leading: Iterable[str]) -> list[str]:
    """Operators that may be code of the program, because it was not read: those with chosen names.

    All of them if nothing is declared either: a description alone proves nothing.
    """
    declared = side.declared
    if declared.was_read:
        return []
    if not (declared.stores or declared.topics or declared.operators):
        return sorted(leading)
    return sorted(
        name
        for name in leading
        if isinstance(side.nodes[name], Processor) and not is_generated(name) and name not in side.around
    )
