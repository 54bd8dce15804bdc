"""The fate of each store and each internal topic: things that hold data, by their role and not by their name."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import NamedTuple

from kstreams_runbooks.decide.comparison.beginning import RESET, beginning
from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.comparison.counterparts import Counterparts
from kstreams_runbooks.decide.comparison.facts import (
    DeclaredFacts,
    changed,
    closes_later,
    closing_words,
    of_serdes,
    store_facts,
    topic_facts,
    until,
)
from kstreams_runbooks.decide.comparison.operators import partitioners
from kstreams_runbooks.decide.comparison.read_back import read_in_its_tasks
from kstreams_runbooks.decide.comparison.setting_facts import SELF_JOIN, optimized
from kstreams_runbooks.decide.comparison.state.changelogs import Changelogs
from kstreams_runbooks.decide.comparison.state.copies import Copies
from kstreams_runbooks.decide.comparison.state.counted import counting_behind
from kstreams_runbooks.decide.comparison.state.crossing import (
    crossed_sides,
    in_exchanged_places,
    moved_suppressions,
)
from kstreams_runbooks.decide.comparison.state.feeding import exchanged_tables
from kstreams_runbooks.decide.comparison.state.kinds import carries, hidden_facts, hidden_words, is_join_buffer
from kstreams_runbooks.decide.comparison.state.makers import maker_facts, maker_words
from kstreams_runbooks.decide.comparison.state.order import (
    RowsLed,
    keys_selected,
    moved_across,
    reordered,
    replaced_across,
    rows_led_otherwise,
)
from kstreams_runbooks.decide.comparison.state.origins import (
    inputs_replaced,
    looked_into_anew,
    made_of_others,
    rows_missing,
    tables_behind,
    writers_lost,
)
from kstreams_runbooks.decide.comparison.state.suppressions import candidates
from kstreams_runbooks.decide.comparison.words import store_words, topic_words
from kstreams_runbooks.decide.topology.graph import Labels, feeds, keys_by_name, reach_of, store_roles
from kstreams_runbooks.decide.topology.names import (
    index_of,
    is_generated,
    is_join_window,
    is_suppress_buffer,
    keeps_unmatched,
    may_give_new_key,
    repartition_base,
)
from kstreams_runbooks.decide.topology.partitions import uncounted_inputs
from kstreams_runbooks.model.topology.change import Fact, Subject, SubjectKind, Undeclared
from kstreams_runbooks.model.topology.declaration import DeclaredStore, Window
from kstreams_runbooks.model.topology.topology import Processor, Sink
from kstreams_runbooks.wording import first_of

# Names listed in a sentence; more are counted.
_MOST_NAMED = 5
# Facts of a store that only one version has.
_OF_ONE_VERSION = ("copies", "copies_skipped", "copies_times", "goes_alone", "topic_short", "misread")
# An explicit repartition without a name: it moves records and leaves their keys.
_MOVED_ONLY = "KSTREAM-REPARTITION-"


def stores(compared: Compared) -> Iterator[Subject]:
    """Stores, with the declared changes in those that stay."""
    old, new = compared.before.declared, compared.after.declared
    buffers = {f"{name}-store" for side in (old, new) for name in side.suppressions}
    # A suppression that gets its first name takes its buffer along, whether or not it is declared.
    named = {f"{name}-store" for name in candidates(compared.after)}
    crossed, shifts, copies, changelogs = _crossed(compared), _Shifts(compared), Copies(compared), Changelogs(compared)
    fed_by_other = compared.fed_by_other | exchanged_tables(compared) | moved_suppressions(compared)
    fed_by_other |= made_of_others(compared)
    writers, behind, anew = writers_lost(compared), tables_behind(compared), looked_into_anew(compared)
    replaced, rows, lacking = inputs_replaced(compared), rows_led_otherwise(compared), rows_missing(compared)
    with_new_key, selected, order = _stores_with_new_key(compared), keys_selected(compared), reordered(compared)
    for store in _each("store", compared.stores, compared.before.store_places, compared.after.store_places):
        was, now = old.stores.get(store.said["before"]), new.stores.get(store.name)
        new_key = store.name in with_new_key
        facts, asked = store_facts(store.name, was, now, new.unchanged - ({"key"} if new_key else set()))
        hidden, undeclared = hidden_facts(compared, store.name, store.said["before"], was, now)
        made, unread = maker_facts(compared, store.said["before"], store.name, was, now)
        kept, open_ = copies.facts(store.said["before"], store.name, stays=store.facts["stays"] is True)
        facts, asked = {**facts, **hidden, **made, **kept}, {**asked, **undeclared, **unread, **open_}
        stays, retention = store.facts["stays"] is True, facts["retention_changed"]
        facts |= changelogs.facts(store.said["before"], store.name, stays=stays, retention_changed=retention)
        asked["changelog_short"] = asked["retention_changed"]
        if store.name in compared.after.subscription_stores:
            # The library makes these formats from those of the joined tables, which are compared.
            facts |= {fact: facts[fact] or False for fact in ("key_serde_changed", "value_serde_changed")}
        if facts["key_changed"] is None and store.facts["stays"] and new_key:
            facts["key_changed"] = True
        facts["serde_changed"], asked["serde_changed"] = of_serdes(facts, asked)
        is_buffer = _is_buffer(store.name, buffers) or (
            store.name in named and _is_buffer(store.said["before"], buffers)
        )
        if not store.facts["stays"] or is_buffer:
            # Added and removed stores have no counterpart; a suppress buffer is declared as a suppression.
            facts = {**dict.fromkeys(facts, False), **{fact: facts[fact] for fact in _OF_ONE_VERSION}}
        if is_buffer:
            # The fate of the buffer is that of the suppression, except for a number that shifts.
            facts |= {"removed": False} if store.facts["shifted"] else {"removed": False, "renamed": False}
        facts |= {"swapped": True} if (partner := crossed.get(store.name)) else {}
        facts["fed_by_other"] = partner is None and store.name in fed_by_other and _keeps_its_name(store)
        facts |= {"buffer": is_buffer, "of_join": is_join_buffer(compared.before, store.said["before"])}
        stays_put = _keeps_its_name(store) and not (is_buffer or partner or facts["fed_by_other"])
        moved = order.get(store.name) if stays_put else None
        facts |= {"reordered": moved is not None, "moved_harmless": moved is not None and moved.harmless}
        lost, left = writers.get(store.name, ("", "")) if _keeps_its_name(store) else ("", "")
        for fact, begin in (("behind_offsets", behind), ("looked_into_anew", anew)):
            facts[fact] = store.name in begin and not (now and now.loss_acceptable)
        facts |= {
            "writer_lost": bool(lost) and not is_buffer,
            "changelog_deletes": store.facts["added"] is True and changelogs.deletes(store.name),
        }
        of_rows, open_rows = _of_rows(store, rows)
        facts, asked = {**facts, **of_rows}, {**asked, **open_rows}
        facts["updates_counted"] = bool(facts["caching_changed"] and counting_behind(compared.after, store.name))
        # A topic that restores the store has findings of its own.
        told = partner or facts["fed_by_other"] or is_buffer or facts["copies"] == "input"
        facts["input_replaced"] = store.name in replaced and not told
        facts |= {
            **_of_joins(compared, store, was, now),
            "rows_missing": store.name in lacking and not (facts["looked_into_anew"] or facts["behind_offsets"]),
        }
        selects = selected.get(store.name, "")
        facts["key_selected"] = bool(selects) and facts["key_changed"] is False and _keeps_its_name(store)
        said = {
            **store.said,
            "before": partner or store.said["before"],
            "exchanged": " and ".join(sorted({partner or store.said["before"], store.name})),
            "moved_operators": "" if moved is None else moved.words,
            "selects": selects,
            "writers": lost,
            "leading": next((led.changed[store.name] for led in rows if store.name in led.changed), ""),
            "left": left,
            **closing_words(*_windows(was, now)),
            "read_before": behind.get(store.name, ""),
            **dict(zip(("inputs_before", "inputs"), replaced.get(store.name, ("", "")), strict=True)),
            **dict(zip(("lookers", "looked_into"), anew.get(store.name, ("", "")), strict=True)),
        }
        more_said = partial(_more_said, compared, shifts, copies, changelogs, store)
        yield Subject(store.kind, store.name, {**store.facts, **facts}, said, {**asked, **store.asked}, more_said)


def _more_said(
    compared: Compared, shifts: "_Shifts", copies: Copies, changelogs: Changelogs, store: Subject
) -> dict[str, str]:
    """The words for what is declared of a store, and for the operators in front of it."""
    before = store.said["before"]
    was = compared.before.declared.stores.get(before)
    now = compared.after.declared.stores.get(store.name)
    return {
        **hidden_words(compared, store.name, before, was, now),
        **store_words(was, now),
        **maker_words(was, now),
        **copies.words(before, store.name),
        **changelogs.words(before, store.name),
        "until": until(was, now),
        "shifted_by": shifts.before(store),
        "counting": _counting(compared, store.name, was, now),
    }


def _counting(compared: Compared, name: str, was: DeclaredStore | None, now: DeclaredStore | None) -> str:
    """The stores that count the updates of one whose cache is switched, in words; no other one's are asked for."""
    switched = was is not None and now is not None and was.caching != now.caching
    return first_of(counting_behind(compared.after, name)) if switched else ""


