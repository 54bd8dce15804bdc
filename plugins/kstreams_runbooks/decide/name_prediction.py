"""Which internal topics, restores and task directories a change brings: told before it is made."""

from dataclasses import dataclass

from kstreams_runbooks.decide.compared import Compared, Version
from kstreams_runbooks.decide.config_subjects import REUSE, optimized
from kstreams_runbooks.decide.partition_counts import partition_counts
from kstreams_runbooks.decide.source_tables import source_tables
from kstreams_runbooks.model.topology import Processor, Source


@dataclass(frozen=True, slots=True)
class InternalTopic:
    """One internal topic by its full name, and its partitions; None where nobody declares what they follow from."""

    name: str
    partitions: int | None


@dataclass(frozen=True, slots=True)
class Restore:
    """A store that is rebuilt from its changelog, with the subtopologies that it leaves and comes to."""

    store: str
    changelog: str
    before: str
    after: str
    why: str


@dataclass(frozen=True, slots=True)
class Prediction:
    """Internal topics by name, restores by store, and the beginnings of task directories that nothing uses any more.

    A changelog is among them as long as nothing says that its store has none: a store without logging is not told by
    the text. Names are without application.id where that is not declared. A stale directory is `2_`: for `2_0`, `2_1` …
    """

    created: tuple[InternalTopic, ...]
    orphaned: tuple[InternalTopic, ...]
    kept: tuple[InternalTopic, ...]
    restores: tuple[Restore, ...]
    stale_directories: tuple[str, ...]


def predicted(compared: Compared) -> Prediction:
    """What the change does to names on the cluster and on the disks of the instances.

    Source: Kafka Streams developer guide, Managing Streams Application Topics; `StateDirectory` (task directories are
    named `<subtopology>_<partition>`).
    """
    before, after = compared.before, compared.after
    old, new = _topics(before), _topics(after)
    was, now = ({sub.id for sub in version.topology.subtopologies if not sub.is_global} for version in (before, after))
    return Prediction(
        created=_named(new, new.keys() - old.keys()),
        orphaned=_named(old, old.keys() - new.keys()),
        # A topic that is there keeps the partitions that it has.
        kept=_named({**new, **old}, old.keys() & new.keys()),
        restores=_restores(compared),
        stale_directories=tuple(f"{number}_" for number in sorted(was - now)),
    )


def _named(topics: dict[str, int | None], names: set[str]) -> tuple[InternalTopic, ...]:
    return tuple(InternalTopic(name, topics[name]) for name in sorted(names))


def _topics(version: Version) -> dict[str, int | None]:
    """Repartition topics and changelogs with their partitions; a global store has none, it reads its topic."""
    declared = {
        name: topic.partitions for name, topic in version.declared.topics.items() if topic.partitions is not None
    }
    counts = partition_counts(version.topology, declared)
    names = {f"{store}-changelog" for store in _logged(version)} | version.internal
    return {f"{_prefix(version)}{name}": counts.get(name) for name in names}


def _logged(version: Version) -> set[str]:
    """Stores with a changelog of their own: not global ones, nor tables that read their topic back."""
    stores = {store for sub in version.topology.subtopologies if not sub.is_global for store in sub.stores}
    if REUSE not in optimized(version.declared.config or {}):
        return stores
    tables = {topic for topic, is_table in source_tables(version).items() if is_table}
    return stores - {
        store
        for node in version.nodes.values()
        if isinstance(node, Source) and node.topics & tables
        for name in node.successors
        if isinstance(reader := version.nodes[name], Processor) and len(reader.stores) == 1
        for store in reader.stores
    }


def _restores(compared: Compared) -> tuple[Restore, ...]:
    before, after = compared.before, compared.after
    elsewhere = _setting(before, "state.dir") != _setting(after, "state.dir")
    found = []
    for store in sorted(_logged(before) & _logged(after)):
        was, now = before.store_places[store], after.store_places[store]
        if was != now or elsewhere:
            why = f"moves from subtopology {was} to {now}" if was != now else "state.dir is another one"
            found.append(Restore(store, f"{_prefix(after)}{store}-changelog", was, now, why))
    return tuple(found)


def _setting(version: Version, key: str) -> str | None:
    return (version.declared.config or {}).get(key)


def _prefix(version: Version) -> str:
    application_id = (version.declared.config or {}).get("application.id")
    return f"{application_id}-" if application_id else ""
