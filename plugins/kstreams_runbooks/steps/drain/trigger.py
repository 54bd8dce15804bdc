"""The wait for a drain: polls one application from the triggerer, holds no worker, keeps what it was judged from."""

import asyncio
import time
from dataclasses import asdict, replace
from typing import Any

from tenacity import AsyncRetrying, RetryCallState

from kstreams_runbooks.decide.drain.certificate import drained
from kstreams_runbooks.ledger.codec import decode
from kstreams_runbooks.model.readings.drain import DrainQuestion, DrainReading
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.steps.instances.watch_trigger import WatchTrigger
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.run.until import Until
from kstreams_runbooks.watch.drain import DrainWatch, drain_reader

# What a run that waits in a drain has last seen stands in the ledger under this name, for whoever looks at the fleet.
PROGRESS = "drain"
# A reading is kept where its verdict is another one, and at least this often.
_KEPT_EVERY_S = 30


class DrainTrigger(WatchTrigger):
    """Fires when a drain is proven, when a person is needed, or when its ceiling is reached, with the last readings.

    The ceiling is kept in the ledger (steps/run/until.py) and survives a restart of the triggerer; the count of good
    readings does not. A broker that does not answer is a reading that lacks something: the next comes later, and later.

    Arguments: `question` (DrainQuestion), `interval_s`, `ceiling_s`.
    """

    async def watch(self, run: Run) -> Verdict:
        """Read, judge, wait."""
        question = decode(DrainQuestion, self.arguments["question"])
        watch = await asyncio.to_thread(_Watch, run, question, self)
        retrying = AsyncRetrying(**watch.until(watch.is_over), retry_error_callback=watch.out_of_time)
        verdict: Verdict = await retrying(asyncio.to_thread, watch.look)
        await asyncio.to_thread(watch.keep_decision, verdict)
        return verdict


class _Watch(DrainWatch):
    """A wait that outlives its triggerer: what it has to know again then stands in the ledger; every method blocks."""

    def __init__(self, run: Run, question: DrainQuestion, trigger: DrainTrigger) -> None:
        self._run, self._tell = run, trigger.tell
        self._ceiling_s: float = trigger.arguments["ceiling_s"]
        reader = drain_reader(run.application, run.deployer, run.kafka)
        self._topics, ceiling = (f"{name}/{trigger.step}/{trigger.try_number}" for name in ("topics", "ceiling"))
        self._first = run.ledger.recall(run.key, self._topics) or {}
        super().__init__(reader, run.kafka, replace(question, topic_ids=self._first), trigger.arguments["interval_s"])
        self._until = Until(run, ceiling, self._ceiling_s)
        self._said, self._kept_at = "", 0.0

    def look(self) -> Verdict:
        """One more reading, said and kept where it says something new."""
        verdict = super().look()
        if self.question.topic_ids and not self._first:
            self._first = self._run.ledger.remember(self._run.key, self._topics, dict(self.question.topic_ids))
        if verdict.sentence != self._said or time.monotonic() - self._kept_at >= _KEPT_EVERY_S:
            self._said, self._kept_at = verdict.sentence, time.monotonic()
            self._tell(self._run, verdict.sentence)
            self._run.keep("reading", PROGRESS, self.readings[-1])
        return verdict

    def is_over(self, _: RetryCallState) -> bool:
        """Whether the ceiling is reached."""
        return self._until.is_over()

    def out_of_time(self, _: RetryCallState) -> Verdict:
        """The last verdict, and that no other is waited for."""
        last = self.verdict
        outcome = Outcome.INCONCLUSIVE if last.outcome is Outcome.INCONCLUSIVE else Outcome.REFUSE
        unread = ", ".join(_summary(one) for one in self.readings[-self.question.readings :])
        return Verdict(
            outcome,
            (
                f"not drained after {self._ceiling_s:.0f} s (limit drain_ceiling_s): {'; '.join(last.reasons)}"
                f"{self._until.note}",
                f"the last readings: {unread}",
            ),
        )

    def keep_decision(self, verdict: Verdict) -> None:
        """The last decision with what it was made from: a finding may rest on any of the readings."""
        # What a verdict rests on, and one to see a pace by: hundreds of readings would be the same evidence.
        most = len(self.readings) if verdict.findings else self.question.readings + 1
        self._run.decide(drained, readings=self.readings[-most:], question=self.question)


def _summary(reading: DrainReading) -> str:
    return "not known" if reading.unread is None else f"{reading.unread:,} records left"


def drain_trigger(run: Run, question: DrainQuestion) -> DrainTrigger:
    """The trigger that waits until the application of `run` is drained."""
    arguments: dict[str, Any] = {
        "question": asdict(question),
        "interval_s": run.limit("gate_interval_s"),
        "ceiling_s": run.limit("drain_ceiling_s"),
    }
    return DrainTrigger(run_key=run.key, task_id=run.task_id, try_number=run.try_number, **arguments)
