"""The order of the stages of a run: the ledger has the end of each, and no stage begins before those in front of it."""

from typing import Any

from kstreams_runbooks.decide.plans import cutover
from kstreams_runbooks.decide.plans.adopt import task_of_stage
from kstreams_runbooks.decide.runbooks import ADOPT, INCREASE
from kstreams_runbooks.errors import WriteRefused
from kstreams_runbooks.model.runs.input_holds import InputHold
from kstreams_runbooks.model.runs.object_stages import GrowTopics, PauseInputs, SetOffsets
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.runs.stages import Bounce, Drain, Stage, StopAll
from kstreams_runbooks.steps.run.run import Run

_COMPLETE = "stage complete"
_FLOW = "inputs held until the stop"
# The tasks of these kinds have names of their own.
_TASKS = {"stop_all": "stop_application", "start_all": "start_application"}


def task_of(kind: str, side: str) -> str:
    """The id of the task that takes the stages of a kind and a side."""
    name = _TASKS.get(kind, kind)
    return f"{name}_{side}" if side else name


def task_in(plan: Plan, stage: Stage) -> str:
    """The id of the task that takes a stage of this plan.

    One task takes every stage that holds inputs, one every stage that lets them flow again, of any kind. A hold that
    only finds a point has one task.
    """
    for hold in plan.input_holds:
        if not hold.stops and stage in (*hold.pausing, hold.certify, *hold.resuming):
            return "note_point"
        if stage in hold.pausing:
            return "pause_inputs"
        if stage in hold.resuming and not (plan.runbook == INCREASE and isinstance(stage, GrowTopics | SetOffsets)):
            return "resume_inputs"
    if plan.runbook == ADOPT and (task := task_of_stage(plan, stage)):
        return task
    if plan.runbook == cutover.CUTOVER and (task := cutover.task_of_stage(stage)):
        return task
    return task_of(stage.kind, stage.side)


def keep_complete(run: Run, stage: Stage) -> None:
    """Keep the end of a stage, once."""
    if not is_complete(run, stage):
        run.keep("note", _COMPLETE, _end_of(run.whole_plan(), stage))
        run.say(f"stage {stage.number} of {len(run.whole_plan().stages)} is complete: {stage.sentence}")


def is_complete(run: Run, stage: Stage) -> bool:
    """Whether this run has made the change of a stage."""
    return stage.number in _complete(run, run.whole_plan())


def holds_inputs(run: Run, stage: Stage) -> bool:
    """Whether this run has begun a stage up to this one that holds inputs, or instances down.

    The stages of a hold that has ended hold nothing any more.
    """
    begun = {card.stage for card in run.ledger.cards(run.key)}
    plan = run.whole_plan()
    ended = _complete(run, plan)
    over = {one.number for hold in plan.input_holds if hold.is_over(ended) for one in hold.pausing}
    for one in plan.stages:
        if one.number > stage.number:
            return False
        if one.number in over:
            continue
        if isinstance(one, PauseInputs) and one.number in begun:
            return True
        # The cards of instances name the start that ends the stop.
        if not isinstance(one, StopAll) or not plan.holds(one):
            continue
        if one.number in ended or plan.start_after(one).number in begun:
            return True
    return False


def let_flow(run: Run, hold: InputHold) -> None:
    """Keep that a hold lasted until its stops: from here on the inputs flow, perhaps before a rerun."""
    run.ledger.remember(run.key, f"{_FLOW} {hold.number}", value=True)


def flows(run: Run, hold: InputHold) -> bool:
    """Whether this run has begun to let the inputs of a hold flow again."""
    return run.ledger.recall(run.key, f"{_FLOW} {hold.number}") is not None


def require_earlier(run: Run, stage: Stage) -> None:
    """WriteRefused unless each stage before this one is complete; bounces and drains have verdicts instead."""
    plan = run.whole_plan()
    ended = _complete(run, plan)
    for earlier in plan.stages:
        proven = isinstance(earlier, Bounce | Drain)
        if earlier.number < stage.number and not proven and earlier.number not in ended:
            raise WriteRefused(
                f"{run.task_id}: stage {earlier.number} ({earlier.sentence}) is not complete (marked successful "
                f"manually does not count); clear {task_in(plan, earlier)} and what follows it"
            )


def _complete(run: Run, plan: Plan) -> set[int]:
    """The numbers of the stages of this plan whose end the ledger has, in one reading of it."""
    kept = run.ledger.evidence(run.key, kind="note", name=_COMPLETE)
    ends = [note.payload for note in kept]
    return {stage.number for stage in plan.stages if _end_of(plan, stage) in ends}


def _end_of(plan: Plan, stage: Stage) -> dict[str, Any]:
    return {"stage": stage.number, "plan": plan.digest}
