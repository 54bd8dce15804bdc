"""The tasks of a cutover: the comparison at the point, the seam, the comparison there, and the groups that move.

While the old side is down no person is asked, and a failure leaves one side that serves: before `resume_inputs` the old
one, which the undo starts again; afterwards the new one.
"""

from collections.abc import Collection, Iterator
from dataclasses import replace

from kstreams_runbooks.decide.drain.certificate import certified
from kstreams_runbooks.decide.outputs.sides import sides_are_equal
from kstreams_runbooks.decide.plans.cutover import COPIER, after_unequal, back_command, stood_text
from kstreams_runbooks.decide.runs.approval import Asking
from kstreams_runbooks.errors import Inconclusive, Refused, RunbookError
from kstreams_runbooks.ledger.codec import decode
from kstreams_runbooks.model.readings.cutover import DownstreamReading
from kstreams_runbooks.model.readings.drain import DrainQuestion, Pause
from kstreams_runbooks.model.readings.sides import NotedEnds
from kstreams_runbooks.model.times import SECOND_MS
from kstreams_runbooks.model.verdicts import Verdict
from kstreams_runbooks.steps.approval.approve import ApprovePlan
from kstreams_runbooks.steps.approval.asking import answer_fields
from kstreams_runbooks.steps.approval.authorize import authorize
from kstreams_runbooks.steps.cutover.compare import CompareSides, SidesAsked, require_compared
from kstreams_runbooks.steps.cutover.history import side_history, way_back_text
from kstreams_runbooks.steps.cutover.moving import move_group
from kstreams_runbooks.steps.cutover.plan import pairs_at_plan, require_readers, seen_at_plan
from kstreams_runbooks.steps.cutover.rest import (
    APPROVAL,
    at_rest,
    given_up_otherwise,
    moves_begun,
    moving_roles,
    noted_seam,
    point_of,
    require_at_seam,
    require_not_given_up,
)
from kstreams_runbooks.steps.inputs.tasks import pause, require_held, resume, switching, take_each
from kstreams_runbooks.steps.instances.together import start_all
from kstreams_runbooks.steps.plan.looking import prove_side, rehearsed
from kstreams_runbooks.steps.plan.plan import planned_from
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.run.step import step, write
from kstreams_runbooks.steps.stages.moved import (
    moved_group,
    prove_moved,
)
from kstreams_runbooks.steps.stages.order import flows, is_complete, keep_complete, require_earlier
from kstreams_runbooks.steps.stages.read_since import keep_read_since
from kstreams_runbooks.steps.stages.seam import inputs_at_seam, keep_seam, seam_of

_COMPARED, _APPROVED, _AT_SEAM = "compare_outputs", "approve_cutover", "compare_at_seam"
_OLD_AGAIN = "old side again"


def compare_outputs() -> CompareSides:
    """The task that compares the outputs below the ends of the point, while traffic goes on."""
    return CompareSides(sides=_at_point, task_id=_COMPARED)


def compare_at_seam() -> CompareSides:
    """The task that compares them below the seam; if they are not proven equal, the old side starts again."""
    return CompareSides(sides=asked_at_seam, otherwise=old_again, task_id=_AT_SEAM)


def _at_point(run: Run) -> SidesAsked:
    return _asked(run, point_of(run))


def asked_at_seam(run: Run) -> SidesAsked | None:
    """The comparison below the seam; None once the move of a group has begun, after this comparison ended well."""
    if moving := moves_begun(run):
        # What is below noted ends does not change.
        require_compared(run, _AT_SEAM)
        run.say(f"the move of {', '.join(moving)} has begun after this comparison ended well: not compared again")
        return None
    _require_moving(run)
    hold = switching(run)
    if not all(is_complete(run, one) for one in hold.resuming):
        raise Refused("the inputs do not flow again: clear resume_inputs and what follows it")
    return _asked(run, noted_seam(run))


