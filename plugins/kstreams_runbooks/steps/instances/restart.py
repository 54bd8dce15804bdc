"""The steps of a stop and restart: all down, group EMPTY, all up, every gate passed."""

from collections.abc import Mapping
from typing import Any

from airflow.sdk import BaseOperator

from kstreams_runbooks.decide.instances.members import group_is_empty
from kstreams_runbooks.errors import Inconclusive
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.runs.stages import Bounce
from kstreams_runbooks.steps.approval.authorize import authorize
from kstreams_runbooks.steps.instances.gate import answered, expected, gate_passed, patience
from kstreams_runbooks.steps.instances.gate_trigger import gate_trigger
from kstreams_runbooks.steps.instances.together import rehearse_at_once, start_all, stop_all
from kstreams_runbooks.steps.plan.cards import previous_start
from kstreams_runbooks.steps.run.ending import reported
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.run.step import write

_APPROVAL = "approve_plan"


@write("stops every instance at once and empties the group")
def stop_application(run: Run) -> None:
    """All instances down, their members removed, the group proven EMPTY."""
    [bounce] = run.plan().bounces
    if run.dry_run:
        rehearse_at_once(run, bounce)
        return
    authorize(run, _APPROVAL, ())
    stop_all(run, bounce)


@write("sets release and settings, and starts every instance at once")
def start_application(run: Run) -> None:
    """All instances up on the plan's target; `wait_caught_up` decides whether they are ready."""
    [bounce] = run.plan().bounces
    if run.dry_run:
        run.say("rehearsed with stop_application")
        return
    authorize(run, _APPROVAL, (group_is_empty.__name__,), stage=bounce.number, going_on=True)
    start_all(run, bounce)


def wait_caught_up() -> "WaitCaughtUp":
    """Every instance through its gate."""
    return WaitCaughtUp(task_id="wait_caught_up", retries=0)


class WaitCaughtUp(BaseOperator):
    """Waits, without a worker, until every instance has passed its gate; changes nothing."""

    def execute(self, context: Mapping[str, Any]) -> None:
        """Defer to the gate of the first instance that has not passed."""
        with reported(context, "waits until every instance is well and has caught up") as run:
            [bounce] = run.plan().bounces
            if run.dry_run:
                run.say(f"would wait at each gate for up to {run.plan().limit('gate_ceiling_s'):.0f} s")
                return
            self._wait(run, bounce)

    def resume(self, context: Mapping[str, Any], event: dict[str, Any]) -> None:
        """Continue after a gate."""
        with reported(context, "the gate answered") as run:
            answered(run, event)
            [bounce] = run.plan().bounces
            self._wait(run, bounce)

    def _wait(self, run: Run, bounce: Bounce) -> None:
        await_gates(self, run, bounce, last=True)
        run.say("every instance has passed its gate")


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
