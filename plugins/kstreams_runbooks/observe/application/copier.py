"""Reads a copier that has to stay stopped: its processes, its group, and its control topics."""

from collections.abc import Collection, Mapping
from typing import Protocol

from kstreams_runbooks.deployers.protocol import Deployer
from kstreams_runbooks.errors import RunbookError
from kstreams_runbooks.model.copying import CopierDelivery
from kstreams_runbooks.model.readings.copying import CopierReading, TopicEnd
from kstreams_runbooks.model.readings.readings import Deployment, Missing
from kstreams_runbooks.observe.application.application import ObservedApplication
from kstreams_runbooks.observe.kafka.cluster import ClusterReader
from kstreams_runbooks.observe.kafka.ends import ends_of, places_of
from kstreams_runbooks.observe.kafka.offsets import Ends, Place


class ObservedCopier(ObservedApplication, Protocol):
    """What is needed of a copier's fleet entry to read it; its outputs are control topics."""

    @property
    def delivery(self) -> CopierDelivery:
        """Whether it may repeat records."""


def read_copying(copier: ObservedCopier, reader: ClusterReader, deployer: Deployer) -> CopierReading:
    """One reading; a part that cannot be read is Missing in its place. Unreachable if no broker answers.

    Processes and group come first, the ends last: what a process wrote before it was seen to be down is in them.
    """
    taken = reader.taken()
    deployments = _deployments(deployer)
    group = reader.group(copier.application_id)
    names = reader.names()
    hidden = names.unseen(copier.outputs)
    topics = reader.topics(set(copier.outputs) & names.visible)
    places = places_of(topics)
    ends = ends_of(reader, topics)
    opened = reader.open_transactions(places, taken.at_ms)
    unread = Missing("; ".join(hidden.values())) if hidden else None
    return CopierReading(
        taken=taken,
        copier=copier.name,
        cluster=copier.cluster,
        group_id=copier.application_id,
        delivery=copier.delivery,
        topics=tuple(copier.outputs),
        deployments=deployments,
        group=group,
        open=unread or opened,
        ends=unread or _ends(places, ends),
    )


def _deployments(deployer: Deployer) -> tuple[Deployment, ...] | Missing:
    try:
        return deployer.instances()
    except RunbookError as error:
        return Missing(str(error))


def _ends(places: Collection[Place], ends: Mapping[Place, Ends]) -> tuple[TopicEnd, ...]:
    return tuple(TopicEnd(*place, ends[place].end) for place in places)