def _asked(run: Run, noted: NotedEnds) -> SidesAsked:
    seen = seen_at_plan(run)
    history = side_history(run, seen.new.application)
    return SidesAsked(seen.old.application, seen.new.application, pairs_at_plan(run), noted, history)


def approve_cutover() -> "ApproveCutover":
    """The task that asks for approval of the move, with what the comparison found."""
    return ApproveCutover(task_id=_APPROVED, bounce=1, retries=0, params=answer_fields())


class ApproveCutover(ApprovePlan):
    """Asks once more for the same plan, next to the comparison of the outputs at its point."""

    def text(self, run: Run, asking: Asking) -> str:
        """The comparison of each output, then the question of the plan."""
        require_compared(run, _COMPARED)
        kept = run.ledger.evidence(run.key, kind="verdict", name=sides_are_equal.__name__, task_id=_COMPARED)
        lines = [f"- {decode(Verdict, one.payload['result']).sentence}" for one in kept[-len(pairs_at_plan(run)) :]]
        return "\n".join(["**Outputs at the point:**", *lines]) + f"\n\n{super().text(run, asking)}"

    def asks(self, run: Run) -> str:
        """Names what is new since the plan was approved."""
        return f"approve the move, after the comparison: {run.plan().title}"


@write("holds the inputs back")
def pause_inputs(run: Run) -> None:
    """The copier is down; both sides read what they have."""
    hold = switching(run)
    require_not_given_up(run, hold)
    with given_up_otherwise(run, hold):
        if not run.dry_run and not flows(run, hold):
            require_compared(run, _COMPARED)
            if not is_complete(run, hold.pausing[0]):
                authorize(run, _APPROVED, ())
                require_readers(run)
        pause(run, hold)


@write("waits until both sides have read everything, and notes the seam")
def certify(run: Run) -> None:
    """Both sides at rest at one moment, with the ends of their outputs: the seam."""
    hold = switching(run)
    stage = hold.certify
    if run.dry_run:
        run.say(f"would {stage.sentence}, and note the ends of the outputs of both sides")
        return
    require_not_given_up(run, hold)
    if is_complete(run, stage):
        run.say(f"stage {stage.number} is complete already: {stage.sentence}")
        return
    with given_up_otherwise(run, hold):
        noted, drains = at_rest(run, hold)
        kept = keep_seam(run, noted)
        if kept.ends != noted.ends:
            raise Refused("an output was written between two tries of this task (expected: none while inputs are held)")
        held = Pause(stage.how, f"run {run.key}", f"{', '.join(stage.inputs)} are held")
        for drain in drains:
            side = run.on(drain.application)
            question = DrainQuestion(1, held, side.application.punctuators)
            side.demand(side.decide(certified, readings=(drain.earlier,), question=question, now=drain.now))
        keep_complete(run, stage)


@write("stops the old side")
def stop_application(run: Run) -> None:
    """Every instance of the old side down, its group EMPTY, and no output of either side written since the seam."""
    hold = switching(run)
    require_not_given_up(run, hold)
    with given_up_otherwise(run, hold):
        if not run.dry_run and not all(is_complete(run, one) for one in hold.stops):
            require_held(run, hold)
            require_at_seam(run)
        take_each(run, hold.stops)
        if not run.dry_run and not flows(run, hold):
            require_at_seam(run)


@write("lets the inputs flow again")
def resume_inputs(run: Run) -> None:
    """The copier runs; from here on only the new side writes."""
    hold = switching(run)
    require_not_given_up(run, hold)
    with given_up_otherwise(run, hold):
        if not run.dry_run and not flows(run, hold):
            require_earlier(run, hold.resuming[0])
            require_at_seam(run)
        resume(run, hold)


