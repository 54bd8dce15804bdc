"""Reads what the rights of a runbook depend on: the resources of an application, and what its cluster grants."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from kstreams_runbooks.decide.fleet_graph import fleet_graph, writers_of
from kstreams_runbooks.decide.instances.running import running_topology
from kstreams_runbooks.decide.rights.needed import OF_CONNECTION, needed_acls
from kstreams_runbooks.fleet import Application, Fleet
from kstreams_runbooks.matching import PatternTooSlow
from kstreams_runbooks.model.readings.acls import GrantedReading, NeededAcls, OwnResources
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing
from kstreams_runbooks.model.rights import LoginRole
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.kafka.granted import read_granted
from kstreams_runbooks.observe.lag.topology_topics import TopologyTopics, readable_topics
from kstreams_runbooks.observe.login.principal import principal_of
from kstreams_runbooks.rules import rights

_AT_LEAST_ONCE = "at_least_once"
_UNKNOWN = "unknown"


def own_resources(
    fleet: Fleet, entry: Application, reading: ApplicationReading, reader: ClusterReader | None
) -> OwnResources:
    """The resources of an application by its entry, by the topology that runs, and by its cluster if it is read.

    Its internal topics are Missing if one of both is.
    """
    declared = tuple(dict.fromkeys((*entry.inputs, *entry.control, *entry.rule_topics)))
    guarantee = entry.processing_guarantee
    parts: dict[str, Any] = {
        "application_id": entry.application_id,
        "outputs": tuple(entry.outputs),
        "writers": _writers(fleet, entry, declared),
        "exactly_once": None if guarantee == _UNKNOWN else guarantee != _AT_LEAST_ONCE,
    }
    topology = running_topology(reading)
    if entry.copies:
        return OwnResources(inputs=declared, repartition=(), changelogs=(), **parts)
    why = topology if isinstance(topology, Missing) else None if reader else Missing("the cluster was not read")
    if why is not None or isinstance(topology, Missing) or reader is None:
        missing = why or Missing("not read")
        return OwnResources(inputs=declared, repartition=missing, changelogs=missing, **parts)
    names = reader.names()
    topics, _ = readable_topics(topology, entry.application_id, names)
    sources = _sources(topics, names.visible)
    of_globals = [source for sub in topology.subtopologies if sub.is_global for source in sub.sources]
    # A store without logging, or one that uses its source, has no changelog: the cluster decides.
    changelogs = topics.changelogs - sources
    there = changelogs & names.visible | names.unseen(changelogs).keys()
    return OwnResources(
        inputs=tuple(dict.fromkeys((*declared, *sorted(sources - topics.internal)))),
        repartition=tuple(sorted(topics.internal)),
        changelogs=tuple(sorted(there)),
        sinks=tuple(sorted(topics.outputs)),
        globals=tuple(sorted({topic for source in of_globals for topic in source.topics})),
        **parts,
    )


def _sources(topics: TopologyTopics, visible: Collection[str]) -> frozenset[str]:
    try:
        return topics.sources(visible)
    except PatternTooSlow:
        return topics.sources()


def _writers(fleet: Fleet, entry: Application, topics: Iterable[str]) -> tuple[str, ...]:
    """Application ids of the entries that write these topics."""
    entries = [one for one in fleet.entries.values() if one.cluster == entry.cluster]
    graph = fleet_graph(one.declared() for one in entries)
    names = {name for topic in topics for name in writers_of(graph, entry.cluster, topic)}
    return tuple(sorted({one.application_id for one in entries if one.name in names} - {entry.application_id}))


def connection_principals(
    config: Mapping[str, Any], roles: Iterable[LoginRole] = OF_CONNECTION
) -> dict[LoginRole, str]:
    """The login of a connection in each of these roles, by its settings in librdkafka's names."""
    return dict.fromkeys(roles, principal_of(config))


def read_rights(
    reader: ClusterReader,
    runbooks: Iterable[str],
    application: str,
    own: OwnResources,
    principals: Mapping[LoginRole, str],
) -> tuple[tuple[NeededAcls, ...], GrantedReading]:
    """The ACLs that each of these runbooks needs of the connection's login, and what the cluster grants of them."""
    needed = tuple(needed_acls(rights(), runbook, application, own, principals) for runbook in runbooks)
    every = dict.fromkeys(acl for one in needed for acl in one.acls)
    return needed, read_granted(reader, next(iter(principals.values()), ""), every)
