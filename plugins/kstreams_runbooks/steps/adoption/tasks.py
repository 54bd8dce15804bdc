"""The tasks that start and stop the copier, and that move the application between its inputs and its control topics.

The order is that of the plan (decide/plans/adopt.py); each task takes the stages that `task_of_stage` gives it, keeps
their ends, and a rerun goes on. What a write relies on is read again right before it (seam.py).
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from airflow.sdk import BaseOperator

from kstreams_runbooks.decide.instances.left_down import left_down
from kstreams_runbooks.decide.plans.adopt import COPIER, task_of_stage
from kstreams_runbooks.decide.plans.adoptable import may_adopt
from kstreams_runbooks.errors import Refused
from kstreams_runbooks.ledger.codec import decode
from kstreams_runbooks.model.readings.adoption import AdoptReading
from kstreams_runbooks.model.runs.object_stages import DeleteOffsets, SetOffsets
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.runs.stages import Stage, StartAll, StopAll
from kstreams_runbooks.steps.adoption.copy_trigger import copy_trigger
from kstreams_runbooks.steps.adoption.proof import require_proven
from kstreams_runbooks.steps.adoption.seam import (
    has_ended,
    is_adopting,
    keep_end,
    require_ended,
    require_read,
    require_still,
    require_unmoved,
    wait_until_ended,
    wait_until_read,
)
from kstreams_runbooks.steps.inputs.tasks import take_each
from kstreams_runbooks.steps.instances.copier import prove_stopped, proven_stop, require_still_stopped
from kstreams_runbooks.steps.instances.gate import answered
from kstreams_runbooks.steps.instances.restart import start_stage
from kstreams_runbooks.steps.instances.together import rehearse_start
from kstreams_runbooks.steps.plan.flushed import START_BEGUN
from kstreams_runbooks.steps.plan.looking import prove_side, rehearsed
from kstreams_runbooks.steps.plan.plan import planned_from
from kstreams_runbooks.steps.run.ending import reported
from kstreams_runbooks.steps.run.run import Run, now_ms
from kstreams_runbooks.steps.run.step import step, write
from kstreams_runbooks.steps.stages.order import is_complete, keep_complete

_BEGAN = "copy began"
_NOT_NEEDED = "not needed: the plan has no such stage"


def copy_inputs() -> "CopyInputs":
    """The task that starts the copier at the beginning of the inputs, and waits until it is near their end."""
    return CopyInputs(task_id="copy_inputs", retries=0)


class CopyInputs(BaseOperator):
    """Commits the first offsets, starts the copier, and waits without a worker while the application runs."""

    def execute(self, context: Mapping[str, Any]) -> None:
        """Defer the task until the copy is nearly complete."""
        with reported(context, "copies the inputs while the application runs") as run:
            plan = run.whole_plan()
            if not (stages := _stages_of(plan, "copy_inputs")):
                run.say(_NOT_NEEDED)
                return
            began_ms = now_ms() if run.dry_run else int(run.ledger.remember(run.key, _BEGAN, now_ms()))
            take_each(run, stages)
            if run.dry_run:
                run.say("would wait until the copier is near the end of the inputs")
            elif any(is_complete(run, one) for one in _stages_of(plan, "stop_copier")):
                run.say("the copier has been stopped near the end: nothing to wait for")
            else:
                side = run.side(COPIER)
                trigger = copy_trigger(side, began_ms, _may_take_ms(run), int(run.first.limit("max_lag")))
                self.defer(trigger=trigger, method_name="resume")

    def resume(self, context: Mapping[str, Any], event: dict[str, Any]) -> None:
        """Continue if the copy is nearly complete."""
        with reported(context, "the watch answered") as run:
            answered(run, event)


def _may_take_ms(run: Run) -> int | None:
    """How long the copy may take, by the shortest `delete.retention.ms` of a compacted input; None without one."""
    kept = run.first.verdicts(may_adopt.__name__)[-1]
    reading: AdoptReading = decode(AdoptReading, kept.payload["inputs"]["reading"])
    limits = [
        one.delete_retention_ms for one in reading.inputs if one.compacted and one.delete_retention_ms is not None
    ]
    return min(limits) // 2 if limits else None


@write("stops the copier, and waits until the application has read as far")
def stop_copier(run: Run) -> None:
    """The copier down; the application has read past it, or to the end of the control topics."""
    plan = run.whole_plan()
    stages = _stages_of(plan, "stop_copier")
    if not run.dry_run and is_adopting(plan):
        _require_in_time(run)
    take_each(run, stages)
    if run.dry_run:
        return
    if not _is_over(run, plan):
        prove_stopped(run.side(COPIER))
        wait_until_read(run)


def _require_in_time(run: Run) -> None:
    """Refused if the copy of a compacted input has taken too long by now."""
    began_ms, limit_ms = run.ledger.recall(run.key, _BEGAN), _may_take_ms(run)
    if began_ms is not None and limit_ms is not None and now_ms() - int(began_ms) > limit_ms:
        raise Refused(
            f"the copy of a compacted input began {(now_ms() - int(began_ms)) / 1000:,.0f} s ago (limit "
            f"{limit_ms / 1000:,.0f} s, half of delete.retention.ms): a key that was deleted meanwhile may come back; "
            "undo this run, and trigger a new one"
        )


def _is_over(run: Run, plan: Plan) -> bool:
    """Whether the application has been stopped since: what it has read by then is proven by the tasks after that."""
    return any(is_complete(run, one) for one in plan.stages if isinstance(one, StopAll) and not one.side)


@write("lets the copier go on up to the offsets of the application")
def copy_rest(run: Run) -> None:
    """The copier has copied exactly what the application, which is down, has read; it has ended by itself."""
    plan = run.whole_plan()
    stages = _stages_of(plan, "copy_rest")
    if not stages:
        run.say(_NOT_NEEDED)
        return
    *held, _ = stages
    take_each(run, held)
    if run.dry_run:
        rehearse_start(run.side(COPIER), _until_of(stages).bounce)
        return
    keep_end(run)
    start = _until_of(_stages_of(run.whole_plan(), "copy_rest"))
    if is_complete(run, start):
        run.say(f"stage {start.number} is complete already: {start.sentence}")
        return
    _require_in_time(run)
    if not has_ended(run):
        start_stage(run.side(COPIER), start)
        wait_until_ended(run)
        _require_in_time(run)
    prove_stopped(run.side(COPIER))
    require_ended(run)
    keep_complete(run, start)


def _until_of(stages: tuple[Stage, ...]) -> StartAll:
    return next(one for one in stages if isinstance(one, StartAll))


@write("sets the offsets of the application on the other topics")
def set_offsets(run: Run) -> None:
    """The place where the application goes on: the ends of the control topics, or the copier's offsets."""
    plan = run.whole_plan()
    stages = [
        one for one in plan.stages if isinstance(one, SetOffsets) and not one.side and not task_of_stage(plan, one)
    ]
    if not run.dry_run and not all(is_complete(run, one) for one in stages):
        require_still(run)
        if is_adopting(plan):
            require_ended(run)
        else:
            require_read(run)
    take_each(run, stages)


