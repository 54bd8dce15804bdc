"""The lag of many applications of one cluster, in a constant number of batched calls."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kstreams_runbooks.decide.topology.names import internal_by_id, is_changelog
from kstreams_runbooks.model.readings.lag import ApplicationLag, LagRole
from kstreams_runbooks.model.readings.lag_snapshot import LagSnapshot
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.observe.kafka.cluster import ClusterReader
from kstreams_runbooks.observe.kafka.ends import ends_of
from kstreams_runbooks.observe.kafka.groups import unknown_group
from kstreams_runbooks.observe.kafka.offsets import GroupOffsets
from kstreams_runbooks.observe.lag.partition_rows import ClusterLook, partition_rows


@dataclass(frozen=True, slots=True)
class LagAsked:
    """One application: `reads` are the topics of its topology by full name with their role, None if it is not known.

    Without a topology its topics are those that its group has offsets on, and internal ones by their names. `lacking`
    is why not all of them are known; with it any topic that the group has an offset on may be one. `keeps` are names of
    changelogs that it may have. Without `exactly_once` it processes the records of aborted transactions too.
    """

    application: str
    application_id: str
    reads: Mapping[str, LagRole] | None = None
    lacking: str = ""
    keeps: Collection[str] = ()
    exactly_once: bool = True


def read_lag(reader: ClusterReader, cluster: str, asked: Sequence[LagAsked]) -> LagSnapshot:
    """One snapshot; Unreachable if no broker answers, and a problem with the application if only a part does."""
    taken = reader.taken()
    groups = {group: (kind, state) for group, kind, state in reader.groups()}
    ids = [one.application_id for one in asked]
    committed = reader.committed([one for one in ids if one in groups])
    unlisted = reader.unlisted([one for one in ids if one not in groups])
    names = reader.names()
    # Also of another application whose id begins with one of these: its topics are its own.
    internal = internal_by_id(names.visible, {*ids, *groups})
    reads = {
        one.application_id: topics_read(
            one, committed.get(one.application_id, {}), internal.get(one.application_id, ())
        )
        for one in asked
    }
    read = {name for each in reads.values() for name in each}
    kept = {name for one in asked for name in one.keeps}
    topics = {topic.name: topic for topic in reader.topics((read | kept) & names.visible)}
    ends = ends_of(reader, [topics[name] for name in sorted(read & topics.keys())])
    # Also of changelogs: one that is not visible is not necessarily gone.
    hidden = names.unseen((read | kept) - topics.keys())
    look = ClusterLook(committed, topics, ends, groups, hidden, unlisted)
    return LagSnapshot(taken, cluster, tuple(lag_of(one, reads[one.application_id], look) for one in asked))


def topics_read(asked: LagAsked, committed: GroupOffsets | Missing, internal: Iterable[str]) -> dict[str, LagRole]:
    """Topics that the application reads, and those that nothing reads any more but its group has offsets on.

    `internal` are its internal topics by their names.
    """
    offsets = set() if isinstance(committed, Missing) else {topic for topic, _ in committed}
    if asked.reads is not None:
        # If not all that it reads is known, any topic may be read.
        other: LagRole = "source" if asked.lacking else "orphaned"
        return {**dict.fromkeys(offsets, other), **asked.reads}
    read = (name for name in internal if not is_changelog(name))
    return {**dict.fromkeys(offsets, "source"), **dict.fromkeys(read, "repartition")}


def lag_of(asked: LagAsked, roles: Mapping[str, LagRole], look: ClusterLook) -> ApplicationLag:
    """One application's lag on the topics in `roles`, from what one pass over the cluster found."""
    # A problem of the group makes each partition unknown; a topic that is not known makes only the sum unknown.
    of_group = tuple(_of_group(asked.application_id, look))
    kind, state = look.groups.get(asked.application_id, (None, None))
    keeps = sorted(asked.keeps)
    return ApplicationLag(
        asked.application,
        asked.application_id,
        kind,
        state,
        tuple(partition_rows(asked.application_id, roles, look, of_group)),
        (*of_group, *_of_topics(asked, roles)),
        tuple((name, look.topic_id(name)) for name in keeps if name not in look.hidden),
        asked.exactly_once,
        unseen=tuple(look.hidden[name] for name in keeps if name in look.hidden),
    )


def _of_group(group_id: str, look: ClusterLook) -> Iterator[str]:
    """What is not known of the group."""
    if group_id not in look.groups:
        yield look.unlisted.get(group_id) or unknown_group(group_id)
    if isinstance(found := look.committed.get(group_id), Missing):
        yield found.missing


def _of_topics(asked: LagAsked, reads: Mapping[str, LagRole]) -> Iterator[str]:
    """What is not known of its topics."""
    if asked.lacking:
        yield asked.lacking
    if all(role == "orphaned" for role in reads.values()):
        yield (
            f"no topic is known that {asked.application} reads (expected at least one); start one of its instances, or "
            "grant this login Describe on its topics"
        )