def _of_rows(store: Subject, rows: tuple[RowsLed, RowsLed]) -> DeclaredFacts:
    """Whether operators in front of a store that keeps its name make the rows otherwise that it takes back."""
    each = dict(zip(("rows_led_otherwise", "rows_asked_otherwise"), rows, strict=True))
    facts: dict[str, Fact] = {
        fact: led.fact(store.name) if _keeps_its_name(store) else False for fact, led in each.items()
    }
    return facts, {fact: led.asked(store.name) for fact, led in each.items()}


def internal_topics(compared: Compared) -> Iterator[Subject]:
    """Repartition topics and those of foreign-key joins, with their declared partitions."""
    before, after = compared.before, compared.after
    shifts = _Shifts(compared)
    both = before.internal & after.internal
    across, replaced = moved_across(compared, both), replaced_across(compared, both)
    for topic in _each("internal_topic", compared.topics, before.topic_places, after.topic_places):
        was, now = before.declared.topics.get(topic.said["before"]), after.declared.topics.get(topic.name)
        facts, asked = topic_facts(topic.name, was, now, after.declared.unchanged)
        if facts["partitions_changed"] is None:
            asked["partitions_changed"] = _uncounted(compared, topic.said["before"], topic.name)
            # A number that the program leaves out follows from the inputs; a kept topic that is refused has a finding.
            facts["partitions_changed"] = None if asked["partitions_changed"] else False
        if topic.facts["stays"] is not True:
            facts = dict.fromkeys(facts, False)
        facts["begins"] = beginning(after, topic.name) if topic.facts["added"] is not False else "earliest"
        asked["begins"] = (Undeclared("config", RESET, "new"),)
        cut = _cut_off(compared, topic.name) if topic.facts["added"] is True else ()
        facts["cuts_off"] = bool(cut)
        facts["fed_by_other"] = topic.name in compared.fed_by_other and _keeps_its_name(topic)
        carried = carries(before, topic.said["before"]), carries(after, topic.name)
        facts["loss_acceptable"] = _loss_acceptable(after, topic.name)
        facts["partitioner_changed"], asked["partitioner_changed"], by = partitioners(
            compared, topic.said["before"], topic.name
        )
        if topic.facts["stays"] is not True:
            facts["partitioner_changed"] = False
        facts["carried_changed"] = topic.facts["stays"] is True and len(set(carried)) > 1
        moved = across.get(topic.name, "") if _keeps_its_name(topic) and not facts["fed_by_other"] else ""
        instead = replaced.get(topic.name, "") if _keeps_its_name(topic) and not facts["fed_by_other"] else ""
        facts |= {"moved_across": bool(moved), "replaced_across": bool(instead) and not moved}
        said = {**topic.said, **by, **topic_words(was, now), "shifted_by": shifts.before(topic)}
        said |= {"moved_operators": moved, "replaced_operators": instead}
        said["cut_off"] = first_of(cut)
        said |= dict(zip(("carried_before", "carried_after"), carried, strict=True))
        yield replace(topic, facts={**topic.facts, **facts}, said=said, asked={**asked, **topic.asked})


