"""One cluster read by the scheduled check: few batched calls to the brokers, and only some instances are asked.

No task of Airflow's: the tasks call it (steps/status/tasks.py), and so does the benchmark.
"""

import hashlib
import json
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kstreams_runbooks.decide.status.expected_topics import expected_ids
from kstreams_runbooks.decide.status.status import LagSample, status
from kstreams_runbooks.decide.status.whom_to_poll import Acquaintance, unheard_of, why_ask
from kstreams_runbooks.decide.topology.names import internal_by_id
from kstreams_runbooks.fleet import Application
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.model.readings.lag_snapshot import LagSnapshot, with_others
from kstreams_runbooks.model.readings.status import KeptReading, KnownTopology
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.application.topics_read import Told, ask_instances, question, question_again
from kstreams_runbooks.observe.kafka.topic_names import TopicNames
from kstreams_runbooks.observe.lag.ages import with_ages
from kstreams_runbooks.observe.lag.lag import LagAsked, read_lag
from kstreams_runbooks.watch.settings import CheckSettings
from kstreams_runbooks.watch.window import earlier_readings, limits_of, window

_HOUR_MS = 3_600_000
_HELD = "application"
_READS_MORE = "reads what its topology does not name"


@dataclass(frozen=True, slots=True)
class ClusterRead:
    """What reading one cluster came to; `asked` says of how many applications the instances were asked, and why.

    `later` are readings that the ledger has of a time after this one.
    """

    cluster: str
    at_ms: int
    applications: int
    partitions: int
    asked: Mapping[str, int]
    requests: int
    seconds: float
    later: int = 0

    @property
    def sentence(self) -> str:
        """One line."""
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
    acknowledged: Collection[str] = (),
) -> ClusterRead:
    """Read every application of one cluster and keep one reading of each; Unreachable where no broker answers.

    Of applications that are `acknowledged` the present topics are the right ones from now on.
    """
    began = time.monotonic()
    ids = {entry.name: entry.application_id for entry in entries}
    earlier = earlier_readings(ledger, cluster, ids, time.time_ns() // 1_000_000, settings)
    last = {name: readings[-1] for name, readings in earlier.items() if readings}
    limits = limits_of(settings)
    # Before anything is asked: what is changed while this reads is asked again by the next check.
    changes = ledger.last_changes(cluster)
    with ClusterReader(config, counted=True) as reader:
        names = reader.names()
        why = _whom_to_ask(ledger, cluster, entries, earlier, names.visible, settings, changes)
        poll = _Poll(names, earlier, changes, why)
        snapshot = _read(reader, cluster, entries, poll)
        before = {name: reading.lag for name, reading in last.items()}
        snapshot = with_ages(snapshot, reader, config, limits.expiring_ms, before)
        requests = reader.requests()
    at_ms = snapshot.taken.at_ms
    lags = {lag.application: lag for lag in snapshot.applications}
    expected = {
        name: expected_ids({} if name in acknowledged or name not in last else last[name].expected, lag)
        for name, lag in lags.items()
    }
    for entry in entries:
        present = LagSample(at_ms, lags[entry.name], expected=expected[entry.name])
        samples = window(earlier[entry.name], present)
        if entry.name not in why and (word := status(samples, limits).word) != "healthy":
            why[entry.name] = f"is {word} now"
    poll.learn(poll.ask([entry for entry in entries if entry.name in why]), at_ms)
    told, topologies = poll.told, poll.topologies
    ledger.keep_lag(
        cluster,
        {
            name: KeptReading(at_ms, lag, told[name].failed if name in told else None, topologies[name], expected[name])
            for name, lag in lags.items()
        },
    )
    partitions = sum(len(lag.partitions) for lag in snapshot.applications)
    later, seconds = ledger.lag_readings_after(cluster, at_ms), round(time.monotonic() - began, 2)
    return ClusterRead(cluster, at_ms, len(lags), partitions, _counted(why), requests, seconds, later)


@dataclass
class _Poll:
    """Whose instances one check asks and why, what they told, and the topologies that come of it."""

    names: TopicNames
    earlier: Mapping[str, tuple[KeptReading, ...]]
    changes: Mapping[str, int]
    why: dict[str, str]
    told: dict[str, Told] = field(default_factory=dict)
    topologies: dict[str, KnownTopology | None] = field(default_factory=dict)

    def ask(self, entries: Sequence[Application]) -> list[Application]:
        """Ask the instances of those that have not been asked yet; returns them."""
        new = [entry for entry in entries if entry.name not in self.told]
        self.told |= ask_instances(new, self.names)
        return new

    def learn(self, entries: Sequence[Application], at_ms: int, *, remembering: bool = True) -> None:
        """Take the topologies from what was told now or, `remembering`, before."""
        for entry in entries:
            readings = self.earlier[entry.name] if remembering else ()
            self.topologies[entry.name] = _topology(entry, self.told.get(entry.name), readings, at_ms, self.changes)

    def questions(self, entries: Sequence[Application]) -> list[LagAsked]:
        """What is read of each, by its topology."""
        return [
            _question(entry, self.told.get(entry.name), self.topologies[entry.name], self.names) for entry in entries
        ]


def _read(reader: ClusterReader, cluster: str, entries: Sequence[Application], poll: _Poll) -> LagSnapshot:
    """The lag of every application; once more of each that reads what its topology does not name."""
    poll.ask([entry for entry in entries if entry.name in poll.why])
    at_ms = reader.taken().at_ms
    poll.learn(entries, at_ms)
    snapshot = read_lag(reader, cluster, poll.questions(entries))
    unheard = _unheard_of(snapshot, poll.earlier, poll.told)
    if not unheard:
        return snapshot
    again = [entry for entry in entries if entry.name in unheard]
    poll.why |= dict.fromkeys(unheard, _READS_MORE)
    poll.ask(again)
    # What they told before is no answer any more, whether or not they tell now.
    poll.learn(again, at_ms, remembering=False)
    return with_others(snapshot, read_lag(reader, cluster, poll.questions(again)))


def _whom_to_ask(
    ledger: Ledger,
    cluster: str,
    entries: Sequence[Application],
    earlier: Mapping[str, tuple[KeptReading, ...]],
    names: Collection[str],
    settings: CheckSettings,
    changes: Mapping[str, int],
) -> dict[str, str]:
    """Applications whose instances are asked, each with the reason."""
    words = {one.application: one.word for one in ledger.lag_statuses() if one.cluster == cluster}
    held = {name for of, name in held_applications(ledger) if of == cluster}
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
        )
        if why := why_ask(acquaintance, now_ms, int(settings.topology_hours * _HOUR_MS)):
            found[entry.name] = why
    return found


