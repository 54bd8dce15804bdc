"""Runs that wait for a drain, as the ledger has them: how far they are, and how long the rest takes."""

from dataclasses import dataclass

from kstreams_runbooks.decide.drain import drained
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.model.verdicts import Outcome


@dataclass(frozen=True, slots=True)
class Draining:
    """One run that waits; `progress` is what its last verdict says, with the time that the rest takes where known.

    `since_ms` is when the first of its verdicts in a row said wait, `at_ms` when the last did.
    """

    run_key: str
    application: str
    cluster: str
    task_id: str
    since_ms: int
    at_ms: int
    progress: str

    @property
    def sentence(self) -> str:
        """One line for a log."""
        waits_s = (self.at_ms - self.since_ms) / 1000
        return f"[{self.application} @ {self.cluster}] {self.run_key} waits for a drain for {waits_s:.0f} s: " + (
            self.progress
        )


def runs_in_a_drain(ledger: Ledger) -> tuple[Draining, ...]:
    """Every run that has not concluded and whose newest verdict of `drained` says wait, oldest run first."""
    found = []
    for record in ledger.runs(open_only=True):
        verdicts = ledger.evidence(record.run_key, kind="verdict", name=drained.__name__)
        waiting = []
        for one in reversed(verdicts):
            if one.payload["result"]["outcome"] != Outcome.WAIT:
                break
            waiting.append(one)
        if waiting:
            last = waiting[0]
            found.append(
                Draining(
                    record.run_key,
                    record.application,
                    record.cluster,
                    last.task_id,
                    waiting[-1].at_ms,
                    last.at_ms,
                    "; ".join(last.payload["result"]["reasons"]),
                )
            )
    return tuple(found)
