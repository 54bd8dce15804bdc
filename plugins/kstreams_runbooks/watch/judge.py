"""The status of every application of the fleet after a check, also if its cluster could not be read."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from kstreams_runbooks.decide.status.inputs import with_inputs
from kstreams_runbooks.decide.status.news import Judged, during_run, kept_status, to_notify
from kstreams_runbooks.decide.status.status import Status, status
from kstreams_runbooks.decide.status.unfed import CopierStatus, fed
from kstreams_runbooks.fleet import Application
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.model.readings.lag import ApplicationLag
from kstreams_runbooks.model.readings.states import is_empty
from kstreams_runbooks.model.readings.status import KeptReading, KeptStatus
from kstreams_runbooks.model.times import DAY_MS
from kstreams_runbooks.watch.held import at_work
from kstreams_runbooks.watch.own_writes import own_writes
from kstreams_runbooks.watch.settings import CheckSettings
from kstreams_runbooks.watch.window import earlier_readings, limits_of, sample_of, window


@dataclass(frozen=True, slots=True)
class Judgement:
    """The result of a check: the status of every application, and the changes that an owner is notified of.

    `too_late` are applications, as `name @ cluster`, that were declared after their cluster was read.
    """

    statuses: tuple[KeptStatus, ...]
    changes: tuple[KeptStatus, ...]
    forgotten: int
    too_late: tuple[str, ...] = ()

    @property
    def words(self) -> dict[str, int]:
        """Number of applications by status, the most frequent first."""
        return dict(Counter(one.word for one in self.statuses).most_common())


def judge_fleet(
    ledger: Ledger,
    entries: Iterable[Application],
    settings: CheckSettings,
    *,
    read_at_ms: Mapping[str, int],
    problems: Mapping[str, str],
    now_ms: int,
) -> Judgement:
    """Judge this check's readings, keep the status of every application, delete old readings.

    `read_at_ms` is when each cluster was read, by the reader's clock; `problems` has the reason for each cluster that
    was not: its applications are unknown. Reading a cluster keeps a reading of each application that is declared on
    it; an application without one was declared later, and the next check judges it.
    """
    before = {(one.cluster, one.application): one for one in ledger.lag_statuses()}
    by_name = {(entry.cluster, entry.name): entry for entry in entries}
    by_cluster: dict[str, list[str]] = {}
    for cluster, name in by_name:
        by_cluster.setdefault(cluster, []).append(name)
    statuses, too_late, work = [], [], at_work(ledger)
    for cluster, names in sorted(by_cluster.items()):
        at_ms = read_at_ms.get(cluster)
        readings = ledger.lag_readings(cluster, names, 1, until_ms=at_ms)
        ids = {name: found[-1].lag.application_id for name, found in readings.items() if found}
        earlier = earlier_readings(ledger, cluster, ids, at_ms or 0, settings)
        own = own_writes(ledger, cluster, (found[-1].lag for found in readings.values() if found), at_ms or 0)
        why = problems.get(cluster) or f"cluster {cluster} was not read in this check; look at the log of its task"
        there = {name: found[-1] for name, found in readings.items() if found and found[-1].at_ms == at_ms}
        alone = {
            name: _with_inputs(
                status(window(earlier[name], sample_of(reading), own), limits_of(settings)),
                reading.lag,
                by_name[cluster, name],
            )
            for name, reading in there.items()
        }
        for name in names:
            if at_ms is None:
                judged = Judged(cluster, name, Status("unknown", why), now_ms, read=False)
            elif name in there:
                copiers = _copiers(by_name[cluster, name], by_name.values(), alone, there)
                found = during_run(fed(alone[name], copiers), work.get((cluster, name), ""))
                judged = Judged(cluster, name, found, at_ms)
            else:
                too_late.append(f"{name} @ {cluster}")
                continue
            statuses.append(kept_status(before.get((cluster, name)), judged))
    ledger.keep_lag_statuses(statuses)
    # The earliest of all clocks: one that is weeks ahead must not delete the readings that reveal recreated topics.
    earliest_ms = min([now_ms, *read_at_ms.values()])
    forgotten = ledger.forget_lag(earliest_ms - int(settings.keep_days * DAY_MS))
    return Judgement(tuple(statuses), to_notify(statuses, work), forgotten, tuple(too_late))


def _with_inputs(found: Status, lag: ApplicationLag, entry: Application) -> Status:
    every = (*entry.inputs, *entry.outputs, *entry.control, *entry.rule_topics)
    return with_inputs(found, lag, tuple(entry.input_settings.values()), every)


def _copiers(
    entry: Application, entries: Iterable[Application], alone: Mapping[str, Status], there: Mapping[str, KeptReading]
) -> Iterator[CopierStatus]:
    """The copiers that write control topics of an application, without one that was declared after the reading."""
    for copier in entries:
        topics = tuple(topic for topic in entry.control if topic in copier.outputs)
        if topics and copier.copies and copier.cluster == entry.cluster and copier.name in there:
            lag = there[copier.name].lag
            stopped = is_empty(lag.group_state or "")
            yield CopierStatus(copier.name, copier.owner, topics, alone[copier.name], lag.unread, stopped)
