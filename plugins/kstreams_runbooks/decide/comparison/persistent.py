"""The fate of each store and each internal topic: things that hold data, by their role and not by their name."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import networkx as nx

from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.comparison.counterparts import Counterparts
from kstreams_runbooks.decide.comparison.facts import of_serdes, store_facts, topic_facts, until
from kstreams_runbooks.decide.topology.graph import chosen_names, feeds, graph, neighbours
from kstreams_runbooks.decide.topology.names import index_of, is_generated, is_suppress_buffer, repartition_base
from kstreams_runbooks.model.topology.change import Fact, Subject, SubjectKind, Undeclared
from kstreams_runbooks.model.topology.topology import Processor, Sink, Source

# Names listed in a sentence; more are counted.
_MOST_NAMED = 5
# Generated names of operators that give records another key, or may.
_NEW_KEY = ("KEY-SELECT-", "KSTREAM-MAP-0", "KSTREAM-FLATMAP-0", "KSTREAM-TRANSFORM-", "KSTREAM-PROCESSOR-")
# An explicit repartition without a name: it moves records and leaves their keys.
_MOVED_ONLY = "KSTREAM-REPARTITION-"


def stores(compared: Compared) -> Iterator[Subject]:
    """Stores, with the declared changes in those that stay."""
    old, new = compared.before.declared, compared.after.declared
    buffers = {f"{name}-store" for side in (old, new) for name in side.suppressions}
    crossed = _crossed(compared)
    for store in _each("store", compared.stores, compared.before.store_places, compared.after.store_places):
        was, now = old.stores.get(store.said["before"]), new.stores.get(store.name)
        facts, asked = store_facts(store.name, was, now)
        facts["key_changed"] = _key_changed(compared, store, facts["key_changed"])
        facts["serde_changed"], asked["serde_changed"] = of_serdes(facts, asked)
        if not store.facts["stays"] or _is_buffer(store.name, buffers):
            # Added and removed stores have no counterpart; a suppress buffer is declared as a suppression.
            facts = dict.fromkeys(facts, False)
        facts |= {"swapped": True} if (partner := crossed.get(store.name)) else {}
        facts["fed_by_other"] = store.facts["stays"] is True and partner is None and _fed_by_other(compared, store)
        said = {
            **store.said,
            "before": partner or store.said["before"],
            "until": until(was, now),
            "shifted_by": _shifted_by(compared, store),
        }
        yield replace(store, facts={**store.facts, **facts}, said=said, asked={**asked, **store.asked})


def internal_topics(compared: Compared) -> Iterator[Subject]:
    """Repartition topics and those of foreign-key joins, with their declared partitions."""
    before, after = compared.before, compared.after
    for topic in _each("internal_topic", compared.topics, before.topic_places, after.topic_places):
        facts, asked = topic_facts(
            topic.name, before.declared.topics.get(topic.said["before"]), after.declared.topics.get(topic.name)
        )
        if topic.facts["stays"] is not True:
            facts = dict.fromkeys(facts, False)
        facts["fed_by_other"] = topic.facts["stays"] is True and _fed_by_other(compared, topic)
        said = {**topic.said, "shifted_by": _shifted_by(compared, topic)}
        yield replace(topic, facts={**topic.facts, **facts}, said=said, asked={**asked, **topic.asked})


def _crossed(compared: Compared) -> dict[str, str]:
    """Stores that keep their names and exchange their inputs, each with the other: the two sides of a join."""
    shared = compared.before.read() & compared.after.read()
    was, now = (feeds(side.topology, shared) for side in (compared.before, compared.after))
    moved = [name for name in was.keys() & now.keys() if was[name] != now[name]]
    return {
        name: other
        for name in moved
        for other in moved
        if name != other and was[name] == now[other] and was[other] == now[name]
    }


def _fed_by_other(compared: Compared, subject: Subject) -> bool:
    """Whether a thing that kept its name comes after other operators or topics, which both versions have.

    An operator that is only added in front, or only removed, changes the processing of records, not their origin.
    """
    if subject.facts["renamed"]:
        return False
    was, now = (neighbours(side.topology, subject.name) for side in (compared.before, compared.after))
    shared = chosen_names(compared.before.topology) & chosen_names(compared.after.topology)
    # A grouping is named after its topic, which has a subject of its own.
    shared -= compared.before.around | compared.after.around
    return bool((was - now) & shared) and bool((now - was) & shared)


def _shifted_by(compared: Compared, subject: Subject) -> str:
    """The operators that were added or removed before a thing whose number changed, in words."""
    found = compared.program
    come = [f"{name} has come" for name in found.added if _before(name, subject.name)]
    gone = [f"{name} has gone" for name in found.removed if _before(name, subject.said["before"])]
    return _some((*come, *gone), " and ") or "something before it has come, gone or got a name"


def _some(names: Sequence[str], between: str) -> str:
    """The first few of many, and how many more there are."""
    more = len(names) - _MOST_NAMED
    return between.join([*names[:_MOST_NAMED], *([f"{more:,} more"] if more > 0 else [])])


def _before(operator: str, name: str) -> bool:
    """Whether an operator may precede a thing with a generated name: a chosen name hides its place."""
    own, other = index_of(operator), index_of(name)
    return own is None or other is None or own < other


def _key_changed(compared: Compared, store: Subject, declared: Fact) -> Fact:
    """By the declarations, else by the text: a new repartition topic behind an operator that gives another key."""
    if declared is not None or not store.facts["stays"]:
        return declared
    leading = [topic for topic in compared.topics.added if _leads_to(compared.after, topic, store.name)]
    return True if any(_has_new_key(compared, topic) for topic in leading) else None


def _leads_to(side: Side, topic: str, store: str) -> bool:
    """Whether a topic is read in the subtopology that keeps the store, by a source before the store's operator."""
    made = graph(side.topology)
    sub = side.topology.subtopology_of(store)
    sources = [node for node in (sub.nodes if sub else ()) if isinstance(node, Source) and topic in node.topics]
    keepers = [node for node in (sub.nodes if sub else ()) if isinstance(node, Processor) and store in node.stores]
    return any(
        nx.has_path(made, (sub.topology if sub else "", source.name), (sub.topology if sub else "", keeper.name))
        for source in sources
        for keeper in keepers
    )


