"""Reads for `lag`: each cluster once, and the descriptions of applications that are down."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from kstreams_runbooks.decide.topology.names import internal_by_id
from kstreams_runbooks.errors import RunbookError
from kstreams_runbooks.fleet import Application
from kstreams_runbooks.model.readings.buffers import PolledBuffers
from kstreams_runbooks.model.readings.lag import ApplicationLag, LagRole, Readable, unread_ranges, with_counts
from kstreams_runbooks.model.readings.lag_snapshot import LagSnapshot
from kstreams_runbooks.model.readings.readings import Missing, Taken
from kstreams_runbooks.model.readings.status import KeptReading, KnownTopology
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.application.topics_read import PolledTopics, poll_instances, topics_to_read
from kstreams_runbooks.observe.kafka.offsets import Place
from kstreams_runbooks.observe.kafka.topic_names import TopicNames
from kstreams_runbooks.observe.lag.ages import with_ages
from kstreams_runbooks.observe.lag.lag import LagAsked, read_lag, topics_read
from kstreams_runbooks.watch.dead import with_dead
from kstreams_runbooks.watch.drain.counter import Counter
from kstreams_runbooks.watch.silent import with_silent
from kstreams_runbooks.watch.silent_application import DESCRIBING_THREADS, DeployerOf, of_silent, remembered
from kstreams_runbooks.wording import first_of

_BY = {"consumer": "a read_committed consumer", "spark": "Spark over Connect"}


@dataclass(frozen=True, slots=True)
class ClusterLag:
    """One cluster read; `failed` are the instances of each application that are in ERROR.

    `buffers` are the suppress buffers of the instances of each application that answered.
    """

    snapshot: LagSnapshot
    failed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    buffers: Mapping[str, tuple[PolledBuffers, ...]] = field(default_factory=dict)


def of_cluster(
    config: Mapping[str, Any],
    cluster: str,
    entries: Sequence[Application],
    deployer_of: DeployerOf,
    expiring_ms: int,
    before: Mapping[str, ApplicationLag],
    kept: Mapping[str, Sequence[KeptReading]] = MappingProxyType({}),
) -> ClusterLag:
    """The lag of these applications of one cluster; Unreachable if no broker answers.

    The topology of an application that is down comes from its deployer, for the configured release, or from the
    readings that were `kept`. The age of unread
    records is read if they may be deleted within `expiring_ms`, or if the offset is the same as `before`.
    """
    with ClusterReader(config) as reader:
        names = reader.names()
        polled = with_dead(poll_instances(entries, names), entries, deployer_of)
        asked = [topics_to_read(one, polled[one.name]) for one in entries]
        with ThreadPoolExecutor(DESCRIBING_THREADS, thread_name_prefix="instances") as pool:

            def question(one: LagAsked, entry: Application) -> LagAsked:
                known = remembered(entry, kept.get(entry.name, ()))
                return _question(one, entry, polled[entry.name], known, deployer_of, names)

            asked = list(pool.map(question, asked, entries))
        # Changelogs that an instance reported while it ran are checked while none runs.
        asked = [replace(one, keeps=one.keeps or _kept(before.get(one.application))) for one in asked]
        snapshot = with_ages(read_lag(reader, cluster, asked), reader, config, expiring_ms, before)
    return ClusterLag(
        snapshot,
        {name: one.failed for name, one in polled.items()},
        {name: one.buffers for name, one in polled.items()},
    )


def _kept(lag: ApplicationLag | None) -> tuple[str, ...]:
    return () if lag is None else tuple(topic for topic, _ in lag.kept)


def of_group(config: Mapping[str, Any], cluster: str, group: str, expiring_ms: int) -> ClusterLag:
    """The lag of a group that no fleet declares.

    Its topics are those with committed offsets, those assigned to its members, and internal topics by their names.
    """
    with ClusterReader(config) as reader:
        asked = _undeclared(reader, group)
        return ClusterLag(with_ages(read_lag(reader, cluster, [asked]), reader, config, expiring_ms))


def _undeclared(reader: ClusterReader, group: str) -> LagAsked:
    """What to read of the group; `lacking` names members, offsets or topics that are not visible."""
    asked = LagAsked(group, group)
    groups = {name: kind for name, kind, _ in reader.groups()}
    if group not in groups:
        return asked
    found = reader.group_of(group, groups[group])
    if isinstance(found, Missing):
        return replace(asked, lacking=f"{found.missing}, so a topic without a committed offset would be missed")
    names = reader.names()
    assigned = {place.rpartition("-")[0] for one in found.members for place in one.partitions}
    # In a rebalance, and in a streams group, the members do not show every topic of the group.
    lacking = "" if assigned and found.state.lower() == "stable" else _perhaps_hidden(group, names)
    if not assigned:
        return replace(asked, lacking=lacking)
    # Read after the members: a topic that a member commits on meanwhile is then at least among the assigned ones.
    offsets = reader.committed([group])[group]
    if isinstance(offsets, Missing):
        return replace(asked, lacking=offsets.missing)
    internal = internal_by_id(names.visible, set(groups)).get(group, ())
    reads: dict[str, LagRole] = dict.fromkeys(sorted(assigned), "source")
    return replace(asked, reads=reads | topics_read(asked, offsets, internal), lacking=lacking)


def _perhaps_hidden(group: str, names: TopicNames) -> str:
    """Why a broker may not show all offsets of a group, empty if no topic is hidden."""
    if isinstance(names.hidden, Missing):
        return (
            f"whether group {group} has offsets on topics that are not visible to this login is not known: a broker "
            f"leaves them out; {names.hidden.missing}"
        )
    if not names.hidden:
        return ""
    count = len(names.hidden)
    are = "topic is" if count == 1 else "topics are"
    return (
        f"{count:,} {are} not visible to this login, and a broker leaves out the offsets that group {group} may have "
        f"there: {first_of(tuple(sorted(names.hidden)))}; grant it Describe on them"
    )


def not_read(cluster: str, entries: Sequence[Application], at_ms: int, why: str) -> ClusterLag:
    """The lag of applications whose cluster could not be read: unknown, with the reason."""
    lags = (ApplicationLag(one.name, one.application_id, None, None, (), (why,)) for one in entries)
    return ClusterLag(LagSnapshot(Taken(at_ms, cluster), cluster, tuple(lags)))


def _question(
    asked: LagAsked,
    entry: Application,
    polled: PolledTopics,
    known: KnownTopology | None,
    deployer_of: DeployerOf,
    names: TopicNames,
) -> LagAsked:
    """The question with the topics of the releases that its silent instances are configured to run."""
    if asked.reads is None:
        return of_silent(asked, entry, None if polled.heard else known, deployer_of, names)
    return with_silent(asked, polled.silent, lambda: deployer_of(entry), names) if polled.silent else asked


def exact(read: ClusterLag, config: Mapping[str, Any], say: Callable[[str], None]) -> ClusterLag:
    """The same with records in place of offsets; `say` receives what takes long, and why.

    Offsets that cannot be counted stay offsets, and the application gets a problem with the reason.
    """
    with Counter(config, say=say) as count:
        lags = tuple(_exact(one, count, say) for one in read.snapshot.applications)
    return replace(read, snapshot=replace(read.snapshot, applications=lags))


def _exact(lag: ApplicationLag, count: Counter, say: Callable[[str], None]) -> ApplicationLag:
    """Count orphaned rows separately: records that are not read must not use up the limit of a scan."""
    readable: dict[Place, Readable] = {}
    for what, rows in (("", lag.read), (" of nothing that it reads", lag.orphaned)):
        try:
            counted = count(unread_ranges(rows))
        except RunbookError as error:
            return replace(lag, problems=(*lag.problems, f"its records are not counted: {error}"))
        if counted.by != "nothing":
            say(f"{lag.application_id}: {counted.records:,} records{what} counted by {_BY[counted.by]}")
        readable |= counted.readable
    return replace(lag, partitions=with_counts(lag.partitions, readable))
