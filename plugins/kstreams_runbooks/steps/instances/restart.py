"""The steps that take all instances at once: all down, group EMPTY, all up, every gate passed.

Each concerns the application in a role of the plan (`side`), empty for the run's own. If the stop and the start are
stages of their own, the ledger keeps the end of each (steps/stages/order.py).
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from airflow.sdk import BaseOperator

from kstreams_runbooks.decide.drain.certificate import certified
from kstreams_runbooks.decide.drain.marks import read_up_to
from kstreams_runbooks.decide.instances.members import every_member_runs, group_is_empty
from kstreams_runbooks.decide.instances.rolling import has_ended
from kstreams_runbooks.errors import Inconclusive
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.runs.stages import Bounce, Drain, StartAll, StopAll
from kstreams_runbooks.steps.approval.authorize import authorize
from kstreams_runbooks.steps.instances.flushed import is_after_certificate, require_flushed
from kstreams_runbooks.steps.instances.gate import answered, expected, gate_passed, patience, start_refused
from kstreams_runbooks.steps.instances.gate_trigger import gate_trigger
from kstreams_runbooks.steps.instances.read_to_end import read_to_end
from kstreams_runbooks.steps.instances.set_back import after_failed_start
from kstreams_runbooks.steps.instances.together import (
    has_started,
    rehearse_at_once,
    rehearse_start,
    rehearse_stop,
    start_all,
    stop_all,
)
from kstreams_runbooks.steps.plan.cards import has_stopped, previous_start
from kstreams_runbooks.steps.run.ending import reported
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.run.step import step, write
from kstreams_runbooks.steps.stages.order import (
    flows,
    holds_inputs,
    is_complete,
    keep_complete,
    require_earlier,
    task_of,
)
from kstreams_runbooks.steps.stages.perform import guard_stage

_APPROVAL = "approve_plan"
_NOT_NEEDED = "not needed: the plan does not stop and start all instances"


@step("waits until what is in the repartition topics has been read; changes nothing")
def drain_repartition_topics(run: Run) -> None:
    """Every record that an older release would misread, read and committed while the running one still can."""
    plan = run.plan()
    drain = next((one for one in plan.stages if isinstance(one, Drain)), None)
    if drain is None:
        run.say("not needed: no format in the repartition topics changes")
    elif run.dry_run:
        run.say(f"would {drain.sentence}")
    elif has_stopped(run):
        run.say("every instance has been stopped since: nothing to wait for")
    else:
        mends = (
            "clear bounce_1_first, which starts it, and what follows"
            if plan.rolled
            else f"start it, then clear {run.task_id}"
        )
        read_to_end(run, drain.number, run.read(), mends, past=lambda _: False)


def stop_application(side: str = "", *, first: Callable[[Run], None] | None = None) -> Any:
    """The task that stops every instance of a side; `first` may refuse before anything is stopped."""

    def act(run: Run) -> None:
        """All instances down, their members removed, the group proven EMPTY."""
        own = run.side(side)
        plan = own.plan()
        if plan.start is None:
            run.say(_NOT_NEEDED)
        elif run.dry_run and plan.stop:
            rehearse_stop(own)
        elif run.dry_run:
            rehearse_at_once(own, started(plan.start))
        elif (hold := run.whole_plan().switching) and flows(run, hold) and plan.stop and is_complete(run, plan.stop):
            run.say("the application was stopped, and its inputs flow again: nothing to stop")
        else:
            if first is not None and not any(has_ended(one) for one in own.read(describes=False).instances):
                first(run)
            stop_stage(own, plan.stop, started(plan.start))

    act.__name__ = task_of("stop_all", side)
    return write("stops every instance at once and empties the group")(act)()


def stop_stage(run: Run, stage: StopAll | None, bounce: Bounce) -> None:
    """Every instance down for a later start on `bounce`; if a certificate comes before it, it still holds then.

    `stage` is None if the plan has no stage for the stop alone.
    """
    if stage:
        require_earlier(run, stage)
    # An approval that has expired meanwhile must not keep instances down, or inputs held.
    down = has_stopped(run) and any(has_ended(one) for one in run.read(describes=False).instances)
    going_on = down or (stage is not None and holds_inputs(run, stage))
    proofs = tuple(_proofs(run.plan(), stage))
    authorize(run, _APPROVAL, proofs, stage=stage.number if stage else None, going_on=going_on)
    if stage:
        # Its own is guarded with the reading by which it stops: inputs may be held meanwhile.
        guard_stage(run, stage, others=True)
    stop_all(run, bounce)
    if stage:
        if is_after_certificate(run, stage):
            require_flushed(run, inputs=True)
        keep_complete(run, stage)


def start_application(side: str = "", *, first: Callable[[Run], None] | None = None) -> Any:
    """The task that starts every instance of a side; `first` may refuse before any instance is started."""

    def act(run: Run) -> None:
        """All instances up on the plan's target; `wait_caught_up` decides whether they are ready."""
        own = run.side(side)
        start = own.plan().start
        if start is None:
            run.say(_NOT_NEEDED)
        elif run.dry_run and isinstance(start, StartAll):
            rehearse_start(own, start.bounce)
        elif run.dry_run:
            run.say("rehearsed with stop_application")
        else:
            if first is not None and not has_started(own, started(start)):
                first(run)
            start_stage(own, start)

    act.__name__ = task_of("start_all", side)
    return write("sets release and settings, and starts every instance at once")(act)()


