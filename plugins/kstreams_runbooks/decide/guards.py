"""What must not have changed between the plan and a write: looked at again right before each one."""

from collections.abc import Iterator

from kstreams_runbooks.decide.members import strangers
from kstreams_runbooks.decide.verification import topic_drift
from kstreams_runbooks.model.plan import Plan
from kstreams_runbooks.model.readings import ApplicationReading, Missing
from kstreams_runbooks.model.verdicts import Outcome, Verdict


def nothing_drifted(reading: ApplicationReading, plan: Plan, name: str, number: int) -> Verdict:
    """Whether instance `name` may be brought to bounce `number`: the world is still the one that was approved.

    Topics with the ids and partition counts of the plan, the same type of group, no member that nobody declared; and
    before the last of several bounces no other instance on another release, however long ago all of them were proven.
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
    if number == 1:
        return
    planned = {bounce.release for bounce in plan.bounces}
    for instance in reading.instances:
        if isinstance(instance.streams, Missing):
            if instance.instance != name:
                yield f"{instance.instance}: its release cannot be read: {instance.streams.missing}"
        elif instance.streams.version not in planned:
            yield (
                f"{instance.instance} runs {instance.streams.version} (planned {plan.bounces[-1].release}): bounce "
                f"{number} would write what it cannot read"
            )
