"""The wait for a person who was requested to deploy: reads from the triggerer, holds no worker."""

import time
from dataclasses import asdict

from kstreams_runbooks.decide.instances.deployed import deployed, old_start_gone
from kstreams_runbooks.ledger.codec import decode
from kstreams_runbooks.model.runs.gate import Awaited
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.steps.instances.by_person import Watching
from kstreams_runbooks.steps.instances.gate_trigger import gates_passed
from kstreams_runbooks.steps.instances.watch_trigger import WatchTrigger, reading_of
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.run.until import Until

_HOUR_S = 3_600


class DeployTrigger(WatchTrigger):
    """Fires when the reading shows what was requested, or when the time for it is over.

    Once, if the old start has left members in the group, it fires with `wait` as soon as that start is gone: a task
    removes them and waits on. The limit is kept in the ledger (steps/run/until.py) and survives a restart of the
    triggerer. A reading is kept as evidence only if it shows a change; most of them show that the person has done
    nothing yet.

    Arguments: `awaited` (Awaited), `interval_s`, `wait_h`.
    """

    async def watch(self, run: Run) -> Verdict:
        """Read, judge, wait."""
        awaited = decode(Awaited, self.arguments["awaited"])
        until, said = await self.aside(self._until, run, awaited), ""
        watching = await self.aside(Watching, run, awaited, self.arguments["interval_s"])
        while True:
            began = time.monotonic()
            reading = await self.aside(reading_of, run)
            await self.aside(watching.look, run, reading)
            verdict = deployed(reading, awaited)
            over = until.is_over()
            if verdict.sentence != said or over:
                said = verdict.sentence
                await self.aside(run.decide, deployed, reading=reading, awaited=awaited)
                await self.aside(self.tell, run, f"{awaited.instance}: {said}", until.waited)
            elif self.is_quiet:
                await self.aside(self.count, run, f"{awaited.instance}: {said}", until.waited)
            if verdict.outcome is Outcome.PROCEED:
                await self.aside(watching.keep, run)
                return verdict
            if awaited.members and old_start_gone(reading, awaited):
                return Verdict(Outcome.WAIT, (f"{awaited.instance}: its old start is gone, its members are left",))
            if over:
                return self._out_of_time(verdict, awaited, until.note)
            rest_s = self.arguments["interval_s"] - (time.monotonic() - began)
            await self.pause(run, rest_s, lambda: until.waited)

    def _until(self, run: Run, awaited: Awaited) -> Until:
        """When this wait ends: written once, then read."""
        name = f"deploy/{self.step}/{awaited.instance}/{awaited.bounce.number}/{gates_passed(run)}"
        return Until(run, name, self.arguments["wait_h"] * _HOUR_S)

    def _out_of_time(self, verdict: Verdict, awaited: Awaited, note: str) -> Verdict:
        outcome = Outcome.INCONCLUSIVE if verdict.outcome is Outcome.INCONCLUSIVE else Outcome.REFUSE
        sentence = (
            f"{awaited.instance} is not deployed as asked after {self.arguments['wait_h']:g} h (limit deploy_wait_h): "
            f"{verdict.text}{note}; deploy it and clear {self.step}, or go back"
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