def _cut_off(compared: Compared, topic: str) -> tuple[str, ...]:
    """The stores that keep their names, had an input in their own tasks, and are behind this repartition topic now.

    A store whose keys change is not among them: it begins from nothing in any case.
    """
    before, after = compared.before, compared.after
    own = before.internal | before.written()
    return tuple(
        store
        for store in sorted(before.keepers.keys() & after.keepers.keys())
        if topic in read_in_its_tasks(after, store)
        and read_in_its_tasks(before, store) - own
        and not _key_changes(compared, store)
    )


def _key_changes(compared: Compared, store: str) -> bool:
    old, new = (side.declared.stores.get(store, DeclaredStore()) for side in (compared.before, compared.after))
    return changed(old.key, new.key) is True


def _uncounted(compared: Compared, was: str, now: str) -> tuple[Undeclared, ...]:
    """The inputs whose partitions give a repartition topic its number, in the version whose program gives it none."""
    return tuple(
        Undeclared(f"topics.{one}", "partitions", version)
        for side, name, version in ((compared.before, was, "old"), (compared.after, now, "new"))
        if name not in side.counts
        for one in sorted(uncounted_inputs(side.topology, name, side.counts))
    )


def _loss_acceptable(side: Side, topic: str) -> bool:
    """Whether every store of the subtopology that reads an internal topic may be lost."""
    kept = side.kept_at.get(side.topic_places.get(topic, ""), [])
    return bool(kept) and all(one is not None and one.loss_acceptable for one in map(side.declared.stores.get, kept))


