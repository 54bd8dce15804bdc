"""Stages that a person makes: inputs that no switch of ours pauses, and other requests of a plan."""

from kstreams_runbooks.fleet import load_fleet
from kstreams_runbooks.model.runs.cards import InputsPaused, InputsResumed, PersonAsked
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.runs.stages import AskPerson, PauseInputs, PersonStage, ResumeInputs
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


def _requests(run: Run, plan: Plan) -> dict[int, str]:
    """Every request of a plan, by the number of its stage."""
    return {one.number: _request(run, one) for one in plan.stages if isinstance(one, PersonStage)}


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
        for one in load_fleet().applications.values()
        if one.cluster == run.record.cluster and topic in one.outputs
    ]
    return f" (written by {', '.join(writers)})" if writers else ""


def _card(stage: PersonStage) -> tuple[str, PersonAsked | InputsPaused | InputsResumed]:
    """The object and the facts of the undo card."""
    if isinstance(stage, AskPerson):
        return stage.request, PersonAsked(stage.request, stage.back)
    facts = InputsResumed if isinstance(stage, ResumeInputs) else InputsPaused
    return ", ".join(stage.inputs), facts(stage.inputs, _HOW)
