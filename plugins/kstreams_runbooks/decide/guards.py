"""What must not have changed between the plan and a write: looked at again right before each one."""

from collections.abc import Iterator

from kstreams_runbooks.decide.members import settings_text, strangers
from kstreams_runbooks.decide.verification import topic_drift
from kstreams_runbooks.model.plan import Plan
from kstreams_runbooks.model.readings import ApplicationReading, Deployment, Missing
from kstreams_runbooks.model.verdicts import Outcome, Verdict


def nothing_drifted(reading: ApplicationReading, plan: Plan, name: str, number: int) -> Verdict:
    """Whether instance `name` may be brought to bounce `number`: the world is still the one that was approved.

    Topics with the ids and partition counts of the plan, the same type of group, no member that nobody declared, and
    every instance on what it ran when the plan was made or on what the plan brings it to: before the last of several
    bounces on nothing else, however long ago all of them were proven.
    """
    if isinstance(reading.topics, Missing):
        return Verdict(Outcome.INCONCLUSIVE, (f"topics of {plan.application}: {reading.topics.missing}",))
    if isinstance(reading.group, Missing):
        return Verdict(Outcome.INCONCLUSIVE, (f"group of {plan.application}: {reading.group.missing}",))
    drift = (*topic_drift(plan, reading), *_group(reading, plan), *_releases(reading, plan, name, number))
    if drift:
        return Verdict(Outcome.REFUSE, drift)
    return Verdict(Outcome.PROCEED, ("topics, group and instances are as planned",))


def _group(reading: ApplicationReading, plan: Plan) -> Iterator[str]:
    group = reading.group
    if isinstance(group, Missing) or not group.members:
        return
    if group.type != plan.facts.group_type:
        yield f"group {group.group_id}: now a {group.type} group (planned {plan.facts.group_type})"
    for member in strangers(reading):
        yield (
            f"group {group.group_id}: member {member.client_id} on {member.host} belongs to no declared instance; "
            "stop it, or declare its instance and trigger a new run"
        )


def _releases(reading: ApplicationReading, plan: Plan, name: str, number: int) -> Iterator[str]:
    """Instances that run neither what they ran when the plan was made nor what it plans; `name` itself may be down."""
    planned = [(bounce.release, dict(bounce.settings)) for bounce in plan.bounces]
    at_start = dict(plan.facts.releases_at_start)
    for instance in reading.instances:
        if isinstance(instance.streams, Missing):
            if instance.instance != name:
                yield f"{instance.instance}: its release cannot be read: {instance.streams.missing}"
            continue
        settings = dict(instance.deployment.settings) if isinstance(instance.deployment, Deployment) else {}
        release = instance.streams.version
        if (release, settings) in planned or (number > 1 and release == plan.bounces[-1].release):
            continue
        if number == 1 and settings.get("upgrade.from", release) == at_start.get(instance.instance):
            continue
        yield (
            f"{instance.instance} runs {release} with {settings_text(settings)} (planned {plan.bounces[-1].release}, "
            f"at the start {at_start.get(instance.instance)}): somebody changed it; look at the results, then trigger "
            "a new run"
        )