def _crossed(compared: Compared) -> dict[str, str]:
    """Stores that keep their names and exchange inputs and outputs, each with the other."""
    shared = compared.before.read() & compared.after.read()
    written = compared.before.written() & compared.after.written()
    kept = _kept_by_one(compared)
    was, now = (_ends(side, shared, written, kept) for side in (compared.before, compared.after))
    moved = [name for name in sorted(was.keys() & now.keys()) if was[name] != now[name]]
    by_feeds = {(was[name], now[name]): name for name in moved}
    found = {name: other for name in moved if (other := by_feeds.get((now[name], was[name]))) is not None}
    return {**in_exchanged_places(compared, kept), **crossed_sides(compared), **found}


def _kept_by_one(compared: Compared) -> set[str]:
    """Stores that one operator of a chosen name keeps in both versions: whether it is behind another store is its own.

    A join keeps a store with two operators, and which of them is behind the other store distinguishes its sides.
    """
    found = [
        {store: keepers[0].name for store, keepers in side.keepers.items() if len(keepers) == 1}
        for side in (compared.before, compared.after)
    ]
    return {store for store, name in found[0].items() if name == found[1].get(store) and not is_generated(name)}


def _ends(side: Side, shared: set[str], written: set[str], kept: set[str]) -> dict[str, tuple[Labels, frozenset[str]]]:
    """For each store the topics of `shared` that lead to its operators, and those of `written` behind it."""
    roles = store_roles(side.topology)
    return {
        store: (
            tuple((topics.partition(" ")[2], count) for topics, count in each) if store in kept else each,
            roles[store].outputs & written,
        )
        for store, each in feeds(side.topology, shared).items()
    }


def _keeps_its_name(subject: Subject) -> bool:
    return subject.facts["stays"] is True and not subject.facts["renamed"]


class _Shifts:
    """The operators of the program that were added or removed."""

    def __init__(self, compared: Compared) -> None:
        self._come = _Numbered(compared.program.added)
        self._gone = _Numbered(compared.program.removed)

    def before(self, subject: Subject) -> str:
        """Those before a thing whose number changed, in words; empty if it kept its name."""
        if not subject.facts["renamed"]:
            return ""
        come, gone = self._come.before(subject.name), self._gone.before(subject.said["before"])
        named = [f"{name} was added" for name in come.first]
        named += [f"{name} was removed" for name in gone.first]
        return _some(named, " and ", come.total + gone.total) or "an operator before it was added, removed or named"


