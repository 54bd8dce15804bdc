"""The steps of a stop and restart: all down, group EMPTY, all up, every gate passed.

Each concerns the application in a role of the plan (`side`), empty for the run's own. In a plan with other changes in
between, the stop and the start are stages, and the ledger keeps the end of each (steps/stages/order.py).
"""

from collections.abc import Mapping
from typing import Any, TypeVar

from airflow.sdk import BaseOperator

from kstreams_runbooks.decide.instances.members import group_is_empty
from kstreams_runbooks.errors import Inconclusive
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.runs.stages import Bounce, StartAll, StopAll
from kstreams_runbooks.steps.approval.authorize import authorize
from kstreams_runbooks.steps.instances.gate import answered, expected, gate_passed, patience
from kstreams_runbooks.steps.instances.gate_trigger import gate_trigger
from kstreams_runbooks.steps.instances.together import (
    rehearse_at_once,
    rehearse_start,
    rehearse_stop,
    start_all,
    stop_all,
)
from kstreams_runbooks.steps.plan.cards import previous_start
from kstreams_runbooks.steps.run.ending import reported
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.run.step import write
from kstreams_runbooks.steps.stages.order import keep_complete, require_earlier, task_of
from kstreams_runbooks.steps.stages.perform import guard_stage

_APPROVAL = "approve_plan"
_S = TypeVar("_S", StopAll, StartAll)


def stop_application(side: str = "") -> Any:
    """The task that stops every instance of a side."""

    def act(run: Run) -> None:
        """All instances down, their members removed, the group proven EMPTY."""
        own, stage = run.side(side), _stage(run, StopAll, side)
        [bounce] = own.plan().bounces
        if run.dry_run:
            if stage:
                rehearse_stop(own)
            else:
                rehearse_at_once(own, bounce)
            return
        if stage:
            require_earlier(own, stage)
        authorize(own, _APPROVAL, ())
        if stage:
            guard_stage(own, stage)
        stop_all(own, bounce)
        if stage:
            keep_complete(own, stage)

    act.__name__ = task_of("stop_all", side)
    return write("stops every instance at once and empties the group")(act)()


def start_application(side: str = "") -> Any:
    """The task that starts every instance of a side."""

    def act(run: Run) -> None:
        """All instances up on the plan's target; `wait_caught_up` decides whether they are ready."""
        own, stage = run.side(side), _stage(run, StartAll, side)
        [bounce] = own.plan().bounces
        if run.dry_run:
            if stage:
                rehearse_start(own, bounce)
            else:
                run.say("rehearsed with stop_application")
            return
        if stage:
            require_earlier(own, stage)
        authorize(own, _APPROVAL, (group_is_empty.__name__,), stage=bounce.number, going_on=True)
        start_all(own, bounce, must_clear=bool(stage and stage.must_clear))

    act.__name__ = task_of("start_all", side)
    return write("sets release and settings, and starts every instance at once")(act)()


def wait_caught_up(side: str = "") -> "WaitCaughtUp":
    """Every instance of a side through its gate."""
    return WaitCaughtUp(task_id=f"wait_caught_up_{side}" if side else "wait_caught_up", side=side, retries=0)


class WaitCaughtUp(BaseOperator):
    """Waits, without a worker, until every instance has passed its gate; changes nothing."""

    def __init__(self, *, side: str = "", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.side = side

    def execute(self, context: Mapping[str, Any]) -> None:
        """Defer to the gate of the first instance that has not passed."""
        with reported(context, "waits until every instance is well and has caught up") as run:
            if run.dry_run:
                run.say(f"would wait at each gate for up to {run.plan().limit('gate_ceiling_s'):.0f} s")
                return
            self._wait(run)

    def resume(self, context: Mapping[str, Any], event: dict[str, Any]) -> None:
        """Continue after a gate."""
        with reported(context, "the gate answered") as run:
            answered(run, event)
            self._wait(run)

    def _wait(self, run: Run) -> None:
        own, stage = run.side(self.side), _stage(run, StartAll, self.side)
        [bounce] = own.plan().bounces
        # A stage is complete once its gates have passed: another worker keeps that.
        await_gates(self, own, bounce, last=stage is None)
        run.say("every instance has passed its gate")
        if stage:
            keep_complete(own, stage)


def _stage(run: Run, kind: type[_S], side: str) -> _S | None:
    """The stop or the start of a side, None if the plan has it in a bounce."""
    return next((one for one in run.whole_plan().stages if isinstance(one, kind) and one.side == side), None)


def await_gates(operator: BaseOperator, run: Run, bounce: Bounce, *, last: bool) -> None:
    """Defer `operator` to the gate of the first instance that has not passed it; return if all have.

    `last` if nothing of the task is left to do once the last one has passed.
    """
    plan, reading = run.plan(), run.read()
    for name in plan.facts.instances:
        instance = reading.instance(name)
        if isinstance(instance, Missing):
            raise Inconclusive(instance.missing)
        if gate_passed(run, bounce, instance, reading.taken.at_ms):
            continue
        operator.defer(
            trigger=gate_trigger(
                run,
                expected(plan, bounce, name, previous_start(run, name)),
                patience(plan),
                last=last and name == plan.facts.instances[-1],
            ),
            method_name="resume",
        )
