"""Progress of the runs that wait for a drain, from the ledger: the records left, and the time that they take."""

from dataclasses import dataclass

from kstreams_runbooks.decide.drain.certificate import drained
from kstreams_runbooks.decide.drain.pace import eta_ms
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.ledger.codec import decode
from kstreams_runbooks.model.readings.drain import DrainReading
from kstreams_runbooks.model.runs.ledger import Evidence, RunRecord
from kstreams_runbooks.steps.drain.trigger import PROGRESS

# The pace comes from the last readings: a wait of hours has kept a hundred.
_MOST = 20


@dataclass(frozen=True, slots=True)
class Draining:
    """One run that waits in `task_id`; `left` is None if it is unknown, `rest_ms` if it does not decrease.

    `since_ms` is the time of the first reading, `at_ms` that of the last.
    """

    run_key: str
    application: str
    cluster: str
    task_id: str
    since_ms: int
    at_ms: int
    left: int | None
    rest_ms: int | None
    readings: int

    def sentence(self, now_ms: int) -> str:
        """One line for a log."""
        return (
            f"[{self.application} @ {self.cluster}] {self.run_key} waits in {self.task_id} for "
            f"{(now_ms - self.since_ms) / 1000:.0f} s: {self._left} (read {(now_ms - self.at_ms) / 1000:.0f} s ago)"
        )

    @property
    def _left(self) -> str:
        if self.left is None:
            return "the number of records left is not known"
        if self.left == 0:
            return "nothing left to read, more readings have to show it"
        if self.rest_ms is not None:
            pace = f"about {self.rest_ms / 1000:.0f} s more"
        else:
            pace = "with no decrease" if self.readings > 1 else "pace unknown until the next reading"
        return f"{self.left:,} records left, {pace}"


def runs_in_a_drain(ledger: Ledger) -> tuple[Draining, ...]:
    """Every run that has not concluded and whose last reading of a drain has not been decided on, oldest run first."""
    return tuple(one for record in ledger.runs(open_only=True) if (one := _draining(ledger, record)))


def _draining(ledger: Ledger, record: RunRecord) -> Draining | None:
    kept = ledger.evidence(record.run_key, kind="reading", name=PROGRESS, newest=_MOST)
    if not kept:
        return None
    last = kept[-1]
    own = [one for one in kept if (one.task_id, one.try_number) == (last.task_id, last.try_number)]
    decided = ledger.evidence(record.run_key, kind="verdict", name=drained.__name__, task_id=last.task_id, newest=1)
    if decided and decided[-1].id > last.id:
        return None
    readings = tuple(decode(DrainReading, one.payload) for one in own)
    return Draining(
        record.run_key,
        record.application,
        record.cluster,
        last.task_id,
        _began_ms(ledger, last),
        last.at_ms,
        readings[-1].unread,
        eta_ms(readings),
        len(readings),
    )


def _began_ms(ledger: Ledger, last: Evidence) -> int:
    """The time of the first reading of the same wait."""
    wait = (last.kind, last.name, last.task_id, last.try_number)
    return next(
        one.at_ms for one in ledger.timeline(last.run_key) if (one.kind, one.name, one.task_id, one.try_number) == wait
    )