class _Before(NamedTuple):
    """The first few operators before something, and how many there are."""

    first: tuple[str, ...]
    total: int


class _Numbered:
    """Operators with the numbers of their generated names; a chosen name hides its place."""

    def __init__(self, names: Iterable[str]) -> None:
        self._each = [(name, index_of(name)) for name in names]
        self._numbers = sorted(number for _, number in self._each if number is not None)

    def before(self, name: str) -> _Before:
        """Those that may precede a thing with this name."""
        other = index_of(name)
        may = (operator for operator, own in self._each if own is None or other is None or own < other)
        later = 0 if other is None else len(self._numbers) - bisect_left(self._numbers, other)
        return _Before(tuple(islice(may, _MOST_NAMED)), len(self._each) - later)


def _some(names: Sequence[str], between: str, count: int) -> str:
    """The first few of `count` names, and how many more there are."""
    more = count - _MOST_NAMED
    return between.join([*names[:_MOST_NAMED], *([f"{more:,} more"] if more > 0 else [])])


def _stores_with_new_key(compared: Compared) -> frozenset[str]:
    """Stores of the new version behind a repartition topic that is new, and behind an operator that gives another key.

    Of sources only those in the subtopology that keeps the store count.
    """
    topics = _topics_with_new_key(compared)
    reach = reach_of(compared.after.topology)
    found: set[str] = set()
    seen: set[str] = set()
    for sub in compared.after.topology.subtopologies if topics else ():
        sources = reach.bits((sub.topology, source.name) for source in sub.sources if source.topics & topics)
        for node in sub.nodes if sources else ():
            if isinstance(node, Processor) and node.stores and reach.before([(sub.topology, node.name)]) & sources:
                found |= node.stores - seen
        seen |= sub.stores
    return frozenset(found)


def _topics_with_new_key(compared: Compared) -> set[str]:
    """New internal topics that a new operator which gives another key, by its own or its grouping's name, writes."""
    new = {topic for topic in compared.topics.added if not topic.startswith(_MOVED_ONLY)}
    after, added = compared.after, set(compared.operators.added)
    called = keys_by_name(after.topology)
    reach = reach_of(after.topology)
    keyed = reach.bits(key for name in added if may_give_new_key(name) for key in called[name])
    found: set[str] = set()
    for node in after.nodes.values() if new else ():
        if isinstance(node, Sink) and node.topic in new:
            base = repartition_base(node.topic)
            grouping = reach.bits(called[base]) if base in added else 0
            if any(reach.before([key]) & (keyed | grouping) for key in called[node.name]):
                found.add(node.topic)
    return found


def _of_joins(
    compared: Compared, store: Subject, was: DeclaredStore | None, now: DeclaredStore | None
) -> dict[str, Fact]:
    """What a store of a join of streams begins or ends with; an optimization that is switched has a finding itself."""
    comes, goes = store.facts["added"] is True, store.facts["removed"] is True
    return {
        "joins_streams": comes and _is_of_new_join(compared, store.name),
        "side_begins": comes and not _switches_self_join(compared) and _is_new_side(compared, store.name),
        "unmatched_again": _unmatched_again(store, was, now),
        "unmatched_lost": goes and _leaves_its_join(compared, store.name),
    }


def _unmatched_again(store: Subject, was: DeclaredStore | None, now: DeclaredStore | None) -> bool:
    """Whether a join that gave records out without a match waits for one longer than before."""
    waits = store.facts["stays"] is True and keeps_unmatched(store.name)
    return waits and closes_later(*_windows(was, now))


def _windows(*stores: DeclaredStore | None) -> tuple[Window | None, Window | None]:
    before, after = (None if store is None else store.window for store in stores)
    return before, after


