"""The tasks that start green once everything of it is prepared, take it away, and prove either."""

from dataclasses import replace
from typing import TypeVar

from kstreams_runbooks.decide.drain.copied import offsets_unmoved
from kstreams_runbooks.decide.instances.left_down import left_down
from kstreams_runbooks.decide.plans.greenable import may_cancel_green
from kstreams_runbooks.decide.reset.retire import retirement_verified
from kstreams_runbooks.ledger.codec import decode
from kstreams_runbooks.model.readings.green import GreenRemains
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.runs.object_stages import DeleteGroups, DeleteTopics, SetOffsets
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.runs.stages import Stage, StartAll, StopAll
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.observe.kafka.saved_offsets import read_saved
from kstreams_runbooks.steps.green.caught_up import committed_by_run, inputs_of
from kstreams_runbooks.steps.green.plan import remains_now
from kstreams_runbooks.steps.inputs.tasks import take_each
from kstreams_runbooks.steps.instances.together import has_started
from kstreams_runbooks.steps.plan.looking import prove_side, rehearsed
from kstreams_runbooks.steps.plan.plan import planned_from
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.run.step import step, write
from kstreams_runbooks.steps.stages.order import is_complete
from kstreams_runbooks.steps.stages.read_since import keep_read_since
from kstreams_runbooks.watch.green import output_users

_Kind = TypeVar("_Kind")
_NOT_NEEDED = "not needed: the plan has no such stage"


@write("commits the offsets at which the application begins, and a copier in front of it alone")
def set_offsets(run: Run) -> None:
    """Each group begins at the beginning of its inputs."""
    stages = _of_kind(run.whole_plan(), SetOffsets)
    if not stages:
        run.say(_NOT_NEEDED)
    take_each(run, stages)


@write("proves that no instance runs, or stops every instance")
def stop_application(run: Run) -> None:
    """No instance of green runs, and its group is EMPTY: before its first start, and before it is taken away."""
    stages = _of_kind(run.whole_plan(), StopAll)
    if not stages:
        run.say(_NOT_NEEDED)
        return
    if not run.dry_run and not is_complete(run, stages[0]) and stages[0].stays:
        require_unused(run)
    take_each(run, stages)


@write("starts every instance at once")
def start_application(run: Run) -> None:
    """All instances up; each partition of each input has the offset that this run has committed.

    First the copier in front of it alone: if that does not start, everything can still be taken back.
    """
    stages = _of_kind(run.whole_plan(), StartAll)
    if not stages:
        run.say(_NOT_NEEDED)
    for start in stages:
        side = run.side(start.side)
        if not run.dry_run and not is_complete(run, start) and not has_started(side, start.bounce):
            _require_unmoved(side)
        take_each(run, [start])


@write("deletes the group of the application")
def delete_groups(run: Run) -> None:
    """The group of green with all its offsets, while it is EMPTY."""
    _deleted(run, _of_kind(run.whole_plan(), DeleteGroups))


@write("deletes the topics of the application")
def delete_topics(run: Run) -> None:
    """Exactly the planned topics of green, by id, while nothing else uses one of them."""
    _deleted(run, _of_kind(run.whole_plan(), DeleteTopics))


def _deleted(run: Run, stages: tuple[Stage, ...]) -> None:
    if not stages:
        run.say(_NOT_NEEDED)
        return
    if not run.dry_run and not all(is_complete(run, one) for one in stages):
        require_unused(run)
    take_each(run, stages)


def require_unused(run: Run) -> None:
    """Refused or Inconclusive if something uses by now what is deleted: the approval may have waited for hours."""
    planned = run.verdicts(may_cancel_green.__name__)[0]
    shown: GreenRemains = decode(GreenRemains, planned.payload["inputs"]["remains"])
    now = remains_now(run)
    # What this run has deleted is gone; nothing else may have come.
    run.demand(run.decide(may_cancel_green, remains=replace(now, topics=shown.topics, stays=shown.stays)))


def _require_unmoved(run: Run) -> None:
    """Refused unless the group has the offsets that this run has committed, on every partition."""
    with run.reader() as reader:
        now = read_saved(reader, run.application.application_id, say=run.say)
    run.demand(run.decide(offsets_unmoved, expected=committed_by_run(run), now=now))


@step("compares what runs now with the plan; changes nothing")
def verify(run: Run) -> None:
    """Green works and nothing uses its outputs yet, or nothing of it is left."""
    if run.dry_run:
        rehearsed(run)
    elif _of_kind(run.whole_plan(), StartAll):
        for user in output_users(run.application, run.kafka, sorted(run.application.green_outputs)):
            run.warn(f"{user} (expected: nothing reads it before the cutover)")
        for side in run.sides:
            # It had read nothing before this run.
            prove_side(side, replace(planned_from(side), partitions=()))
        inputs = inputs_of(run.whole_plan())
        keep_read_since(run, {one.place: one.offset for one in committed_by_run(run) if one.topic in inputs})
        run.say(f"{', '.join(inputs)}: read to the end but for {run.limit('max_lag'):,.0f} records")
    else:
        for side in run.sides:
            _prove_gone(side)


def _prove_gone(run: Run) -> None:
    """Every instance of a side is down, and what this run has deleted of it has stayed gone."""
    plan = run.plan()
    target = plan.facts.at_start[0].target
    run.demand(run.decide(left_down, reading=run.read(describes=False), target=target))
    names = {name for one in _of_kind(plan, DeleteTopics) for name in one.topics}
    groups = tuple(name for one in _of_kind(plan, DeleteGroups) for name in one.groups)
    with run.reader() as reader:
        seen = reader.topics(sorted(names)) if names else ()
        every, listed = reader.lists_every_group(), tuple(name for name, *_ in reader.groups())
    hidden = Missing("whether the group still exists is not visible to this login; grant it Describe on Cluster")
    verdict = run.decide(
        retirement_verified,
        deleted={name: topic_id for name, topic_id, _ in plan.facts.topics if name in names},
        groups=groups,
        seen=seen,
        listed=listed if every is True else hidden,
    )
    if verdict.outcome is Outcome.PROCEED and not names and not groups:
        run.say("it had neither topics nor a group")
    run.demand(verdict)


def _of_kind(plan: Plan, kind: type[_Kind]) -> tuple[_Kind, ...]:
    return tuple(one for one in plan.stages if isinstance(one, kind))