def old_again(run: Run, error: RunbookError) -> None:
    """The old side starts again, and nothing is moved: the groups read on at the seam of its outputs.

    Not once the move of a group has begun: that one belongs to the new outputs, and the old side has to stay at the
    seam for the others.
    """
    if seam_of(run) is None or not all(is_complete(run, one) for one in switching(run).resuming) or moves_begun(run):
        return
    own, start = run.first, after_unequal(run.whole_plan())
    run.ledger.remember(run.key, _OLD_AGAIN, str(error))
    own.warn(f"{error}; {own.record.application} is started again, and no group is moved")
    authorize(own, APPROVAL, (), stage=start.number, going_on=True)
    start_all(own, start.bounce)
    kind = Refused if isinstance(error, Refused) else Inconclusive
    raise kind(
        f"{error}; {own.record.application} runs again, and no group was moved; find out why, then trigger a new run, "
        "which has a seam of its own"
    ) from error


def _require_moving(run: Run) -> None:
    """Refused once the old side has been started without a move: its outputs go on past the seam."""
    if why := run.ledger.recall(run.key, _OLD_AGAIN):
        raise Refused(
            f"the old side was started again, and nothing is moved ({why}); trigger a new run, which has a seam of its "
            "own"
        )


@write("moves each group that reads the outputs to those of the new side")
def move_downstream(run: Run) -> None:
    """One group after the other: down at the seam of the old outputs, and up at that of the new ones."""
    roles = moving_roles(run)
    if not roles:
        run.say("not needed: no group reads the outputs")
    for role in roles:
        stages = tuple(one for one in run.whole_plan().stages if one.side == role)
        if run.dry_run:
            take_each(run, stages)
            continue
        _require_moving(run)
        require_compared(run, _AT_SEAM)
        move_group(run, run.side(role), stages)


@step("compares what runs now with the plan; changes nothing")
def verify(run: Run) -> None:
    """Both sides and the copier run, each group reads on at the seam of the new outputs, and no other reads the old."""
    if run.dry_run:
        rehearsed(run)
        return
    moving = set(moving_roles(run))
    for part, side in zip(run.whole_plan().parts, run.sides, strict=True):
        if part.role in moving:
            prove_moved(side, moved_group(run.key, run.whole_plan(), part.role))
        elif part.role == COPIER:
            # What it copies grew while it was down.
            prove_side(side, replace(planned_from(side), partitions=()))
        else:
            prove_side(side)
            if not part.role:
                keep_read_since(side, inputs_at_seam(side, side.key))
    require_readers(run)
    for line in _left_to_do(run):
        run.say(line)


def _left_to_do(run: Run) -> Iterator[str]:
    """The lines of fleet entries that change with the move, and the command of the way back."""
    seen = seen_at_plan(run)
    paired = {one.old: one.new for one in seen.outputs}
    for group in seen.downstream:
        yield _entry_line(group, paired)
    new, old = seen.new.application, seen.old.application
    yield stood_text(old, stood_s(run, [one.name for one in run.first.application.deployer.instances]))
    yield way_back_text(run)
    yield f"{old} runs as well, so that there is a way back: {back_command(old, new, run.side(COPIER).declared.name)}"


def _entry_line(group: DownstreamReading, paired: dict[str, str]) -> str:
    changed = ", ".join(f"{topic} → {paired[topic]}" for topic in group.topics)
    return f"change `inputs` and `input_settings` of {group.entry} now: {changed}"


def stood_s(run: Run, names: Collection[str]) -> float | None:
    """For how long the old side was down, whose instances have these `names`; None if that is not kept."""
    start = after_unequal(run.whole_plan())
    stops = [one.payload for one in run.ledger.evidence(run.key, kind="write", name="stop")]
    asked = [one["requested_ms"] for one in stops if {*one["instances"]} <= {*names}]
    restarts = run.ledger.evidence(run.key, kind="write", name="restart")
    ended = [one.at_ms for one in restarts if one.payload["bounce"] == start.number]
    return (ended[-1] - asked[0]) / SECOND_MS if asked and ended else None
