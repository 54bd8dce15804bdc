"""The wait for a drain: polls one application from the triggerer without a worker, keeps the verdict's readings."""

import time
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Any

from tenacity import AsyncRetrying, RetryCallState

from kstreams_runbooks.decide.drain.certificate import drained
from kstreams_runbooks.errors import Inconclusive, Unreachable
from kstreams_runbooks.ledger.codec import decode
from kstreams_runbooks.model.readings.drain import DrainQuestion, DrainReading
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.steps.instances.watch_trigger import WatchTrigger
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.run.until import Until
from kstreams_runbooks.watch.drain.drain import DrainWatch, drain_reader
from kstreams_runbooks.watch.thinned import Thinned

# The ledger has the last reading of a waiting run under this name, for the view of the fleet.
PROGRESS = "drain"
# How long after the last question whether what has to hold does: doubled each time.
_ASK_FIRST_S, _ASK_MOST_S = 10.0, 300.0


class DrainTrigger(WatchTrigger):
    """Fires when a drain is proven, needs an operator, or reaches its ceiling, with the last readings.

    The ceiling is kept in the ledger (steps/run/until.py) and survives a restart of the triggerer; the count of good
    readings does not. If a broker does not answer, the reading is incomplete, and the intervals grow.

    Arguments: `question` (DrainQuestion), `interval_s`, `ceiling_s`.
    """

    def still(self, run: Run) -> None:
        """What has to hold while it waits: Refused or Drifted ends the wait. Blocks."""

    async def watch(self, run: Run) -> Verdict:
        """Read, judge and wait until the end."""
        question = decode(DrainQuestion, self.arguments["question"])
        watch = await self.aside(_Watch, run, question, self)

        async def pause(seconds: float) -> None:
            await self.pause(run, seconds, watch.waited)

        retrying = AsyncRetrying(**watch.until(watch.is_over), retry_error_callback=watch.out_of_time, sleep=pause)
        verdict: Verdict = await retrying(self.aside, watch.look)
        await self.aside(watch.keep_decision, verdict)
        return verdict


class _Watch(DrainWatch):
    """A wait that outlives its triggerer: the ledger has the state that it needs again; every method blocks."""

    def __init__(self, run: Run, question: DrainQuestion, trigger: DrainTrigger) -> None:
        self._run, self._trigger = run, trigger
        self._ceiling_s: float = trigger.arguments["ceiling_s"]
        reader = drain_reader(run.application, run.deployer, run.kafka)
        self._topics = f"topics/{trigger.step}/{trigger.try_number}"
        self._first = run.ledger.recall(run.key, self._topics) or {}
        super().__init__(reader, run.kafka, replace(question, topic_ids=self._first), trigger.arguments["interval_s"])
        self._until = Until(run, f"ceiling/{trigger.step}", self._ceiling_s)
        self._thinned = Thinned()
        self._asked_at, self._ask_after_s = time.monotonic(), _ASK_FIRST_S

    def look(self) -> Verdict:
        """Take one more reading; logs and keeps it if the verdict is new, and sometimes in between."""
        if time.monotonic() - self._asked_at >= self._ask_after_s:
            # Each answer is evidence: a wait of hours asks seldom.
            self._asked_at, self._ask_after_s = time.monotonic(), min(2 * self._ask_after_s, _ASK_MOST_S)
            # A broker may be restarting: the next look asks again.
            with suppress(Inconclusive, Unreachable):
                self._trigger.still(self._run)
        verdict = super().look()
        if self.question.topic_ids and not self._first:
            self._first = self._run.ledger.remember(self._run.key, self._topics, dict(self.question.topic_ids))
        self._trigger.saw = verdict.sentence
        if self._thinned.keeps(verdict.sentence):
            self._trigger.tell(self._run, verdict.sentence, self.waited())
            self._run.keep("reading", PROGRESS, self.readings[-1])
        elif self._trigger.is_quiet:
            self._trigger.count(self._run, verdict.sentence, self.waited())
        return verdict

    def waited(self) -> str:
        """How long it has waited of its ceiling."""
        return self._until.waited

    def is_over(self, _: RetryCallState) -> bool:
        """Whether the ceiling is reached."""
        return self._until.is_over()

    def out_of_time(self, _: RetryCallState) -> Verdict:
        """The last verdict, and that the ceiling ended the wait."""
        last = self.verdict
        outcome = Outcome.INCONCLUSIVE if last.outcome is Outcome.INCONCLUSIVE else Outcome.REFUSE
        unread = ", ".join(_summary(one) for one in self.readings[-self.question.readings :])
        return Verdict(
            outcome,
            (
                f"not drained after {self._ceiling_s:.0f} s (limit drain_ceiling_s){self._until.note}",
                # Before the reasons: they may be many, and a sentence has a limit.
                f"the last readings: {unread}",
                *last.reasons,
            ),
        )

    def keep_decision(self, verdict: Verdict) -> None:
        """The last decision with its inputs: a finding may depend on any of the readings."""
        # The readings behind the verdict, and one more to show a pace: hundreds of readings would be the same evidence.
        most = len(self.readings) if verdict.findings else self.question.readings + 1
        self._run.decide(drained, readings=self.readings[-most:], question=self.question)


def _summary(reading: DrainReading) -> str:
    return "not known" if reading.unread is None else f"{reading.unread:,} records left"


def drain_trigger(run: Run, question: DrainQuestion, kind: type[DrainTrigger] = DrainTrigger) -> DrainTrigger:
    """The trigger that waits until the application of `run` is drained."""
    arguments: dict[str, Any] = {
        "question": asdict(question),
        "interval_s": run.limit("gate_interval_s"),
        "ceiling_s": run.limit("drain_ceiling_s"),
    }
    return kind(run_key=run.key, task_id=run.task_id, try_number=run.try_number, **arguments)
