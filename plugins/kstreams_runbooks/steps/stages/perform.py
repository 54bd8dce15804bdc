"""One stage of a plan that changes no instance's release: the step for its kind."""

from collections.abc import Mapping

from kstreams_runbooks.decide.instances.guards import nothing_drifted
from kstreams_runbooks.errors import Drifted, Inconclusive, Refused
from kstreams_runbooks.ledger.card_facts import card_facts
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.states import is_down
from kstreams_runbooks.model.runs.cards import (
    GroupDeleted,
    OffsetFacts,
    OffsetsDeleted,
    OffsetsSet,
    StateCleared,
    TopicCreated,
)
from kstreams_runbooks.model.runs.ledger import Card
from kstreams_runbooks.model.runs.object_stages import (
    CreateTopics,
    DeleteOffsets,
    DeleteTopics,
    GrowTopics,
    OffsetStage,
    PersonStage,
    SaveOffsets,
    SetOffsets,
    TopicStage,
)
from kstreams_runbooks.model.runs.stages import ClearState, OtherStage
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.steps.plan.before import require_still_writable
from kstreams_runbooks.steps.plan.cards import own_changes
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.stages.announce import Announced
from kstreams_runbooks.steps.stages.cleaned_up import note_state
from kstreams_runbooks.steps.stages.cleared import lost_stores, require_gone_state
from kstreams_runbooks.steps.stages.offsets import delete_groups, delete_offsets, set_offsets
from kstreams_runbooks.steps.stages.outputs import clean_outputs, require_cleanable
from kstreams_runbooks.steps.stages.person import ask_person
from kstreams_runbooks.steps.stages.rest import save_group
from kstreams_runbooks.steps.stages.retired import delete_retired_topics
from kstreams_runbooks.steps.stages.topics import create_topics, delete_records, delete_topics, grow_topics


def perform(run: Run, stage: OtherStage, undone: Mapping[int, Card]) -> None:
    """Make the change of one stage; safe to run again in any state.

    `undone` are the cards, by number, of the run that is taken back; empty for any other runbook. Refused for a kind
    that has no step: instances are stopped and started by steps of their own. A stage of a person parks the task
    until its answer (steps/run/person.py). Before the
    first write of a run it demands once more what `plan` demanded (steps/plan/before.py).
    """
    if not run.dry_run:
        require_still_writable(run)
    if isinstance(stage, TopicStage):
        _change_topics(run, stage, undone)
    elif isinstance(stage, OffsetStage):
        _change_offsets(run, stage, undone)
    elif isinstance(stage, ClearState):
        _clear_state(run, stage)
    elif isinstance(stage, PersonStage):
        ask_person(run, stage)
    else:
        raise Refused(f"stage {stage.number} ({stage.sentence}) has no step here (kind {stage.kind}); do it manually")


def _change_topics(run: Run, stage: TopicStage, undone: Mapping[int, Card]) -> None:
    if isinstance(stage, CreateTopics):
        create_topics(run, stage)
    elif isinstance(stage, GrowTopics):
        grow_topics(run, stage)
    elif isinstance(stage, DeleteTopics):
        if stage.at_rest and not run.dry_run and not Announced(run, stage).cards():
            # A reader that is behind must not keep the application down once its state is gone.
            require_cleanable(run)
        delete = delete_retired_topics if stage.retired else delete_topics
        delete(run, stage, _ids(run, stage, undone))
    elif stage.shown:
        clean_outputs(run, stage)
    else:
        delete_records(run, stage)


def _change_offsets(run: Run, stage: OffsetStage, undone: Mapping[int, Card]) -> None:
    if isinstance(stage, SaveOffsets):
        save_group(run, stage)
    elif isinstance(stage, SetOffsets):
        set_offsets(run, stage, _saved(stage, undone))
    elif isinstance(stage, DeleteOffsets):
        delete_offsets(run, stage)
    else:
        delete_groups(run, stage)


def guard_stage(run: Run, stage: OtherStage, *, others: bool = False) -> None:
    """Drifted or Inconclusive if an application of the run is not as planned; the run's own changes are expected.

    With `others` all but that of `run`.
    """
    for side in run.sides:
        if others and side.about == run.about:
            continue
        of = {"plan": side.plan(), "name": "", "number": stage.number, "own": own_changes(side)}
        guarded = side.decide(nothing_drifted, reading=side.read(describes=False), **of)
        begun = f"stage {stage.number} is not begun"
        if guarded.outcome is Outcome.INCONCLUSIVE:
            raise Inconclusive(f"{begun}: {guarded.text}")
        if guarded.outcome is not Outcome.PROCEED:
            raise Drifted(f"{begun}: {guarded.text}")


def _ids(run: Run, stage: DeleteTopics, undone: Mapping[int, Card]) -> dict[str, str]:
    """The ids of the topics that may be deleted: of the plan, of this run, and of the cards that it takes back."""
    ids = {name: topic_id for name, topic_id, _ in run.plan().facts.topics}
    if stage.at_rest:
        # Never one that this run has created again.
        return ids
    ids |= {one.name: one.topic_id for one in own_changes(run).topics if one.created and one.topic_id}
    for seq in stage.undoes:
        facts = card_facts(undone[seq])
        if isinstance(facts, TopicCreated):
            ids[facts.topic.name] = facts.topic_id
    return ids


def _saved(stage: SetOffsets, undone: Mapping[int, Card]) -> OffsetFacts | None:
    found = [card_facts(undone[seq]) for seq in stage.undoes]
    return next((facts for facts in found if isinstance(facts, OffsetsSet | OffsetsDeleted | GroupDeleted)), None)


def _clear_state(run: Run, stage: ClearState) -> None:
    """Delete the local state of every instance while all are down, or note it for the start that deletes it."""
    announced = Announced(run, stage)
    # A dry run has stopped none.
    stopped = run.dry_run and stage.side in {one.side for one in run.whole_plan().stopped_before(stage)}
    names = stage.instances or tuple(one.name for one in run.application.deployer.instances)
    for one in run.read(describes=False).instances:
        if isinstance(one.deployment, Missing):
            raise Inconclusive(f"{one.instance} is not cleared: {one.deployment.missing}")
        if one.instance in names and not is_down(one.deployment.process) and not stopped:
            raise Refused(f"{one.instance} is {one.deployment.process} (expected: down before it is cleared); stop it")
    if stage.at_start:
        run.say(f"{'would ' * run.dry_run}{stage.sentence}")
        if not run.dry_run:
            note_state(run)
        return
    for name in names:
        run.deployer.check_clear_state(name, stage.deletes.names)
    lost = lost_stores(run)
    for name in names:
        if not run.dry_run:
            facts = StateCleared(name, stage.deletes, lost)
            kept = run.deployer.kept_aside(name)
            announced.write(name, facts, f"{name}: {stage.deletes.what} {f'moved to {kept}' if kept else 'cleared'}")
        run.deployer.clear_state(name, stage.deletes.names)
        run.say(f"{name}: {stage.deletes.what} {'would be ' * run.dry_run}cleared")
    if stage.seen and not run.dry_run:
        require_gone_state(run, stage, names)
