"""The wait after a restart: polls the application from the triggerer, holds no worker, keeps every reading."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import Any

from airflow.triggers.base import BaseTrigger, TriggerEvent

from kstreams_runbooks.decide.gate import gate
from kstreams_runbooks.errors import RunbookError
from kstreams_runbooks.ledger.codec import decode
from kstreams_runbooks.model.gates import Expectation
from kstreams_runbooks.model.readings import ApplicationReading, Missing
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.steps.run import Run, now_ms

# What stands in the ledger once an instance has passed its gate and its bake: nothing less lets a rerun skip it.
GATE_PASSED = "gate and bake passed"


def passed(reading: ApplicationReading, expected: Expectation) -> dict[str, Any]:
    """Which start of which instance has passed for which bounce."""
    instance = reading.instance(expected.instance)
    start = None if isinstance(instance, Missing) or isinstance(instance.streams, Missing) else instance.streams.start
    return {"instance": expected.instance, "bounce": expected.bounce.number, "start": start}


class GateTrigger(BaseTrigger):
    """Fires when the gate of one restarted instance proceeds, refuses, or has reached its ceiling.

    The ceiling is wall clock kept in the ledger, so it survives a restart of the triggerer; the count of good readings
    does not. `bake_s` is how long the gate has to stay good after it has passed.
    """

    def __init__(self, *, run_key: str, task_id: str, try_number: int, expected: dict[str, Any], bake_s: float) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.run_key = run_key
        self.step = task_id
        self.try_number = try_number
        self.expected = expected
        self.bake_s = bake_s

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """Class path and arguments; no secret among them."""
        return (
            f"{type(self).__module__}.{type(self).__qualname__}",
            {
                "run_key": self.run_key,
                "task_id": self.step,
                "try_number": self.try_number,
                "expected": self.expected,
                "bake_s": self.bake_s,
            },
        )

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Read, judge, wait; every blocking call is in a thread because librdkafka blocks the event loop."""
        expected: Expectation = decode(Expectation, self.expected)
        try:
            run = await asyncio.to_thread(Run.again, self.run_key, self.step, self.try_number)
            verdict = await self._watch(run, expected)
        except RunbookError as error:
            verdict = Verdict(Outcome.INCONCLUSIVE, (str(error),))
        yield TriggerEvent(  # type: ignore[no-untyped-call]
            {"outcome": str(verdict.outcome), "reasons": list(verdict.reasons)}
        )

    async def _watch(self, run: Run, expected: Expectation) -> Verdict:
        interval = run.limit("gate_interval_s")
        name = f"ceiling/{self.step}/{self.try_number}/{expected.instance}"
        ceiling = await asyncio.to_thread(
            run.ledger.remember, run.key, name, now_ms() + int((run.limit("gate_ceiling_s") + self.bake_s) * 1000)
        )
        samples: deque[ApplicationReading] = deque(maxlen=expected.good_readings + 1)
        said, baked_at = "", None
        while True:
            began = asyncio.get_running_loop().time()
            samples.append(await asyncio.to_thread(run.read))
            verdict = await asyncio.to_thread(self._judge, run, tuple(samples), expected)
            if verdict.sentence != said:
                run.say(f"{expected.instance}: {verdict.sentence}")
                said = verdict.sentence
            if verdict.outcome is Outcome.REFUSE:
                return verdict
            if verdict.outcome is Outcome.PROCEED:
                if baked_at is None:
                    baked_at = now_ms() + int(self.bake_s * 1000)
                    if self.bake_s:
                        run.say(f"{expected.instance}: passed; bakes for {self.bake_s:.0f} s before the next instance")
                if now_ms() >= baked_at:
                    await asyncio.to_thread(run.keep, "note", GATE_PASSED, passed(samples[-1], expected))
                    return verdict
                await asyncio.sleep(max(0.0, interval - (asyncio.get_running_loop().time() - began)))
                continue
            # A bake that turns bad begins again: it has to be good throughout.
            baked_at = None
            if now_ms() >= ceiling:
                return await asyncio.to_thread(self._out_of_time, run, tuple(samples), expected)
            await asyncio.sleep(max(0.0, interval - (asyncio.get_running_loop().time() - began)))

    @staticmethod
    def _judge(run: Run, samples: tuple[ApplicationReading, ...], expected: Expectation) -> Verdict:
        run.keep("reading", "application", samples[-1])
        verdict = gate(samples, expected)
        if verdict.outcome in {Outcome.PROCEED, Outcome.REFUSE}:
            return run.decide(gate, samples=samples, expected=expected)
        return verdict

    @staticmethod
    def _out_of_time(run: Run, samples: tuple[ApplicationReading, ...], expected: Expectation) -> Verdict:
        verdict = run.decide(gate, samples=samples, expected=expected)
        outcome = Outcome.INCONCLUSIVE if verdict.outcome is Outcome.INCONCLUSIVE else Outcome.REFUSE
        limit = f"gate of {expected.instance} still shut after {run.limit('gate_ceiling_s'):.0f} s (gate_ceiling_s)"
        return Verdict(outcome, (f"{limit}: {'; '.join(verdict.reasons)}",))


def gate_trigger(run: Run, expected: Expectation, bake_s: float) -> GateTrigger:
    """The trigger for one restarted instance of `run`."""
    return GateTrigger(
        run_key=run.key, task_id=run.task_id, try_number=run.try_number, expected=asdict(expected), bake_s=bake_s
    )
