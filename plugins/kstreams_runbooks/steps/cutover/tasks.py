"""The tasks of a cutover: the comparison at the point, the seam, the comparison there, and the groups that move.

While the old side is down no person is asked, and a failure leaves one side that serves: before `resume_inputs` the old
one, which the undo starts again; afterwards the new one.
"""

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

from kstreams_runbooks.decide.drain.certificate import certified
from kstreams_runbooks.decide.drain.marks import read_up_to
from kstreams_runbooks.decide.drain.seam import read_to_seam, still_at_seam
from kstreams_runbooks.decide.instances.members import group_is_empty
from kstreams_runbooks.decide.outputs.sides import sides_are_equal
from kstreams_runbooks.decide.plans.cutover import COPIER, after_unequal, back_command, stood_text
from kstreams_runbooks.decide.runs.approval import Asking
from kstreams_runbooks.errors import Inconclusive, Refused, RunbookError
from kstreams_runbooks.ledger.codec import decode
from kstreams_runbooks.model.readings.cutover import DownstreamReading, SeamReading
from kstreams_runbooks.model.readings.drain import DrainQuestion, Pause
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.sides import NotedEnd, NotedEnds
from kstreams_runbooks.model.readings.states import is_down
from kstreams_runbooks.model.runs.object_stages import SetOffsets
from kstreams_runbooks.model.runs.stages import Stage, StartAll, StopAll
from kstreams_runbooks.model.times import SECOND_MS
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.steps.approval.approve import ApprovePlan
from kstreams_runbooks.steps.approval.asking import answer_fields
from kstreams_runbooks.steps.approval.authorize import authorize
from kstreams_runbooks.steps.cutover.compare import CompareSides, SidesAsked, require_compared
from kstreams_runbooks.steps.cutover.history import side_history, way_back_text
from kstreams_runbooks.steps.cutover.plan import pairs_at_plan, require_readers, seen_at_plan
from kstreams_runbooks.steps.cutover.rest import (
    APPROVAL,
    at_rest,
    given_up_otherwise,
    moves_begun,
    moving_roles,
    point_of,
    require_not_given_up,
    start_down,
)
from kstreams_runbooks.steps.inputs.tasks import pause, require_held, resume, switching, take_each
from kstreams_runbooks.steps.instances.together import start_all, stop_all
from kstreams_runbooks.steps.plan.looking import prove_side, rehearsed
from kstreams_runbooks.steps.plan.plan import planned_from
from kstreams_runbooks.steps.run.poll import Pace, poll
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.run.step import step, write
from kstreams_runbooks.steps.stages.moved import (
    MovedGroup,
    moved_group,
    note_no_member,
    prove_moved,
    require_seeds,
    wait_joined,
)
from kstreams_runbooks.steps.stages.order import flows, is_complete, keep_complete, require_earlier
from kstreams_runbooks.steps.stages.perform import guard_stage
from kstreams_runbooks.steps.stages.read_since import keep_read_since
from kstreams_runbooks.steps.stages.seam import inputs_at_seam, keep_seam, seam_of
from kstreams_runbooks.steps.stages.task import make
from kstreams_runbooks.watch.seam import GroupAtSeam
from kstreams_runbooks.watch.sides import note_ends

_COMPARED, _APPROVED, _AT_SEAM = "compare_outputs", "approve_cutover", "compare_at_seam"
_OLD_AGAIN = "old side again"
# A downstream group that was stopped before it had committed all of it reads on, and is stopped again.
_STOPS = 3
_LOOK_EVERY_S = 0.5


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
    return _asked(run, _seam(run))


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
            _require_at_seam(run)
        take_each(run, hold.stops)
        if not run.dry_run and not flows(run, hold):
            _require_at_seam(run)


@write("lets the inputs flow again")
def resume_inputs(run: Run) -> None:
    """The copier runs; from here on only the new side writes."""
    hold = switching(run)
    require_not_given_up(run, hold)
    with given_up_otherwise(run, hold):
        if not run.dry_run and not flows(run, hold):
            require_earlier(run, hold.resuming[0])
            _require_at_seam(run)
        resume(run, hold)


def _require_at_seam(run: Run, topics: tuple[str, ...] = ()) -> None:
    """Refused if an output has got a record since the seam; of all, or of these topics."""
    seam = _seam(run)
    noted = replace(seam, ends=tuple(one for one in seam.ends if not topics or one.topic in topics))
    with run.reader() as reader:
        now = note_ends(reader, tuple(dict.fromkeys(one.topic for one in noted.ends)))
    run.demand(run.decide(still_at_seam, noted=noted, now=now))


