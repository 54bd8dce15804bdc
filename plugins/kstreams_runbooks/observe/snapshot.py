"""Everything of an application that a dry run must not change: equal worlds give equal bytes."""

from pathlib import Path
from typing import Any, Protocol

from kstreams_runbooks.deployers.protocol import Deployer
from kstreams_runbooks.model.readings import ApplicationReading, Deployment, InstanceReading, Missing, StreamsReading
from kstreams_runbooks.observe.application import ObservedApplication, read_application
from kstreams_runbooks.observe.cluster import ClusterReader


class _Stateful(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def state_dir(self) -> Path | str | None: ...


def snapshot(
    application: ObservedApplication, reader: ClusterReader, deployer: Deployer, *, quiesced: bool
) -> dict[str, Any]:
    """Topic ids and configs, process starts and releases, task directories and stores.

    With `quiesced` the committed offsets too: with traffic they move by themselves. What cannot be read stands there
    as `{"missing": why}`. Unreachable where no broker answers.
    """
    reading = read_application(application, reader, deployer)
    document: dict[str, Any] = {
        "application": application.name,
        "cluster": application.cluster,
        "topics": _topics(reading, reader),
        "instances": {instance.instance: _instance(instance) for instance in reading.instances},
        "local_state": {
            instance.name: _local_state(instance, application.application_id)  # type: ignore[arg-type]
            for instance in application.deployer.instances
        },
    }
    if quiesced:
        document["committed"] = _committed(reading)
    return document


def _topics(reading: ApplicationReading, reader: ClusterReader) -> Any:
    if isinstance(reading.topics, Missing):
        return {"missing": reading.topics.missing}
    topics = reader.topics([topic.name for topic in reading.topics], configs=True)
    return {
        topic.name: {"id": topic.topic_id, "partitions": topic.partitions, "configs": dict(topic.configs)}
        for topic in topics
    }


def _instance(instance: InstanceReading) -> dict[str, Any]:
    deployment, streams = instance.deployment, instance.streams
    declared: dict[str, Any]
    if isinstance(deployment, Deployment):
        declared = {
            "process": deployment.process,
            "pid": deployment.pid,
            "started_at_ms": deployment.started_at_ms,
            "release": deployment.release if isinstance(deployment.release, str) else None,
            "settings": dict(deployment.settings),
        }
    else:
        declared = {"missing": deployment.missing}
    runs: dict[str, Any]
    if isinstance(streams, StreamsReading):
        runs = {"started_at_ms": streams.start.started_at_ms, "version": streams.version}
    else:
        runs = {"missing": streams.missing}
    return {"deployment": declared, "streams": runs}


def _local_state(instance: _Stateful, application_id: str) -> Any:
    """Task directories and the stores in them (names; the files inside change while the application works)."""
    root = Path(str(instance.state_dir)) / application_id
    if not root.is_dir():
        return {"missing": f"{root} is not a directory on this machine"}
    return {
        task.name: sorted(
            f"{kind.name}/{store.name}" for kind in task.iterdir() if kind.is_dir() for store in kind.iterdir()
        )
        for task in sorted(root.iterdir())
        if task.is_dir()
    }


def _committed(reading: ApplicationReading) -> Any:
    if isinstance(reading.partitions, Missing):
        return {"missing": reading.partitions.missing}
    return {
        partition.name: partition.committed
        if isinstance(partition.committed, int)
        else {"missing": partition.committed.missing}
        for partition in sorted(reading.partitions, key=lambda one: (one.topic, one.partition))
    }
