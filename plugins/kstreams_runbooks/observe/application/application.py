"""Reads everything about one application at one time."""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Protocol

from kstreams_runbooks.deployers.protocol import Deployer
from kstreams_runbooks.errors import BadInput, Inconclusive, LoginRefused, RunbookError
from kstreams_runbooks.matching import PatternTooSlow
from kstreams_runbooks.model.readings.lag import LagRole, PartitionLag
from kstreams_runbooks.model.readings.readings import (
    ApplicationReading,
    Deployment,
    InstanceReading,
    Lasting,
    Missing,
    NoClient,
    StreamsReading,
    Taken,
    TopicReading,
)
from kstreams_runbooks.model.readings.states import is_in_error
from kstreams_runbooks.model.target import Target
from kstreams_runbooks.model.topology.topology import Topology
from kstreams_runbooks.observe.application.copying import client_of_process, copied_topics
from kstreams_runbooks.observe.application.metrics import read_streams
from kstreams_runbooks.observe.application.polling import poll_all
from kstreams_runbooks.observe.application.topologies import run_or_set
from kstreams_runbooks.observe.kafka.cluster import ClusterReader
from kstreams_runbooks.observe.kafka.topic_names import TopicNames
from kstreams_runbooks.observe.lag.partition_rows import read_partitions
from kstreams_runbooks.observe.lag.topology_topics import TopologyTopics, topology_topics

# More at once gain nothing: an answer takes some 10 ms, and 16 dead hosts cost one timeout.
_AT_ONCE = 16


class ObservedInstance(Protocol):
    """What is needed of a declared instance to read it."""

    @property
    def name(self) -> str:
        """Name of the instance."""

    @property
    def metrics(self) -> str:
        """Jolokia base URL."""

    @property
    def group_instance_id(self) -> str | None:
        """Its group.instance.id, None for its name."""


class _Instances(Protocol):
    @property
    def instances(self) -> Sequence[ObservedInstance]: ...


class ObservedApplication(Protocol):
    """What is needed of a fleet entry to read an application; the fleet's own model fits."""

    @property
    def name(self) -> str:
        """Name of the fleet entry."""

    @property
    def cluster(self) -> str:
        """Name of the cluster entry."""

    @property
    def application_id(self) -> str:
        """application.id, which is also the group id."""

    @property
    def inputs(self) -> Sequence[str]:
        """Declared input topics."""

    @property
    def outputs(self) -> Sequence[str]:
        """Declared output topics."""

    @property
    def control(self) -> Sequence[str]:
        """Declared control topics, in front of the inputs."""

    @property
    def rule_topics(self) -> Sequence[str]:
        """Declared topics whose records change how it processes."""

    @property
    def static_membership(self) -> bool:
        """Whether its instances set group.instance.id."""

    @property
    def reads_committed(self) -> bool:
        """Whether it never reads records of aborted transactions."""

    @property
    def as_deployed(self) -> bool:
        """Whether it is a copier or a consumer, which have neither metrics nor a topology."""

    @property
    def client_ids(self) -> Mapping[str, str]:
        """The declared client.id of a copier's instances, by instance."""

    @property
    def deployer(self) -> _Instances:
        """Deployer settings, with the instances."""


def read_application(
    application: ObservedApplication,
    reader: ClusterReader,
    deployer: Deployer,
    *,
    also: Collection[str] = (),
    describes: bool = True,
    now: Callable[[], float] = time.time,
) -> ApplicationReading:
    """One reading of brokers, group, topics, offsets and every declared instance.

    `also` names topics that are looked up in addition to the topology's: while all instances are down only a
    description shows the topology, and it need not know every setting. Unless it `describes`, the partitions are
    Missing then: a description takes the start of a JVM.

    The instances' metrics are read in threads while the deployer and the brokers are read. A part that cannot be read
    is Missing in its place. Unreachable if no broker answers, Inconclusive if none lists its topics. `now` gives
    seconds since the epoch.
    """
    taken = Taken(int(now() * 1000), f"{application.name} @ {application.cluster}")
    with reading_instances(application, deployer) as instances_read:
        broker = reader.broker()
        group = reader.group(application.application_id)
        names = reader.names()
        instances = instances_read()
    named = (
        copied_topics(application.inputs, application.outputs)
        if application.as_deployed
        else read_topology(instances, deployer.topology if describes else None, application.application_id, names)
    )
    topics = _topics(application, reader, named, names, also)
    return ApplicationReading(
        taken=taken,
        application=application.name,
        cluster=application.cluster,
        broker=broker,
        group=group,
        topics=topics,
        partitions=_partitions(application.application_id, reader, named, topics, names),
        instances=instances,
    )


def read_dropped(reader: ClusterReader, group_id: str, topics: Collection[str]) -> tuple[PartitionLag, ...] | Missing:
    """Offsets of the group on topics that it no longer reads; none of a topic that no longer exists."""
    names = reader.names()
    if hidden := names.unseen(topics):
        return Missing("; ".join(hidden.values()))
    found = reader.topics(names.visible & set(topics))
    roles: dict[str, LagRole] = {topic.name: "orphaned" for topic in found}
    return read_partitions(reader, group_id, roles, found) if roles else ()


