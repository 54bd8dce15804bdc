"""Which internal topics and task directories a change creates, leaves behind and keeps: told before it is made."""

from dataclasses import dataclass

from kstreams_runbooks.decide.topology_graph import internal_topics
from kstreams_runbooks.model.topology import Topology


@dataclass(frozen=True, slots=True)
class Prediction:
    """Full names of internal topics, sorted; changelogs are those that a store may have.

    A store without logging, or one that reads its source topic back, has no changelog: the text does not tell.
    `moved` are stores that keep their name and restore in full, `stale_directories` the beginnings of task directories
    that nothing uses any more (`2_` for `2_0`, `2_1`, …).
    """

    created: tuple[str, ...]
    orphaned: tuple[str, ...]
    kept: tuple[str, ...]
    moved: tuple[str, ...]
    stale_directories: tuple[str, ...]


def predicted(before: Topology, after: Topology, application_id: str) -> Prediction:
    """What the change does to names on the cluster and on the disks of the instances.

    Source: Kafka Streams developer guide, Managing Streams Application Topics; `StateDirectory` (task directories are
    named `<subtopology>_<partition>`).
    """
    old, new = _topics(before, application_id), _topics(after, application_id)
    was, now = _tasks(before), _tasks(after)
    places, there = _stores(before), _stores(after)
    return Prediction(
        created=tuple(sorted(new - old)),
        orphaned=tuple(sorted(old - new)),
        kept=tuple(sorted(old & new)),
        moved=tuple(sorted(store for store in places.keys() & there.keys() if places[store] != there[store])),
        stale_directories=tuple(f"{number}_" for number in sorted(was - now)),
    )


def _topics(topology: Topology, application_id: str) -> set[str]:
    """Repartition topics and candidates for changelogs; a global store has none, it reads its topic."""
    names = {f"{store}-changelog" for store in _stores(topology)} | internal_topics(topology)
    return {f"{application_id}-{name}" for name in names}


def _stores(topology: Topology) -> dict[str, str]:
    return {store: sub.id for sub in topology.subtopologies if not sub.is_global for store in sub.stores}


def _tasks(topology: Topology) -> set[str]:
    return {sub.id for sub in topology.subtopologies if not sub.is_global}
