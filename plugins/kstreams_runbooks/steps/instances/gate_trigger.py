"""The wait after a restart: polls the application from the triggerer, holds no worker, keeps what is new."""

import math
import time
from collections import deque
from dataclasses import asdict
from typing import Any

from kstreams_runbooks.decide.instances.gate import gate
from kstreams_runbooks.decide.instances.guards import nothing_drifted
from kstreams_runbooks.decide.instances.lag_trend import lag_trend, restore_trend
from kstreams_runbooks.decide.instances.rolling import others_unwell
from kstreams_runbooks.errors import Drifted
from kstreams_runbooks.ledger.codec import decode, encode
from kstreams_runbooks.model.readings.readings import ApplicationReading, InstanceReading
from kstreams_runbooks.model.runs.gate import Expectation, Patience
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.steps.instances.measured import Measuring
from kstreams_runbooks.steps.instances.watch_trigger import WatchTrigger, reading_of
from kstreams_runbooks.steps.plan.cards import last_card, own_changes
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.run.until import Until
from kstreams_runbooks.watch.thinned import Thinned

# How many readings in a row have to show drift: a broker that restarts may leave a topic out once.
_CERTAIN = 2

# The ledger's entry after an instance has passed its gate and its bake; a rerun skips the instance only with it.
GATE_PASSED = "gate and bake passed"


def keep_passed(run: Run, instance: InstanceReading, number: int) -> None:
    """Record that the start of `instance` that runs now has passed its gate of bounce `number`."""
    run.keep("note", GATE_PASSED, _passing(instance, number))


def has_passed(run: Run, instance: InstanceReading, number: int) -> bool:
    """Whether the start of `instance` that runs now has passed its gate of bounce `number` in this run."""
    kept = run.ledger.evidence(run.key, kind="note", name=GATE_PASSED)
    return _passing(instance, number) in [note.payload for note in kept]


def gates_passed(run: Run) -> int:
    """How many gates of this run have passed."""
    return len(run.ledger.evidence(run.key, kind="note", name=GATE_PASSED))


def _passing(instance: InstanceReading, number: int) -> Any:
    return encode({"instance": instance.instance, "bounce": number, "start": instance.streams.start})


class GateTrigger(WatchTrigger):
    """Fires when the gate of one restarted instance proceeds, refuses, or has reached its ceiling.

    The ceiling is kept in the ledger (steps/run/until.py) and survives a restart of the triggerer; the count of good
    readings does not. Of the readings the ledger gets those that show something new, and some in between
    (watch/thinned.py); each decision has its own. The guards run at each reading too: drift closes the gate for good.
    After the gate has passed, it has to stay good for the bake time. A broker that does not answer is a bad reading,
    not the end: it may be restarting. With `last` a passed gate ends the task without another worker. Every blocking
    call is in a thread.

    Arguments: `expected` (Expectation), `patience` (Patience), `last`.
    """

    async def watch(self, run: Run) -> Verdict:
        """Read, guard, judge, wait."""
        expected = decode(Expectation, self.arguments["expected"])
        patience = Patience(**self.arguments["patience"])
        ceiling = await self.aside(self._ceiling, run, expected, patience)
        samples: deque[ApplicationReading] = deque(maxlen=_depth(expected, patience))
        thinned, bake = Thinned(), _Bake(patience.bake_s)
        plan = await self.aside(run.plan)

        def waited() -> str:
            return bake.waited or ceiling.waited

        measuring = await self.aside(Measuring, run)
        while True:
            began = time.monotonic()
            samples.append(await self.aside(reading_of, run))
            await self.aside(measuring.look_at, run, samples[-1])
            await self.aside(_guard, run, plan, expected, [*samples][-_CERTAIN:])
            verdict = await self.aside(gate, tuple(samples), expected)
            trends = (restore_trend(samples, expected.instance), lag_trend(samples, expected.max_lag))
            self.saw = "; ".join((f"{expected.instance}: {verdict.sentence}", *filter(None, trends)))
            await self.aside(self._kept_and_logged, run, samples[-1], waited(), new=thinned.keeps(verdict.sentence))
            if verdict.outcome is Outcome.REFUSE:
                return await self.aside(run.decide, gate, samples=tuple(samples), expected=expected)
            if bake.begins(verdict):
                await self.aside(run.decide, gate, samples=tuple(samples), expected=expected)
                if patience.bake_s:
                    run.say(f"{expected.instance}: passed; has to stay good for {patience.bake_s:.0f} s (bake_s)")
            if bake.is_over():
                if patience.bake_s:
                    await self.aside(run.decide, gate, samples=tuple(samples), expected=expected)
                own = samples[-1].instance(expected.instance)
                if isinstance(own, InstanceReading):
                    await self.aside(keep_passed, run, own, expected.bounce.number)
                return verdict
            if not bake.going and ceiling.is_over():
                verdict = await self.aside(run.decide, gate, samples=tuple(samples), expected=expected)
                return _out_of_time(verdict, expected, patience, f"{ceiling.note}; {self.next_action}")
            await self.pause(run, patience.interval_s - (time.monotonic() - began), waited)

    @property
    def next_action(self) -> str:
        """What a person does about a gate that did not open."""
        return f"undo this run, or clear {self.step} to wait again"

    def ends_the_task(self, run: Run) -> bool:
        """Unless another instance went down meanwhile: then the task reads again."""
        name = self.arguments["expected"]["instance"]
        return bool(self.arguments["last"]) and not others_unwell(reading_of(run), name)

    def _kept_and_logged(self, run: Run, reading: ApplicationReading, waited: str, *, new: bool) -> None:
        """Keep and log what is new; a line that the wait goes on if it is not."""
        if new:
            run.keep("reading", "application", reading)
            self.tell(run, self.saw, waited)
        elif self.is_quiet:
            self.count(run, self.saw, waited)

    def _ceiling(self, run: Run, expected: Expectation, patience: Patience) -> Until:
        """When this gate gives up: written once, then read, for one wait for one start.

        A passed gate ends the wait: an instance whose gate is awaited again after others has the full time again.
        """
        card = last_card(run, expected.instance)
        start = "started before" if card is None else f"card {card.seq}"
        name = f"ceiling/{self.step}/{expected.instance}/{start}/{gates_passed(run)}"
        return Until(run, name, patience.ceiling_s + patience.bake_s)