def held_applications(ledger: Ledger) -> dict[tuple[str, str], str]:
    """The run that holds each application, by cluster and name; a run that has ended may be among them."""
    found = {}
    for hold in ledger.holds():
        kind, _, rest = hold.resource.partition(":")
        if kind == _HELD:
            found[hold.cluster, rest.removeprefix(f"{hold.cluster}:")] = hold.run_key
    return found


def declared_digest(entry: Application) -> str:
    """Digest of what a fleet entry says that a topology may hang on."""
    said = [entry.application_id, entry.inputs, entry.outputs, entry.rule_topics, sorted(entry.deployer.releases)]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:16]


def _remembered(readings: Sequence[KeptReading]) -> KnownTopology | None:
    return readings[-1].topology if readings else None


def _topology(
    entry: Application, told: Told | None, readings: Sequence[KeptReading], at_ms: int, changes: Mapping[str, int]
) -> KnownTopology | None:
    """What its instances tell now, else what they told before, as long as it is declared as it was then."""
    declared = declared_digest(entry)
    if told is not None and told.reads:
        return KnownTopology(told.reads, told.keeps, at_ms, declared, changes.get(entry.name, 0), told.patterns)
    if told is not None and told.heard:
        return None
    remembered = _remembered(readings)
    return remembered if remembered is not None and remembered.declared == declared else None


def _question(entry: Application, told: Told | None, known: KnownTopology | None, names: TopicNames) -> LagAsked:
    """By a topology that holds, told now or before, else by what its instances tell."""
    return question(entry, told) if known is None else question_again(entry, known, names)


def _unheard_of(
    snapshot: LagSnapshot, earlier: Mapping[str, tuple[KeptReading, ...]], told: Mapping[str, Told]
) -> tuple[str, ...]:
    """Applications that read what their topology does not name, unless they have just told it."""
    return tuple(
        lag.application
        for lag in snapshot.applications
        if not (lag.application in told and told[lag.application].reads)
        and (before := earlier[lag.application])
        and unheard_of(lag, before[-1].lag)
    )


def _counted(why: Mapping[str, str]) -> dict[str, int]:
    """How many applications there are of each reason."""
    found: dict[str, int] = {}
    for reason in why.values():
        found[reason] = found.get(reason, 0) + 1
    return dict(sorted(found.items()))
