"""Whether the shipped copier copies the routes that its fleet entry declares: runs rely on them to hold inputs."""

from collections.abc import Iterator

from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.fleet_entry import DeclaredApplication
from kstreams_runbooks.model.readings.readings import InstanceReading, Missing, StreamsReading
from kstreams_runbooks.wording import first_of


def other_routes(instance: InstanceReading, declared: DeclaredApplication) -> Iterator[str]:
    """A sentence if the instance copies other routes than declared, by the topology that it runs.

    Nothing for an application without routes, and for an instance that does not answer: others judge that. A copier
    without a description could copy anything: that is a sentence too.
    """
    streams = instance.streams
    if not declared.routes or not isinstance(streams, StreamsReading):
        return
    if isinstance(streams.topology, Missing):
        yield f"{instance.instance}: which routes it copies is not known: {streams.topology.missing}; make it answer"
        return
    runs = _routes(streams.topology)
    if runs != {*declared.routes}:
        yield (
            f"{instance.instance}: copies {_text(runs)} (declared {_text(declared.routes)}); correct `routes` of "
            f"{declared.name}, or the setting of the program"
        )


def _routes(description: str) -> set[tuple[str, str]]:
    """Each topic that a subtopology reads, with each that it writes; none of a text that is not a description."""
    try:
        topology = parse_topology(description)
    except BadInput:
        return set()
    return {
        (topic, sink.topic or "a topic that its code chooses")
        for part in topology.subtopologies
        for source in part.sources
        for topic in source.topics
        for sink in part.sinks
    }


def _text(routes: set[tuple[str, str]] | tuple[tuple[str, str], ...]) -> str:
    return first_of(sorted(f"{source} -> {target}" for source, target in routes)) or "no route"
