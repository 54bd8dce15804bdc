"""The fate of the subtopologies, and of the application as a whole."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import get_args

from kstreams_runbooks.decide.comparison.compared import Compared, Side, topics_of
from kstreams_runbooks.decide.comparison.default_serdes import serde_facts
from kstreams_runbooks.decide.comparison.facts import changed, either, sides
from kstreams_runbooks.decide.comparison.prediction import counted_from, kept_counts
from kstreams_runbooks.decide.comparison.settings import uses_streams_group
from kstreams_runbooks.decide.comparison.state.kinds import hidden_facts
from kstreams_runbooks.decide.comparison.words import disagreement
from kstreams_runbooks.decide.topology.graph import Role, topic_roles
from kstreams_runbooks.model.topology.change import Fact, Subject, Undeclared
from kstreams_runbooks.model.topology.declaration import Declaration, Unchanged
from kstreams_runbooks.model.topology.topology import Processor, Topology
from kstreams_runbooks.wording import first_of

# Patterns that one sentence names.
_MOST = 3
# The object of a finding about the application as a whole; it covers those about its parts.
WHOLE = "application"


def kept_topics(compared: Compared) -> Iterator[Subject]:
    """Each of them; empty if declared partition counts change, which is a change of its own."""
    before, after = compared.before.declared.topics, compared.after.declared.topics
    if any(changed(before[name].partitions, after[name].partitions) for name in before.keys() & after.keys()):
        return
    for name, (was, now) in kept_counts(compared).items():
        said = {"name": name, "before": str(was), "after": str(now)}
        if was is not None and now is not None:
            if was != now:
                yield Subject("kept_topic", name, {"refused": True}, said)
        elif asked := _by_order(compared, name, was, now) or _from_others(compared, name, was, now):
            yield Subject("kept_topic", name, {"refused": None}, said, {"refused": asked})


def _by_order(compared: Compared, name: str, was: int | None, now: int | None) -> tuple[Undeclared, ...]:
    """Topics whose partitions the order of counting decides, which a description hides, if that may change `name`.

    If it is unknown in both versions, it follows from the same order unless other topics are in front of it.
    """
    before, after = compared.before, compared.after
    open_ = [(side, label) for side, label, count in ((before, "old", was), (after, "new", now)) if count is None]
    if not any(side.by_order for side, _ in open_):
        return ()
    if len(open_) > 1 and counted_from(before, name) == counted_from(after, name):
        return ()
    return tuple(
        Undeclared(f"topics.{topic}", "partitions", label) for side, label in open_ for topic in sorted(side.by_order)
    )


def _from_others(compared: Compared, name: str, was: int | None, now: int | None) -> tuple[Undeclared, ...]:
    """The inputs without a known count on one side, if `name` gets its partitions from other topics than before."""
    if (was is None) == (now is None):
        return ()
    sides_of = ((compared.before, "old", was), (compared.after, "new", now))
    old, new = (counted_from(side, name) for side, _, _ in sides_of)
    if old == new:
        return ()
    return tuple(
        Undeclared(f"topics.{topic}", "partitions", label)
        for (side, label, count), read in zip(sides_of, (old, new), strict=True)
        if count is None
        for topic in sorted(read - side.internal)
        if topic not in side.counts
    )


def subtopologies(compared: Compared) -> Iterator[Subject]:
    """Subtopologies of the old topology by their inputs; one whose number is gone leaves task directories behind."""
    before, after = compared.before.topology, compared.after.topology
    now = _places(after)
    numbers = {sub.id for sub in after.subtopologies if not sub.is_global}
    of_global_stores = {sub.id for sub in after.subtopologies if sub.is_global}
    tasks = {sub.id for sub in before.subtopologies if not sub.is_global}
    for read, number in sorted(_places(before).items(), key=lambda place: place[1]):
        if number not in tasks:
            continue
        found = now.get(read, "")
        facts: dict[str, Fact] = {
            "renumbered": found not in {"", number},
            "number_gone": number not in numbers,
            "global_store_now": number in of_global_stores,
        }
        yield Subject("subtopology", number, facts, {"name": number, "now": found})


def application(compared: Compared) -> Subject:
    """The whole: whether anything at all has changed, and whether old and new can run next to each other."""
    before, after = compared.before, compared.after
    configs = (before.declared.config, after.declared.config)
    undeclared = sorted(after.store_places.keys() - after.declared.stores.keys() - _buffers(after))
    same, threads = before.topology == after.topology, after.parallelism
    of_serdes, serdes_asked, serdes_said = serde_facts(compared)
    facts: dict[str, Fact] = {
        "same": same,
        "declared_same": _without_unchanged(before) == _without_unchanged(after) if not undeclared else None,
        # The members that keep an old assignment are the old ones.
        "static": either(*(None if config is None else bool(config.get("group.instance.id")) for config in configs)),
        "topics_changed": _topics(before.topology) != _topics(after.topology),
        # The leader makes changelogs for the stores that it knows; a member with one more waits for its topic in vain.
        "shape_changed": disagrees(compared),
        "kinds_known": _kinds_known(compared),
        "shared_store": bool(_shared(after)),
        "streams_group": uses_streams_group(before) and uses_streams_group(after),
        "pattern_refused": uses_streams_group(after) and bool(after.patterns),
        "idle_threads": bool(threads and threads.idle),
        "auto_create": bool(after.declared.auto_create_topics) and not before.declared.auto_create_topics,
        **of_serdes,
    }
    asked = {
        "declared_same": tuple(Undeclared(f"stores.{name}", "", "new") for name in undeclared),
        "kinds_known": (Undeclared("stores", ", ".join(get_args(Unchanged)), "new"),),
        "static": (Undeclared("config", "group.instance.id", sides(*configs)),),
        **serdes_asked,
    }
    said = {**serdes_said, "name": WHOLE, "shared": ", ".join(_shared(after)), "disagreement": disagreement(compared)}
    said["patterns"] = first_of([f"pattern {one}" for one in sorted(after.patterns)], _MOST, " and ")
    said["threads"] = threads.sentence if threads else ""
    return Subject("application", WHOLE, facts, said, asked)


def _shared(side: Side) -> list[str]:
    """Stores that more than one subtopology has tasks for."""
    found = Counter(store for sub in side.topology.subtopologies if not sub.is_global for store in set(sub.stores))
    return sorted(store for store, subs in found.items() if subs > 1)


def _kinds_known(compared: Compared) -> bool | None:
    """True if the same kind of operator is known to keep each store, None if that is unknown for one."""
    before, after = compared.before.declared.stores, compared.after.declared.stores
    found = (hidden_facts(compared, new, old, before.get(old), after.get(new))[0] for old, new in compared.stores.pairs)
    return all(facts["kinds_known"] for facts in found) or None


def _without_unchanged(side: Side) -> Declaration:
    """What it declares of itself, and not of the version before."""
    return replace(side.declared, unchanged=frozenset())


def disagrees(compared: Compared) -> bool:
    """Whether instances of both versions cannot run together: they assign other tasks."""
    return _shape(compared.before.topology) != _shape(compared.after.topology) or _other_stores(compared)


def _other_stores(compared: Compared) -> bool:
    """Whether stores are added or removed; rows about a store cover one that is renamed."""
    found = compared.stores
    return bool(found.added) or any(len(tie.before) < len(tie.after) for tie in found.ties)


def _buffers(side: Side) -> set[str]:
    nodes = (side.nodes.get(name) for name in side.declared.suppressions)
    return {store for node in nodes if isinstance(node, Processor) for store in node.stores}


def _places(topology: Topology) -> dict[frozenset[str], str]:
    """Numbers of subtopologies by the roles of their inputs."""
    roles: Mapping[str, Role] = topic_roles(topology)
    return {
        frozenset(str(roles.get(topic, topic)) for source in sub.sources for topic in topics_of(source)): sub.id
        for sub in topology.subtopologies
    }


def _topics(topology: Topology) -> set[str]:
    return {name for _, read in _shape(topology) for name in read}


def _shape(topology: Topology) -> frozenset[tuple[str, frozenset[str]]]:
    """The facts that the members of a group have to agree on: the sources of every subtopology that has tasks."""
    return frozenset(
        (sub.id, frozenset(topic for source in sub.sources for topic in topics_of(source)))
        for sub in topology.subtopologies
        if not sub.is_global
    )
