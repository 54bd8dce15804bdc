"""Facts that must not have changed between the plan and a write: checked again right before each write."""

from collections.abc import Iterator

from kstreams_runbooks.decide.instances.members import settings_text, strangers
from kstreams_runbooks.decide.instances.verification import topic_drift
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing
from kstreams_runbooks.model.runs.own_changes import NO_CHANGES, OwnChanges
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.verdicts import Outcome, Verdict


def nothing_drifted(
    reading: ApplicationReading,
    plan: Plan,
    name: str,
    number: int,
    *,
    leaving: bool = False,
    in_hand: tuple[str, ...] = (),
    brought: tuple[str, ...] = (),
    own: OwnChanges = NO_CHANGES,
) -> Verdict:
    """Whether instance `name` may be brought to bounce `number`: the observed state is still the approved one.

    Topics with the ids and partition counts of the plan, the same type of group, no undeclared member, and every
    instance on what it ran when the plan was made or on what the plan brings it to: once an earlier bounce has taken it
    on, only on the latter, however long ago all of them were proven. With `leaving` a member of no declared instance
    may be a remnant of an instance that died: it is gone after its session timeout. Instances `in_hand` are being
    changed for this plan right now, perhaps manually and in several edits: their own gate checks them. For those
    `brought`, which have passed a gate, their earlier state is drift. `own` changes of topics by the run are none.

    A certain drift refuses, even if other readings failed; without one, a failed reading is inconclusive.
    """
    drift = (
        *(() if isinstance(reading.topics, Missing) else topic_drift(plan, reading, own)),
        *_group(reading, plan, leaving),
        *_instances(reading, plan, number, in_hand, brought),
    )
    if drift:
        return Verdict(Outcome.REFUSE, drift)
    if unread := tuple(_unread(reading, plan, name, in_hand)):
        return Verdict(Outcome.INCONCLUSIVE, unread)
    return Verdict(Outcome.PROCEED, ("topics, group and instances are as planned",))


def _unread(reading: ApplicationReading, plan: Plan, name: str, in_hand: tuple[str, ...]) -> Iterator[str]:
    """Failed readings; the caller that takes instance `name` has read its deployment separately."""
    yield from reading.lacking("topics", "group") if plan.facts.group_type else reading.lacking("topics")
    for one in reading.instances:
        deployment = one.deployment
        if one.instance in in_hand:
            continue
        if isinstance(deployment, Missing):
            if one.instance != name:
                yield f"{one.instance}: {deployment.missing}"
        elif isinstance(deployment.release, Missing):
            yield f"{one.instance}: {deployment.release.missing}"


def _group(reading: ApplicationReading, plan: Plan, leaving: bool) -> Iterator[str]:
    group = reading.group
    if isinstance(group, Missing) or not group.members:
        return
    if not plan.facts.group_type and not plan.bounces:
        yield f"group {group.group_id}: {len(group.members):,} members (planned: out of use, without any); stop them"
        return
    # A copier that the run starts for the first time has no group before.
    if plan.facts.group_type and group.type != plan.facts.group_type:
        yield f"group {group.group_id}: now a {group.type} group (planned {plan.facts.group_type})"
    for member in () if leaving else strangers(reading):
        yield (
            f"group {group.group_id}: member {member.client_id} on {member.host} belongs to no declared instance; "
            "stop it, or declare its instance and trigger a new run"
        )


def _instances(
    reading: ApplicationReading, plan: Plan, number: int, in_hand: tuple[str, ...], brought: tuple[str, ...]
) -> Iterator[str]:
    """Instances that are neither as they were when the plan was made nor as it plans them."""
    at_start = {one.instance: one for one in plan.facts.at_start}
    for instance in reading.instances:
        one, deployment, streams = instance.instance, instance.deployment, instance.streams
        if isinstance(deployment, Missing) or isinstance(deployment.release, Missing) or one in in_hand:
            continue
        bounces = [bounce for bounce in plan.bounces if bounce.takes(one)]
        allowed = [(bounce.target, bounce.version) for bounce in bounces]
        start = at_start.get(one)
        if start is not None and one not in brought and not any(bounce.number < number for bounce in bounces):
            allowed.append((start.target, start.version))
        fitting = [version for target, version in allowed if target == deployment.target]
        # Settings for its next start are not yet in effect: until then it may run any of them.
        running = fitting if deployment.applied is True else [version for _, version in allowed]
        if fitting and (isinstance(streams, Missing) or streams.version in running):
            continue
        runs = deployment.release if isinstance(streams, Missing) else streams.version
        with_ = settings_text(dict(deployment.settings))
        planned = f"planned {plan.bounces[-1].release}" if plan.bounces else "planned as it is"
        yield (
            f"{one} runs {runs} with {with_} ({planned}, at the start {start.release if start else 'not known'}): "
            "it was changed; look at the results, then trigger a new run"
        )
