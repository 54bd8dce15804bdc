"""A time limit that a clock going back does not extend."""

import time

from kstreams_runbooks.decide.runbooks import longest_h
from kstreams_runbooks.model.runs.journal import CLOCK_TOLERANCE_MS
from kstreams_runbooks.model.times import HOUR_MS
from kstreams_runbooks.steps.run.ending import BEGUN
from kstreams_runbooks.steps.run.run import Run, now_ms

# `conclude` reads the application once more, and may wait for a worker.
_CONCLUDES_MS = 600_000
# A run that is about to end still asks for a moment.
_SHORTEST_H = 1 / 60


class Until:
    """The end of a wait, kept once in the ledger: it survives the waiting process.

    It begins once for as long as the run holds something without a break: clearing the task does not make the wait
    longer. A run that holds nothing begins it with each try. It is over by this process's clock, by the highest time
    that the run has kept since, or once this process has waited the whole time, whichever comes first, and in any case
    before Airflow ends the run. It reads the ledger once, on creation. `note` names the entry whose time this process's
    clock has not reached, empty if there is none.
    """

    def __init__(self, run: Run, name: str, length_s: float) -> None:
        length_ms = int(length_s * 1000)
        begins = {"until_ms": now_ms() + length_ms, "after": run.ledger.newest_entry(run.record)}
        kept = run.ledger.remember(run.key, f"until/{name}/{_period(run)}", begins)
        self._until_ms, self.note = int(kept["until_ms"]), ""
        if (last_ms := waits_until_ms(run)) is not None and last_ms < self._until_ms:
            self._until_ms, self.note = last_ms, cut_short(run)
        left_ms = self._until_ms - now_ms()
        if seen := run.ledger.latest_clock(run.record, int(kept["after"]), own=True):
            left_ms = min(left_ms, self._until_ms - seen.at_ms)
            if (ahead_ms := seen.at_ms - now_ms()) > CLOCK_TOLERANCE_MS:
                self.note += (
                    f"; journal entry {seen.seq} of {seen.task_id} is {ahead_ms / 1000:,.0f} s ahead of this process's "
                    "clock: set the clock that is wrong"
                )
        self._length_s, self._ends = length_s, time.monotonic() + min(left_ms, length_ms) / 1000

    @property
    def waited(self) -> str:
        """How long the wait has taken of its limit: `12 of 300 s`."""
        left_s = max(0.0, self._ends - time.monotonic())
        return f"{max(0.0, self._length_s - left_s):.0f} of {self._length_s:.0f} s"

    def is_over(self) -> bool:
        """Whether the wait is over."""
        return now_ms() >= self._until_ms or time.monotonic() >= self._ends


def waits_until_ms(run: Run) -> int | None:
    """When every wait of a run has to be over, None if Airflow does not show when the run began.

    Airflow ends the run a little later, and then skips `conclude`.
    """
    begun = run.ledger.evidence(run.key, kind="note", name=BEGUN, newest=1)
    ends_ms = begun[-1].payload["run_ends_ms"] if begun else None
    return None if ends_ms is None else int(ends_ms) - _CONCLUDES_MS


def hours_left(run: Run, limit_h: float) -> float:
    """The hours for which a run may wait for a person: a limit, or less if the run ends before."""
    if (last_ms := waits_until_ms(run)) is None:
        return limit_h
    return min(limit_h, max(_SHORTEST_H, (last_ms - now_ms()) / HOUR_MS))


def cut_short(run: Run) -> str:
    """Why a wait ends before its own limit."""
    hours = longest_h(run.record.dag_id)
    return f"; cut short: a run of {run.record.dag_id} ends after {hours:g} h, before it conclude needs its time"


def _period(run: Run) -> str:
    """The time in which a wait has one end."""
    since_ms = run.ledger.held_since_ms(run.key)
    return f"try {run.try_number}" if since_ms is None else f"held since {since_ms}"
