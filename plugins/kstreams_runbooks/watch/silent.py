"""Topics that silent instances may read while others answer: during a roll their topology may differ."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.deployers import Deployer
from kstreams_runbooks.errors import Inconclusive, RunbookError
from kstreams_runbooks.model.readings.lag import LagRole
from kstreams_runbooks.model.readings.readings import Deployment, Missing
from kstreams_runbooks.model.target import Target
from kstreams_runbooks.observe.kafka.topic_names import TopicNames
from kstreams_runbooks.observe.lag.lag import LagAsked
from kstreams_runbooks.observe.lag.topology_topics import readable_topics


def with_silent(
    asked: LagAsked, silent: Collection[str], deployer_of: Callable[[], Deployer], names: TopicNames
) -> LagAsked:
    """The question with the topics of every release, with its settings, that only silent instances are set to.

    `lacking` names an instance whose topics are unknown: it may read a topic that the others no longer read.
    """
    try:
        deployer = deployer_of()
        deployments = {one.instance: one for one in deployer.instances()}
        reads = dict(asked.reads or {})
        for target in sorted(targets_of(silent, deployments, deployer.topology_target)):
            topology = parse_topology(deployer.topology(target))
            topics, why = readable_topics(topology, asked.application_id, names)
            found, unproven = topics.read_on(names)
            # A topic of that release alone may not exist yet; a hidden one may exist.
            there = (found & names.visible) | names.unseen(found).keys()
            reads = _roles(there, topics.internal) | reads
            if said := "; ".join(filter(None, (why, unproven))):
                return _lacking(replace(asked, reads=reads), said)
    except RunbookError as error:
        return _lacking(asked, str(error))
    return replace(asked, reads=reads)


def _lacking(asked: LagAsked, why: str) -> LagAsked:
    return replace(asked, lacking="; ".join(filter(None, (asked.lacking, why))))


def targets_of(
    silent: Collection[str], deployments: Mapping[str, Deployment], topology_target: Callable[[Target], Target]
) -> set[Target]:
    """What silent instances are set to and no other instance runs; RunbookError for one that is not known.

    `topology_target` is the deployer's: targets with one description count as one.
    """
    # No instance reports a release or settings that are set and were not started yet.
    running = [one for name, one in deployments.items() if name not in silent and one.applied is True]
    told = {topology_target(one.target) for one in running if isinstance(one.target, Target)}
    found = set()
    for name in silent:
        one = deployments.get(name)
        target = Missing("its deployer does not know it") if one is None else one.target
        if one is not None and one.stated and isinstance(target, Target) and topology_target(target) not in told:
            target = Missing("its release is only stated in its declaration")
        if isinstance(target, Missing):
            raise Inconclusive(
                f"{name} does not answer, and what it reads is not known ({target.missing}); start it, or make its "
                "deployer report its release"
            )
        found.add(topology_target(target))
    return found - told


def _roles(sources: Collection[str], internal: Collection[str]) -> dict[str, LagRole]:
    return {topic: "repartition" if topic in internal else "source" for topic in sources}
