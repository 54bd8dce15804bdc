"""Runbooks for which an application is ready, and missing facts for the others."""

import re
from collections.abc import Iterable, Iterator

from kstreams_runbooks.decide.discovery.draft import NOBODY
from kstreams_runbooks.decide.discovery.instances import membership
from kstreams_runbooks.decide.instances.running import running_topology
from kstreams_runbooks.decide.runbooks import NOT_A_COPIER, OF_A_COPIER, Runbook
from kstreams_runbooks.decide.topology.graph import internal_topics
from kstreams_runbooks.decide.topology.names import is_generated, is_suppression
from kstreams_runbooks.model.abilities import Abilities
from kstreams_runbooks.model.discovery.readiness import (
    Condition,
    Conditions,
    DeclaredNames,
    Readiness,
    ReadinessReading,
    ReadinessStatus,
)
from kstreams_runbooks.model.readings.acls import RightsAnswer
from kstreams_runbooks.model.readings.readings import (
    ApplicationReading,
    BrokerReading,
    Deployment,
    GroupReading,
    Missing,
    StreamsReading,
)
from kstreams_runbooks.model.topology.facts import FactsReading
from kstreams_runbooks.model.topology.topology import Topology

_BUFFER = "-store"
# Settings that choose the topics to read have one of these in their name; from outside there is no other sign.
_NAMES_TOPICS = re.compile(r"topic|input|source", re.IGNORECASE)
_HOLDS = Condition(holds=True)
_TYPES = {"streams": "a streams group (KIP-1071)", "consumer": "a consumer group (KIP-848), not a classic one"}


def readiness_facts(found: ReadinessReading) -> Conditions:
    """Every fact by its name, as decide/runbooks.py refers to them."""
    reading, can = found.reading, found.abilities
    return {
        **_group(reading),
        "offsets_read": _offsets(reading),
        **_instances(found),
        **_topology(running_topology(reading), _declared_names(found)),
        "deployment_seen": _deployment(found),
        "release_described": Condition(can.topology, "" if can.topology else "no topology command"),
        "release_declared": _declared(found),
        "target_declared": _target(found),
        "state_clearable": Condition(can.clear, "" if can.clear else "no clear_state command"),
        "directories_clearable": _directories(found.abilities),
        "guarantee_known": Condition(
            found.declared.processing_guarantee != "unknown" or None, "processing_guarantee not declared"
        ),
        "approver": Condition(found.declared.approvers not in {(), (NOBODY,)}, "no approver declared"),
        "inputs_pausable": _pausable(found),
        "auto_create_off": _auto_create(reading),
        NOT_A_COPIER: Condition(not found.declared.copies, OF_A_COPIER),
    }


def _directories(can: Abilities) -> Condition:
    """Whether single task directories can be deleted, as some changes of a topology and their undo need it."""
    lacks = "clear_state without {directories}" if can.clear else "no clear_state command"
    return Condition(can.clear_directories, "" if can.clear_directories else f"task directories not clearable: {lacks}")


def _group(reading: ApplicationReading) -> Conditions:
    group = reading.group
    if isinstance(group, Missing):
        unknown = Condition(None, f"group unknown: {group.missing}")
        return dict.fromkeys(("group_known", "members_run", "classic_group", "static_membership"), unknown)
    static = membership(group)
    some = "only some members are static" if group.members else "no member tells static membership"
    return {
        "group_known": _HOLDS,
        "members_run": Condition(bool(group.members), f"no member runs (group {group.state})"),
        "classic_group": Condition(group.type == "classic", _TYPES.get(group.type, f"a group of type {group.type}")),
        "static_membership": Condition(static, some if static is None else "static membership absent"),
    }


def _offsets(reading: ApplicationReading) -> Condition:
    """Whether all its inputs could be read; a hidden topic counts as one that could not."""
    for part in (reading.topics, reading.partitions):
        if isinstance(part, Missing):
            return Condition(None, f"offsets not known: {part.missing}")
    return _HOLDS


def _instances(found: ReadinessReading) -> Conditions:
    group = found.reading.group
    # If no member runs, none has to respond; that none runs is a fact of its own.
    idle = isinstance(group, GroupReading) and not group.members
    silent = [] if idle else [one for one in found.reading.instances if isinstance(one.streams, Missing)]
    of = f"{len(silent)} of {len(found.reading.instances)}"
    names = ", ".join(one.instance for one in silent)
    return {"instances_answer": Condition(not silent, f"Jolokia does not answer for {of} instances ({names})")}


def _deployment(found: ReadinessReading) -> Condition:
    if not found.abilities.instances:
        return Condition(holds=False, why="no instances command")
    for one in found.reading.instances:
        deployment = one.deployment
        part = deployment.release if isinstance(deployment, Deployment) else deployment
        if isinstance(part, Missing):
            return Condition(None, f"what {one.instance} is deployed as cannot be seen: {part.missing}")
    return _HOLDS


def _topology(topology: Topology | Missing, declared: DeclaredNames) -> Conditions:
    if isinstance(topology, Missing):
        unknown = Condition(None, topology.missing)
        return dict.fromkeys(("topology_read", "names_chosen", "suppression", "state", "no_state"), unknown)
    stores = len(topology.stores)
    made_up = [
        f"{count} generated {what} {'name' if count == 1 else 'names'}"
        for what, names in (("store", topology.stores), ("repartition topic", internal_topics(topology)))
        if (count := sum(map(is_generated, names)))
    ]
    return {
        "topology_read": _HOLDS,
        "names_chosen": Condition(not made_up, ", ".join(made_up)),
        "suppression": _suppression(topology, declared),
        "state": Condition(bool(stores), "keeps no state"),
        "no_state": Condition(
            not stores, f"keeps state in {stores} {'store' if stores == 1 else 'stores'}: each has to accept its loss"
        ),
    }


