"""Operators in front of a store: in another order, with other keys, and those that make its rows otherwise."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.comparison.state.kinds import OF_STREAM, carries
from kstreams_runbooks.decide.topology.graph import TOPIC_KEY, keys_by_name, marked
from kstreams_runbooks.decide.topology.names import is_generated, is_registration, is_suppression, selects_key, stem
from kstreams_runbooks.model.topology.change import Undeclared
from kstreams_runbooks.model.topology.declaration import OTHER_CODE, DeclaredOperator
from kstreams_runbooks.model.topology.topology import Node, Processor, Sink, Source
from kstreams_runbooks.wording import first_of

PROGRAM = "the program"
# The operators of the two sides of a join of tables, and their ends where the join has a name.
_SIDES = tuple(f"KTABLE-{kind}{side}-" for kind in ("JOIN", "LEFT", "OUTER") for side in ("THIS", "OTHER"))
_SIDES_NAMED = ("-join-this", "-join-other")
# What leaves rows of a table out, and generated names of operators that leave none out.
_LEAVES_OUT = {"filter", "filter_not", "transform_values"}
_KEEPS_ROWS = ("KTABLE-MAPVALUES-", "KTABLE-SUPPRESS-", "KTABLE-MERGE-", *_SIDES)
# Operators that read the old row of a key in the store that they fill, by the beginning of a generated name.
_READS_OLD_ROW = (
    *("KTABLE-SOURCE-", "KSTREAM-TOTABLE-", "KTABLE-TOTABLE-", "KTABLE-FILTER-", "KTABLE-MAPVALUES-"),
    *("KSTREAM-AGGREGATE-", "KSTREAM-REDUCE-", "KTABLE-AGGREGATE-", "KTABLE-REDUCE-", "COGROUPKSTREAM-"),
)
# The same by what fills a store: these forward the row that they compute, or nothing is known of them.
_FORWARDS_OLD_ROW = (None, "join", "processor")
_BEFORE, _BEHIND = "in front of it", "behind it"
# Operators that change no record, and those that leave the same records out twice.
_HARMLESS = ("KSTREAM-PEEK-", "KSTREAM-PRINTER-", "KSTREAM-FOREACH-", "KSTREAM-MERGE-")
_HARMLESS_BEHIND = (*_HARMLESS, "KSTREAM-FILTER-")


@dataclass(frozen=True, slots=True)
class Reordered:
    """Operators that came to the other side of a store, in words; `harmless`: by their names they change no record."""

    words: str
    harmless: bool


def reordered(compared: Compared) -> dict[str, Reordered]:
    """For each store the operators of both versions that come from behind it to its front, or the other way."""
    stores = compared.before.keepers.keys() & compared.after.keepers.keys()
    pairs = [(was, now) for was, now in compared.operators.pairs if isinstance(compared.after.nodes[now], Processor)]
    was = _around(compared.before, tuple(was for was, _ in pairs), stores)
    now = _around(compared.after, tuple(now for _, now in pairs), stores)
    found = {}
    for store in sorted(stores):
        (before, behind), (new_before, new_behind) = was[store], now[store]
        moved = [
            (operators, where)
            for which, where in ((behind & new_before, _BEFORE), (before & new_behind, _BEHIND))
            if (operators := _at(pairs, which))
        ]
        if moved:
            words = "; ".join(f"{', '.join(operators)} {where} now" for operators, where in moved)
            each = [name for operators, _ in moved for name in operators]
            found[store] = Reordered(words, all(stem(name).startswith(_HARMLESS) for name in each))
    return found


def moved_across(compared: Compared, topics: Collection[str]) -> dict[str, str]:
    """For each topic that both versions write and read, the operators that came from one side of it to the other.

    In words. A record in the topic has passed the old front and goes on through the new rear: what moved processes it
    twice, or never. One that only looks at records does no harm, nor does a filter that leaves the front.
    """
    if not topics:
        return {}
    pairs = [(was, now) for was, now in compared.operators.pairs if isinstance(compared.after.nodes[now], Processor)]
    was = _sides_of(compared.before, tuple(was for was, _ in pairs), topics)
    now = _sides_of(compared.after, tuple(now for _, now in pairs), topics)
    found = {}
    for topic in sorted(was.keys() & now.keys()):
        (front, rear), (new_front, new_rear) = was[topic], now[topic]
        words = [
            f"{', '.join(operators)} {where} now"
            for which, harmless, where in (
                (front & new_rear, _HARMLESS_BEHIND, _BEHIND),
                (rear & new_front, _HARMLESS, _BEFORE),
            )
            if (operators := [name for name in _at(pairs, which) if not stem(name).startswith(harmless)])
        ]
        if words:
            found[topic] = "; ".join(words)
    return found


def replaced_across(compared: Compared, topics: Collection[str]) -> dict[str, str]:
    """For each topic that both versions write and read, operators that go on one side while others come on the other.

    In words. One may be the other under another name: then a record in the topic is processed twice, or never. The
    fate of one with a store is that of its store.
    """
    gone, come = (
        [name for name in names if _is_stateless(side.nodes[name]) and name not in side.around]
        for side, names in ((compared.before, compared.program.removed), (compared.after, compared.program.added))
    )
    if not (topics and gone and come):
        return {}
    was, now = _sides_of(compared.before, tuple(gone), topics), _sides_of(compared.after, tuple(come), topics)
    found = {}
    for topic in sorted(was.keys() & now.keys()):
        (gone_front, gone_rear), (come_front, come_rear) = was[topic], now[topic]
        words = [
            f"{first_of(went)} went {old}, and {first_of(came)} came {new}"
            for before, after, old, new in (
                (gone_front, come_rear, _BEFORE, _BEHIND),
                (gone_rear, come_front, _BEHIND, _BEFORE),
            )
            if (went := _of(gone, before)) and (came := _of(come, after)) and _may_be_one(went, came)
        ]
        if words:
            found[topic] = "; ".join(words)
    return found


def _is_stateless(node: Node) -> bool:
    return isinstance(node, Processor) and not node.stores


def _of(names: Iterable[str], which: int) -> list[str]:
    """Those of the bits that may change a record."""
    chosen = (name for place, name in enumerate(names) if which >> place & 1)
    return [name for name in chosen if not stem(name).startswith(_HARMLESS_BEHIND)]


def _may_be_one(gone: Iterable[str], come: Iterable[str]) -> bool:
    """Whether one of the operators that go may be one that comes: a chosen name shows no kind."""
    old, new = (
        ({stem(name) for name in names if is_generated(name)}, any(not is_generated(name) for name in names))
        for names in (list(gone), list(come))
    )
    return old[1] or new[1] or bool(old[0] & new[0])


def _sides_of(side: Side, names: tuple[str, ...], topics: Collection[str]) -> dict[str, tuple[int, int]]:
    """For each topic which of `names`, as bits in their order, lead to it alone, and which alone follow it."""
    marks = marked(side.topology, names)
    places = {key[1]: key for key in marks.led if key[0] == TOPIC_KEY and key[1] in topics}
    return {
        topic: (marks.led[key] & ~marks.followed[key], marks.followed[key] & ~marks.led[key])
        for topic, key in places.items()
    }


def _at(pairs: Iterable[tuple[str, str]], which: int) -> list[str]:
    return [now for place, (_, now) in enumerate(pairs) if which >> place & 1]


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


@dataclass(frozen=True, slots=True)
class RowsLed:
    """Operators in front of a table's aggregation, or of the left side of a foreign-key join, by the stores behind.

    `changed`: those that make rows otherwise, in words. `unread`: those whose code is not readable, of two versions
    that were read; empty where a person answers for it.
    """

    changed: Mapping[str, str]
    unread: Mapping[str, str]

    def fact(self, store: str) -> bool | None:
        """Whether rows are made otherwise, None if only code shows that."""
        return True if self.changed.get(store) else None if self.unread.get(store) else False

    def asked(self, store: str) -> tuple[Undeclared, ...]:
        """What a person has to answer for."""
        leading = self.unread.get(store, "")
        reason = f"the code of operator {leading} is not readable; it makes the rows that store {store} takes back"
        return (Undeclared(PROGRAM, OTHER_CODE, "new", reason),) if leading else ()


def rows_led_otherwise(compared: Compared) -> tuple[RowsLed, RowsLed]:
    """For each aggregation of a table, and for each store of subscriptions, the operators in front of it.

    An update takes the old row out of its group as the operators make it now, and not as they did when it was added:
    new ones, those that went, joins of another type, and operators with a new store, which has no old row yet. The left
    side of a foreign-key join takes an old subscription back, and knows an answer, by such a row too.
    """
    before, after = compared.before, compared.after
    joins = set(_otherwise(before.declared.operators, after.declared.operators))
    new_stores = set(compared.stores.added)
    stored = {name for name, node in after.nodes.items() if isinstance(node, Processor) and node.stores & new_stores}
    kept = _kept(compared)
    gone = _Leading(before, {*compared.program.removed, *joins}, kept)
    come = _Leading(after, {*compared.program.added, *joins, *stored}, kept)
    every = _Leading(after, _of_hidden_code(compared), kept)
    groups, asks = ((_groups(side), _registrations(side)) for side in (before, after))
    return (
        RowsLed(_in_words(gone.behind(groups[0]), come.behind(asks[0])), _listed(every.behind(asks[0]))),
        RowsLed(_in_words(gone.behind(groups[1]), come.behind(asks[1])), _listed(every.behind(asks[1]))),
    )


def _otherwise(before: Mapping[str, DeclaredOperator], after: Mapping[str, DeclaredOperator]) -> Iterator[str]:
    """Operators that join otherwise, and those of tables that do something else with a row: by what both sides show."""
    for name in before.keys() & after.keys():
        old, new = before[name], after[name]
        on_table = old.on_table, new.on_table
        if old.join != new.join or (None not in on_table and on_table[0] != on_table[1]):
            yield name


def filtered_before_join(compared: Compared) -> dict[str, str]:
    """For each side of a join of tables in both versions the new operators in front that leave rows out, in words.

    One whose kind is not known may be a filter.
    """
    sides = {name for was, name in compared.operators.pairs if joins_with_table(name)}
    if not sides:
        return {}
    come = _Leading(compared.after, _leaving_out(compared.after, compared.program.added), _kept(compared))
    return _listed({name: come.in_front_of(name) for name in sides})


def _leaving_out(side: Side, names: Iterable[str]) -> set[str]:
    """Those of the operators that leave rows of a table out, or may."""
    kinds = {name: operator.on_table for name, operator in side.declared.operators.items()}
    return {
        name
        for name in names
        if kinds.get(name) in _LEAVES_OUT or (name not in kinds and not stem(name).startswith(_KEEPS_ROWS))
    }


@dataclass(frozen=True, slots=True)
class RowsHeld:
    """Operators of a table in front of suppressions, by the suppression, in words: a deleted row does not reach it.

    `stored` get a store, which has no old row yet, at or in front of a filter. `filtered` are new and leave rows out.
    """

    stored: Mapping[str, str]
    filtered: Mapping[str, str]


def rows_held(compared: Compared, suppressions: Collection[str]) -> RowsHeld:
    """For each of the suppressions, which both versions have, the operators by which it misses that a row goes.

    A suppression has the old rows sent to it, and a filter forwards nothing if neither the old nor the new one passes.
    Source: Apache Kafka, KTableImpl#suppress, KTableFilter, KTableMapValues.
    """
    after = compared.after
    new_stores = set(compared.stores.added)
    stored = {
        now
        for _, now in compared.operators.pairs
        if isinstance(node := after.nodes[now], Processor) and node.stores & new_stores and now not in suppressions
    }
    come, leading = set(compared.program.added), _Leading(after, stored, _kept(compared))
    before = {name: leading.every_one_before(name) for name in suppressions}
    leave = _leaving_out(after, set().union(*before.values(), frozenset[str]()))
    found: dict[str, set[str]] = {name: set() for name in before}
    for name, operators in before.items():
        for operator in operators & leave:
            found[name] |= leading.in_front_of(operator) | ({operator} & stored)
    return RowsHeld(_listed(found), _listed({name: operators & leave & come for name, operators in before.items()}))


def joins_with_table(name: str) -> bool:
    """Whether a name shows one side of a join of tables."""
    return stem(name).startswith(_SIDES) or name.endswith(_SIDES_NAMED)


def _kept(compared: Compared) -> frozenset[str]:
    return frozenset(was for was, name in compared.stores.pairs if was == name)


def _of_hidden_code(compared: Compared) -> set[str]:
    """Processors of the new version whose code no reader shows, if both versions were read and may be two programs."""
    before, after = compared.before.declared, compared.after.declared
    if not (before.was_read and after.was_read) or compared.same_program or OTHER_CODE in after.unchanged:
        return set()
    side = compared.after
    return {name for name, node in side.nodes.items() if isinstance(node, Processor) and name not in side.around}


def _listed(found: Mapping[str, set[str]]) -> dict[str, str]:
    return {name: ", ".join(sorted(names)) for name, names in found.items() if names}


def _in_words(gone: Mapping[str, set[str]], come: Mapping[str, set[str]]) -> dict[str, str]:
    return _listed({store: gone[store] | come[store] for store in gone.keys() & come.keys()})


def _groups(side: Side) -> frozenset[str]:
    """The topics through which tables are grouped."""
    return frozenset(topic for topic in side.internal if carries(side, topic) != OF_STREAM)


def _registrations(side: Side) -> frozenset[str]:
    """The topics through which foreign-key joins ask the right table."""
    return frozenset(topic for topic in side.internal if is_registration(topic))


class _Leading:
    """Which of `changed` make the rows that reach an operator, each looked at once.

    An operator that fills a store of both versions reads the old row there, and not what is in front of it: `kept`. A
    merge of a join forwards the old row that it computes, also with a store.
    Source: Apache Kafka, KTableSource, KTableFilter#computeOldValue, KTableKTableJoinMerger.
    """

    def __init__(self, side: Side, changed: Collection[str], kept: frozenset[str]) -> None:
        self._side, self._kept = side, kept
        counted = sorted(
            name
            for name in changed
            if isinstance(side.nodes[name], Processor)
            and not _is_behind_source(side, name)
            and not self._keeps(name)
            and not _holds_back(side, name)
        )
        self._names = counted
        self._led: dict[str, int] = self._all(counted) if counted else {}

    def behind(self, topics: frozenset[str]) -> dict[str, set[str]]:
        """The stores right behind these topics, each with the operators in front of the topics."""
        found: dict[str, set[str]] = {}
        for topic in topics:
            bits = 0
            # The operator right before a sink is that of the grouping or of the join: its key is a fact of its own.
            for sink in self._side.writers.get(topic, ()) if self._names else ():
                for last in self._side.predecessors.get(sink, ()):
                    bits |= self._before(last)
            leading = self._named(bits)
            for source in self._side.readers.get(topic, ()):
                for node in (self._side.nodes[name] for name in source.successors):
                    for store in node.stores if isinstance(node, Processor) else ():
                        found.setdefault(store, set()).update(leading)
        return found

    def in_front_of(self, name: str) -> set[str]:
        """The operators in front of one."""
        return self._named(self._before(name)) if self._names else set()

    def every_one_before(self, name: str) -> set[str]:
        """The processors from the nearest stores of both versions, or from a source, to an operator."""
        found, waiting = set[str](), [*self._side.predecessors.get(name, ())]
        while waiting:
            before = waiting.pop()
            node = self._side.nodes[before]
            own = isinstance(node, Processor) and not self._keeps(before) and not _is_behind_source(self._side, before)
            if own and before not in found:
                found.add(before)
                waiting += self._side.predecessors.get(before, ())
        return found

    def _before(self, name: str) -> int:
        bits = 0
        for before in self._side.predecessors.get(name, ()):
            bits |= self._led.get(before, -1)
        return bits

    def _named(self, bits: int) -> set[str]:
        return {name for place, name in enumerate(self._names) if bits >> place & 1}

    def _all(self, counted: Collection[str]) -> dict[str, int]:
        """The operators that lead to each one in its subtopology, as bits: behind a topic a row is in a store."""
        own = {name: 1 << place for place, name in enumerate(counted)}
        left = {name: len(self._side.predecessors.get(name, ())) for name in self._side.nodes}
        ready = [name for name, count in left.items() if not count]
        led: dict[str, int] = {}
        while ready:
            name = ready.pop()
            bits = own.get(name, 0)
            for before in self._side.predecessors.get(name, ()):
                bits |= led[before]
            led[name] = 0 if self._keeps(name) else bits
            node = self._side.nodes[name]
            for after in () if isinstance(node, Sink) else node.successors:
                left[after] -= 1
                if not left[after]:
                    ready.append(after)
        return led

    def _keeps(self, name: str) -> bool:
        """Whether an operator fills a store of both versions, and reads the old row there."""
        node = self._side.nodes[name]
        for store in node.stores & self._kept if isinstance(node, Processor) else ():
            declared = self._side.declared.stores.get(store)
            if declared is None or declared.filled_by is None:
                if stem(name).startswith(_READS_OLD_ROW):
                    return True
            elif name in declared.filled_by and declared.made_by not in _FORWARDS_OLD_ROW:
                return True
        return False


def _holds_back(side: Side, name: str) -> bool:
    """Whether an operator is a suppression: it forwards the old row that it got."""
    return name in side.declared.suppressions or is_suppression(name)


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
