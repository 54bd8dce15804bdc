"""Which topologies an application may still have records for: what runs, and what ran before it was stopped."""

from collections.abc import Callable

from kstreams_runbooks.errors import RunbookError
from kstreams_runbooks.model.readings.readings import Deployment, InstanceReading, Missing, StreamsReading
from kstreams_runbooks.model.target import Target


def may_have_run(
    instances: tuple[InstanceReading, ...], topology_of: Callable[[Target], str]
) -> frozenset[str] | Missing:
    """Every topology that runs, and that of each target whose release no instance runs: it may have run last.

    Nothing is proven from a release that is only stated, nor past an instance that hides its topology, or whose last
    release is unknown.
    """
    texts, told, silent = set[str](), set[str](), set[Target]()
    for one in instances:
        target = one.deployment.target if isinstance(one.deployment, Deployment) else one.deployment
        if isinstance(one.streams, StreamsReading):
            if isinstance(one.streams.topology, Missing):
                return Missing(f"{one.instance}: {one.streams.topology.missing}")
            texts.add(one.streams.topology)
            # A release that is set and was not started yet is in no report.
            sure = isinstance(one.deployment, Deployment) and one.deployment.applied is True
            told |= {target.release} if sure and isinstance(target, Target) else set()
        elif isinstance(one.deployment, Deployment) and one.deployment.stated:
            return Missing(
                f"{one.instance}: its release is only stated in its declaration and was not observed; start it, or "
                "declare deployer.commands.instances"
            )
        elif isinstance(target, Target):
            silent.add(target)
        else:
            why = f"it reports no topology, and which release it ran last is not known ({target.missing})"
            return Missing(f"{one.instance}: {why}; make its deployer report it, or take it out of the declaration")
    for target in sorted(one for one in silent if one.release not in told):
        try:
            texts.add(topology_of(target))
        except RunbookError as error:
            return Missing(f"no instance reports the topology of {target.release}, and describing it failed: {error}")
    return frozenset(texts) or Missing("no running instance reports its topology, and no instance has a release set")
