"""Stages of a plan as tasks of a DAG: `create_topics() >> set_offsets("second")`.

A task takes every stage of its kind and side, in the order of the plan, each like this:

 1. If the ledger has its end, nothing is left to do.
 2. Refuse unless the ledger has the end of each stage before it (order.py): a task that was marked successful manually
    leaves none.
 3. Refuse unless this plan is approved, by an approval that has not expired; take or renew the holds (authorize.py).
 4. Guard every side of the run (perform.py).
 5. Make the change, with its undo cards before it; a rerun goes on from what a killed task left.
 6. Keep its end.
"""

from typing import Any

from kstreams_runbooks.model.runs.stages import Bounce, OtherStage
from kstreams_runbooks.steps.approval.authorize import authorize
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.run.step import write
from kstreams_runbooks.steps.stages.order import holds_inputs, is_complete, keep_complete, require_earlier, task_of
from kstreams_runbooks.steps.stages.perform import guard_stage, perform

_APPROVAL = "approve_plan"


def create_topics(side: str = "", *, approval: str = _APPROVAL) -> Any:
    """The topics that the plan creates."""
    return _task("create_topics", side, approval)


def grow_topics(side: str = "", *, approval: str = _APPROVAL) -> Any:
    """The topics that get more partitions."""
    return _task("grow_topics", side, approval)


def delete_topics(side: str = "", *, approval: str = _APPROVAL) -> Any:
    """The topics that the plan deletes."""
    return _task("delete_topics", side, approval)


def delete_records(side: str = "", *, approval: str = _APPROVAL) -> Any:
    """The topics whose records are deleted."""
    return _task("delete_records", side, approval)


def save_offsets(side: str = "", *, approval: str = _APPROVAL) -> Any:
    """The groups whose offsets are saved, each while it is EMPTY."""
    return _task("save_offsets", side, approval)


def set_offsets(side: str = "", *, approval: str = _APPROVAL) -> Any:
    """The groups whose offsets are set, each while it is EMPTY."""
    return _task("set_offsets", side, approval)


def delete_offsets(side: str = "", *, approval: str = _APPROVAL) -> Any:
    """The groups whose offsets are deleted, each while it is EMPTY."""
    return _task("delete_offsets", side, approval)


def delete_groups(side: str = "", *, approval: str = _APPROVAL) -> Any:
    """The groups that are deleted with all their offsets, each while it is EMPTY."""
    return _task("delete_groups", side, approval)


def clear_state(side: str = "", *, approval: str = _APPROVAL) -> Any:
    """The instances whose local state is deleted, all of them down."""
    return _task("clear_state", side, approval)


def ask_person(side: str = "", *, approval: str = _APPROVAL) -> Any:
    """What a person does."""
    return _task("ask_person", side, approval)


def _task(kind: str, side: str, approval: str) -> Any:
    """The task of every stage of a kind and a side."""

    def act(run: Run) -> None:
        """Make the changes of these stages; safe to run again in any state."""
        plan = run.whole_plan()
        stages = [one for one in plan.stages if not isinstance(one, Bounce) and (one.kind, one.side) == (kind, side)]
        if not stages:
            run.say("not needed: the plan has no such stage")
        for stage in stages:
            make(run.side(side), stage, approval)

    act.__name__ = task_of(kind, side)
    return write(f"{kind.replace('_', ' ')}{' of ' * bool(side)}{side}")(act)()


def make(run: Run, stage: OtherStage, approval: str = _APPROVAL, *, guarded: bool = False) -> None:
    """Make the change of one stage of the run's side, unless the ledger has its end.

    `guarded` if this task has guarded the stage right before it: it is not guarded again while inputs are held.
    """
    if run.dry_run:
        perform(run, stage, {})
    elif is_complete(run, stage):
        run.say(f"stage {stage.number} is complete already: {stage.sentence}")
    else:
        require_earlier(run, stage)
        authorize(run, approval, (), going_on=holds_inputs(run, stage))
        if not guarded:
            guard_stage(run, stage)
        perform(run, stage, {})
        keep_complete(run, stage)
