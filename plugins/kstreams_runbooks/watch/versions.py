"""The versions of an application that may have run last, with what its programs and its declarations show of them."""

from collections.abc import Sequence

from kstreams_runbooks.decide.comparison.compared import Side
from kstreams_runbooks.decide.instances.running import RunningRelease
from kstreams_runbooks.decide.instances.running_facts import of_a_release, with_declared, with_facts
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.deployers import Deployer
from kstreams_runbooks.errors import Inconclusive
from kstreams_runbooks.fleet import Application, release_declaration
from kstreams_runbooks.model.readings.readings import Deployment, InstanceReading, Missing, StreamsReading
from kstreams_runbooks.model.target import Target
from kstreams_runbooks.model.topology.declaration import Declaration
from kstreams_runbooks.observe.application.facts import read_running_facts
from kstreams_runbooks.observe.application.topologies import may_have_run


def versions_last_run(entry: Application, deployer: Deployer, instances: Sequence[InstanceReading]) -> tuple[Side, ...]:
    """The versions that may have run last, each with what was read of its program over what its release declares.

    Inconclusive if one is not known.
    """
    texts: dict[Target, str] = {}

    def topology_of(target: Target) -> str:
        if target not in texts:
            texts[target] = deployer.topology(target)
        return texts[target]

    ran = may_have_run(tuple(instances), topology_of, deployer.topology_target)
    if isinstance(ran, Missing):
        raise Inconclusive(f"topology of {entry.name}: {ran.missing}")
    running: dict[tuple[str, str], list[str]] = {}
    for one in instances:
        if isinstance(one.streams, StreamsReading) and isinstance(one.streams.topology, str):
            release = one.deployment.release if isinstance(one.deployment, Deployment) else ""
            version = (one.streams.topology, release if isinstance(release, str) else "")
            running.setdefault(version, []).append(one.instance)
    shown = read_running_facts(entry, instances)
    sides = [
        _side(entry, version.release, text, version.read)
        for (text, release), names in sorted(running.items())
        for version in with_facts(RunningRelease(release, text, tuple(names)), shown)
    ]
    for target, text in sorted(texts.items()):
        if (text, target.release) not in running:
            read = deployer.facts(target)
            sides.append(_side(entry, target.release, text, None if read is None else of_a_release(read)))
    return tuple(sides)


def _side(entry: Application, release: str, text: str, read: Declaration | None) -> Side:
    found = release_declaration(entry.name, release, entry.declared().library(release)) if release else None
    known = found or Declaration()
    return Side(parse_topology(text), known if read is None else with_declared(read, known))