def _is_of_new_join(compared: Compared, store: str) -> bool:
    """Whether a join of streams, all of whose operators and stores are new, keeps the records of one in a store."""
    after, new = compared.after, {*compared.operators.added, *compared.stores.added}
    keepers = after.keepers.get(store, ())
    nodes = [*keepers, *(after.nodes[name] for keeper in keepers for name in keeper.successors)]
    stores = {one for node in nodes if isinstance(node, Processor) for one in node.stores if _of_join(after, one)}
    return store in stores and stores | {one.name for one in keepers} <= new


def _is_new_side(compared: Compared, store: str) -> bool:
    """Whether a store of the records of one side comes to a join that is there: it has none from before.

    What waits in a store for a match begins with the change in any case.
    """
    return _of_join(compared.after, store) and not keeps_unmatched(store) and not _is_of_new_join(compared, store)


def _leaves_its_join(compared: Compared, store: str) -> bool:
    """Whether a store of records that wait for a match goes, and the join stays."""
    stay = {was for was, _ in compared.operators.pairs}
    return keeps_unmatched(store) and any(one.name in stay for one in compared.before.keepers.get(store, ()))


def _switches_self_join(compared: Compared) -> bool:
    """Whether the settings switch the optimization of self-joins: that has a finding of its own."""
    was, now = (SELF_JOIN in optimized(side.declared.config or {}) for side in (compared.before, compared.after))
    return was != now


def _of_join(side: Side, store: str) -> bool:
    declared = side.declared.stores.get(store)
    return is_join_window(store) or (declared is not None and declared.kind == "join")


def _is_buffer(store: str, buffers: set[str]) -> bool:
    return store in buffers or is_suppress_buffer(store)


def _each(
    kind: SubjectKind, found: Counterparts, before: Mapping[str, str], after: Mapping[str, str]
) -> Iterator[Subject]:
    """Pairs, removed things, added things, and ambiguous ones."""
    pairs = set(found.pairs)
    for old, new in found.pairs:
        facts: dict[str, Fact] = {
            "stays": True,
            "removed": False,
            "added": False,
            "renamed": old != new,
            "moved": old == new and before[old] != after[new],
            "generated_before": is_generated(old),
            "generated": is_generated(new),
            "shifted": old != new and is_generated(old) and is_generated(new),
            "swapped": old != new and (new, old) in pairs,
            "name_was_anothers": old != new and new in before,
        }
        yield Subject(kind, new, facts, _said(new, old, before[old], after[new]))
    for name in found.removed:
        yield _one_side(kind, name, removed=True, taken=False, where=before[name])
    for name in found.added:
        yield _one_side(kind, name, removed=False, taken=name in before, where=after[name])
    for tie in found.ties:
        candidates = _some(tie.before, " or ", len(tie.before))
        for name in tie.after or tie.before:
            subject = _one_side(kind, name, removed=False, taken=False, where="")
            unknown = dict.fromkeys(("renamed", "shifted", "swapped", "name_was_anothers"))
            facts = {**subject.facts, **unknown, "added": False}
            said = {**subject.said, "before": candidates, "candidates": candidates}
            which = (
                Undeclared(
                    f"the text does not show what {name} was ({candidates}); give each operator of the new version its "
                    "old name (Materialized.as, Grouped.as), so that both versions have it"
                ),
            )
            asked = dict.fromkeys(unknown, which)
            yield Subject(kind, name, facts, said, asked)


def _one_side(kind: SubjectKind, name: str, *, removed: bool, taken: bool, where: str) -> Subject:
    generated = is_generated(name)
    facts: dict[str, Fact] = {
        "stays": False,
        "removed": removed,
        "added": not removed,
        "renamed": False,
        "moved": False,
        "generated_before": generated and removed,
        "generated": generated and not removed,
        "shifted": False,
        "swapped": False,
        "name_was_anothers": taken,
    }
    return Subject(kind, name, facts, _said(name, name, where, where))


def _said(name: str, before: str, from_sub: str, to_sub: str) -> dict[str, str]:
    return {"name": name, "before": before, "from_sub": from_sub, "to_sub": to_sub}