def _has_new_key(compared: Compared, topic: str) -> bool:
    """Whether a new operator that gives another key, by its generated name or its grouping's, writes a topic."""
    if topic.startswith(_MOVED_ONLY):
        return False
    made = graph(compared.after.topology)
    base = repartition_base(topic)
    sinks = [name for name, node in compared.after.nodes.items() if isinstance(node, Sink) and node.topic == topic]
    before = {name for sink in sinks for key in made if key[1] == sink for _, name in nx.ancestors(made, key)}
    added = before & set(compared.operators.added)
    return any(name == base or any(part in name for part in _NEW_KEY) for name in added)


def _is_buffer(store: str, buffers: set[str]) -> bool:
    return store in buffers or is_suppress_buffer(store)


def _each(
    kind: SubjectKind, found: Counterparts, before: Mapping[str, str], after: Mapping[str, str]
) -> Iterator[Subject]:
    """Pairs, removed things, added things, and ambiguous ones."""
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
            "swapped": old != new and (new, old) in found.pairs,
            "name_was_anothers": old != new and new in before,
        }
        yield Subject(kind, new, facts, _said(new, old, before[old], after[new]))
    for name in found.removed:
        yield _one_side(kind, name, removed=True, taken=False, where=before[name])
    for name in found.added:
        yield _one_side(kind, name, removed=False, taken=name in before, where=after[name])
    for tie in found.ties:
        candidates = _some(tie.before, " or ")
        for name in tie.after or tie.before:
            subject = _one_side(kind, name, removed=False, taken=False, where="")
            unknown = dict.fromkeys(("renamed", "shifted", "swapped", "name_was_anothers"))
            facts = {**subject.facts, **unknown, "added": False}
            said = {**subject.said, "before": candidates, "candidates": candidates}
            which = (
                Undeclared(f"nobody can tell which one {name} was; give each of them a name before anything else"),
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