def start_stage(run: Run, start: StartAll | Bounce) -> None:
    """Every instance started, once the stages before it are complete; after a certificate only while it holds."""
    if isinstance(start, StartAll):
        require_earlier(run, start)
    authorize(run, _APPROVAL, (group_is_empty.__name__,), stage=start.number, going_on=True)
    if is_after_certificate(run, start):
        # Once one is started, only what nothing reads any more can still prove a record that is left.
        require_flushed(run, orphans=has_started(run, started(start)))
    start_all(run, started(start))


def started(start: StartAll | Bounce) -> Bounce:
    """The release and settings with which all instances start, as a bounce."""
    return start if isinstance(start, Bounce) else start.bounce


def _proofs(plan: Plan, stage: StopAll | None) -> Iterator[str]:
    """What has to be proven before all instances are stopped."""
    if plan.rolled:
        yield every_member_runs.__name__
    if any(isinstance(one, Drain) for one in plan.stages):
        yield read_up_to.__name__
    if stage and any(one.certify.number < stage.number for one in plan.input_holds):
        yield certified.__name__


def wait_caught_up(side: str = "") -> "WaitCaughtUp":
    """Every instance of a side through its gate."""
    return WaitCaughtUp(task_id=f"wait_caught_up_{side}" if side else "wait_caught_up", side=side, retries=0)


class WaitCaughtUp(BaseOperator):
    """Waits, without a worker, until every instance of a side has passed its gate.

    It changes nothing, unless no instance has started on a release: then all go back together (set_back.py).
    """

    def __init__(self, *, side: str = "", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.side = side

    def execute(self, context: Mapping[str, Any]) -> None:
        """Defer to the gate of the first instance that has not passed."""
        with reported(context, "waits until every instance is well and has caught up") as run:
            if run.side(self.side).plan().start is None:
                run.say(_NOT_NEEDED)
            elif run.dry_run:
                run.say(f"would wait at each gate for up to {run.plan().limit('gate_ceiling_s'):.0f} s")
            else:
                self._wait(run)

    def resume(self, context: Mapping[str, Any], event: dict[str, Any], gated: str = "") -> None:
        """Continue after the gate of instance `gated`; if no instance has started on a release, all are set back."""
        with reported(context, "the gate answered") as run:
            if refused := start_refused(event):
                self._failed(run.side(self.side), gated, refused)
            answered(run, event)
            self._wait(run)

    def _failed(self, run: Run, gated: str, cause: str) -> None:
        plan = run.plan()
        if gated and plan.start is not None:
            bounce, clears = started(plan.start), task_of("stop_all", self.side)

            def permit() -> None:
                authorize(run, _APPROVAL, (), stage=bounce.number, going_on=True)

            names = plan.facts.instances
            after_failed_start(run, bounce, names, cause, clears=clears, permit=permit, gated=gated, together=True)

    def _wait(self, run: Run) -> None:
        own = run.side(self.side)
        if (start := own.plan().start) is None:
            return
        # What follows needs to know that this stage is complete, and the triggerer does not keep that.
        follows = isinstance(start, StartAll) and run.whole_plan().stages[-1] != start
        await_gates(self, own, started(start), last=not follows)
        run.say("every instance has passed its gate")
        if follows:
            keep_complete(own, start)


def await_gates(operator: BaseOperator, run: Run, bounce: Bounce, *, last: bool) -> None:
    """Defer `operator` to the gate of the first instance that has not passed it; return if all have.

    `last` if nothing of the task is left to do once the last one has passed.
    """
    plan, reading = run.plan(), run.read(describes=False)
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
            kwargs={"gated": name},
        )
