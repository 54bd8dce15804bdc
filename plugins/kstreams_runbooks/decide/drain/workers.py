"""The running instances of an application, and the report of each, bound to the start that runs now."""

from collections.abc import Callable, Collection, Iterator

from kstreams_runbooks.decide.instances.members import members_of, owner_of
from kstreams_runbooks.model.readings.drain import RunningInstance
from kstreams_runbooks.model.readings.readings import (
    Deployment,
    GroupReading,
    InstanceReading,
    MemberReading,
    Missing,
    StreamsReading,
)
from kstreams_runbooks.model.readings.states import CLIENT_DUE_MS, is_dead, is_down

# How much earlier than by its deployer a JVM may have started: two clocks, and a deployer that polls once a second.
_SLACK_MS = 5_000


def running_instances(
    instances: tuple[InstanceReading, ...],
    group: GroupReading | None,
    tasks: Callable[[Collection[MemberReading]], frozenset[str]],
    at_ms: int,
) -> tuple[RunningInstance, ...]:
    """Every instance not proven to be down: one with a process or a client, or one that may be in the group.

    `group` is None if the brokers do not know it; `tasks` gives the active tasks of members.
    """
    return tuple(_running(one, group, tasks, at_ms) for one in instances if not _down(one, group))


def strange_members(instances: tuple[InstanceReading, ...], group: GroupReading | None) -> Iterator[str]:
    """Members of no declared instance: their tasks are unknown."""
    for member in group.members if group else ():
        if owner_of(member, instances) is None:
            yield (
                f"member {member.client_id} on {member.host} belongs to no declared instance that could be read: "
                "declare it, stop it, or make it answer"
            )


def _down(instance: InstanceReading, group: GroupReading | None) -> bool:
    """No response, and its process is down or, if processes are not visible, the group has no member at all."""
    if isinstance(instance.streams, StreamsReading) or instance.streams.start is not None:
        return False
    deployment = instance.deployment
    if isinstance(deployment, Deployment) and is_down(deployment.process):
        return True
    unseen = isinstance(deployment, Missing) or deployment.process == "unknown"
    return unseen and (group is None or not group.members)


def _running(
    instance: InstanceReading,
    group: GroupReading | None,
    tasks: Callable[[Collection[MemberReading]], frozenset[str]],
    at_ms: int,
) -> RunningInstance:
    streams = instance.streams
    if isinstance(streams, Missing):
        age = None if streams.start is None else at_ms - streams.start.started_at_ms
        return RunningInstance(
            instance.instance, None, None, None, streams.missing, gone=age is not None and age > CLIENT_DUE_MS
        )
    failed = streams.failed_threads
    return RunningInstance(
        instance.instance,
        streams.state,
        None if isinstance(failed, Missing) else failed,
        None if group is None else tasks(members_of(group, instance)),
        _stale(instance.deployment, streams),
        gone=is_dead(streams.state),
    )


def _stale(deployment: Deployment | Missing, streams: StreamsReading) -> str:
    """Why its report is not of the running process; empty if it is, or if the process is not visible."""
    if isinstance(deployment, Missing) or deployment.started_at_ms is None:
        return ""
    if deployment.pid is not None and streams.start.pid is not None:
        other = deployment.pid != streams.start.pid
    else:
        other = streams.start.started_at_ms < deployment.started_at_ms - _SLACK_MS
    return "what it says of itself is of another start than its deployer runs" if other else ""
