"""A reading in a person's words."""

from kstreams_runbooks.model.readings import ApplicationReading, Deployment, Missing


def described(reading: ApplicationReading) -> list[str]:
    """One line per thing that was read."""
    lines = []
    for instance in reading.instances:
        streams, deployment = instance.streams, instance.deployment
        runs = streams.missing if isinstance(streams, Missing) else f"{streams.state} on {streams.version}"
        declared = deployment.missing if isinstance(deployment, Missing) else _declared(deployment)
        lines.append(f"{instance.instance}: {runs}, {declared}")
    group = reading.group
    lines.append(
        f"group: {group.missing}"
        if isinstance(group, Missing)
        else f"group {group.group_id}: {group.type}, {group.state}, {len(group.members)} members"
    )
    broker = reading.broker
    lines.append(f"broker: {broker.missing}" if isinstance(broker, Missing) else f"broker {broker.version}")
    return lines


def _declared(deployment: Deployment) -> str:
    release = deployment.release
    return f"no release declared ({release.missing})" if isinstance(release, Missing) else f"declared {release}"
