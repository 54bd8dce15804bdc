"""One reading of a drain: ends, then committed offsets, then the ends again, and what may still work."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial

from kstreams_runbooks.decide.drain.held_back import held_back
from kstreams_runbooks.decide.drain.workers import running_instances, strange_members
from kstreams_runbooks.decide.topology.java_pattern import KAFKAS_OWN
from kstreams_runbooks.decide.topology.names import internal_by_id, is_changelog
from kstreams_runbooks.decide.topology.partitions import all_tasks, tasks_of
from kstreams_runbooks.deployers.protocol import Deployer
from kstreams_runbooks.errors import RunbookError
from kstreams_runbooks.model.readings.drain import DrainReading, HeldBack, OpenTransaction, RunningInstance
from kstreams_runbooks.model.readings.lag import ApplicationLag, LagRole, PartitionLag
from kstreams_runbooks.model.readings.readings import (
    Deployment,
    GroupReading,
    InstanceReading,
    Missing,
    Taken,
)
from kstreams_runbooks.model.topology.declaration import Declaration
from kstreams_runbooks.model.topology.topology import Topology
from kstreams_runbooks.observe.application.application import (
    ObservedApplication,
    reading_instances,
    topics_of,
)
from kstreams_runbooks.observe.application.drain_topics import DrainTopics, drain_topics
from kstreams_runbooks.observe.application.topologies import may_have_run
from kstreams_runbooks.observe.kafka.cluster import ClusterReader
from kstreams_runbooks.observe.kafka.ends import ends_of
from kstreams_runbooks.observe.kafka.offsets import Ends, GroupOffsets, Place
from kstreams_runbooks.observe.kafka.topic_names import not_visible
from kstreams_runbooks.observe.kafka.transactions import Sightings
from kstreams_runbooks.observe.lag.lag import LagAsked, lag_of
from kstreams_runbooks.observe.lag.partition_rows import ClusterLook
from kstreams_runbooks.observe.lag.topology_topics import read_by
from kstreams_runbooks.observe.lag.unread_counts import Count, FirstOf, UnreadCounts
from kstreams_runbooks.observe.login.failures import spoken_errors
from kstreams_runbooks.wording import first_of


class DrainReader:
    """Reads one application repeatedly.

    `count` and `first` are of UnreadCounts, `declared` is what a release declares of its windows and suppressions.
    Descriptions are read once: while everything is down, each one costs the start of a JVM.
    """

    def __init__(
        self,
        application: ObservedApplication,
        deployer: Deployer,
        count: Count,
        first: FirstOf,
        declared: Callable[[str], Declaration | None] = lambda _: None,
    ) -> None:
        self._application = application
        self._deployer = deployer
        self._unread = UnreadCounts(count, first)
        self._left_over = UnreadCounts(count, first, orphaned=True)
        self._declared = declared
        self._sightings = Sightings()
        self._changelogs: set[str] = set()
        self._describe = cache(deployer.topology)

    def read(self, reader: ClusterReader) -> DrainReading:
        """One reading; the parts that could not be read are among its problems.

        Unreachable if no broker answers, Inconclusive if a broker answers with an error that is not of one part alone.
        """
        with spoken_errors(self._application.application_id):
            return self._reading(reader)

    def _reading(self, reader: ClusterReader) -> DrainReading:
        taken, group_id = reader.taken(), self._application.application_id
        with reading_instances(self._application, self._deployer) as instances_read:
            group, names = reader.group(group_id), reader.names()
            instances = instances_read()
        ran = may_have_run(instances, self._describe, self._deployer.topology_target)
        topology = ran if isinstance(ran, Missing) else topics_of(ran, group_id, names)
        if isinstance(ran, Missing) or isinstance(topology, Missing):
            unknown = {one.missing: None for one in (ran, topology) if isinstance(one, Missing)}
            return DrainReading(taken, (), {}, {}, {}, problems=tuple(unknown))
        # While two topologies run or are set, a task may belong to either.
        only = ran[0] if len(ran) == 1 else None
        self._changelogs |= topology.changelogs & names.visible
        topics = drain_topics(reader, topology, self._application.outputs, names, self._changelogs)
        return self._of(reader, _Seen(taken, group, instances, only), topics)

    def _of(self, reader: ClusterReader, seen: "_Seen", topics: DrainTopics) -> DrainReading:
        """The reading of these topics: their ends, then committed offsets, then their ends again."""
        before = ends_of(reader, topics.moving.values())
        lag, after = self._lag(reader, seen.group, topics)
        reads = {} if seen.topology is None else read_by(seen.topology, self._application.application_id, topics.names)
        held = partial(tasks_of, read_by=reads, partitions=topics.counts)
        running = running_instances(seen.instances, seen.known_group, held, seen.taken.at_ms)
        left_over = () if running else self._left_over_hidden(reader, topics)
        return DrainReading(
            seen.taken,
            self._counted(lag.partitions, running),
            _log_ends(before),
            _log_ends(after),
            topics.sinks(_log_ends(after)),
            other_ids=topics.other_ids,
            group_state=lag.group_state,
            instances=running,
            all_tasks=all_tasks(reads, topics.counts),
            open_transactions=self._open(reader, after, seen.taken.at_ms),
            held_back=() if seen.topology is None else self._held_back(seen.topology, seen.instances, reads, lag),
            problems=(
                # The reason why the group is missing comes first: it may also be why its offsets are.
                *dict.fromkeys(lag.problems),
                *strange_members(seen.instances, seen.known_group),
                *(f"{place[0]}-{place[1]}: {why}" for place, why in _unread(before | after)),
                *topics.problems(),
                *_assigned(seen.known_group, topics),
                *left_over,
            ),
        )

    def _left_over_hidden(self, reader: ClusterReader, topics: DrainTopics) -> Iterator[str]:
        """While nothing runs: hidden topics with records that a release which ran before may have left unread.

        Internal ones of its own, by their names, and any other that its group may have offsets on: a broker leaves
        those offsets out.
        """
        group_id, names, sources = self._application.application_id, topics.names, topics.sources
        if isinstance(names.hidden, Missing):
            yield (
                f"whether {group_id} has left records unread on topics that are not visible to this login is not "
                f"known; {names.hidden.missing}"
            )
        elif names.hidden:
            internal = internal_by_id(names.hidden, {group_id, *(group for group, *_ in reader.groups())})
            own = [name for name in internal.get(group_id, ()) if not is_changelog(name) and name not in sources]
            others = names.hidden.difference(KAFKAS_OWN, sources, *internal.values())
            if found := "; ".join((*map(not_visible, own), *_perhaps_committed(group_id, others))):
                yield found

    def _counted(
        self, rows: tuple[PartitionLag, ...], running: tuple[RunningInstance, ...]
    ) -> tuple[PartitionLag, ...]:
        """The rows with records for offsets; of topics that nothing reads any more only if no instance runs.

        Such a topic may then have unread records, which are a finding; a marker alone is not one. If they cannot be
        counted, their offsets stay.
        """
        counted = self._unread.of(rows)
        if not running:
            with suppress(RunbookError):
                return self._left_over.of(counted)
        return counted

    def _lag(
        self, reader: ClusterReader, group: GroupReading | Missing, topics: DrainTopics
    ) -> tuple[ApplicationLag, dict[Place, Ends]]:
        """Committed offsets, and after them the ends of everything."""
        group_id = self._application.application_id
        committed = reader.committed([group_id])
        orphaned = {topic.name: topic for topic in reader.topics(self._orphaned(reader, committed[group_id], topics))}
        look = ClusterLook(
            committed,
            {**topics.moving, **orphaned},
            ends_of(reader, [*topics.moving.values(), *orphaned.values()]),
            {} if isinstance(group, Missing) else {group_id: (group.type, group.state)},
            topics.hidden,
            {group_id: group.missing} if isinstance(group, Missing) else {},
        )
        roles: dict[str, LagRole] = {**dict.fromkeys(orphaned, "orphaned"), **topics.roles}
        lag = lag_of(LagAsked(self._application.name, group_id, topics.roles, topics.unproven), roles, look)
        return lag, {place: ends for place, ends in look.ends.items() if place[0] in topics.moving}

    def _orphaned(self, reader: ClusterReader, offsets: GroupOffsets | Missing, topics: DrainTopics) -> set[str]:
        """Topics that nothing reads any more, which are in no total: by offsets, and internal ones by their names."""
        group_id = self._application.application_id
        left = set() if isinstance(offsets, Missing) else {topic for topic, _ in offsets}
        internal = internal_by_id(topics.names.visible, {group_id, *(name for name, *_ in reader.groups())})
        left |= {name for name in internal.get(group_id, ()) if not is_changelog(name)}
        return left - topics.roles.keys() - topics.moving.keys()

    def _open(self, reader: ClusterReader, ends: Mapping[Place, Ends], at_ms: int) -> tuple[OpenTransaction, ...]:
        """Transactions behind which something cannot be read; one of an unknown producer is listed without a name."""
        places = [
            place
            for place, each in ends.items()
            if isinstance(each.stable, int) and isinstance(each.end, int) and each.stable < each.end
        ]
        answer = reader.open_transactions(places, at_ms)
        found = () if isinstance(answer, Missing) else self._sightings.of(answer)
        why = answer.missing if isinstance(answer, Missing) else "it may just have ended"
        silent = {f"{topic}-{number}" for topic, number in places} - {one.name for one in found}
        return (*found, *(OpenTransaction(name, None, None, None, None, why=why) for name in sorted(silent)))

    def _held_back(
        self, topology: Topology, instances: tuple[InstanceReading, ...], reads: Mapping[str, str], lag: ApplicationLag
    ) -> tuple[HeldBack, ...]:
        times = dict[str, int]()
        for one in lag.read:
            if one.stream_time_ms is not None and one.topic in reads:
                sub = reads[one.topic]
                times[sub] = max(times.get(sub, one.stream_time_ms), one.stream_time_ms)
        releases = {one.deployment.release for one in instances if isinstance(one.deployment, Deployment)}
        known = [self._declared(release) for release in releases if isinstance(release, str)]
        return held_back(topology, known[0] if len(known) == 1 else None, times)


@dataclass(frozen=True, slots=True)
class _Seen:
    """The application itself in one pass; `topology` is the one that runs, None while there are two."""

    taken: Taken
    group: GroupReading | Missing
    instances: tuple[InstanceReading, ...]
    topology: Topology | None

    @property
    def known_group(self) -> GroupReading | None:
        return None if isinstance(self.group, Missing) else self.group


def _assigned(group: GroupReading | None, topics: DrainTopics) -> Iterable[str]:
    """Topics that a member reads now and that are hidden, also if the topology does not name them."""
    members = () if group is None else group.members
    assigned = {place.rpartition("-")[0] for one in members for place in one.partitions}
    return [f"a member of the group reads it: {why}" for why in topics.names.unseen(assigned - topics.sources).values()]


def _perhaps_committed(group_id: str, hidden: Collection[str]) -> Iterable[str]:
    if hidden:
        are = "topic is" if len(hidden) == 1 else "topics are"
        yield (
            f"{len(hidden):,} {are} not visible to this login, and group {group_id} may have offsets there on records "
            f"that it has not read: {first_of(tuple(sorted(hidden)))}; grant this login Describe on them, or look "
            "while the application runs"
        )


def _log_ends(ends: Mapping[Place, Ends]) -> dict[str, int]:
    """Log ends by `topic-number`; one that is not known is absent, and among the problems."""
    return {f"{topic}-{number}": each.end for (topic, number), each in ends.items() if isinstance(each.end, int)}


def _unread(ends: Mapping[Place, Ends]) -> list[tuple[Place, str]]:
    lacking = [(place, why) for place, each in ends.items() for why in (each.stable, each.end)]
    return [(place, why.missing) for place, why in lacking if isinstance(why, Missing)]
