"""Internal topics, restores and task directories of a change: predicted before the change is made."""

from collections.abc import Iterator
from dataclasses import dataclass

from kstreams_runbooks.decide.comparison.compared import Compared, Side, topics_of
from kstreams_runbooks.decide.comparison.content import Content, contents, own_changelogs, prefix
from kstreams_runbooks.decide.comparison.facts import changed
from kstreams_runbooks.decide.comparison.global_stores import left_behind
from kstreams_runbooks.decide.comparison.left_files import Emptied, emptied, left_files
from kstreams_runbooks.decide.topology.partitions import repartition_topics, task_counts
from kstreams_runbooks.model.local_state import GLOBAL
from kstreams_runbooks.model.topology.topology import Sink


@dataclass(frozen=True, slots=True)
class InternalTopic:
    """One internal topic by its full name, and its partitions; None if the facts behind them are not declared."""

    name: str
    partitions: int | None


@dataclass(frozen=True, slots=True)
class Restore:
    """A store that is rebuilt from `changelog`, with the subtopologies it leaves (None: new) and enters.

    `changelog` is the topic that it reads if that is its changelog, and of a global store. It is not `certain` if the
    store has a changelog only unless its logging, which is not declared, is off.
    """

    store: str
    changelog: str
    before: str | None
    after: str
    why: str
    certain: bool = True


@dataclass(frozen=True, slots=True)
class Prediction:
    """Internal topics by name, restores by store, and prefixes of task directories that become unused.

    `refused` are topics that stay and would need the listed number of partitions: with their present one, the new
    version does not start. A stale directory is `2_` for all of a subtopology (`2_0`, `2_1` …), or `1_3` for one more
    than it has tasks now. Names are without application.id if that is not declared.

    `emptied` are stores that begin without what they hold. A store whose logging is unknown has a changelog here, as
    the library makes one by default. Instances are assumed to have stopped cleanly and to find their disks again.
    Global stores are among the restores if their directory is deleted; the directories of another application.id or
    state.dir are not among the stale.
    """

    created: tuple[InternalTopic, ...]
    orphaned: tuple[InternalTopic, ...]
    kept: tuple[InternalTopic, ...]
    restores: tuple[Restore, ...]
    stale_directories: tuple[str, ...]
    refused: tuple[InternalTopic, ...] = ()
    emptied: tuple[Emptied, ...] = ()


def predicted(compared: Compared) -> Prediction:
    """The effect of the change on names on the cluster and on the disks of the instances.

    Source: Kafka Streams developer guide, Managing Streams Application Topics; `InternalTopicManager#makeReady` (a
    topic that is there is taken as it is, and refused with another number of partitions), `StateDirectory` (task
    directories are named `<subtopology>_<partition>`), `StoreChangelogReader` (Apache Kafka 4.3);
    tests/integration/test_predicted_change.py.
    """
    before, after = compared.before, compared.after
    old, new = _topics(before), _topics(after)
    kept = old.keys() & new.keys()
    return Prediction(
        created=_named(new, new.keys() - old.keys()),
        orphaned=_named(old, old.keys() - new.keys()),
        kept=_named(old, kept),
        restores=_restores(compared),
        stale_directories=tuple(_stale(before, after)),
        refused=_named(new, {name for name, (was, now) in kept_counts(compared).items() if changed(was, now)}),
        emptied=tuple(emptied(compared)),
    )


def kept_counts(compared: Compared) -> dict[str, tuple[int | None, int | None]]:
    """Partitions of the topics that stay, by full name: those of the old version and those that the new one needs."""
    old, new = _topics(compared.before), _topics(compared.after)
    return {name: (old[name], new[name]) for name in sorted(old.keys() & new.keys())}


def counted_from(side: Side, name: str) -> frozenset[str]:
    """The topics that an internal topic, by its full name, gets its partitions from: those of its store or sink."""
    topic, held = name.removeprefix(prefix(side)), contents(side)
    return frozenset(
        read
        for sub in side.topology.subtopologies
        if not sub.is_global
        and (
            topic in {held[store].changelog for store in sub.stores if store in held}
            or any(isinstance(node, Sink) and node.topic == topic for node in sub.nodes)
        )
        for source in sub.sources
        for read in topics_of(source)
    )


def changelog_topics(side: Side) -> dict[str, str]:
    """The topic that restores each store, by its full name; a store that none restores is not among them."""
    return {one.store: _full(side, one) for one in contents(side).values() if one.topic}


def _stale(before: Side, after: Side) -> Iterator[str]:
    """None if the old version keeps no state: without a store the library makes no directories."""
    old, new = (task_counts(side.topology, side.counts) for side in (before, after))
    now = {sub.id for sub in after.topology.subtopologies if not sub.is_global}
    for sub in before.topology.subtopologies if before.topology.stores else ():
        if not sub.is_global and sub.id not in now:
            yield f"{sub.id}_"
        elif sub.id in old and sub.id in new:
            yield from (f"{sub.id}_{number}" for number in range(new[sub.id], old[sub.id]))


def _named(topics: dict[str, int | None], names: set[str]) -> tuple[InternalTopic, ...]:
    return tuple(InternalTopic(name, topics[name]) for name in sorted(names))


def _topics(side: Side) -> dict[str, int | None]:
    """Repartition topics and changelogs with their partitions; a global store has none, it reads its topic."""
    counts = side.counts
    names = own_changelogs(side) | repartition_topics(side.topology)
    return {f"{prefix(side)}{name}": counts.get(name) for name in names}


def _full(side: Side, content: Content) -> str:
    """The topic that restores a store, by its full name."""
    return f"{prefix(side)}{content.changelog}" if content.changelog else content.topic


def _restores(compared: Compared) -> tuple[Restore, ...]:
    """A store whose directory does not go with it or is deleted, or that another, already existing topic restores."""
    before, after = compared.before, compared.after
    if prefix(before) != prefix(after):
        return ()
    old, new, left = contents(before), contents(after), left_files(compared)
    there = {*(one.topic for one in old.values()), *before.read(is_global=False)}
    found = []
    for store, content in sorted(new.items()):
        was = old.get(store)
        why = left.get(store, "")
        if not why and (was is None or was.topic != content.topic):
            why = "is read back from another topic than before"
        if why and content.topic in there and content.topic and not content.is_join_buffer:
            place = before.store_places.get(store)
            certain = content.restores is True
            found.append(Restore(store, _full(after, content), place, after.store_places[store], why, certain))
    return (*found, *(global_restores(compared) if left_behind(compared) else ()))


def global_restores(compared: Compared) -> Iterator[Restore]:
    """The global stores on the disk of the new version, which read their topics in full without their directory."""
    before, after = _global_places(compared.before), compared.after
    for store, place in sorted(_global_places(after).items()):
        declared = after.declared.stores.get(store)
        for topic, stores in after.global_stores.items():
            if store in stores and (declared is None or declared.on_disk):
                yield Restore(store, topic, before.get(store), place, f"the directory `{GLOBAL}` is deleted")


def _global_places(side: Side) -> dict[str, str]:
    return {store: sub.id for sub in side.topology.subtopologies if sub.is_global for store in sub.stores}
