"""Everything of an application that a dry run must not change: an unchanged application gives equal bytes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from kstreams_runbooks.deployers.protocol import Deployer
from kstreams_runbooks.errors import Inconclusive, RunbookError
from kstreams_runbooks.model.readings.readings import ApplicationReading, InstanceReading, Missing
from kstreams_runbooks.observe.application.application import ObservedApplication, ObservedInstance, read_application
from kstreams_runbooks.observe.kafka.cluster import ClusterReader


@runtime_checkable
class _Stateful(Protocol):
    """An instance whose declaration has its state.dir, if a deployer clears it on this machine."""

    @property
    def state_dir(self) -> Path: ...


def snapshot(
    application: ObservedApplication, reader: ClusterReader, deployer: Deployer, *, quiesced: bool
) -> dict[str, Any]:
    """Topic ids and configs, process starts and releases, task directories and stores.

    With `quiesced` the committed offsets too: with traffic they move by themselves. A part that cannot be read is
    `{"missing": why}` (`missing_in` lists it); None is a partition that was never committed. Unreachable if no broker
    answers.
    """
    reading = read_application(application, reader, deployer)
    document: dict[str, Any] = {
        "application": application.name,
        "cluster": application.cluster,
        "topics": _topics(reading, reader),
        "instances": {instance.instance: _instance(instance) for instance in reading.instances},
        "local_state": {
            instance.name: _local_state(instance, application.application_id, deployer)
            for instance in application.deployer.instances
        },
    }
    # Topics and offsets are found through the same topology: without it the topics above are not all there are.
    if quiesced or isinstance(reading.partitions, Missing):
        document["committed"] = _committed(reading)
    return document


def missing_in(document: Any, *place: str) -> Iterator[str]:
    """Every reading that is missing in a snapshot, as `place: why`; with one of them, equal bytes prove nothing."""
    if not isinstance(document, dict):
        return
    if document.keys() == {"missing"} and isinstance(document["missing"], str):
        yield f"{'/'.join(place)}: {document['missing']}"
        return
    for key in sorted(document):
        yield from missing_in(document[key], *place, key)


def _missing(why: str) -> dict[str, str]:
    return {"missing": why}


def _topics(reading: ApplicationReading, reader: ClusterReader) -> Any:
    if isinstance(reading.topics, Missing):
        return _missing(reading.topics.missing)
    try:
        topics = reader.topics([topic.name for topic in reading.topics], configs=True)
    except Inconclusive as error:
        return _missing(str(error))
    return {
        topic.name: {"id": topic.topic_id, "partitions": topic.partitions, "configs": dict(topic.configs)}
        for topic in topics
    }


def _instance(instance: InstanceReading) -> dict[str, Any]:
    deployment, streams = instance.deployment, instance.streams
    declared: dict[str, Any]
    if isinstance(deployment, Missing):
        declared = _missing(deployment.missing)
    else:
        unknown = deployment.process == "unknown"
        # A word is not a reading: it would be the same word after any change.
        stated = "as its declaration states it, not observed; declare deployer.commands.instances"
        release = Missing(stated) if deployment.stated else deployment.release
        declared = {
            "process": _missing("the deployer does not know its process") if unknown else deployment.process,
            "pid": deployment.pid,
            "started_at_ms": deployment.started_at_ms,
            "release": _missing(release.missing) if isinstance(release, Missing) else release,
            "settings": dict(deployment.settings),
        }
    runs: dict[str, Any]
    if isinstance(streams, Missing):
        runs = _missing(streams.missing)
    else:
        runs = {"started_at_ms": streams.start.started_at_ms, "version": streams.version}
    return {"deployment": declared, "streams": runs}


def _local_state(instance: ObservedInstance, application_id: str, deployer: Deployer) -> Any:
    """Task directories and the stores in them (names; the files inside change while the application works).

    Task directories alone, as its deployer lists them, for an instance whose state.dir is not declared.
    """
    if not isinstance(instance, _Stateful):
        return _listed(instance.name, deployer)
    root = instance.state_dir / application_id
    try:
        if not root.is_dir():
            return _missing(f"{root} is not a directory on this machine; did the instance ever run here?")
        return {
            task.name: sorted(
                f"{kind.name}/{store.name}" for kind in task.iterdir() if kind.is_dir() for store in kind.iterdir()
            )
            for task in sorted(root.iterdir())
            if task.is_dir()
        }
    except OSError as error:
        return _missing(f"{error.filename}: cannot be listed ({error.strerror})")


def _listed(name: str, deployer: Deployer) -> Any:
    try:
        found = deployer.state_sizes(name)
    except RunbookError as error:
        return _missing(str(error))
    return _missing(found.missing) if isinstance(found, Missing) else sorted(found)


def _committed(reading: ApplicationReading) -> Any:
    if isinstance(reading.partitions, Missing):
        return _missing(reading.partitions.missing)
    # That a partition was never committed is a fact that does not change, and nothing is missing.
    return {
        partition.name: _missing(partition.why) if partition.state == "missing" else partition.committed
        for partition in sorted(reading.partitions, key=lambda one: (one.topic, one.partition))
    }
