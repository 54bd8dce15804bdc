"""Reads what the forecast of a hold needs: from the cluster now, and from what the ledger keeps of earlier runs."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from kstreams_runbooks.decide.instances.members import group_is_empty
from kstreams_runbooks.errors import Inconclusive
from kstreams_runbooks.fleet import Application
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.model.readings.hold import HoldFacts, LeftToRead, WaitingTopic
from kstreams_runbooks.model.readings.lag import MOST_AT_ONCE, LagRole, PartitionLag
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing
from kstreams_runbooks.model.times import SECOND_MS
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.lag.partition_rows import read_partitions
from kstreams_runbooks.observe.lag.waiting import LookedAt, read_offsets_retention_ms, read_waiting
from kstreams_runbooks.watch.drain.unread import count_once, isolation_of

# Readings of the scheduled check behind the highest rate: four hours of them.
_LOOKS = 48
# Between two looks at offsets, at least.
_APART_S = 5.0
# Earlier runs whose stops count.
_RUNS = 20


@dataclass(frozen=True, slots=True)
class Waiting:
    """The topics in which records wait, and the fleet entry whose group reads them (the application, or its copier)."""

    entry: Application
    topics: tuple[str, ...]


def read_hold_facts(
    reader: ClusterReader,
    config: Mapping[str, Any],
    ledger: Ledger,
    entry: Application,
    reading: ApplicationReading,
    waiting: Waiting | None,
    *,
    changelog_bytes: int | Missing,
    commit_interval_s: float,
    sleep: Callable[[float], None] = time.sleep,
) -> HoldFacts:
    """Facts for a hold of the inputs of `entry`; `waiting` is None if records wait outside of the cluster.

    Paces are measured between two looks that are a commit interval apart, so it takes that long. `reading` has the
    topics that the application reads, `changelog_bytes` are those that moved tasks restore from. Unreachable if no
    broker answers, Inconclusive if one refuses a topic or a group.
    """
    roles = _roles(reading)
    waits: dict[str, LagRole] = dict.fromkeys(waiting.topics if waiting else (), "source")

    def look() -> tuple[LookedAt, LookedAt]:
        at_ms = reader.taken().at_ms
        return (at_ms, _rows(reader, entry, roles)), (at_ms, _rows(reader, waiting.entry if waiting else entry, waits))

    first, waiting_first = look()
    sleep(max(_APART_S, commit_interval_s))
    last, waiting_last = look()
    topics: tuple[WaitingTopic, ...] = ()
    if waiting is not None:
        looks = [*_kept(ledger, waiting.entry, waiting_first[0]), waiting_first, waiting_last]
        topics = read_waiting(reader, config, waiting.topics, looks, isolation_of(waiting.entry))
    stops_ms, empties_ms = measured_stops(ledger, entry)
    return HoldFacts(
        taken=reader.taken(),
        waits=topics,
        offsets_retention_ms=read_offsets_retention_ms(reader),
        left=left_to_read(first, (last[0], _without_markers(entry, config, tuple(last[1])))),
        internal=tuple(sorted(name for name, role in roles.items() if role == "repartition")),
        changelog_bytes=changelog_bytes,
        stops_ms=stops_ms,
        empties_ms=empties_ms,
    )


def left_to_read(then: LookedAt, now: LookedAt) -> tuple[LeftToRead, ...]:
    """Unread records and the pace between two looks, by role, of the roles that the application reads."""
    found: list[LeftToRead] = []
    roles: tuple[LagRole, ...] = ("source", "repartition")
    for role in roles:
        before = {row.name: row.committed for row in then[1] if row.role == role}
        rows = [row for row in now[1] if row.role == role]
        if not rows:
            continue
        lacking = next((row for row in rows if row.records is None), None)
        records: int | Missing = sum(row.records or 0 for row in rows)
        if lacking is not None:
            records = Missing(f"{lacking.name}: {lacking.why or 'not read'}")
        seconds = (now[0] - then[0]) / SECOND_MS
        read = sum(
            row.committed - was
            for row in rows
            if row.committed is not None and (was := before.get(row.name)) is not None
        )
        pace: float | Missing = max(0, read) / seconds if seconds > 0 else Missing("two looks have the same time")
        found.append(LeftToRead(role, records, pace))
    return tuple(found)


def measured_stops(ledger: Ledger, entry: Application) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Milliseconds of the stops of all instances in the last runs, and from each until the group was proven EMPTY."""
    names = {one.name for one in entry.deployer.instances}
    mine = [one for one in ledger.runs() if (one.cluster, one.application) == (entry.cluster, entry.name)]
    stops, empties = [], []
    for run in sorted(mine, key=lambda one: one.started_at_ms)[-_RUNS:]:
        for stop in ledger.evidence(run.run_key, kind="write", name="stop"):
            if {*stop.payload["instances"]} != names:
                # One side of several, or a rerun that stopped those that were left.
                continue
            stops.append(stop.payload["down_ms"] - stop.payload["requested_ms"])
            proofs = ledger.evidence(run.run_key, kind="verdict", name=group_is_empty.__name__)
            proven = (
                one.at_ms for one in proofs if one.id > stop.id and one.payload["result"]["outcome"] == Outcome.PROCEED
            )
            empties += [max(0, first - stop.payload["down_ms"])] if (first := next(proven, None)) else []
    return tuple(stops), tuple(empties)


def _roles(reading: ApplicationReading) -> dict[str, LagRole]:
    rows = () if isinstance(reading.partitions, Missing) else reading.partitions
    return {row.topic: row.role for row in rows if row.role != "orphaned"}


def _rows(reader: ClusterReader, entry: Application, roles: Mapping[str, LagRole]) -> tuple[PartitionLag, ...]:
    """Rows of these topics for the entry's group."""
    found = read_partitions(reader, entry.application_id, roles, reader.topics(roles))
    if isinstance(found, Missing):
        raise Inconclusive(found.missing)
    return found


def _without_markers(
    entry: Application, config: Mapping[str, Any], rows: tuple[PartitionLag, ...]
) -> tuple[PartitionLag, ...]:
    """The rows with no record left where only markers of transactions are unread: waiting would not end for them.

    All others keep their offsets, in which the pace is measured too.
    """
    counted = count_once(entry, config, rows, most=MOST_AT_ONCE)
    if isinstance(counted, Missing):
        return rows
    return tuple(row if one.records else one for row, one in zip(rows, counted, strict=True))


def _kept(ledger: Ledger, entry: Application, until_ms: int) -> list[LookedAt]:
    """Looks of the scheduled check, oldest first."""
    kept = ledger.lag_readings(entry.cluster, [entry.name], _LOOKS, until_ms=until_ms)[entry.name]
    return [(one.at_ms, one.lag.partitions) for one in kept]