@contextmanager
def reading_instances(
    application: ObservedApplication, deployer: Deployer
) -> Iterator[Callable[[], tuple[InstanceReading, ...]]]:
    """Every declared instance, read in threads while the body reads the brokers; what it yields waits for them."""
    declared = application.deployer.instances
    asked = () if application.as_deployed else declared
    calls = [partial(read_streams, one.metrics, application_id=application.application_id) for one in asked]
    with ThreadPoolExecutor(max_workers=2, thread_name_prefix="metrics") as pool:
        deployments = pool.submit(_deployments, deployer)
        metrics = pool.submit(poll_all, {application.name: calls}, Missing, of_one=_AT_ONCE)

        def read() -> tuple[InstanceReading, ...]:
            found = deployments.result()
            deployed = [_deployment(found, instance.name) for instance in declared]
            answers = (
                [client_of_process(one, application) for one in deployed]
                if application.as_deployed
                else metrics.result()[application.name]
            )
            return tuple(
                InstanceReading(
                    instance.name,
                    _with_log(deployer, deployment, streams),
                    streams,
                    (instance.group_instance_id or instance.name) if application.static_membership else "",
                )
                for instance, deployment, streams in zip(declared, deployed, answers, strict=True)
            )

        yield read


def unread(application: ObservedApplication, why: str, *, now: Callable[[], float] = time.time) -> ApplicationReading:
    """The reading in place of one that failed as a whole: everything in it is Missing, for `why`."""
    missing = Missing(why)
    return ApplicationReading(
        taken=Taken(int(now() * 1000), f"{application.name} @ {application.cluster}"),
        application=application.name,
        cluster=application.cluster,
        broker=missing,
        group=missing,
        topics=missing,
        partitions=missing,
        instances=tuple(InstanceReading(one.name, missing, missing) for one in application.deployer.instances),
    )


def _deployments(deployer: Deployer) -> dict[str, Deployment] | Missing:
    try:
        return {deployment.instance: deployment for deployment in deployer.instances()}
    except (BadInput, LoginRefused) as error:
        return Lasting(str(error))
    except RunbookError as error:
        return Missing(str(error))


def _with_log(
    deployer: Deployer, deployment: Deployment | Missing, streams: StreamsReading | Missing
) -> Deployment | Missing:
    """The deployment with the end of its log if its process or its Streams client has died: that has the cause."""
    if isinstance(deployment, Missing):
        return deployment
    lost = isinstance(streams, NoClient) or (isinstance(streams, StreamsReading) and is_in_error(streams.state))
    if deployment.process != "failed" and not lost:
        return deployment
    try:
        return replace(deployment, log_end=deployer.log_end(deployment.instance))
    except RunbookError:
        return deployment


def _deployment(found: dict[str, Deployment] | Missing, name: str) -> Deployment | Missing:
    if isinstance(found, Missing):
        return found
    return found.get(name, Missing(f"the deployer does not know instance {name}"))


def read_topology(
    instances: Iterable[InstanceReading],
    topology_of: Callable[[Target], str] | None,
    application_id: str,
    names: TopicNames,
) -> TopologyTopics | Missing:
    """Topics of every topology that runs; if none runs, of every target that is set, as `topology_of` describes it.

    In the middle of a roll two releases may run: the union of both is what the group has to commit.
    """
    found = run_or_set(instances, topology_of)
    return found if isinstance(found, Missing) else topics_of(found, application_id, names)


def topics_of(topologies: Iterable[Topology], application_id: str, names: TopicNames) -> TopologyTopics | Missing:
    """Topics of all of these topologies."""
    try:
        found = [topology_topics(topology, application_id, names) for topology in topologies]
    except (BadInput, PatternTooSlow) as error:
        return Missing(f"the topology description cannot be read: {error}")
    return TopologyTopics(
        external=frozenset().union(*(one.external for one in found)),
        internal=frozenset().union(*(one.internal for one in found)),
        patterns=frozenset().union(*(one.patterns for one in found)),
        changelogs=frozenset().union(*(one.changelogs for one in found)),
        outputs=frozenset().union(*(one.outputs for one in found)),
        extractors=frozenset().union(*(one.extractors for one in found)),
    )


def _topics(
    application: ObservedApplication,
    reader: ClusterReader,
    named: TopologyTopics | Missing,
    names: TopicNames,
    also: Collection[str],
) -> tuple[TopicReading, ...] | Missing:
    declared = (application.inputs, application.outputs, application.control, application.rule_topics)
    wanted = {*also}.union(*declared)
    if isinstance(named, TopologyTopics):
        try:
            wanted |= named.sources(names.visible) | named.changelogs
        except PatternTooSlow as error:
            return Missing(str(error))
    else:
        # Without a topology only the prefix is known. It may fit another application's topics too: they are only shown.
        wanted |= {name for name in names.visible if name.startswith(f"{application.application_id}-")}
    # A topic that is left out would be taken for a topic that is gone.
    if hidden := names.unseen(wanted):
        return Missing("; ".join(hidden.values()))
    try:
        return reader.topics(wanted & names.visible)
    except Inconclusive as error:
        return Missing(str(error))


def _partitions(
    group_id: str,
    reader: ClusterReader,
    named: TopologyTopics | Missing,
    topics: tuple[TopicReading, ...] | Missing,
    names: TopicNames,
) -> tuple[PartitionLag, ...] | Missing:
    """Offsets on topology times cluster, never on what the group happens to have committed."""
    if isinstance(named, Missing):
        return named
    if isinstance(topics, Missing):
        return topics
    sources, unproven = named.read_on(names)
    if unproven:
        return Missing(unproven)
    if not sources:
        return Missing("the topology description names no source topic; is it the one of this application?")
    if hidden := names.unseen(sources):
        return Missing("; ".join(hidden.values()))
    return read_partitions(reader, group_id, named.roles(sources), topics)
