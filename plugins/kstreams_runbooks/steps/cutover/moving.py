"""How a downstream group moves: down at the seam of the old outputs, and up at that of the new ones.

The old side is down meanwhile: what a group has read to the end of its outputs stays read. A group that a person moves
has a deadline, after which what it goes on from may be gone.
"""

from typing import Any, Final

from kstreams_runbooks.decide.drain.marks import read_up_to
from kstreams_runbooks.decide.drain.move_until import may_still_move
from kstreams_runbooks.decide.drain.seam import read_to_seam
from kstreams_runbooks.decide.instances.members import group_is_empty
from kstreams_runbooks.errors import Refused
from kstreams_runbooks.model.readings.cutover import SeamReading
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.sides import NotedEnd, NotedEnds
from kstreams_runbooks.model.readings.states import is_down
from kstreams_runbooks.model.runs.object_stages import SetOffsets
from kstreams_runbooks.model.runs.stages import Stage, StartAll, StopAll
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.steps.approval.authorize import authorize
from kstreams_runbooks.steps.cutover.rest import APPROVAL, noted_seam, require_at_seam, start_down
from kstreams_runbooks.steps.inputs.tasks import take_each
from kstreams_runbooks.steps.instances.together import stop_all
from kstreams_runbooks.steps.plan.flushed import begun_starts
from kstreams_runbooks.steps.run.poll import Pace, poll
from kstreams_runbooks.steps.run.run import Run, now_ms
from kstreams_runbooks.steps.stages.moved import MovedGroup, moved_group, note_no_member, require_seeds, wait_joined
from kstreams_runbooks.steps.stages.order import is_complete, keep_complete, require_earlier
from kstreams_runbooks.steps.stages.perform import guard_stage
from kstreams_runbooks.steps.stages.task import make
from kstreams_runbooks.watch.kept_for import read_kept_for
from kstreams_runbooks.watch.seam import GroupAtSeam

# A group that was stopped before it had committed all of it reads on, and is stopped again.
_STOPS: Final = 3
_LOOK_EVERY_S: Final = 0.5


def move_group(run: Run, side: Run, stages: tuple[Stage, ...]) -> None:
    """One group down at the seam of the old outputs, and up at that of the new ones.

    Refused if it cannot, and for a group that a person moves once its deadline has passed.
    """
    stop, seed, start = stages
    if not (isinstance(stop, StopAll) and isinstance(seed, SetOffsets) and isinstance(start, StartAll)):
        raise Refused(f"plan {run.whole_plan().digest}: {side.record.application} has other stages; look at the plan")
    old, of = tuple(topic for _, topic in seed.pairs), moved_group(run.key, run.whole_plan(), stop.side)
    if side.deployer.abilities.act:
        _move_now(run, side, old, of, (stop, seed, start))
        return
    until = _require_in_time(run, side, of, old)
    try:
        _move_now(run, side, old, of, (stop, seed, start))
    except Refused as error:
        raise Refused("; ".join(filter(None, (str(error), until)))) from error


def _require_in_time(run: Run, side: Run, of: MovedGroup, old: tuple[str, ...]) -> str:
    """Until when a person may move a group, in words; Refused once that is over and it has not started.

    Empty for a group that has started on its new topics: `prove_moved` judges the time for which it had no member.
    """
    if of.start.number in begun_starts(side, side.ledger.run(side.key)) and not _all_down(side):
        return ""
    with run.reader() as reader:
        kept = read_kept_for(reader, {*old, *of.seed.topics})
    at = {"seam_at_ms": noted_seam(run).at_ms, "now_ms": now_ms()}
    verdict = side.decide(may_still_move, entry=side.record.application, **at, kept=kept)
    side.demand(verdict)
    return str(verdict.text)


def _move_now(
    run: Run, side: Run, old: tuple[str, ...], of: MovedGroup, stages: tuple[StopAll, SetOffsets, StartAll]
) -> None:
    stop, seed, start = stages
    group = GroupAtSeam(side.application, run.kafka, _of(noted_seam(run), old))
    if not is_complete(side, stop):
        require_at_seam(run, old)
        _stop_at_seam(side, stop, of, group)
    if not is_complete(side, seed):
        require_at_seam(run, old)
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