class _Bake:
    """The time that a passed gate has to stay good; a bad reading starts it again.

    By a monotonic clock: a clock that is set ahead would open the gate too soon.
    """

    def __init__(self, length_s: float) -> None:
        self._length_s = length_s
        self._ends: float | None = None

    @property
    def going(self) -> bool:
        return self._ends is not None

    @property
    def waited(self) -> str:
        """How long the gate has stayed good: `good for 12 of 300 s`; empty while it is not good, or need not be."""
        if self._ends is None or not self._length_s:
            return ""
        left_s = max(0.0, self._ends - time.monotonic())
        return f"good for {self._length_s - left_s:.0f} of {self._length_s:.0f} s"

    def begins(self, verdict: Verdict) -> bool:
        """Take the newest verdict; whether the bake begins with it."""
        if verdict.outcome is not Outcome.PROCEED:
            self._ends = None
            return False
        if self._ends is not None:
            return False
        self._ends = time.monotonic() + self._length_s
        return True

    def is_over(self) -> bool:
        return self._ends is not None and time.monotonic() >= self._ends


def _guard(run: Run, plan: Plan, expected: Expectation, readings: list[ApplicationReading]) -> None:
    """Drifted if each of the newest readings shows that the application no longer matches the approved plan."""
    # A static member that is back replaces the one that died; any other stays until its session timeout is over.
    name, number, leaving = expected.instance, expected.bounce.number, not plan.facts.static_membership
    own = own_changes(run)
    verdicts = [nothing_drifted(reading, plan, name, number, leaving=leaving, own=own) for reading in readings]
    if len(readings) < _CERTAIN or not all(verdict.outcome is Outcome.REFUSE for verdict in verdicts):
        return
    of = {"name": name, "number": number, "leaving": leaving, "own": own}
    verdict = run.decide(nothing_drifted, reading=readings[-1], plan=plan, **of)
    raise Drifted(f"gate of {name}: {verdict.text}")


def _depth(expected: Expectation, patience: Patience) -> int:
    """How many readings a decision needs: the good ones, and earlier ones from which it measures progress."""
    return expected.good_readings + 1 + math.ceil(expected.commit_interval_ms / 1000 / patience.interval_s)


def _out_of_time(verdict: Verdict, expected: Expectation, patience: Patience, note: str) -> Verdict:
    outcome = Outcome.INCONCLUSIVE if verdict.outcome is Outcome.INCONCLUSIVE else Outcome.REFUSE
    limit = (
        f"gate of {expected.instance} still shut after {patience.ceiling_s + patience.bake_s:.0f} s (gate_ceiling_s "
        f"{patience.ceiling_s:.0f}, bake_s {patience.bake_s:.0f})"
    )
    return Verdict(outcome, (f"{limit}: {verdict.text}{note}",))


def gate_trigger(run: Run, expected: Expectation, patience: Patience, *, last: bool) -> GateTrigger:
    """The trigger for one restarted instance of `run`; `last` if it is the last action of the task."""
    return GateTrigger(
        run_key=run.key,
        task_id=run.task_id,
        try_number=run.try_number,
        expected=asdict(expected),
        patience=asdict(patience),
        last=last,
        application=run.record.application,
    )