def _seam(run: Run) -> NotedEnds:
    if (seam := seam_of(run)) is None:
        raise Refused("this run has not noted a seam: clear certify and what follows it")
    return seam


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
        _move(run, run.side(role), stages)


def _move(run: Run, side: Run, stages: tuple[Stage, ...]) -> None:
    stop, seed, start = stages
    if not (isinstance(stop, StopAll) and isinstance(seed, SetOffsets) and isinstance(start, StartAll)):
        raise Refused(f"plan {run.whole_plan().digest}: {side.record.application} has other stages; look at the plan")
    old, of = tuple(topic for _, topic in seed.pairs), moved_group(run.key, run.whole_plan(), stop.side)
    group = GroupAtSeam(side.application, run.kafka, _of(_seam(run), old))
    if not is_complete(side, stop):
        _require_at_seam(run, old)
        _stop_at_seam(side, stop, of, group)
    if not is_complete(side, seed):
        _require_at_seam(run, old)
        _require_read(side, group)
    make(side, seed)
    # Brokers forget the offsets of a group without members: nothing may begin by auto.offset.reset.
    require_seeds(side, of)
    take_each(run, (start,))
    wait_joined(side, of)


def _of(seam: NotedEnds, topics: tuple[str, ...]) -> tuple[NotedEnd, ...]:
    return tuple(one for one in seam.ends if one.topic in topics)


def _stop_at_seam(side: Run, stop: StopAll, of: MovedGroup, group: GroupAtSeam) -> None:
    """Every instance of a group down, with nothing left of the old outputs.

    The old side is down: what is read to its end stays read. A group that ends with an aborted transaction has read
    more than it has committed: it is started as it was, and stopped again.
    """
    require_earlier(side, stop)
    for left in reversed(range(_STOPS)):
        if not _all_down(side):
            _wait_read(side, group)
        authorize(side, APPROVAL, (), stage=stop.number, going_on=True)
        guard_stage(side, stop, others=True)
        if not _all_down(side):
            note_no_member(side, of)
        stop_all(side, of.start.bounce)
        verdict = _read(side, group)
        if verdict.outcome is Outcome.PROCEED:
            keep_complete(side, stop)
            return
        if verdict.outcome is Outcome.WAIT and left:
            side.say(f"{verdict.text}; started as it was, to read it")
            start_down(side)
            continue
        _demand_read(side, verdict)


def _all_down(side: Run) -> bool:
    deployments = [one.deployment for one in side.read(describes=False).instances]
    return all(not isinstance(one, Missing) and is_down(one.process) for one in deployments)


def _wait_read(side: Run, group: GroupAtSeam) -> None:
    """Return once a group that runs has committed the old outputs up to the seam, by records."""

    def look() -> tuple[Any, Verdict]:
        rows = group.rows()
        return rows, read_up_to(rows, group.marks, side.record.application)

    pace = Pace(_LOOK_EVERY_S, side.limit("gate_ceiling_s"))
    rows = poll(side, pace, look, lambda verdict: verdict.outcome is Outcome.PROCEED)
    verdict = side.decide(read_up_to, partitions=rows, marks=group.marks, application=side.record.application)
    _demand_read(side, verdict)


def _read(side: Run, group: GroupAtSeam) -> Verdict:
    """The verdict on a group that is down, once none of its transactions is open."""
    seen: list[SeamReading] = []

    def look() -> tuple[SeamReading, Verdict]:
        seen[:] = [group.reading()]
        return seen[0], read_to_seam(seen[0], group.noted)

    def is_over(verdict: Verdict) -> bool:
        # A member and a transaction end by themselves; a record that is left is not read while it is down.
        [last] = seen
        empty = group_is_empty(last.group, last.group_id).outcome is Outcome.PROCEED
        return verdict.outcome is not Outcome.INCONCLUSIVE and empty and not last.open

    reading = poll(side, Pace(_LOOK_EVERY_S, side.limit("gate_ceiling_s")), look, is_over)
    return side.decide(read_to_seam, reading=reading, noted=group.noted)


def _require_read(side: Run, group: GroupAtSeam) -> None:
    _demand_read(side, _read(side, group))


def _demand_read(side: Run, verdict: Verdict) -> None:
    if verdict.outcome is Outcome.WAIT:
        raise Refused(
            f"{verdict.text} (expected: nothing left before the seam); find out what keeps {side.record.application}, "
            f"then clear {side.task_id}"
        )
    side.demand(verdict)


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
