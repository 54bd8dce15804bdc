"""Which topologies an application may still have records for: those that run, and those that ran before a stop.

A description is parsed here, where it is read; the text stays in the reading, as evidence. Descriptions of one topology
may differ: each run of a program prints other addresses of its lambdas.
"""

from collections.abc import Callable, Iterable

from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.errors import BadInput, RunbookError
from kstreams_runbooks.model.readings.readings import Deployment, InstanceReading, Missing, StreamsReading
from kstreams_runbooks.model.target import Target
from kstreams_runbooks.model.topology.topology import Topology


def run_or_set(
    instances: Iterable[InstanceReading], topology_of: Callable[[Target], str] | None
) -> tuple[Topology, ...] | Missing:
    """Every topology that runs; if none runs, that of every target that is set.

    Instances that were stopped in the middle of a roll have two, and either may have run last. `topology_of` is the
    deployer's: it raises RunbookError. With None in its place nothing is described.
    """
    seen = tuple(instances)
    readings = [instance.streams for instance in seen if isinstance(instance.streams, StreamsReading)]
    if texts := {reading.topology for reading in readings if isinstance(reading.topology, str)}:
        return _parsed(texts)
    if topology_of is None:
        return Missing("no running instance reports its topology")
    deployments = [instance.deployment for instance in seen if isinstance(instance.deployment, Deployment)]
    targets = {one.target for one in deployments if isinstance(one.target, Target)}
    try:
        described = set(map(topology_of, sorted(targets)))
    except RunbookError as error:
        return Missing(f"no running instance reports its topology, and describing it failed: {error}")
    return _parsed(described)


def may_have_run(
    instances: tuple[InstanceReading, ...],
    topology_of: Callable[[Target], str],
    topology_target: Callable[[Target], Target],
) -> tuple[Topology, ...] | Missing:
    """Every topology that runs, and that of each target that no instance runs: it may have run last.

    `topology_of` and `topology_target` are the deployer's: targets with one description count as one.

    Nothing is proven from a release that is only stated, nor if an instance hides its topology or its last release is
    unknown.
    """
    texts, told, silent = set[str](), set[Target](), set[Target]()
    for one in instances:
        target = one.deployment.target if isinstance(one.deployment, Deployment) else one.deployment
        if isinstance(one.streams, StreamsReading):
            if isinstance(one.streams.topology, Missing):
                return Missing(f"{one.instance}: {one.streams.topology.missing}")
            texts.add(one.streams.topology)
            # No report has a release or settings that are set and were not started yet.
            sure = isinstance(one.deployment, Deployment) and one.deployment.applied is True
            told |= {topology_target(target)} if sure and isinstance(target, Target) else set()
        elif isinstance(one.deployment, Deployment) and one.deployment.stated:
            return Missing(
                f"{one.instance}: its release is only stated in its declaration and was not observed; start it, or "
                "declare deployer.commands.instances"
            )
        elif isinstance(target, Target):
            silent.add(topology_target(target))
        else:
            why = f"it reports no topology, and which release it ran last is not known ({target.missing})"
            return Missing(f"{one.instance}: {why}; make its deployer report it, or take it out of the declaration")
    for target in sorted(silent - told):
        try:
            texts.add(topology_of(target))
        except RunbookError as error:
            return Missing(f"no instance reports the topology of {target.release}, and describing it failed: {error}")
    return _parsed(texts)


def _parsed(texts: Iterable[str]) -> tuple[Topology, ...] | Missing:
    """The topologies of these descriptions, each once; Missing if there is none, or one cannot be read."""
    try:
        found = tuple(dict.fromkeys(map(parse_topology, sorted(texts))))
    except BadInput as error:
        return Missing(f"the topology description cannot be read: {error}")
    return found or Missing("no running instance reports its topology, and no instance has a release set")
