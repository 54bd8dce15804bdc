"""Which topologies an application may still have records for: what runs, and what ran before it was stopped."""

from collections.abc import Callable

from kstreams_runbooks.errors import RunbookError
from kstreams_runbooks.model.readings.readings import Deployment, InstanceReading, Missing, StreamsReading


def may_have_run(instances: tuple[InstanceReading, ...], topology_of: Callable[[str], str]) -> frozenset[str] | Missing:
    """Every topology that runs, and that of each release which is set where nobody runs it: it may have run last.

    Nothing is proven from a release that is only somebody's word, nor past an instance that hides its topology, or of
    which nobody knows what it ran.
    """
    texts, told, silent = set[str](), set[str](), set[str]()
    for one in instances:
        release = one.deployment.release if isinstance(one.deployment, Deployment) else one.deployment
        if isinstance(one.streams, StreamsReading):
            if isinstance(one.streams.topology, Missing):
                return Missing(f"{one.instance}: {one.streams.topology.missing}")
            texts.add(one.streams.topology)
            # What is set and was not started yet, nobody tells.
            sure = isinstance(one.deployment, Deployment) and one.deployment.applied is True
            told |= {release} if sure and isinstance(release, str) else set()
        elif isinstance(one.deployment, Deployment) and one.deployment.stated:
            return Missing(
                f"{one.instance}: its release is only stated in its declaration and was not observed; start it, or "
                "declare deployer.commands.instances"
            )
        elif isinstance(release, str):
            silent.add(release)
        else:
            why = f"it reports no topology, and which release it ran last is not known ({release.missing})"
            return Missing(f"{one.instance}: {why}; make its deployer report it, or take it out of the declaration")
    for release in sorted(silent - told):
        try:
            texts.add(topology_of(release))
        except RunbookError as error:
            return Missing(f"no instance reports the topology of {release}, and describing it failed: {error}")
    return frozenset(texts) or Missing("no running instance reports its topology, and no instance has a release set")