def _suppression(topology: Topology, declared: DeclaredNames) -> Condition:
    """A named suppression is an operator with a store of its name, as other operators may be too."""
    nodes = {node.name for _, node in topology.nodes()}
    if any(is_suppression(name) for name in nodes) or nodes & declared.suppressions:
        return _HOLDS
    buffers = {store for store in topology.stores - declared.stores if store.endswith(_BUFFER)}
    named = sorted(nodes & {store.removesuffix(_BUFFER) for store in buffers})
    if maybe := [name for name in named if not is_generated(name)]:
        return Condition(None, f"whether {', '.join(maybe)} is a suppression is not in the topology")
    return Condition(holds=False, why="has no suppression")


def _runs(found: ReadinessReading) -> set[str]:
    return {one.streams.version for one in found.reading.instances if isinstance(one.streams, StreamsReading)}


def _declared_names(found: ReadinessReading) -> DeclaredNames:
    """Those of the running release, declared or read of its program; empty if several run, because they may differ."""
    runs, described = _runs(found), found.described
    if len(runs) != 1:
        return DeclaredNames(frozenset(), frozenset())
    declared = {} if isinstance(described, Missing) else described
    own = [names for release, names in declared.items() if {found.declared.library(release)} == runs]
    return _united(*own, *_read_names(found))


def _read_names(found: ReadinessReading) -> Iterator[DeclaredNames]:
    for one in found.facts.values():
        if isinstance(one, FactsReading):
            yield DeclaredNames(frozenset(one.read.suppressions), frozenset(one.read.stores))


def _united(*names: DeclaredNames) -> DeclaredNames:
    return DeclaredNames(
        frozenset().union(*(one.suppressions for one in names)), frozenset().union(*(one.stores for one in names))
    )


def _declared(found: ReadinessReading) -> Condition:
    runs = _runs(found)
    if isinstance(found.described, Missing):
        return Condition(None, found.described.missing)
    if not runs:
        return Condition(None, "no instance tells which release runs")
    known = {found.declared.library(release) for release in found.described}
    lacking = sorted(runs - known)
    return Condition(not lacking, f"nothing declared of {', '.join(lacking)} beside the fleet entry")


def _target(found: ReadinessReading) -> Condition:
    """Whether the entry declares a release that is not the one all instances run."""
    runs = _runs(found)
    known = {found.declared.library(release) for release in found.declared.releases}
    if any({library} != runs for library in known) if runs else len(known) > 1:
        return _HOLDS
    if not runs:
        return Condition(None, f"whether {', '.join(sorted(known))} is another release than runs: no instance tells it")
    return Condition(holds=False, why=f"no release declared but {', '.join(sorted(known))}, which runs")


def _pausable(found: ReadinessReading) -> Condition:
    """Whether something in front of the inputs can be stopped, or the inputs can be swapped for empty ones."""
    if found.control or any(_NAMES_TOPICS.search(key) for key in found.settable):
        return _HOLDS
    return Condition(holds=False, why="no control topic, and inputs not settable")


def _auto_create(reading: ApplicationReading) -> Condition:
    broker = reading.broker
    value = broker.auto_create_topics if isinstance(broker, BrokerReading) else broker
    if isinstance(value, Missing):
        return Condition(None, f"auto.create.topics.enable: {value.missing}")
    return Condition(not value, "auto.create.topics.enable is true on the brokers")


def readiness(
    facts: Conditions, runbooks: Iterable[Runbook], rights: Iterable[RightsAnswer] = ()
) -> tuple[Readiness, ...]:
    """One answer for each runbook; KeyError for one that needs a fact that does not exist."""
    by_runbook = {one.runbook: one for one in rights}
    return tuple(_ready(facts, one, by_runbook.get(one.name)) for one in runbooks)


def _ready(facts: Conditions, runbook: Runbook, rights: RightsAnswer | None) -> Readiness:
    if runbook.only_where is not None and facts[runbook.only_where].holds is False:
        return Readiness(runbook.name, "not needed", better=(facts[runbook.only_where].why,))
    asked = (*runbook.needs, *((runbook.only_where,) if runbook.only_where else ()))
    missing = tuple(_of(facts, asked, holds=False))
    unknown = tuple(_of(facts, asked, holds=None))
    # Missing facts come first: filling them in is the next action, independent of the unknown ones.
    is_missing = missing or (rights is not None and rights.missing)
    not_known = unknown or (rights is not None and rights.unknown)
    status: ReadinessStatus = "missing" if is_missing else "not known" if not_known else "ready"
    return Readiness(
        runbook.name,
        status,
        missing,
        unknown,
        (*_of(facts, runbook.wants, holds=False), *_of(facts, runbook.wants, holds=None)),
        rights,
    )


def _of(facts: Conditions, names: Iterable[str], *, holds: bool | None) -> Iterator[str]:
    """The reasons of those of `names` with this value; a shared cause appears once."""
    yield from dict.fromkeys(facts[name].why for name in names if facts[name].holds is holds)
