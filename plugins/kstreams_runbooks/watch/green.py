"""Reads what decides whether an application may start next to another one, or be taken away again."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kstreams_runbooks.decide.catch_up.disorder import late_text
from kstreams_runbooks.decide.comparison.compared import Side
from kstreams_runbooks.decide.fleet_graph import fleet_graph
from kstreams_runbooks.decide.plans.greenable import effects_of
from kstreams_runbooks.decide.reset.radius import used_by
from kstreams_runbooks.decide.rights.granted import compared_rights, lacks, not_known
from kstreams_runbooks.decide.rights.needed import needed_acls, rows_of
from kstreams_runbooks.decide.runbooks import GREEN
from kstreams_runbooks.decide.topology.names import internal_by_id
from kstreams_runbooks.deployers import make_deployer
from kstreams_runbooks.errors import BadInput, Inconclusive
from kstreams_runbooks.fleet import Application, Copier, Fleet, copiers_of
from kstreams_runbooks.fleet.copier import TopicCopier
from kstreams_runbooks.matching import PatternTooSlow
from kstreams_runbooks.model.readings.green import (
    GreenChain,
    GreenInput,
    GreenOutput,
    GreenReading,
    GreenRemains,
    WideTopic,
)
from kstreams_runbooks.model.readings.readings import ApplicationReading, GroupReading, Missing
from kstreams_runbooks.model.readings.reset import BlastRadius, RunningUse, TopicUser
from kstreams_runbooks.model.readings.states import is_down, is_empty
from kstreams_runbooks.model.readings.touched import HiddenTopic
from kstreams_runbooks.model.topology.topology import Topology
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.kafka.clients import bootstrap
from kstreams_runbooks.observe.kafka.granted import read_granted
from kstreams_runbooks.observe.kafka.saved_offsets import read_saved
from kstreams_runbooks.observe.kafka.topic_names import TopicNames
from kstreams_runbooks.observe.kafka.topic_users import read_topic_users
from kstreams_runbooks.observe.kafka.touched import read_topic_states
from kstreams_runbooks.observe.lag.begins import read_begins
from kstreams_runbooks.observe.lag.topology_topics import TopologyTopics, topology_topics
from kstreams_runbooks.rules import rights
from kstreams_runbooks.watch.reset_neighbours import read_running_uses
from kstreams_runbooks.watch.rights import own_resources, with_release

_POLICY = "cleanup.policy"
_MANUAL = "manual"
_PROTOCOL = "group.protocol"
# Parts of an instance that no other one may have too, where both are deployed by one system.
_OWN = ("name", "program", "container", "directory", "state_dir")


@dataclass(frozen=True, slots=True)
class GreenSides:
    """Green and blue as they are declared and described: `blue_versions` are all that blue may run now."""

    fleet: Fleet
    green: Application
    blue: Application
    side: Side
    blue_versions: tuple[Topology, ...]

    @property
    def chain(self) -> tuple[Copier, ...]:
        """The copiers between the control topics and green; a first side has none of its own."""
        return chain_to(self.fleet, self.green, self.blue) if self.green.green_of == self.blue.name else ()

    @property
    def own_outputs(self) -> frozenset[str]:
        """The outputs of green with a counterpart of blue."""
        if self.green.green_of == self.blue.name:
            return frozenset(self.green.green_outputs)
        return frozenset(self.blue.green_outputs.values())

    @property
    def controls(self) -> dict[str, str]:
        """The control topic of each topic that the chain writes."""
        return {target: control for one in self.chain for control, target in one.route_pairs}


@dataclass(frozen=True, slots=True)
class _Uses:
    """Who uses topics of green, by groups and by the topologies that run; what is not known of either."""

    users: tuple[TopicUser, ...]
    uses: tuple[RunningUse, ...]
    unknown: tuple[str, ...]


def read_green(
    sides: GreenSides,
    kafka: Mapping[str, Any],
    reading: ApplicationReading,
    radius: BlastRadius,
    late_accepted: str,
    principal: str,
    wanted: int = 0,
    *,
    uneven: bool = False,
) -> GreenReading:
    """Everything that decides whether green may start.

    `kafka` is a librdkafka configuration, `principal` the login of the cluster's connection. `wanted` are the
    partitions of the topics that a chained copier writes, `uneven` accepts any number. Inconclusive if a topology
    cannot be read, Unreachable if no broker answers.
    """
    green, blue = sides.green, sides.blue
    with ClusterReader(kafka) as reader:
        names = reader.names()
        topics = _topics(sides.side.topology, green.application_id, names)
        internal = topics.internal | topics.changelogs
        blue_internal, blue_outputs = _of_blue(sides, names)
        globals_ = sides.side.read(is_global=True)
        inputs = sorted(topics.inputs(topics.external, green.inputs) | globals_)
        uses = _uses(sides, reader, names, topics.outputs | internal)
        stand = {one: green.green_outputs.get(one, "") for one in sorted(topics.outputs)}
        counts = _counts(reader, {*filter(None, stand.values())})
        lacks_, unknown_rights = _rights(sides, reading, reader, principal, bootstrap(kafka))
        saved = read_saved(reader, green.application_id, stable=False)
        read = tuple(_input(sides, kafka, reader, topic) for topic in inputs)
        chain = tuple(_chained(one, reader, names) for one in sides.chain)
        hidden = names.unseen({*inputs, *stand, *filter(None, stand.values()), *internal})
    declared, graph = green.declared(), fleet_graph(one.declared() for one in sides.fleet.entries.values())
    used = {one: tuple(used_by(declared, one, uses.users, uses.uses, graph)) for one in (*stand, *sorted(internal))}
    return GreenReading(
        application=green.name,
        group_id=green.application_id,
        blue=blue.name,
        blue_id=blue.application_id,
        group_type=reading.group.type if isinstance(reading.group, GroupReading) else "",
        protocol=(sides.side.declared.config or {}).get(_PROTOCOL, ""),
        up=tuple(up_instances(reading)),
        offsets=tuple(sorted({one.topic for one in saved.offsets})),
        inputs=read,
        patterns=tuple(sorted(topics.patterns)),
        outputs=tuple(
            GreenOutput(
                topic,
                of,
                counts.get(of, 0),
                topic in names.visible,
                used[topic],
            )
            for topic, of in stand.items()
        ),
        extractors=tuple(sorted(topics.extractors)),
        blue_outputs=tuple(sorted(blue_outputs)),
        internal=tuple(sorted(internal)),
        blue_internal=tuple(sorted(blue_internal)),
        left=tuple(sorted(internal & names.visible)),
        strange=tuple(
            f"internal topic {one}: {user} (expected: {green.name} alone); choose another application_id"
            for one in sorted(internal)
            for user in used[one]
        ),
        shared=tuple(_shared(green, blue)),
        by_person=tuple(_by_person(sides)),
        effects=effects_of(sides.side.topology, sides.side.declared),
        accepted=green.effects_twice or "",
        late=tuple(f"store {one.store}: {late_text(one)}" for one in radius.late if not one.comparable),
        late_accepted=late_accepted,
        lacks=lacks_,
        unknown_rights=unknown_rights,
        problems=tuple(dict.fromkeys((*uses.unknown, *hidden.values()))),
        chain=chain,
        wanted=wanted,
        uneven=uneven,
    )


def chain_to(fleet: Fleet, green: Application, blue: Application) -> tuple[Copier, ...]:
    """The copiers that write topics of green and none of blue: they copy from control topics."""
    front = {one.name for one in copiers_of(fleet, blue)}
    return tuple(one for one in copiers_of(fleet, green) if one.name not in front)


def _chained(copier: Copier, reader: ClusterReader, names: TopicNames) -> GreenChain:
    controls = {target: _source(copier, target) for target in copier.outputs}
    counts = _counts(reader, {*controls.values()})
    up = (one for one in make_deployer(copier, dry_run=True).instances() if not is_down(one.process))
    saved = read_saved(reader, copier.application_id, stable=False)
    return GreenChain(
        copier.name,
        copier.application_id,
        isinstance(copier, TopicCopier),
        tuple(
            WideTopic(target, control, counts[control], target in names.visible)
            for target, control in sorted(controls.items())
        ),
        tuple(one.instance for one in up),
        tuple(sorted({one.topic for one in saved.offsets})),
    )


def read_remains(sides: GreenSides, kafka: Mapping[str, Any]) -> GreenRemains:
    """What may be taken away of green, and who uses it; Inconclusive and Unreachable as `read_green`."""
    green = sides.green
    with ClusterReader(kafka) as reader:
        names = reader.names()
        topics = _topics(sides.side.topology, green.application_id, names)
        blue_internal, blue_outputs = _of_blue(sides, names)
        own = topics.internal | topics.changelogs | {one for one in topics.outputs if one in sides.own_outputs}
        own |= {topic for one in sides.chain for topic in one.outputs}
        going = sorted(own & names.visible)
        uses = _uses(sides, reader, names, going)
        ids = {one.application_id for one in sides.fleet.entries.values() if one.cluster == green.cluster}
        ids |= {group for group, *_ in reader.groups()}
        begins = internal_by_id(names.visible, ids).get(green.application_id, ())
        hidden = names.unseen(own)
    # The copier of the chain goes with green.
    chain = {one.application_id: one.name for one in sides.chain}
    declared = green.declared()
    graph = fleet_graph(one.declared() for one in sides.fleet.entries.values() if one.name not in chain.values())
    users = tuple(one for one in uses.users if one.group_id not in chain)
    running = tuple(one for one in uses.uses if one.entry not in chain.values())
    used = [(one, user) for one in going for user in used_by(declared, one, users, running, graph)]
    used += [(one, f"{sides.blue.name} has it") for one in going if one in blue_internal | blue_outputs]
    return GreenRemains(
        green.name,
        green.application_id,
        tuple(going),
        tuple(dict.fromkeys(used)),
        tuple(sorted(set(begins) - set(going))),
        tuple(dict.fromkeys((*uses.unknown, *hidden.values()))),
    )


def _counts(reader: ClusterReader, outputs: Collection[str]) -> dict[str, int]:
    """Partitions by topic, 0 for one that does not exist; Inconclusive if one is hidden."""
    found = {}
    for name, state in read_topic_states(reader, outputs).items():
        if isinstance(state, HiddenTopic):
            raise Inconclusive(state.missing)
        found[name] = state.partitions if state.exists else 0
    return found


def output_users(green: Application, kafka: Mapping[str, Any], outputs: Collection[str]) -> tuple[str, ...]:
    """The groups that use outputs of green now, as sentences; Inconclusive if that cannot be read."""
    with ClusterReader(kafka) as reader:
        users, unlisted = read_topic_users(reader, outputs, green.application_id)
    if unlisted:
        raise Inconclusive(unlisted[0])
    return tuple(f"output {one.topic}: group {one.group_id} uses it" for one in users)


def _topics(topology: Topology, application_id: str, names: TopicNames) -> TopologyTopics:
    try:
        return topology_topics(topology, application_id, names)
    except (BadInput, PatternTooSlow) as error:
        raise Inconclusive(f"topics of {application_id}: {error}") from None


def _of_blue(sides: GreenSides, names: TopicNames) -> tuple[frozenset[str], frozenset[str]]:
    """The exact names of the internal topics that blue may have, and what it writes for others."""
    found = [_topics(one, sides.blue.application_id, names) for one in sides.blue_versions]
    internal = frozenset[str]().union(*(one.internal | one.changelogs for one in found))
    return internal, frozenset(sides.blue.outputs).union(*(one.outputs for one in found))


def _uses(sides: GreenSides, reader: ClusterReader, names: TopicNames, topics: Collection[str]) -> _Uses:
    """By groups, and by the topologies that run: a pattern is matched with names that do not exist yet, too."""
    others = [
        one
        for one in sides.fleet.entries.values()
        if one.cluster == sides.green.cluster and one.name != sides.green.name
    ]
    users, unlisted = read_topic_users(reader, topics, sides.green.application_id)
    working = {group for group, _, state in reader.groups() if not is_empty(state)}
    uses, unseen = read_running_uses(others, TopicNames.of(names.visible | set(topics), names.hidden), working)
    return _Uses(users, uses, (*unlisted, *unseen, *sides.fleet.not_looked_at))


def up_instances(reading: ApplicationReading) -> Iterator[str]:
    """The instances that are not down; Inconclusive if that is not known of one."""
    for one in reading.instances:
        if isinstance(one.deployment, Missing):
            raise Inconclusive(f"{one.instance}: {one.deployment.missing}")
        if not is_down(one.deployment.process):
            yield one.instance


def _input(sides: GreenSides, kafka: Mapping[str, Any], reader: ClusterReader, topic: str) -> GreenInput:
    """The topic with the history of its partitions, if a copier of blue writes it, or what a chained one reads."""
    through = next((one for one in sides.chain if topic in one.outputs), None)
    control = _source(through, topic) if through else topic
    for copier in copiers_of(sides.fleet, sides.blue):
        if control in copier.outputs and (source := _source(copier, control)):
            policy = reader.settings([source], [_POLICY]).get(source, {}).get(_POLICY)
            if policy is None:
                raise Inconclusive(
                    f"input {source}: whether it is compacted is not known; grant this login DescribeConfigs on Topic "
                    f"{source}"
                )
            compacted = "compact" in policy
            begins = read_begins(kafka, reader, source, control, compacted=compacted)
            return GreenInput(topic, control, source, copier.name, begins)
    return GreenInput(topic, control, "", "", ())


def _source(copier: Copier, topic: str) -> str:
    """The topic that a copier copies to this one; empty if its entry does not show it."""
    routes = {to: source for source, to in copier.route_pairs}
    if topic in routes:
        return routes[topic]
    only = len(copier.inputs) == len(copier.outputs) == 1
    if not only:
        raise Inconclusive(
            f"copier {copier.name}: from which of {', '.join(copier.inputs)} it copies {topic} is not declared "
            "(expected routes, or one topic each); declare one entry for each route"
        )
    return copier.inputs[0]


def _shared(green: Application, blue: Application) -> Iterator[str]:
    """Parts of the deployment of green that blue has too: one would be stopped, read or cleared for the other."""
    for own in green.deployer.instances:
        for other in blue.deployer.instances:
            if own.metrics == other.metrics:
                yield (
                    f"{own.name}: its metrics are those of {other.name} of {blue.name} (expected its own); correct "
                    f"`metrics` of {green.name}"
                )
            if getattr(green.deployer, "url", None) != getattr(blue.deployer, "url", None):
                continue
            for field in _OWN:
                value, theirs = getattr(own, field, None), getattr(other, field, None)
                if value is not None and theirs is not None and _overlap(value, theirs):
                    yield (
                        f"{own.name}: {field} {value} is, or is in, that of {other.name} of {blue.name} ({theirs}; "
                        f"expected its own); correct `{field}` of {green.name}"
                    )


def _overlap(one: object, other: object) -> bool:
    if isinstance(one, Path) and isinstance(other, Path):
        return one.is_relative_to(other) or other.is_relative_to(one)
    return one == other


def _by_person(sides: GreenSides) -> Iterator[str]:
    for copier in (*copiers_of(sides.fleet, sides.blue), *sides.chain):
        if copier.deployer.kind == _MANUAL:
            yield f"copier {copier.name}"
    if sides.blue.deployer.kind == _MANUAL:
        yield sides.blue.name


def _rights(
    sides: GreenSides, reading: ApplicationReading, reader: ClusterReader, principal: str, servers: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The rights that green's own login lacks, and those that are not known."""
    green = sides.green
    rows = [row for row in rows_of(rights(), GREEN) if row.by == "application"]
    own = own_resources(sides.fleet, green, reading, reader, seen=True)
    own = with_release(own, sides.side.topology, reader)
    needed = needed_acls(rows, GREEN, green.name, own, {"application": green.principal or ""})
    answer = compared_rights(needed, read_granted(reader, principal, needed.acls))
    declare = "" if green.principal else f"; declare `principal` of {green.name}"
    return (
        tuple(lacks(acl, servers) for acl in answer.missing),
        tuple(f"{not_known(acl, why)}{declare}" for acl, why in answer.unknown),
    )
