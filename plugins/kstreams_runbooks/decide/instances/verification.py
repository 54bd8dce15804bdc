"""The final check of a library bump: instances run what was planned, and nothing else has changed."""

from collections.abc import Iterator

from kstreams_runbooks.decide.instances.expected import expected_now
from kstreams_runbooks.decide.instances.gate import restore_troubles, thread_troubles
from kstreams_runbooks.decide.instances.members import every_member_runs, members_of, strays
from kstreams_runbooks.decide.lag import standing_still, total_lag
from kstreams_runbooks.decide.runbooks import CHECK_COMMAND, acknowledge_command
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing, StreamsReading
from kstreams_runbooks.model.runs.own_changes import NO_CHANGES, OwnChanges
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.runs.stages import Bounce
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.wording import first_of


def change_verified(
    before: ApplicationReading,
    earlier: ApplicationReading,
    after: ApplicationReading,
    plan: Plan,
    own: OwnChanges = NO_CHANGES,
) -> Verdict:
    """Whether the bump ended as planned: releases and settings, topics with the ids of the plan, offsets not lower.

    `before` is the reading that the plan was made from; `earlier` was taken a commit interval before `after`: progress
    shows between the two. Lag over its limit waits: traffic has its peaks. `own` changes of the run are expected.
    """
    if missing := tuple(_missing(before, earlier, after)):
        return Verdict(Outcome.INCONCLUSIVE, missing)
    topics = tuple(topic_drift(plan, after, own))
    if changed := (*topics, *_offsets(before, after, own)):
        return Verdict(Outcome.REFUSE, (*changed, _looked_after(plan, accepts=bool(topics))))
    members = every_member_runs(after, plan.bounces[-1:] or tuple(_as_found(plan)))
    if members.outcome is Outcome.REFUSE:
        return Verdict(Outcome.REFUSE, (*members.reasons, *brought_by(plan.bounces[-1:])))
    if members.outcome is not Outcome.PROCEED:
        return members
    if waiting := (*_unwell(after), *_behind(earlier, after, plan)):
        return Verdict(Outcome.WAIT, waiting)
    return Verdict(
        Outcome.PROCEED,
        (
            *members.reasons,
            _judged_lag(after, plan),
            "no topic recreated, no committed offset gone back",
        ),
    )


def _as_found(plan: Plan) -> Iterator[Bounce]:
    """The deployments with which the plan found the instances: it changes none of them."""
    for one in plan.facts.at_start:
        yield Bounce(0, one.release, one.settings, one.version, (one.instance,))


def undo_verified(
    earlier: ApplicationReading, after: ApplicationReading, plan: Plan, own: OwnChanges = NO_CHANGES
) -> Verdict:
    """Whether an undo ended as planned: every instance is where its last stage puts it, and the application works.

    `earlier` was taken a commit interval before `after`: progress shows between the two.
    """
    if missing := tuple(_missing(earlier, after)):
        return Verdict(Outcome.INCONCLUSIVE, missing)
    if changed := tuple(topic_drift(plan, after, own)):
        return Verdict(Outcome.REFUSE, (*changed, _looked_after(plan, accepts=True)))
    for instance in after.instances:
        last = plan.last_of(instance.instance)
        if last is not None and (wrong := strays(instance, (last,))):
            return Verdict(*wrong)
    if waiting := (*_unwell(after), *_behind(earlier, after, plan)):
        return Verdict(Outcome.WAIT, waiting)
    back = "; ".join(
        f"{instance.instance} on {last.deployed}"
        for instance in after.instances
        if (last := plan.last_of(instance.instance)) is not None
    )
    return Verdict(
        Outcome.PROCEED,
        (
            back or "no instance had to go back",
            _judged_lag(after, plan),
        ),
    )


def brought_by(bounces: tuple[Bounce, ...]) -> Iterator[str]:
    """How an instance that does not run the last of these bounces is brought there again, by the run that did it."""
    for bounce in bounces[-1:]:
        yield f"to bring that there again, clear bounce_{bounce.number}_first and what follows it"


def _looked_after(plan: Plan, *, accepts: bool) -> str:
    """What ends a refusal about something that no step of the run can bring back; topics have to be accepted."""
    how = "accept the present topics" if accepts else "judge the application again"
    command = acknowledge_command(plan.application) if accepts else CHECK_COMMAND
    return f"this run cannot prove it any more; once its records are looked after, {how} with `{command}`"


def _missing(*readings: ApplicationReading) -> Iterator[str]:
    for reading in readings:
        yield from reading.lacking("offsets")
        if not isinstance(reading.partitions, Missing):
            yield from total_lag(reading.partitions).unknown
    yield from readings[-1].lacking("topics")


def _behind(earlier: ApplicationReading, after: ApplicationReading, plan: Plan) -> Iterator[str]:
    if isinstance(earlier.partitions, Missing) or isinstance(after.partitions, Missing):
        return
    lag, limit = total_lag(after.partitions).records, plan.limit("max_lag")
    # A copier begins with all that its producers have sent meanwhile.
    if lag > limit and not _copies(after):
        yield f"lag {lag:,} records (limit {limit:,.0f})"
    if stuck := standing_still(earlier.partitions, after.partitions):
        yield f"no progress on {first_of(stuck)}"


def _judged_lag(after: ApplicationReading, plan: Plan) -> str:
    within = "" if _copies(after) else f"lag within {plan.limit('max_lag'):,.0f}, "
    return f"{within}every partition with something to read advances"


def _copies(reading: ApplicationReading) -> bool:
    return any(isinstance(one.streams, StreamsReading) and one.streams.as_deployed for one in reading.instances)


def topic_drift(plan: Plan, after: ApplicationReading, own: OwnChanges = NO_CHANGES) -> Iterator[str]:
    """Topics that are gone, recreated (another id) or have another number of partitions, but by `own` changes."""
    now = {topic.name: topic for topic in after.topics} if not isinstance(after.topics, Missing) else {}
    for expected in expected_now(plan.facts.topics, own):
        yield from expected.drift(now.get(expected.name))


def _unwell(after: ApplicationReading) -> Iterator[str]:
    group = after.group
    if isinstance(group, Missing) or group.state.upper() != "STABLE":
        yield f"group: {group.missing if isinstance(group, Missing) else group.state} (expected Stable)"
        return
    for instance in after.instances:
        streams = instance.streams
        if isinstance(streams, Missing):
            continue
        if streams.state != "RUNNING":
            yield f"{instance.instance}: {streams.state} (expected RUNNING)"
        yield from thread_troubles(streams, instance.instance)
        yield from restore_troubles(streams, instance.instance)
        if not members_of(group, instance):
            yield f"{instance.instance}: no member in group {group.group_id}"


def _offsets(before: ApplicationReading, after: ApplicationReading, own: OwnChanges) -> Iterator[str]:
    changed = {*own.offsets, *(topic.name for topic in own.topics if topic.deleted)}
    then = {p.name: p for p in before.partitions} if not isinstance(before.partitions, Missing) else {}
    for partition in after.partitions if not isinstance(after.partitions, Missing) else ():
        earlier = then.get(partition.name)
        if earlier is None or earlier.committed is None or partition.topic in changed:
            continue
        if partition.committed is None:
            yield f"{partition.name}: committed offset gone ({earlier.committed} in the plan's reading)"
        elif partition.committed < earlier.committed:
            yield f"{partition.name}: committed went back from {earlier.committed} to {partition.committed}"
