"""The wait for a drain: polls one application from the triggerer, holds no worker, keeps what it was judged from."""

import asyncio
import time
from collections import deque
from contextlib import ExitStack
from dataclasses import asdict, replace
from typing import Any

from tenacity import AsyncRetrying, RetryCallState, retry_if_result

from kstreams_runbooks.decide.drain import drained
from kstreams_runbooks.decide.drain_pace import is_final, pause_s
from kstreams_runbooks.errors import Inconclusive, Unreachable
from kstreams_runbooks.ledger.codec import decode
from kstreams_runbooks.model.drain import DrainQuestion, DrainReading
from kstreams_runbooks.model.readings import Taken
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.drain import DrainReader
from kstreams_runbooks.steps.drain_reader import drain_reader
from kstreams_runbooks.steps.run import Run, now_ms
from kstreams_runbooks.steps.watch_trigger import WatchTrigger

# What a run that waits in a drain has last seen stands in the ledger under this name, for whoever looks at the fleet.
PROGRESS = "drain"
# A reading is kept where its verdict is another one, and at least this often.
_KEPT_EVERY_MS = 30_000
# More than a pace is reckoned from: a wait of an hour has hundreds.
_MOST = 60


class DrainTrigger(WatchTrigger):
    """Fires when a drain is proven, when a person is needed, or when its ceiling is reached, with the last readings.

    The ceiling is wall clock kept in the ledger, so it survives a restart of the triggerer; the count of good readings
    does not. A broker that does not answer is a reading that lacks something: the next comes later, and later.

    Arguments: `question` (DrainQuestion), `interval_s`, `ceiling_s`.
    """

    async def watch(self, run: Run) -> Verdict:
        """Read, judge, wait."""
        question = decode(DrainQuestion, self.arguments["question"])
        watch = await asyncio.to_thread(_Watch, run, question, self)
        try:
            return await self._until_answered(watch)
        finally:
            await asyncio.to_thread(watch.close)

    async def _until_answered(self, watch: "_Watch") -> Verdict:
        retrying = AsyncRetrying(
            retry=retry_if_result(lambda verdict: not is_final(verdict)),
            wait=watch.pause_s,
            stop=watch.is_over,
            retry_error_callback=watch.out_of_time,
            sleep=asyncio.sleep,
        )
        verdict: Verdict = await retrying(asyncio.to_thread, watch.look)
        await asyncio.to_thread(watch.keep_decision, verdict)
        return verdict


class _Watch:
    """The readings of one wait; every method but `pause_s` blocks."""

    def __init__(self, run: Run, question: DrainQuestion, trigger: DrainTrigger) -> None:
        self._run = run
        self._question = question
        self._interval_s: float = trigger.arguments["interval_s"]
        self._ceiling_s: float = trigger.arguments["ceiling_s"]
        self._closing = ExitStack()
        opened = drain_reader(run.application, run.deployer, run.kafka, run.say)
        self._reader: DrainReader = self._closing.enter_context(opened)
        self._readings: deque[DrainReading] = deque(maxlen=max(_MOST, question.readings))
        self._topics = f"topics/{trigger.step}/{trigger.try_number}"
        name = f"ceiling/{trigger.step}/{trigger.try_number}"
        self._until_ms = int(run.ledger.remember(run.key, name, now_ms() + int(self._ceiling_s * 1000)))
        self._said, self._kept_at_ms, self._began = "", 0, 0.0

    def close(self) -> None:
        """End what counts."""
        self._closing.close()

    def look(self) -> Verdict:
        """One more reading, and what they say together."""
        self._began = time.monotonic()
        self._readings.append(self._read())
        self._bind_topics(self._readings[-1])
        verdict = drained(tuple(self._readings), self._question)
        if verdict.sentence != self._said or now_ms() - self._kept_at_ms >= _KEPT_EVERY_MS:
            self._said, self._kept_at_ms = verdict.sentence, now_ms()
            self._run.say(verdict.sentence)
            self._run.keep("reading", PROGRESS, self._readings[-1])
        return verdict

    def _bind_topics(self, reading: DrainReading) -> None:
        """Remember the topics of the first reading that has any: a wait outlives its readings, and its triggerer."""
        if self._question.topic_ids or not reading.topic_ids:
            return
        ids = self._run.ledger.remember(self._run.key, self._topics, reading.topic_ids)
        self._question = replace(self._question, topic_ids=ids)

    def pause_s(self, _: RetryCallState) -> float:
        """Until the next reading is due: intervals count from beginning to beginning."""
        return max(0.0, pause_s(tuple(self._readings), self._interval_s) - (time.monotonic() - self._began))

    def is_over(self, _: RetryCallState) -> bool:
        """Whether the ceiling is reached."""
        return now_ms() >= self._until_ms

    def out_of_time(self, state: RetryCallState) -> Verdict:
        """The last verdict, and that no other is waited for."""
        last: Verdict = state.outcome.result() if state.outcome is not None else Verdict(Outcome.INCONCLUSIVE, ())
        outcome = Outcome.INCONCLUSIVE if last.outcome is Outcome.INCONCLUSIVE else Outcome.REFUSE
        unread = ", ".join(_told(one) for one in [*self._readings][-self._question.readings :])
        return Verdict(
            outcome,
            (
                f"not drained after {self._ceiling_s:.0f} s (limit drain_ceiling_s): {'; '.join(last.reasons)}",
                f"the last readings: {unread}",
            ),
        )

    def keep_decision(self, verdict: Verdict) -> None:
        """The last decision with what it was made from: a finding may rest on any of the readings."""
        readings = tuple(self._readings)
        if not verdict.findings:
            # What a verdict rests on, and one to see a pace by: hundreds of readings would be the same evidence.
            readings = readings[-(self._question.readings + 1) :]
        self._run.decide(drained, readings=readings, question=self._question)

    def _read(self) -> DrainReading:
        try:
            with ClusterReader(self._run.kafka) as reader:
                return self._reader.read(reader)
        except (Inconclusive, Unreachable) as error:
            return DrainReading(Taken(now_ms(), self._run.record.cluster), (), {}, {}, {}, problems=(str(error),))


def _told(reading: DrainReading) -> str:
    return "not known" if reading.unread is None else f"{reading.unread:,} records left"


def drain_trigger(run: Run, question: DrainQuestion) -> DrainTrigger:
    """The trigger that waits until the application of `run` is drained."""
    arguments: dict[str, Any] = {
        "question": asdict(question),
        "interval_s": run.limit("gate_interval_s"),
        "ceiling_s": run.limit("drain_ceiling_s"),
    }
    return DrainTrigger(run_key=run.key, task_id=run.task_id, try_number=run.try_number, **arguments)
