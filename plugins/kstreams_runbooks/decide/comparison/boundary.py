"""What becomes of the topics that an application reads from others and writes for others."""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from kstreams_runbooks.decide.comparison.compared import Compared, Version, source_tables, target_of
from kstreams_runbooks.decide.comparison.facts import Told, topic_facts
from kstreams_runbooks.decide.comparison.settings import REUSE, optimized
from kstreams_runbooks.decide.topology.graph import store_roles
from kstreams_runbooks.model.topology.change import Fact, Subject, Undeclared
from kstreams_runbooks.model.topology.declaration import DeclaredTopic


def sources(compared: Compared) -> Iterator[Subject]:
    """Topics of others that are read, a pattern as one; those of global stores apart."""
    stateful = {
        topic
        for version in (compared.before, compared.after)
        for role in store_roles(version.topology).values()
        for topic in role.inputs
    }
    before, after = compared.before.global_stores, compared.after.global_stores
    own, together = compared.before.written(), _read_together(compared.after)
    for is_global in (False, True):
        old, new = (version.read(is_global=is_global) for version in (compared.before, compared.after))
        for topic in sorted(old | new):
            declared, asked = _declared(compared, topic, topic)
            stays = topic in old and topic in new
            if not stays:
                declared = dict.fromkeys(declared, False)
            facts: dict[str, Fact] = {
                "added": topic not in old,
                "removed": topic not in new,
                "own": topic in own,
                "stays": stays,
                "global": is_global,
                "global_changed": is_global and before.get(topic) != after.get(topic),
                "stateful": topic in stateful,
                "is_changelog": _is_changelog(compared.before, topic) if topic not in new else False,
                "uneven": False if is_global else _uneven(compared, topic, together.get(topic, ())),
                **declared,
            }
            what = Undeclared("config", "topology.optimization", "old")
            if compared.before.declared.config is not None:
                what = Undeclared(f"source_table of the store that is filled from {topic}", "", "old")
            uneven = (Undeclared(f"topics.{topic}", "joined_with", "new"),)
            yield Subject(
                "source_topic",
                topic,
                facts,
                _said(compared, topic, topic),
                {**asked, "is_changelog": (what,), "uneven": uneven},
            )


def sinks(compared: Compared) -> Iterator[Subject]:
    """Topics of others that are written: by a sink that stays, to the same topic or to another."""
    internal = compared.before.internal | compared.after.internal
    seen: set[tuple[str, str]] = set()
    for was, name in compared.operators.pairs:
        one, other = target_of(compared.before.nodes[was]), target_of(compared.after.nodes[name])
        if not one or not other or {one, other} & internal or (one, other) in seen:
            continue
        seen.add((one, other))
        yield _sink(compared, one, other)
    # A sink that got another name as well has no counterpart: what is written no more may be written elsewhere.
    paired = {name for pair in seen for name in pair}
    gone = sorted(compared.before.written() - compared.after.written() - paired)
    come = sorted(compared.after.written() - compared.before.written() - paired)
    for number, one in enumerate(gone if come else ()):
        yield _sink(compared, one, come[min(number, len(come) - 1)])


def _sink(compared: Compared, one: str, other: str) -> Subject:
    """What becomes of what is written to a topic."""
    declared, asked = _declared(compared, one, other)
    facts: dict[str, Fact] = {"topic_changed": one != other, "stateful": compared.stateful, **declared}
    return Subject("sink", other, facts, _said(compared, one, other), asked)


def _declared(compared: Compared, old: str, new: str) -> Told:
    before, after = compared.before.declared.topics, compared.after.declared.topics
    return topic_facts(new, before.get(old), after.get(new))


def _is_changelog(version: Version, topic: str) -> bool | None:
    """Whether a topic is the changelog of the table that reads it: only where the library was told to reuse it."""
    reused = REUSE in optimized(version.declared.config or {})
    if version.declared.config is not None and not reused:
        return False
    tables = source_tables(version).get(topic, False)
    return None if version.declared.config is None and tables is not False else tables


def _read_together(version: Version) -> dict[str, list[set[str]]]:
    """For each topic what is read in a subtopology that reads it, if the subtopology has a store."""
    found: dict[str, list[set[str]]] = {}
    for sub in version.topology.subtopologies:
        topics = {topic for source in sub.sources for topic in source.topics}
        for topic in topics if sub.stores else ():
            found.setdefault(topic, []).append(topics)
    return found


def _uneven(compared: Compared, topic: str, together: Iterable[set[str]]) -> bool | None:
    """Whether a topic has another number of partitions than one that it is joined with, since this change.

    Topics of one subtopology whose counts were equal and are not any more may be joined: a name hides it.
    """
    before, after = compared.before.declared.topics, compared.after.declared.topics
    own = after.get(topic, DeclaredTopic())
    others = own.joined_with
    count = partial(_count, after)
    if others is not None:
        return any(_differ(count(topic), count(other)) for other in others)
    parted = count(topic) is not None and any(
        _differ(count(topic), count(other)) and not _differ(_count(before, topic), _count(before, other))
        for near in together
        for other in near
    )
    return None if parted else False


def _count(topics: Mapping[str, DeclaredTopic], topic: str) -> int | None:
    return topics[topic].partitions if topic in topics else None


def _differ(one: int | None, other: int | None) -> bool:
    return one is not None and other is not None and one != other


def _said(compared: Compared, old: str, new: str) -> dict[str, str]:
    readers = [
        reader
        for side in (compared.before, compared.after)
        for topic in (old, new)
        if (declared := side.declared.topics.get(topic))
        for reader in declared.readers
    ]
    known = ", ".join(dict.fromkeys(readers)) or "nobody declares them (topics.*.readers)"
    return {"name": new, "before": old, "readers": known}