@write("starts the copier for good")
def start_copier(run: Run) -> None:
    """The copier runs; the application is still down, with the offsets that this run has set."""
    stages = _stages_of(run.whole_plan(), "start_copier")
    if not stages:
        run.say(_NOT_NEEDED)
        return
    if not run.dry_run and not any(is_complete(run, one) for one in stages):
        require_unmoved(run)
        if not _has_begun(run, stages):
            require_still(run)
            require_ended(run)
    take_each(run, stages)


def _has_begun(run: Run, stages: tuple[Stage, ...]) -> bool:
    """Whether an earlier try has begun to start the copier: then it may have copied on."""
    begun = run.ledger.evidence(run.key, kind="note", name=START_BEGUN)
    return any(note.payload["bounce"] == one.number for note in begun for one in stages)


def before_start(run: Run) -> None:
    """Refused unless the application, which is down, has the offsets that this run has set."""
    if run.whole_plan().stages and not run.dry_run:
        require_unmoved(run)


@step("compares what runs now with the plan; changes nothing")
def verify(run: Run) -> None:
    """Prove that the application runs the plan, and that the copier runs, or stays down on the way back."""
    if run.dry_run:
        rehearsed(run)
        return
    _prove_all(run)


def _prove_all(run: Run) -> None:
    for side in run.sides:
        if stays := side.plan().stays_down_as:
            require_still_stopped(side, proven_stop(side))
            side.demand(side.decide(left_down, reading=side.read(describes=False), target=stays))
        elif side.application.copies:
            # It had read nothing before this run.
            prove_side(side, replace(planned_from(side), partitions=()))
        else:
            prove_side(side)


@write("deletes the offsets on the topics that the application has left")
def delete_offsets(run: Run) -> None:
    """Nothing reads them any more; a start on these topics by mistake does not go on in the middle."""
    stages = [one for one in run.whole_plan().stages if isinstance(one, DeleteOffsets)]
    if not run.dry_run and not all(is_complete(run, one) for one in stages):
        if is_adopting(run.whole_plan()):
            require_proven(run)
        # A person could still go back to these offsets.
        _prove_all(run)
    take_each(run, stages)


def _stages_of(plan: Plan, task: str) -> tuple[Stage, ...]:
    return tuple(one for one in plan.stages if task_of_stage(plan, one) == task)
