"""The wait for a person who was asked to deploy: looks from the triggerer, holds no worker."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import Any

from airflow.triggers.base import BaseTrigger, TriggerEvent

from kstreams_runbooks.decide.deployed import deployed, old_start_gone
from kstreams_runbooks.errors import RunbookError
from kstreams_runbooks.ledger.codec import decode
from kstreams_runbooks.model.gates import Awaited
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.steps.gate_trigger import reading_of
from kstreams_runbooks.steps.run import Run, log, now_ms

_HOUR_MS = 3_600_000


class DeployTrigger(BaseTrigger):
    """Fires when what was asked for is observed, or when the time for it is over.

    Once, where the old start has left members in the group, it fires with `wait` as soon as that start is gone: a task
    removes them and waits on. The limit is wall clock kept in the ledger, so it survives a restart of the triggerer. A
    reading is kept as evidence where it tells something new: most of them tell that nobody has done anything yet.
    """

    def __init__(
        self, *, run_key: str, task_id: str, try_number: int, awaited: dict[str, Any], interval_s: float, wait_h: float
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.run_key = run_key
        self.step = task_id
        self.try_number = try_number
        self.awaited = awaited
        self.interval_s = interval_s
        self.wait_h = wait_h

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """Class path and arguments; no secret among them."""
        return (
            f"{type(self).__module__}.{type(self).__qualname__}",
            {
                "run_key": self.run_key,
                "task_id": self.step,
                "try_number": self.try_number,
                "awaited": self.awaited,
                "interval_s": self.interval_s,
                "wait_h": self.wait_h,
            },
        )

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Read, judge, wait; every blocking call is in a thread."""
        try:
            run = await asyncio.to_thread(Run.again, self.run_key, self.step, self.try_number)
            verdict = await self._watch(run, decode(Awaited, self.awaited))
        except RunbookError as error:
            verdict = Verdict(Outcome.INCONCLUSIVE, (str(error),))
        except Exception as error:  # noqa: BLE001 - whatever it is, a person gets a sentence, and the log its trace
            log.exception("the wait for %s broke", self.awaited["instance"])
            verdict = Verdict(Outcome.INCONCLUSIVE, (f"the wait broke: {type(error).__name__}: {error}",))
        yield TriggerEvent(  # type: ignore[no-untyped-call]
            {"outcome": str(verdict.outcome), "reasons": list(verdict.reasons)}
        )

    async def _watch(self, run: Run, awaited: Awaited) -> Verdict:
        until_ms, said = await asyncio.to_thread(self._until_ms, run), ""
        while True:
            reading = await asyncio.to_thread(reading_of, run)
            verdict = deployed(reading, awaited)
            over = now_ms() >= until_ms
            if verdict.sentence != said or over:
                said = verdict.sentence
                await asyncio.to_thread(run.decide, deployed, reading=reading, awaited=awaited)
                run.say(f"{awaited.instance}: {said}")
            if verdict.outcome is Outcome.PROCEED:
                return verdict
            if awaited.members and old_start_gone(reading, awaited):
                return Verdict(Outcome.WAIT, (f"{awaited.instance}: its old start is gone, its members are left",))
            if over:
                return self._out_of_time(verdict)
            await asyncio.sleep(self.interval_s)

    def _until_ms(self, run: Run) -> int:
        """Wall clock at which this wait ends: written once for one try, then read."""
        asked = f"{self.awaited['instance']}/{self.awaited['bounce']['number']}"
        name = f"deploy/{self.step}/{self.try_number}/{asked}"
        return int(run.ledger.remember(run.key, name, now_ms() + int(self.wait_h * _HOUR_MS)))

    def _out_of_time(self, verdict: Verdict) -> Verdict:
        outcome = Outcome.INCONCLUSIVE if verdict.outcome is Outcome.INCONCLUSIVE else Outcome.REFUSE
        sentence = (
            f"{self.awaited['instance']} is not deployed as asked after {self.wait_h:g} h (limit deploy_wait_h): "
            f"{'; '.join(verdict.reasons)}; deploy it and clear {self.step}, or go back"
        )
        return Verdict(outcome, (sentence,))


def deploy_trigger(run: Run, awaited: Awaited) -> DeployTrigger:
    """The trigger that waits for one deployed instance of `run`."""
    plan = run.plan()
    return DeployTrigger(
        run_key=run.key,
        task_id=run.task_id,
        try_number=run.try_number,
        awaited=asdict(awaited),
        interval_s=plan.limit("gate_interval_s"),
        wait_h=plan.limit("deploy_wait_h"),
    )
