"""Reads for `mixed-windows`: the change in the ledger or as given, and the stream time of each partition now."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kstreams_runbooks.connections import kafka_config
from kstreams_runbooks.decide.change.mixed_windows import (
    MixedStore,
    TopicPart,
    WindowChange,
    mixed_store,
    window_changes,
)
from kstreams_runbooks.decide.topology.graph import internal_topics
from kstreams_runbooks.decide.topology.upstream import topics_before
from kstreams_runbooks.deployers import make_deployer
from kstreams_runbooks.errors import Inconclusive
from kstreams_runbooks.fleet import Application, load_fleet, release_declaration
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.ledger.codec import decode
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing
from kstreams_runbooks.model.runs.ledger import RunRecord
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.topology.declaration import Declaration
from kstreams_runbooks.model.topology.topology import Topology
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.observe import ClusterReader, read_application
from kstreams_runbooks.observe.application.topologies import run_or_set

_GIVE = "give --since with --from-declaration and --to-declaration"
_VERIFIED = "change_verified"

Sides = tuple[Declaration, Declaration]


@dataclass(frozen=True, slots=True)
class Changed:
    """A change of windows: what changed, its stream time by partition or for all, and where that is from, in words."""

    changes: tuple[WindowChange, ...]
    since: Mapping[TopicPart, int] | int
    source: str


@dataclass(frozen=True, slots=True)
class MixedWindows:
    """The answer for one application at `at_ms`, one row for each changed store."""

    application: str
    cluster: str
    at_ms: int
    source: str
    stores: tuple[MixedStore, ...]


def read_mixed_windows(application: str, sides: Sides | None, since_ms: int | None) -> MixedWindows:
    """Whether old and new windows of an application still mix.

    `sides` are the declarations of both versions; None: those of the newest run that changed a declared window.
    `since_ms` is the stream time of the change; None: that of the first reading that verified the run. Inconclusive if
    the ledger has no such run, or the application cannot be read.
    """
    fleet = load_fleet()
    entry = fleet.application(application)
    if sides is not None and since_ms is not None:
        changed = Changed(window_changes(*sides), since_ms, "as given")
    else:
        changed = change_in_ledger(Ledger.existing(), entry, sides)
    deployer = make_deployer(entry, dry_run=True)
    with ClusterReader(kafka_config(fleet.cluster(entry.cluster).connection)) as reader:
        reading = read_application(entry, reader, deployer)
    rows = reading.partitions
    if isinstance(rows, Missing):
        raise Inconclusive(f"windows of {application}: {rows.missing}")
    topologies = run_or_set(reading.instances, deployer.topology)
    if isinstance(topologies, Missing):
        raise Inconclusive(f"windows of {application}: {topologies.missing}")
    stores = (
        mixed_store(one, _topics(topologies, one.store, entry.application_id), changed.since, rows)
        for one in changed.changes
    )
    return MixedWindows(application, entry.cluster, reading.taken.at_ms, changed.source, tuple(stores))


def _topics(topologies: Iterable[Topology], store: str, application_id: str) -> frozenset[str] | str:
    """Topics in front of a store by their full names, or why they are unknown."""
    found: set[str] = set()
    for topology in topologies:
        read = topics_before(topology, store)
        if read is None:
            return f"{store} reads topics by a pattern"
        own = internal_topics(topology)
        found |= {f"{application_id}-{topic}" if topic in own else topic for topic in read}
    return frozenset(found) or f"the running topology has no store {store}"


def change_in_ledger(ledger: Ledger | None, entry: Application, sides: Sides | None) -> Changed:
    """The newest verified run that changed a window; with `sides` the newest verified run.

    Inconclusive without such a run or without a ledger, and after a run that changed something and was not verified: an
    undo, or a run that stopped.
    """
    runs = () if ledger is None else ledger.runs()
    for run in reversed(runs):
        if ledger is None or (run.application, run.cluster) != (entry.name, entry.cluster) or run.wrote_at_ms is None:
            continue
        try:
            after = _verified(ledger, run)
            changes = window_changes(*sides) if sides else _changes(ledger, run, entry)
        except ValueError:
            raise Inconclusive(
                f"windows of {entry.name}: run {run.name} was kept in a format that this release does not read, so "
                f"which windows it changed is unknown; {_GIVE}"
            ) from None
        if after is None:
            raise Inconclusive(
                f"windows of {entry.name}: run {run.name} changed it and was not verified, so which windows it has "
                f"since then is unknown; {_GIVE}"
            )
        if changes or sides:
            return Changed(changes, _stream_times(after), f"verified by run {run.name}")
    raise Inconclusive(
        f"windows of {entry.name}: no verified run in the ledger changed a declared window ({len(runs):,} runs); "
        f"{_GIVE}"
    )


def _verified(ledger: Ledger, run: RunRecord) -> ApplicationReading | None:
    """The reading that verified a run: every instance ran the new version by then, so the change is not later."""
    for piece in reversed(ledger.evidence(run.run_key, kind="verdict", name=_VERIFIED)):
        if piece.payload["result"]["outcome"] != Outcome.PROCEED:
            continue
        reading: ApplicationReading = decode(ApplicationReading, piece.payload["inputs"]["after"])
        if reading.application == run.application:
            return reading
    return None


def _changes(ledger: Ledger, run: RunRecord, entry: Application) -> tuple[WindowChange, ...]:
    """Changed windows between the releases of a run's plan, by their declarations as they are now."""
    stored = ledger.plan(run.run_key)
    if stored is None or "facts" not in stored:
        return ()
    whole: Plan = decode(Plan, stored)
    plan = whole.of_side("")
    after = _declared(entry, plan.bounces[-1].release) if plan.bounces else None
    for release in sorted({one.release for one in plan.facts.at_start}):
        before = _declared(entry, release)
        if before and after and (changes := window_changes(before, after)):
            return changes
    return ()


def _declared(entry: Application, release: str) -> Declaration | None:
    declared = entry.declared()
    return release_declaration(entry.name, release, declared.library(release)) if release in declared.releases else None


def _stream_times(reading: ApplicationReading) -> dict[TopicPart, int]:
    rows = reading.partitions if isinstance(reading.partitions, tuple) else ()
    return {(row.topic, row.partition): row.stream_time_ms for row in rows if row.stream_time_ms is not None}
