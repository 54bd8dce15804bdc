"""Whether a person has deployed the requested state: by the settings, and by a start that is not the old one."""

from collections.abc import Iterator

from kstreams_runbooks.decide.instances.members import settings_text
from kstreams_runbooks.model.readings.readings import (
    ApplicationReading,
    Deployment,
    GroupReading,
    InstanceReading,
    MemberReading,
    Missing,
    StreamsReading,
)
from kstreams_runbooks.model.readings.states import is_down
from kstreams_runbooks.model.runs.gate import Awaited
from kstreams_runbooks.model.verdicts import Outcome, Verdict


def deployed(reading: ApplicationReading, awaited: Awaited) -> Verdict:
    """Proceed once release and settings are as requested and in effect in a new start; a gate judges its health.

    Waits for any remaining action of the person, and names it; inconclusive if it cannot be read.
    """
    instance = reading.instance(awaited.instance)
    if isinstance(instance, Missing):
        return Verdict(Outcome.INCONCLUSIVE, (instance.missing,))
    deployment = instance.deployment
    if isinstance(deployment, Missing):
        return Verdict(Outcome.INCONCLUSIVE, (f"{awaited.instance}: {deployment.missing}",))
    if left := (*_set(deployment, awaited), *_running(instance, deployment, awaited)):
        return Verdict(Outcome.WAIT, left)
    if missing := tuple(part.missing for part in (deployment.release, deployment.applied) if isinstance(part, Missing)):
        return Verdict(Outcome.INCONCLUSIVE, tuple(f"{awaited.instance}: {why}" for why in missing))
    return Verdict(Outcome.PROCEED, (f"{awaited.instance} is deployed as asked: {awaited.bounce.sentence}",))


def old_start_gone(reading: ApplicationReading, awaited: Awaited) -> bool:
    """Whether the process from the time of the request is certainly gone: reported down, or replaced by another one.

    A refused connection proves nothing: an agent may be away while its application still works.
    """
    instance = reading.instance(awaited.instance)
    if isinstance(instance, Missing):
        return False
    deployment, start = instance.deployment, instance.streams.start
    if isinstance(deployment, Deployment) and is_down(deployment.process) and deployment.pid is None:
        return True
    return start is not None and awaited.previous is not None and start != awaited.previous


def left_in_group(reading: ApplicationReading, awaited: Awaited) -> tuple[MemberReading, ...]:
    """Members of the old start that are still in the group."""
    if isinstance(reading.group, Missing):
        return ()
    group: GroupReading = reading.group
    there = {member.member_id for member in group.members}
    return tuple(member for member in awaited.members if member.member_id in there)


def _set(deployment: Deployment, awaited: Awaited) -> Iterator[str]:
    """Settings that differ from the request."""
    target, wanted = deployment.target, awaited.bounce.target
    if not isinstance(target, Missing) and target != wanted:
        yield (
            f"{awaited.instance} is set to {target.release} with {settings_text(dict(target.settings))} (asked for: "
            f"{wanted.release} with {settings_text(dict(wanted.settings))})"
        )


def _running(instance: InstanceReading, deployment: Deployment, awaited: Awaited) -> Iterator[str]:
    """Why the running state is not the requested one yet."""
    streams, name = instance.streams, awaited.instance
    if is_down(deployment.process):
        yield f"{instance.down}; asked for: running{instance.log_end}"
    elif deployment.process == "unknown":
        yield f"{name}: the instances command does not know its process (asked for: running)"
    elif deployment.applied is False:
        yield f"{name} was started before it was set (asked for: a restart)"
    elif streams.start is None:
        yield f"{name}: {streams.missing if isinstance(streams, Missing) else 'its start cannot be read'}"
    elif streams.start == awaited.previous:
        yield f"{name}: still the start from before (asked for: a restart)"
    elif isinstance(streams, StreamsReading) and streams.version != awaited.bounce.version:
        yield f"{name} runs {streams.version} (asked for: {awaited.bounce.version})"
