"""The parts of a reading that were not answered although they should have been: worth a second look."""

from collections.abc import Iterator

from kstreams_runbooks.model.readings.readings import (
    ApplicationReading,
    Deployment,
    InstanceReading,
    Missing,
    StreamsReading,
)
from kstreams_runbooks.model.readings.states import CLIENT_DUE_MS, is_up


def missed(reading: ApplicationReading) -> tuple[str, ...]:
    """Why each part is missing that another reading may have; empty if there is none.

    An instance that is down, or has just been started, has nothing to answer, and neither has a JVM that lost its
    client: these are readings, not gaps. Without a topology no partitions are expected.
    """
    parts = (reading.broker, reading.group, reading.topics)
    found = [part.missing for part in parts if isinstance(part, Missing)]
    found += [why for one in reading.instances for why in _missed_of(one, reading.taken.at_ms)]
    if isinstance(reading.partitions, Missing) and any(map(_describes, reading.instances)):
        found.append(reading.partitions.missing)
    return tuple(dict.fromkeys(found))


def _missed_of(instance: InstanceReading, at_ms: int) -> Iterator[str]:
    deployment, streams = instance.deployment, instance.streams
    if isinstance(deployment, Missing):
        yield f"{instance.instance}: {deployment.missing}"
    elif isinstance(streams, Missing) and streams.start is None and _is_due(deployment, at_ms):
        yield f"{instance.instance}: {streams.missing}"


def _is_due(deployment: Deployment, at_ms: int) -> bool:
    """Whether a process runs for long enough that its agent should answer."""
    started = deployment.started_at_ms
    return is_up(deployment.process) and (started is None or at_ms - started > CLIENT_DUE_MS)


def _describes(instance: InstanceReading) -> bool:
    return isinstance(instance.streams, StreamsReading) and isinstance(instance.streams.topology, str)
