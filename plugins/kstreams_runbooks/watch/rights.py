"""Reads what the rights of a runbook depend on: the resources of an application, and what its cluster grants."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, overload

from kstreams_runbooks.decide.fleet_graph import fleet_graph, writers_of
from kstreams_runbooks.decide.instances.running import running_topology
from kstreams_runbooks.decide.rights.needed import OF_CONNECTION, UNDOES, needed_acls
from kstreams_runbooks.decide.topology.names import internal_by_id, is_changelog
from kstreams_runbooks.fleet import Application, Consumer, Copier, Fleet
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.matching import PatternTooSlow
from kstreams_runbooks.model.readings.acls import GrantedReading, NeededAcls, OwnResources
from kstreams_runbooks.model.readings.readings import ApplicationReading, GroupReading, Missing
from kstreams_runbooks.model.rights import LoginRole
from kstreams_runbooks.model.runs.cards import TOPIC_KINDS
from kstreams_runbooks.model.runs.ledger import RunRecord
from kstreams_runbooks.model.topology.topology import Topology
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.kafka.granted import read_granted
from kstreams_runbooks.observe.kafka.topic_names import TopicNames
from kstreams_runbooks.observe.lag.topology_topics import TopologyTopics, readable_topics
from kstreams_runbooks.observe.login.principal import principal_of
from kstreams_runbooks.rules import rights

_AT_LEAST_ONCE = "at_least_once"
# Types of groups whose session timeout brokers keep (KIP-848, KIP-1071).
_TIMED = {"consumer", "streams"}
_UNKNOWN = "unknown"


def own_resources(
    fleet: Fleet,
    entry: Application,
    reading: ApplicationReading,
    reader: ClusterReader | None,
    *,
    seen: bool = False,
    retires: bool = False,
) -> OwnResources:
    """The resources of an application by its entry, by the topology that runs, and by its cluster if it is read.

    Without one of both its internal topics are Missing. With `seen` they are those of the reading then, to compare what
    is granted: a prefix is not needed for topics that have names, and what was not read is demanded by the next step.
    Topics that this login does not see are looked for without `seen`, or if the run `retires` them.
    """
    declared = tuple(dict.fromkeys((*entry.inputs, *entry.control, *entry.rule_topics)))
    # A copier declares its delivery in place of a guarantee.
    guarantee = entry.delivery if isinstance(entry, Copier | Consumer) else entry.processing_guarantee
    own = OwnResources(
        application_id=entry.application_id,
        inputs=declared,
        outputs=tuple(entry.outputs),
        repartition=(),
        changelogs=(),
        writers=_writers(fleet, entry, declared),
        exactly_once=None if guarantee == _UNKNOWN else guarantee != _AT_LEAST_ONCE,
        is_timed=isinstance(reading.group, GroupReading) and reading.group.type in _TIMED,
        copies=tuple(entry.outputs) if entry.copies else (),
        copied=tuple(topic for route in entry.route_pairs for topic in route),
    )
    # A copier and a consumer have no internal topics.
    if entry.copies or entry.consumes:
        return own
    topology = running_topology(reading)
    if isinstance(topology, Missing):
        return _seen(fleet, entry, reading, own) if seen else _unnamed(own, topology)
    if reader is None:
        return _unnamed(own, Missing("the cluster was not read"))
    names = reader.names()
    return _left(fleet, entry, _named(own, topology, names), names.every() if retires or not seen else names.visible)


def _unnamed(own: OwnResources, why: Missing) -> OwnResources:
    return replace(own, repartition=why, changelogs=why, running=why, left=why)


def _seen(fleet: Fleet, entry: Application, reading: ApplicationReading, own: OwnResources) -> OwnResources:
    """By the names of the topics that were read, none if they were not; a longer id has its own."""
    if isinstance(reading.topics, Missing):
        return own
    ids = {one.application_id for one in fleet.entries.values() if one.cluster == entry.cluster}
    found = internal_by_id([one.name for one in reading.topics], ids).get(entry.application_id, ())
    names = [one for one in found if one not in {*own.inputs, *own.outputs}]
    return replace(
        own,
        repartition=tuple(one for one in names if not is_changelog(one)),
        changelogs=tuple(one for one in names if is_changelog(one)),
        running=tuple(names),
        left=tuple(names),
    )


def _left(fleet: Fleet, entry: Application, own: OwnResources, names: Collection[str]) -> OwnResources:
    """With the internal topics that exist and that the running version does not have; a longer id has its own."""
    ids = {one.application_id for one in fleet.entries.values() if one.cluster == entry.cluster}
    found = internal_by_id(names, ids).get(entry.application_id, ())
    others = {*own.inputs, *own.outputs, *(own.running if isinstance(own.running, tuple) else ())}
    return replace(own, left=tuple(sorted(set(found) - others)))


def _named(own: OwnResources, topology: Topology, names: TopicNames) -> OwnResources:
    topics, _ = readable_topics(topology, own.application_id, names)
    sources = _sources(topics, names.visible)
    of_globals = [source for sub in topology.subtopologies if sub.is_global for source in sub.sources]
    # A store without logging, or one that uses its source, has no changelog: the cluster decides.
    logged = topics.changelogs - sources
    changelogs = tuple(sorted(logged & names.visible | names.unseen(logged).keys()))
    repartition = tuple(sorted(topics.internal))
    others = topics.inputs(sources, set(own.inputs) - set(own.loops))
    return replace(
        own,
        loops=tuple(sorted(sources - topics.internal - others)),
        inputs=tuple(dict.fromkeys((*own.inputs, *sorted(sources - topics.internal)))),
        repartition=repartition,
        changelogs=changelogs,
        running=(*repartition, *changelogs),
        sinks=tuple(sorted(topics.outputs)),
        globals=tuple(sorted({topic for source in of_globals for topic in source.topics})),
    )


def with_release(own: OwnResources, brought: Topology, reader: ClusterReader) -> OwnResources:
    """The same with the topics of a version that a run brings: its internal topics may not be on the cluster yet.

    Internal topics whose names are not known stay one prefix, which covers those of the version.
    """
    names = reader.names()
    topics, _ = readable_topics(brought, own.application_id, names)
    sources = _sources(topics, names.visible)
    new = _named(own, brought, names)
    return replace(
        new,
        running=own.running,
        brought=_joined(own.brought or (), topics.internal | topics.changelogs - sources),
        repartition=_joined(own.repartition, topics.internal),
        changelogs=_joined(own.changelogs, topics.changelogs - sources),
        sinks=_joined(own.sinks, topics.outputs),
        globals=_joined(own.globals, new.globals),
        loops=_joined(own.loops, new.loops),
    )


@overload
def _joined(one: tuple[str, ...], other: Iterable[str]) -> tuple[str, ...]: ...


@overload
def _joined(one: tuple[str, ...] | Missing, other: Iterable[str]) -> tuple[str, ...] | Missing: ...


def _joined(one: tuple[str, ...] | Missing, other: Iterable[str]) -> tuple[str, ...] | Missing:
    return one if isinstance(one, Missing) else tuple(sorted({*one, *other}))


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


def undone_form(ledger: Ledger, run: str) -> tuple[RunRecord, dict[str, Any], tuple[str, ...]]:
    """The run that an undo takes back, its form with its runbook, and the topics that it created or deleted.

    BadInput for a run that the ledger does not have.
    """
    record = ledger.find_run(run)
    cards = (one for one in ledger.cards(record.run_key) if one.kind in TOPIC_KINDS)
    return record, {**record.params, UNDOES: record.dag_id}, tuple(dict.fromkeys(one.object for one in cards))


def connection_principals(config: Mapping[str, Any], declared: str | None) -> dict[LoginRole, str]:
    """The login of a connection in each of its roles: the `declared` one, or by its settings in librdkafka's names."""
    return dict.fromkeys(OF_CONNECTION, declared or principal_of(config))


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
