"""Which internal topics nothing reads any more: what the ledger keeps, compared with the cluster and what runs."""

from collections.abc import Iterable

from kstreams_runbooks.decide.topology.partitions import possible_changelogs
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.readings.orphans import FoundTopic, KeptOrphan, Orphan, newest
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing, StreamsReading, TopicReading


def orphans_of(unread: Iterable[FoundTopic], kept: Iterable[KeptOrphan]) -> tuple[Orphan, ...]:
    """The topics that no topology reads, with the run that left each behind last; changelogs first.

    A kept one that is not among them is off the list: it is read again, or gone. So is one whose name now belongs to
    another topic. The ledger keeps the rows.
    """
    left_by = newest(kept)
    rows = (_orphan(one, left_by.get((one.topic, one.topic_id))) for one in unread)
    return tuple(sorted(rows, key=lambda one: (one.kind, one.topic)))


def kept_alone(kept: Iterable[KeptOrphan]) -> tuple[Orphan, ...]:
    """What the ledger keeps, while the cluster cannot be read: whether each still exists is unknown."""
    rows = newest(kept).values()
    return tuple(
        Orphan(one.topic, one.topic_id, "changelog", exists=None, found=None, since_ms=one.since_ms, run=one.run_key)
        for one in sorted(rows, key=lambda one: one.topic)
    )


def changelogs_left(
    before: ApplicationReading, after: ApplicationReading, application_id: str
) -> tuple[TopicReading, ...] | Missing:
    """Changelogs that a topology of `before` had and none of `after` has, as they were; Missing if either is unknown.

    A store without logging has no changelog: only topics of the reading count.
    """
    had, has = _changelogs(before, application_id), _changelogs(after, application_id)
    if isinstance(had, Missing):
        return had
    if isinstance(has, Missing):
        return has
    if isinstance(before.topics, Missing):
        return Missing(f"topics of {before.application}: {before.topics.missing}")
    return tuple(one for one in before.topics if one.name in had - has)


def _changelogs(reading: ApplicationReading, application_id: str) -> frozenset[str] | Missing:
    texts = {
        one.streams.topology
        for one in reading.instances
        if isinstance(one.streams, StreamsReading) and isinstance(one.streams.topology, str)
    }
    if not texts:
        return Missing(f"no instance of {reading.application} reported its topology")
    try:
        topologies = [parse_topology(text) for text in sorted(texts)]
    except BadInput as error:
        return Missing(str(error))
    return frozenset(f"{application_id}-{name}" for topology in topologies for name in possible_changelogs(topology))


def _orphan(one: FoundTopic, kept: KeptOrphan | None) -> Orphan:
    since, run = (None, None) if kept is None else (kept.since_ms, kept.run_key)
    return Orphan(one.topic, one.topic_id, one.kind, exists=True, found=one, since_ms=since, run=run)
