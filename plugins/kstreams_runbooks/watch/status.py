"""Reads one cluster for the scheduled check: few batched calls to the brokers, and only some instances are polled.

It knows no Airflow: the tasks call it (steps/status/tasks.py), and so does the benchmark.
"""

import time
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from kstreams_runbooks.decide.status.expected_topics import accepted_topics, expected_ids
from kstreams_runbooks.decide.status.standing import standing, stands_still
from kstreams_runbooks.decide.status.status import LagSample, status
from kstreams_runbooks.decide.status.whom_to_poll import Acquaintance, unheard_of, why_poll
from kstreams_runbooks.decide.topology.names import internal_by_id
from kstreams_runbooks.deployers import make_deployer
from kstreams_runbooks.fleet import Application
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.model.readings.lag_snapshot import LagSnapshot, with_others
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.status import KeptReading, KnownTopology
from kstreams_runbooks.model.times import HOUR_MS
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.application.topics_read import (
    PolledTopics,
    poll_instances,
    topics_to_read,
    topics_to_read_again,
)
from kstreams_runbooks.observe.kafka.topic_names import TopicNames
from kstreams_runbooks.observe.lag.ages import with_ages
from kstreams_runbooks.observe.lag.lag import LagAsked, read_lag
from kstreams_runbooks.observe.lag.waiting import read_offsets_retention_ms
from kstreams_runbooks.watch.buffers import buffer_limits
from kstreams_runbooks.watch.dead import with_dead
from kstreams_runbooks.watch.held import holders
from kstreams_runbooks.watch.own_writes import own_writes
from kstreams_runbooks.watch.running_defects import named_defects
from kstreams_runbooks.watch.settings import CheckSettings
from kstreams_runbooks.watch.silent_application import (
    DESCRIBING_THREADS,
    DeployerOf,
    declared_digest,
    of_silent,
    remembered,
)
from kstreams_runbooks.watch.window import earlier_readings, limits_of, window

# The task of a check has five minutes, and a deployer that hangs may take one.
_DESCRIBE_S = 60
_NOT_NEEDED = Missing("every group has members")
_READS_MORE = "reads what its topology does not name"


@dataclass(frozen=True, slots=True)
class ClusterRead:
    """The result of reading one cluster; `asked` counts the applications whose instances were polled, by reason.

    `later` counts readings in the ledger with a time after this one. `defects` has a sentence about the known defects
    of what runs, for each application whose instances were polled and have any.
    """

    cluster: str
    at_ms: int
    applications: int
    partitions: int
    asked: Mapping[str, int]
    requests: int
    seconds: float
    later: int = 0
    defects: tuple[tuple[str, str], ...] = ()

    @property
    def sentence(self) -> str:
        """The result in one line, for the log."""
        back = f"; {self.later:,} readings of a later time are left out: the clock went back" if self.later else ""
        asked = ", ".join(f"{count} {why}" for why, count in self.asked.items()) or "none"
        return (
            f"{self.applications} applications, {self.partitions:,} partitions in {self.seconds:.1f} s and "
            f"{self.requests:,} requests to the brokers; instances asked of {sum(self.asked.values())} applications "
            f"({asked}){back}"
        )


