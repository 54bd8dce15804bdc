"""What of a reading is worth a second look: parts that were not answered, and a group that rebalances."""

from collections.abc import Iterator

from kstreams_runbooks.model.readings.readings import (
    ApplicationReading,
    Deployment,
    InstanceReading,
    Lasting,
    Missing,
    NotListening,
    StreamsReading,
)
from kstreams_runbooks.model.readings.states import CLIENT_DUE_MS, is_down, is_moving, is_up

# How readings name what a login may not see (observe/kafka/topic_names.py, groups.py).
_HIDDEN = "not visible to this login"


def missed(reading: ApplicationReading) -> tuple[str, ...]:
    """Why each part is missing that another reading may have; empty if there is none.

    An instance that is down has nothing to answer, nor one that was just started and does not listen yet, nor a JVM
    that lost its client: these are readings, not gaps. A login that is not accepted, and a wrong declaration, stay so.
    Without a topology no partitions are expected. A right that is absent is absent a moment later too, and so is the
    group of an application that is down: a copier that has never run has none.
    """
    runs = any(isinstance(one.deployment, Missing) or not is_down(one.deployment.process) for one in reading.instances)
    parts = (reading.broker, reading.group if runs else None, reading.topics)
    found = [part.missing for part in parts if isinstance(part, Missing)]
    found += [why for one in reading.instances for why in _missed_of(one, reading.taken.at_ms)]
    if isinstance(reading.partitions, Missing) and any(map(_describes, reading.instances)):
        found.append(reading.partitions.missing)
    return tuple(one for one in dict.fromkeys(found) if _HIDDEN not in one)


def moving(reading: ApplicationReading) -> tuple[str, ...]:
    """Why partitions have no settled owner at this moment; empty if they have, or if that is not known."""
    group = reading.group
    if isinstance(group, Missing) or not is_moving(group.state):
        return ()
    return (f"group {group.group_id}: {group.state} (expected Stable)",)


def _missed_of(instance: InstanceReading, at_ms: int) -> Iterator[str]:
    deployment, streams = instance.deployment, instance.streams
    if isinstance(deployment, Lasting) or isinstance(streams, Lasting):
        # Another look at this instance shows the same; what else is missing of it may have that cause.
        return
    if isinstance(deployment, Missing):
        yield f"{instance.instance}: {deployment.missing}"
    elif isinstance(streams, Missing) and streams.start is None and _is_due(deployment, streams, at_ms):
        yield f"{instance.instance}: {streams.missing}"


def _is_due(deployment: Deployment, streams: Missing, at_ms: int) -> bool:
    """Whether the agent of a process should answer; in a roll every process was started a moment ago."""
    started = deployment.started_at_ms
    is_new = started is not None and at_ms - started <= CLIENT_DUE_MS
    return is_up(deployment.process) and not (is_new and isinstance(streams, NotListening))


def _describes(instance: InstanceReading) -> bool:
    return isinstance(instance.streams, StreamsReading) and isinstance(instance.streams.topology, str)
