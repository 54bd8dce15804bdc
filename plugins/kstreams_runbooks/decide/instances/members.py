"""Membership of the group: every member belongs to a declared instance, and every instance runs what it should."""

import re

from kstreams_runbooks.model.readings.readings import (
    ApplicationReading,
    GroupReading,
    InstanceReading,
    MemberReading,
    Missing,
    StreamsReading,
)
from kstreams_runbooks.model.readings.states import is_empty
from kstreams_runbooks.model.runs.stages import Bounce
from kstreams_runbooks.model.verdicts import Outcome, Verdict


def members_of(group: GroupReading, instance: InstanceReading) -> tuple[MemberReading, ...]:
    """Members that one instance has in the group.

    A thread's consumer is named `<client id>-StreamThread-<n>-consumer` (Kafka Streams docs, "client.id"); all of that
    keeps `orders-1` from claiming the threads of `orders-10` and of `orders-1-canary`. A static member is also known by
    its `<group.instance.id>-<n>`: the coordinator keeps showing the client id that it first joined with, and a Streams
    client whose state directory was cleared has another one (tests/long/test_undo.py).

    A copier's consumer has the declared client.id, alone or followed by `-` and more; without a declared one every
    member of its group is its own.
    """
    return tuple(member for member in group.members if _belongs(member, instance))


def _belongs(member: MemberReading, instance: InstanceReading) -> bool:
    streams, static = instance.streams, instance.group_instance_id
    if isinstance(streams, StreamsReading) and streams.as_deployed:
        return _copies(member, streams.client_id, static)
    if static and member.instance_id and re.fullmatch(rf"{re.escape(static)}-\d+", member.instance_id):
        return True
    if not isinstance(streams, StreamsReading):
        return False
    return re.match(rf"{re.escape(streams.client_id)}-StreamThread-\d+(-|$)", member.client_id) is not None


def _copies(member: MemberReading, client_id: str, static: str) -> bool:
    if static and member.instance_id == static:
        return True
    return not client_id or member.client_id == client_id or member.client_id.startswith(f"{client_id}-")


def owner_of(member: MemberReading, instances: tuple[InstanceReading, ...]) -> InstanceReading | None:
    """The declared instance that the member belongs to, None for an undeclared member."""
    return next((instance for instance in instances if _belongs(member, instance)), None)


def strangers(reading: ApplicationReading) -> tuple[MemberReading, ...]:
    """Members of no declared instance; empty while an instance cannot be read, because they may be its own."""
    return () if _any_is_silent(reading) else _unowned(reading)


def unclaimed(reading: ApplicationReading) -> tuple[MemberReading, ...]:
    """Members that an instance which cannot be read may own, or no declared one: that is not known until it answers."""
    return _unowned(reading) if _any_is_silent(reading) else ()


def _any_is_silent(reading: ApplicationReading) -> bool:
    return any(isinstance(one.streams, Missing) for one in reading.instances)


def _unowned(reading: ApplicationReading) -> tuple[MemberReading, ...]:
    members = reading.group.members if isinstance(reading.group, GroupReading) else ()
    return tuple(member for member in members if owner_of(member, reading.instances) is None)


def every_member_runs(reading: ApplicationReading, bounces: tuple[Bounce, ...]) -> Verdict:
    """Every member of the group, declared or not, runs the release and the settings of one of `bounces`.

    A member whose release cannot be read is inconclusive: it may be the one that still writes the old format.
    """
    group = reading.group
    if isinstance(group, Missing):
        return Verdict(Outcome.INCONCLUSIVE, reading.lacking("group"))
    if not group.members:
        return Verdict(Outcome.INCONCLUSIVE, (f"group {group.group_id} has no members: nothing proves what runs",))
    wrong = [stray for instance in reading.instances if (stray := strays(instance, bounces))]
    refused = tuple(reason for outcome, (reason,) in wrong if outcome is Outcome.REFUSE)
    unread = [reason for outcome, (reason,) in wrong if outcome is Outcome.INCONCLUSIVE]
    unread += [
        f"member {member.client_id} on {member.host} belongs to no declared instance that could be read: its release "
        "is unknown; declare the instance or stop it"
        for member in group.members
        if owner_of(member, reading.instances) is None
    ]
    if refused:
        return Verdict(Outcome.REFUSE, refused + tuple(unread))
    if unread:
        return Verdict(Outcome.INCONCLUSIVE, tuple(unread))
    who = f"all {len(group.members)} members of {group.group_id}"
    return Verdict(Outcome.PROCEED, (f"{who} run {bounces[-1].release}, on {len(reading.instances)} instances",))


def strays(instance: InstanceReading, bounces: tuple[Bounce, ...]) -> tuple[Outcome, tuple[str]] | None:
    """Why an instance is on none of `bounces`, or why that is unknown; None if it is on one."""
    name, streams, deployment = instance.instance, instance.streams, instance.deployment
    if isinstance(streams, Missing):
        return Outcome.INCONCLUSIVE, (instance.silent,)
    if isinstance(deployment, Missing):
        return Outcome.INCONCLUSIVE, (f"{name}: {deployment.missing}",)
    if streams.version not in {bounce.version for bounce in bounces}:
        return Outcome.REFUSE, (f"{name} runs {streams.version} (planned {bounces[-1].version})",)
    for part in (deployment.release, deployment.applied):
        if isinstance(part, Missing):
            return Outcome.INCONCLUSIVE, (f"{name}: {part.missing}",)
    if deployment.release not in {bounce.release for bounce in bounces}:
        return Outcome.REFUSE, (f"{name} is deployed as {deployment.release} (planned {bounces[-1].release})",)
    if not deployment.applied:
        return Outcome.REFUSE, (f"{name} was started before its settings were last written: restart it",)
    if dict(deployment.settings) not in [dict(bounce.settings) for bounce in bounces]:
        planned = " or ".join(settings_text(dict(bounce.settings)) for bounce in bounces)
        return Outcome.REFUSE, (f"{name} has {settings_text(dict(deployment.settings))} (planned {planned})",)
    return None


def settings_text(settings: dict[str, str]) -> str:
    """Settings of a runbook for a person."""
    return ", ".join(f"{key}={value}" for key, value in sorted(settings.items())) or "no setting of a runbook"


def group_is_empty(group: GroupReading | Missing, group_id: str) -> Verdict:
    """Proceed if the coordinator reports that the group has no member.

    A static member that comes back within its session timeout gets its old assignment, even if its topology demands
    another one now (KIP-345); a classic application leaves its members behind when it stops.
    """
    if isinstance(group, Missing):
        return Verdict(Outcome.INCONCLUSIVE, (f"group {group_id}: {group.missing}",))
    if group.members or not is_empty(group.state):
        clients = ", ".join(sorted(member.client_id for member in group.members)[:3]) or "none listed"
        return Verdict(
            Outcome.WAIT, (f"group {group_id}: {group.state}, {len(group.members)} members (limit 0): {clients}",)
        )
    return Verdict(Outcome.PROCEED, (f"group {group_id} is {group.state}: no member is left",))