def read_cluster(
    ledger: Ledger,
    cluster: str,
    entries: Sequence[Application],
    config: Mapping[str, Any],
    settings: CheckSettings,
    acknowledged: Mapping[str, str] | None = None,
    deployer_of: DeployerOf = make_deployer,
) -> ClusterRead:
    """Read every application of one cluster and keep one reading of each; Unreachable if no broker answers.

    For `acknowledged` applications the present topics are the expected ones from now on, for the reason next to each.
    """
    began, reasons = time.monotonic(), acknowledged or {}
    ids = {entry.name: entry.application_id for entry in entries}
    earlier = earlier_readings(ledger, cluster, ids, time.time_ns() // 1_000_000, settings)
    last = {name: readings[-1] for name, readings in earlier.items() if readings}
    limits = limits_of(settings)
    # Read before the instances are polled: the next check polls an application again that changes meanwhile.
    changes = ledger.last_changes(cluster)
    buffers = {entry.name: buffer_limits(entry, settings) for entry in entries}
    with ClusterReader(config, counted=True) as reader:
        names = reader.names()
        limited = {name for name, one in buffers.items() if one}
        why = _whom_to_poll(ledger, cluster, entries, earlier, names.visible, settings, changes, limited)
        poll = _Poll(names, earlier, changes, why, deployer_of, time.monotonic() + _DESCRIBE_S)
        snapshot = _read(reader, cluster, entries, poll)
        before = {name: reading.lag for name, reading in last.items()}
        snapshot = with_ages(snapshot, reader, config, limits.expiring_ms, before)
        stands = any(map(stands_still, snapshot.applications))
        kept_ms = read_offsets_retention_ms(reader) if stands else _NOT_NEEDED
        requests = reader.requests()
    at_ms = snapshot.taken.at_ms
    lags = {lag.application: lag for lag in snapshot.applications}
    # Read after the brokers: a card comes before its write.
    own = own_writes(ledger, cluster, lags.values(), at_ms)
    expected = {
        name: expected_ids({}, lag)
        if name in reasons
        else expected_ids(last[name].expected if name in last else {}, lag, own.topics)
        for name, lag in lags.items()
    }
    fills = {
        name: one.fills(poll.polled[name].buffers, lags[name], earlier[name], at_ms) if one else ()
        for name, one in buffers.items()
    }
    for entry in entries:
        present = LagSample(at_ms, lags[entry.name], expected=expected[entry.name], buffers=fills[entry.name])
        samples = window(earlier[entry.name], present, own)
        if entry.name not in why and (word := status(samples, limits).word) != "healthy":
            why[entry.name] = f"is {word} now"
    poll.learn(poll.poll_new([entry for entry in entries if entry.name in why]), at_ms)
    polled, topologies = poll.polled, poll.topologies
    ledger.keep_lag(
        cluster,
        {
            name: KeptReading(
                at_ms,
                lag,
                polled[name].failed if name in polled else None,
                topologies[name],
                expected[name],
                fills[name],
                accepted_topics(last.get(name), lag, expected[name], reasons.get(name, "")),
                standing(lag, last.get(name), kept_ms),
            )
            for name, lag in lags.items()
        },
    )
    partitions = sum(len(lag.partitions) for lag in snapshot.applications)
    later, seconds = ledger.lag_readings_after(cluster, at_ms), round(time.monotonic() - began, 2)
    named = (
        (one.name, named_defects(one, (each.library for each in polled[one.name].buffers)))
        for one in entries
        if one.name in polled
    )
    defects = tuple((name, sentence) for name, sentence in named if sentence)
    return ClusterRead(cluster, at_ms, len(lags), partitions, _counted(why), requests, seconds, later, defects)


@dataclass
class _Poll:
    """The applications whose instances one check polls, with the reason, the answers, and the resulting topologies.

    Deployers describe releases until `describes_until`, of the monotonic clock.
    """

    names: TopicNames
    earlier: Mapping[str, tuple[KeptReading, ...]]
    changes: Mapping[str, int]
    why: dict[str, str]
    deployer_of: DeployerOf
    describes_until: float
    polled: dict[str, PolledTopics] = field(default_factory=dict)
    topologies: dict[str, KnownTopology | None] = field(default_factory=dict)

    def poll_new(self, entries: Sequence[Application]) -> list[Application]:
        """Poll the instances of applications that have not been polled yet; returns those applications."""
        new = [entry for entry in entries if entry.name not in self.polled]
        self.polled |= with_dead(poll_instances(new, self.names), new, self.deployer_of)
        return new

    def learn(self, entries: Sequence[Application], at_ms: int, *, remembering: bool = True) -> None:
        """Take the topologies from the present answers or, if `remembering`, from earlier ones."""
        for entry in entries:
            readings = self.earlier[entry.name] if remembering else ()
            self.topologies[entry.name] = _topology(entry, self.polled.get(entry.name), readings, at_ms, self.changes)

    def topics_to_read(self, entries: Sequence[Application]) -> list[LagAsked]:
        """What to read of each application: by its topology, of now or before.

        If it was polled and no instance answered, its deployer is asked, as `lag` does. Once the time for that is over,
        the others are read by what they reported last.
        """
        with ThreadPoolExecutor(DESCRIBING_THREADS, thread_name_prefix="deployers") as pool:
            return list(pool.map(self._topics_to_read, entries))

    def _topics_to_read(self, entry: Application) -> LagAsked:
        polled, known = self.polled.get(entry.name), self.topologies[entry.name]
        if polled is not None and polled.reads is None and not polled.heard and time.monotonic() < self.describes_until:
            return of_silent(topics_to_read(entry, polled), entry, known, self.deployer_of, self.names)
        return topics_to_read(entry, polled) if known is None else topics_to_read_again(entry, known, self.names)


def _read(reader: ClusterReader, cluster: str, entries: Sequence[Application], poll: _Poll) -> LagSnapshot:
    """The lag of every application; reads again each one with topics that its topology does not name."""
    poll.poll_new([entry for entry in entries if entry.name in poll.why])
    at_ms = reader.taken().at_ms
    poll.learn(entries, at_ms)
    snapshot = read_lag(reader, cluster, poll.topics_to_read(entries))
    unheard = _unheard_of(snapshot, poll.earlier, poll.polled)
    if not unheard:
        return snapshot
    again = [entry for entry in entries if entry.name in unheard]
    poll.why |= dict.fromkeys(unheard, _READS_MORE)
    poll.poll_new(again)
    # Their earlier answers are no longer valid, whether or not they answer now.
    poll.learn(again, at_ms, remembering=False)
    return with_others(snapshot, read_lag(reader, cluster, poll.topics_to_read(again)))


def _whom_to_poll(
    ledger: Ledger,
    cluster: str,
    entries: Sequence[Application],
    earlier: Mapping[str, tuple[KeptReading, ...]],
    names: Collection[str],
    settings: CheckSettings,
    changes: Mapping[str, int],
    limited: Collection[str],
) -> dict[str, str]:
    """Applications whose instances are polled, each with the reason."""
    words = {one.application: one.word for one in ledger.lag_statuses() if one.cluster == cluster}
    held = holders(ledger, cluster, entries)
    internal = internal_by_id(names, {entry.application_id for entry in entries})
    now_ms, found = time.time_ns() // 1_000_000, {}
    for entry in entries:
        topology = _remembered(earlier[entry.name])
        known = {*topology.reads, *topology.keeps} if topology else set()
        acquaintance = Acquaintance(
            application=entry.name,
            declared=declared_digest(entry),
            topology=topology,
            word=words.get(entry.name),
            held=entry.name in held,
            changed=changes.get(entry.name, 0),
            new_topics=tuple(sorted({*internal.get(entry.application_id, ())} - known)) if topology else (),
            limited=entry.name in limited,
        )
        if why := why_poll(acquaintance, now_ms, int(settings.topology_hours * HOUR_MS)):
            found[entry.name] = why
    return found


def _remembered(readings: Sequence[KeptReading]) -> KnownTopology | None:
    return readings[-1].topology if readings else None


def _topology(
    entry: Application,
    polled: PolledTopics | None,
    readings: Sequence[KeptReading],
    at_ms: int,
    changes: Mapping[str, int],
) -> KnownTopology | None:
    """The topology that its instances report now, else the earlier one while its declaration is the same."""
    declared = declared_digest(entry)
    if polled is not None and polled.reads:
        return KnownTopology(polled.reads, polled.keeps, at_ms, declared, changes.get(entry.name, 0), polled.patterns)
    if polled is not None and polled.heard:
        return None
    return remembered(entry, readings)


def _unheard_of(
    snapshot: LagSnapshot, earlier: Mapping[str, tuple[KeptReading, ...]], polled: Mapping[str, PolledTopics]
) -> tuple[str, ...]:
    """Applications that read topics outside their topology, unless their instances have just reported it."""
    return tuple(
        lag.application
        for lag in snapshot.applications
        if not (lag.application in polled and polled[lag.application].reads)
        and (before := earlier[lag.application])
        and unheard_of(lag, before[-1].lag)
    )


def _counted(why: Mapping[str, str]) -> dict[str, int]:
    """Number of applications for each reason."""
    found: dict[str, int] = {}
    for reason in why.values():
        found[reason] = found.get(reason, 0) + 1
    return dict(sorted(found.items()))
