"""The tasks that hold inputs and let them flow again, each with every stage of its part of the plan.

Both take the hold of the plan in which it stops what it changes (model/runs/input_holds.py): `pause_inputs` the stages
before its certificate, `resume_inputs` those after the stop that relies on it. Which they are depends on the switch
(decide/plans/switches.py); each keeps its end, and a rerun goes on.
"""

from collections.abc import Iterable

from kstreams_runbooks.decide.plans.switches import COPIER, MANUAL, SWAP
from kstreams_runbooks.errors import Refused, WriteRefused
from kstreams_runbooks.model.runs.input_holds import InputHold
from kstreams_runbooks.model.runs.object_stages import SetOffsets
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.runs.stages import Bounce, Stage, StartAll, StopAll
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.steps.change.partitioning import COMPARED
from kstreams_runbooks.steps.drain.certify import last_look
from kstreams_runbooks.steps.inputs.manual import require_still, wait_until_still
from kstreams_runbooks.steps.inputs.swap import still_swapped
from kstreams_runbooks.steps.instances.copier import prove_stopped, proven_stop, require_still_stopped
from kstreams_runbooks.steps.instances.restart import start_stage, stop_stage
from kstreams_runbooks.steps.instances.together import rehearse_start, rehearse_stop
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.run.step import write
from kstreams_runbooks.steps.stages.offsets import note_ends, require_empty
from kstreams_runbooks.steps.stages.order import flows, is_complete, keep_complete, let_flow, require_earlier
from kstreams_runbooks.steps.stages.task import make


@write("holds the inputs back")
def pause_inputs(run: Run) -> None:
    """No new record reaches the application; it reads what it has."""
    if not run.dry_run and not flows(run, switching(run)):
        require_compared(run)
    pause(run, switching(run))


def pause(run: Run, hold: InputHold) -> None:
    """Hold the inputs by the stages of one hold; nothing if they flow again already."""
    if flows(run, hold):
        run.say("the inputs flow again: nothing to hold")
        return
    take_each(run, hold.pausing)
    if run.dry_run:
        return
    if hold.certify.how == MANUAL:
        wait_until_still(run.first, hold.certify.inputs)
    elif hold.certify.how == COPIER:
        prove_stopped(run.side(COPIER))
    require_held(run, hold)


@write("lets the inputs flow again")
def resume_inputs(run: Run) -> None:
    """The inputs as they were; the application, which is down, reads them from its start on."""
    resume(run, switching(run))


def resume(run: Run, hold: InputHold) -> None:
    """Let the inputs of one hold flow again; only if they were held until now."""
    if not run.dry_run and not flows(run, hold):
        # Before it is kept that they flow: a rerun of the stop has to know that it is not complete.
        require_earlier(run, hold.resuming[0])
        require_held(run, hold)
        let_flow(run, hold)
    take_each(run, hold.resuming)


def require_held(run: Run, hold: InputHold | None = None) -> None:
    """Refused or Inconclusive unless the inputs are held as the plan has it, in one of three looks.

    `hold` is the one in which the plan stops what it changes unless it is given.
    """
    last_look(lambda: _held(run, hold or switching(run)), run.limit("gate_interval_s"), run.say)


def _held(run: Run, hold: InputHold) -> Verdict:
    certify = hold.certify
    if certify.how == SWAP:
        still_swapped(run.first)
    elif certify.how == COPIER:
        require_still_stopped(run.side(COPIER), proven_stop(run.side(COPIER)))
    else:
        require_still(run.first, certify.inputs)
    return Verdict(Outcome.PROCEED, (f"{', '.join(certify.inputs)} are held",))


def require_compared(run: Run) -> None:
    """WriteRefused unless `check_partitioning` has ended well for the plan of this run."""
    digest = run.whole_plan().digest
    if not any(note.payload["plan"] == digest for note in run.ledger.evidence(run.key, kind="note", name=COMPARED)):
        raise WriteRefused(
            f"{run.task_id}: keys are not compared for plan {digest} (marked successful manually does not count); "
            "clear check_partitioning and what follows it"
        )


def switching(run: Run) -> InputHold:
    """The hold in which the plan stops what it changes."""
    plan = run.whole_plan()
    if (hold := plan.switching) is None:
        raise Refused(f"plan {plan.digest} holds no inputs (expected a certificate); look at the run")
    return hold


def take_each(run: Run, stages: Iterable[Stage]) -> None:
    """Every stage in order, each on its side; those that change objects one after another are guarded once."""
    plan, guarded = run.whole_plan(), False
    for stage in stages:
        guarded = _take(run, plan, stage, guarded=guarded)


def _take(run: Run, plan: Plan, stage: Stage, *, guarded: bool) -> bool:
    """One stage; returns whether the next one is guarded by what has guarded this one."""
    side = run.side(stage.side)
    if isinstance(stage, Bounce):
        raise Refused(
            f"stage {stage.number} ({stage.sentence}) restarts one instance after another (expected: all at once); "
            "look at the plan"
        )
    if not run.dry_run and is_complete(run, stage):
        run.say(f"stage {stage.number} is complete already: {stage.sentence}")
        return False
    if isinstance(stage, StopAll):
        _stop(side, plan, stage)
    elif isinstance(stage, StartAll):
        if run.dry_run:
            rehearse_start(side, stage.bounce)
        else:
            hold = plan.switching
            if hold and hold.certify.how == SWAP and not flows(run, hold):
                # Right before it: what is in an empty topic would be processed.
                still_swapped(side)
            start_stage(side, stage)
            keep_complete(run, stage)
    else:
        make(side, stage, guarded=guarded)
        return True
    return False


def _stop(run: Run, plan: Plan, stage: StopAll) -> None:
    if run.dry_run:
        rehearse_stop(run)
        return
    for later in next((one.pausing for one in plan.input_holds if stage in one.pausing), ()):
        if isinstance(later, SetOffsets) and (later.side, later.to) == (stage.side, "same"):
            note_ends(run, later)
        elif isinstance(later, SetOffsets) and (later.side, later.to) == (stage.side, "start"):
            # A given topic may have got a record since the plan: nothing is stopped for it.
            require_empty(run, later.topics)
    stop_stage(run, stage, plan.start_after(stage).bounce)
