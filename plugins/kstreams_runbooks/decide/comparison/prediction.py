"""Internal topics, restores and task directories of a change: predicted before the change is made."""

from collections.abc import Iterator
from dataclasses import dataclass

from kstreams_runbooks.decide.comparison.compared import Compared, Side, source_tables, topics_of
from kstreams_runbooks.decide.comparison.facts import changed
from kstreams_runbooks.decide.comparison.global_stores import left_behind
from kstreams_runbooks.decide.comparison.segments import segments_changed
from kstreams_runbooks.decide.comparison.settings import REUSE, optimized
from kstreams_runbooks.decide.comparison.state.makers import loses_files
from kstreams_runbooks.decide.topology.names import changelog_of
from kstreams_runbooks.decide.topology.partitions import repartition_topics, task_counts
from kstreams_runbooks.model.local_state import GLOBAL
from kstreams_runbooks.model.topology.topology import Processor, Sink, Source

# Neither of the two kinds reads the files of the other.
_FORMATS = {"key_value", "versioned"}


@dataclass(frozen=True, slots=True)
class InternalTopic:
    """One internal topic by its full name, and its partitions; None if the facts behind them are not declared."""

    name: str
    partitions: int | None


@dataclass(frozen=True, slots=True)
class Restore:
    """A store that is rebuilt from `changelog`, with the subtopologies it leaves (None: new) and enters.

    The changelog of a global store is the topic that it reads.
    """

    store: str
    changelog: str
    before: str | None
    after: str
    why: str


@dataclass(frozen=True, slots=True)
class Prediction:
    """Internal topics by name, restores by store, and prefixes of task directories that become unused.

    `refused` are topics that stay and would need the listed number of partitions: with their present one, the new
    version does not start. A stale directory is `2_` for all of a subtopology (`2_0`, `2_1` …), or `1_3` for one more
    than it has tasks now. Names are without application.id if that is not declared.

    Facts in neither text nor declaration are unknown here: a store without logging has no changelog, an in-memory one
    has no directory and is rebuilt at each start. Instances are assumed to have stopped cleanly and to find their disks
    again. Global stores are among the restores if their directory is deleted; the directories of another application.id
    or state.dir are not among the stale.
    """

    created: tuple[InternalTopic, ...]
    orphaned: tuple[InternalTopic, ...]
    kept: tuple[InternalTopic, ...]
    restores: tuple[Restore, ...]
    stale_directories: tuple[str, ...]
    refused: tuple[InternalTopic, ...] = ()


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
    )


def kept_counts(compared: Compared) -> dict[str, tuple[int | None, int | None]]:
    """Partitions of the topics that stay, by full name: those of the old version and those that the new one needs."""
    old, new = _topics(compared.before), _topics(compared.after)
    return {name: (old[name], new[name]) for name in sorted(old.keys() & new.keys())}


def counted_from(side: Side, name: str) -> frozenset[str]:
    """The topics that an internal topic, by its full name, gets its partitions from: those of its store or sink."""
    topic = name.removeprefix(_prefix(side))
    return frozenset(
        read
        for sub in side.topology.subtopologies
        if not sub.is_global
        and (
            topic in {changelog_of(store) for store in sub.stores}
            or any(isinstance(node, Sink) and node.topic == topic for node in sub.nodes)
        )
        for source in sub.sources
        for read in topics_of(source)
    )


def changelog_topics(side: Side) -> dict[str, str]:
    """The topic that restores each store, by its full name; one without logging has none, which may be unknown here."""
    return {
        store: f"{_prefix(side)}{topic}" if topic == changelog_of(store) else topic
        for store, topic in _changelogs(side).items()
    }


def places_in_another_format(compared: Compared) -> frozenset[str]:
    """Subtopologies of a store that stays where it is, and has other files: versions, timestamps, headers, segments."""
    before, after = compared.before, compared.after
    found = []
    for store in before.declared.stores.keys() & after.declared.stores.keys():
        place = after.store_places.get(store)
        old, new = before.declared.stores[store], after.declared.stores[store]
        kinds = {old.kind, new.kind}
        differs = kinds == _FORMATS or segments_changed(old, new) or loses_files(compared, old, new)
        if differs and place is not None and place == before.store_places.get(store):
            found.append(place)
    return frozenset(found)


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
    names = {changelog_of(store) for store in _logged(side)}
    names |= repartition_topics(side.topology)
    return {f"{_prefix(side)}{name}": counts.get(name) for name in names}


def _logged(side: Side) -> set[str]:
    """Stores with a changelog of their own: not global ones, nor tables that read their topic back."""
    return {store for store, topic in _changelogs(side).items() if topic == changelog_of(store)}


def _changelogs(side: Side) -> dict[str, str]:
    """The topic that restores each store, as it would be printed: a changelog of its own, or the topic of a table."""
    found = {store: changelog_of(store) for store in side.store_places}
    if REUSE not in optimized(side.declared.config or {}):
        return found
    tables = {topic for topic, is_table in source_tables(side).items() if is_table}
    for node in side.nodes.values():
        if isinstance(node, Source) and len(node.topics) == 1 and node.topics <= tables:
            for reader in (side.nodes[name] for name in node.successors):
                if isinstance(reader, Processor) and len(reader.stores) == 1:
                    found |= dict.fromkeys(reader.stores, *node.topics)
    return found


def _restores(compared: Compared) -> tuple[Restore, ...]:
    """A store whose directory does not go with it or is deleted, or that another, already existing topic restores."""
    before, after = compared.before, compared.after
    if _prefix(before) != _prefix(after):
        # Another group: it has neither directories nor changelogs, and has read nothing.
        return ()
    old, new = _changelogs(before), _changelogs(after)
    there = {*old.values(), *before.read(is_global=False)}
    reformatted = places_in_another_format(compared)
    inputs = after.read(is_global=False)
    found = []
    for store, changelog in sorted(new.items()):
        was, now = before.store_places.get(store), after.store_places[store]
        if changelog not in there:
            continue
        if was is not None and was != now:
            why = f"moves from subtopology {was} to {now}"
        elif old.get(store) != changelog:
            why = "is read back from another topic than before"
        elif _state_dir(before) != _state_dir(after):
            why = "state.dir is another one"
        elif now in reformatted:
            why = "its task directories are deleted"
        else:
            continue
        own = changelog not in inputs
        found.append(Restore(store, f"{_prefix(after)}{changelog}" if own else changelog, was, now, why))
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


def _state_dir(side: Side) -> str | None:
    return (side.declared.config or {}).get("state.dir")


def _prefix(side: Side) -> str:
    application_id = (side.declared.config or {}).get("application.id")
    return f"{application_id}-" if application_id else ""
