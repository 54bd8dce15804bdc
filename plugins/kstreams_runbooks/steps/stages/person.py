"""What only a person can do for a stage: pause inputs, clear state that no deployer of ours touches, and the like."""

from kstreams_runbooks.fleet import load_fleet
from kstreams_runbooks.model.runs.cards import InputsPaused, InputsResumed, PersonAsked
from kstreams_runbooks.model.runs.object_stages import AskPerson, PauseInputs, PersonStage, ResumeInputs
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.runs.stages import Bounce, StartAll
from kstreams_runbooks.steps.run.person import require_done
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.stages.announce import Announced

_HOW = "by a person"


def ask_person(run: Run, stage: PersonStage) -> None:
    """Return once a person has answered that it is done; ask until then, which parks the task."""
    request = _request(run, stage)
    if run.dry_run:
        run.say(f"would ask a person: {request}")
        return
    name, facts = _card(stage)
    Announced(run, stage).write(name, facts, stage.sentence)
    require_done(run, stage.number, {stage.number: request} | _requests(run, run.whole_plan()))


def require_cleared(run: Run, bounce: Bounce) -> None:
    """Return once a person has answered that the state which must be cleared for these starts is; ask until then.

    An answer from before the last stop counts no more: an instance may have run and left state in between.
    """
    requests = _requests(run, run.whole_plan()) | {bounce.number: _clearing(run, bounce)}
    stops = run.ledger.evidence(run.key, kind="write", name="stop", newest=1)
    require_done(run, bounce.number, requests, since=stops[-1].id if stops else 0)


def _requests(run: Run, plan: Plan) -> dict[int, str]:
    """Every request of a plan that needs an answer, by the number of its stage."""
    found = {}
    for one in plan.stages:
        if isinstance(one, PersonStage):
            found[one.number] = _request(run, one)
        elif isinstance(one, StartAll) and one.must_clear and one.bounce.clears is not None:
            side = run.on(plan.application_of(one))
            found |= {} if side.deployer.abilities.act else {one.number: _clearing(side, one.bounce)}
    return found


def _clearing(run: Run, bounce: Bounce) -> str:
    names = bounce.clears.names if bounce.clears else ()
    every = [run.deployer.request("clear_state", name, directories=names) for name in run.plan().facts.instances]
    return f"{'; '.join(every)}; start none of them"


def _request(run: Run, stage: PersonStage) -> str:
    if isinstance(stage, AskPerson):
        return stage.request
    inputs = ", ".join(f"{name}{_owner(run, name)}" for name in stage.inputs)
    if isinstance(stage, PauseInputs):
        return f"pause the producers of {inputs}; keep them paused until this run asks to resume them"
    return f"resume the producers of {inputs}"


def _owner(run: Run, topic: str) -> str:
    """Who owns what writes an input, if an application of the fleet declares it as its output."""
    writers = [
        f"{one.name} of {one.owner}"
        for one in load_fleet().entries.values()
        if one.cluster == run.record.cluster and topic in one.outputs
    ]
    return f" (written by {', '.join(writers)})" if writers else ""


def _card(stage: PersonStage) -> tuple[str, PersonAsked | InputsPaused | InputsResumed]:
    """The object and the facts of the undo card."""
    if isinstance(stage, AskPerson):
        return stage.request, PersonAsked(stage.request, stage.back)
    facts = InputsResumed if isinstance(stage, ResumeInputs) else InputsPaused
    return ", ".join(stage.inputs), facts(stage.inputs, _HOW)
