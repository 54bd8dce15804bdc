"""Reads the internal topics of a version and those of its cluster, and compares them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from kstreams_runbooks.connections import kafka_config
from kstreams_runbooks.decide.comparison.compared import Side
from kstreams_runbooks.decide.fitting.needed import NeededTopics
from kstreams_runbooks.decide.fitting.topics import external_topics
from kstreams_runbooks.decide.instances.running import one_release
from kstreams_runbooks.decide.instances.running_facts import of_a_release, with_declared, with_facts
from kstreams_runbooks.decide.internal_topics.compared import compared_topics, sources_of, topics_to_create
from kstreams_runbooks.decide.internal_topics.derived import internal_topics, prefix_of
from kstreams_runbooks.decide.topology.names import internal_by_id
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.deployers import make_deployer
from kstreams_runbooks.errors import BadInput, Refused
from kstreams_runbooks.fleet import Application, Fleet, release_declaration
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.touched import TopicState
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.target import Target
from kstreams_runbooks.model.topology.declaration import Declaration, Described
from kstreams_runbooks.model.topology.internal_topics import (
    InternalAnswer,
    InternalSeen,
    InternalThere,
    InternalTopics,
)
from kstreams_runbooks.model.writes import TopicShape
from kstreams_runbooks.observe import ClusterReader, read_application
from kstreams_runbooks.observe.application.facts import read_running_facts
from kstreams_runbooks.observe.application.topics_seen import read_topics_seen
from kstreams_runbooks.observe.kafka.creatable import read_not_creatable
from kstreams_runbooks.observe.kafka.touched import read_topic_states
from kstreams_runbooks.wording import first_of


def running_side(fleet: Fleet, entry: Application) -> Side:
    """The version that every instance runs, with its facts and its declaration; errors as `running_version`."""
    described = running_version(fleet, entry)
    return Side(parse_topology(described.text), described.declaration)


def running_version(fleet: Fleet, entry: Application) -> Described:
    """The same as a description with its text.

    Refused if several versions run, BadInput if no instance reports its topology.
    """
    with ClusterReader(kafka_config(fleet.cluster(entry.cluster).connection)) as reader:
        reading = read_application(entry, reader, make_deployer(entry, dry_run=True))
    version, *others = with_facts(one_release(reading), read_running_facts(entry, reading.instances))
    if others:
        raise Refused(
            f"instances of {entry.name}: their programs differ in release {version.release} (expected: one); bring all "
            "to the same first"
        )
    if version.text is None:
        raise BadInput(f"{entry.name}: no instance reports its topology; start one, or give --release or --topology")
    side = _side(entry, version.release, version.text, version.read)
    library, is_read = entry.declared().library(version.release), version.read is not None
    source = f"release {version.release} as it runs"
    return Described(version.release, library, source, version.text, side.declared, read=is_read)


def released_side(entry: Application, release: str) -> Side:
    """A declared release as its topology command describes it, with its facts and its declaration."""
    if release not in entry.declared().releases:
        raise BadInput(
            f"release {release[:40]!r} is not declared for {entry.name} (it has "
            f"{', '.join(entry.declared().releases)}); give one of them"
        )
    deployer, target = make_deployer(entry, dry_run=True), Target(release)
    text, read = deployer.topology(target), deployer.facts(target)
    return _side(entry, release, text, None if read is None else of_a_release(read))


def _side(entry: Application, release: str, text: str, read: Declaration | None) -> Side:
    library = entry.declared().library(release)
    known = release_declaration(entry.name, release, library) or Declaration(library=Release.parse(library))
    return Side(parse_topology(text), known if read is None else with_declared(read, known))


@dataclass(frozen=True, slots=True)
class JudgedTopics:
    """The internal topics of a version next to its cluster.

    `create` are those to create before a start, Missing if a fact is; `refused` has, by name, why the controller would
    not create one.
    """

    wanted: InternalTopics
    answer: InternalAnswer
    create: tuple[TopicShape, ...] | Missing
    refused: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Whose:
    """The application whose internal topics are compared; `name` is its fleet entry, its id without one."""

    name: str
    application_id: str
    cluster: str
    owner: str


def owner_of(entry: Application, side: Side) -> Whose:
    """A declared application; BadInput if the settings of this version have another id."""
    given = (side.declared.config or {}).get("application.id", entry.application_id)
    if given != entry.application_id:
        raise BadInput(
            f"application.id: is {given[:80]} in the settings of this version, and {entry.application_id} in the fleet "
            f"entry {entry.name}; give the settings of that application"
        )
    return Whose(entry.name, entry.application_id, entry.cluster, entry.owner)


def undeclared(side: Side, cluster: str) -> Whose:
    """An application that has no fleet entry; BadInput if its settings have no application.id."""
    application_id = (side.declared.config or {}).get("application.id")
    if not application_id:
        raise BadInput("application.id: is not among the settings; give --config or --declaration with it")
    return Whose(application_id, application_id, cluster, "the owner of the application")


def judged_internal_topics(fleet: Fleet, whose: Whose, side: Side, *, check: bool = False) -> JudgedTopics:
    """Compare the internal topics of a version with its cluster; with `check` the controller checks what is missing.

    BadInput if the connection is unknown, Unreachable if no broker answers, Inconclusive if a topic cannot be read.
    """
    ids = {one.application_id for one in fleet.applications.values() if one.cluster == whose.cluster}
    with ClusterReader(kafka_config(fleet.cluster(whose.cluster).connection)) as reader:
        wanted, seen = read_internal_topics(reader, side, whose.application_id, ids)
        answer = compared_topics(side.topology, wanted, seen, whose.owner, writers(fleet, whose))
        create = topics_to_create(wanted, seen.there.keys())
        if seen.hidden and not isinstance(create, Missing):
            create = Missing(f"internal topics are not created: {first_of(sorted(seen.hidden.values()))}")
        refused = {} if isinstance(create, Missing) or not check else read_not_creatable(reader, create)
    return JudgedTopics(wanted, answer, create, refused)


def read_internal_topics(
    reader: ClusterReader, side: Side, application_id: str, ids: Collection[str]
) -> tuple[InternalTopics, InternalSeen]:
    """The internal topics of a version for the inputs of its cluster, and the ones that exist.

    `ids` are those of all applications of the cluster: a longer id has its own topics. A topic that this login may not
    see is never taken for a missing one.
    """
    topology = side.topology
    patterns = {source.pattern for sub in topology.subtopologies for source in sub.sources if source.pattern}
    sources = read_topics_seen(
        reader, NeededTopics(dict.fromkeys(sources_of(topology), ""), frozenset(), frozenset(patterns))
    )
    inputs = external_topics(topology, sources)
    wanted = internal_topics(topology, side.declared, application_id, inputs)
    names, prefix = reader.names(), prefix_of(side.declared, application_id)
    every = {one.name for one in wanted.topics}
    own = {*internal_by_id(names.visible, {*ids, application_id, prefix}).get(prefix, ()), *(every & names.visible)}
    there, refused = _there(reader, own, {name for one in wanted.topics for name, _ in one.settings or ()})
    return wanted, InternalSeen(inputs, there, {**sources.hidden, **names.unseen(every), **refused})


def _there(
    reader: ClusterReader, names: Collection[str], settings: Collection[str]
) -> tuple[dict[str, InternalThere], dict[str, str]]:
    """These topics with their own settings and the values of `settings`, and why others of them are not known."""
    states = read_topic_states(reader, names)
    known = [name for name, one in states.items() if isinstance(one, TopicState) and one.exists]
    effective = reader.settings(known, settings)
    there = {}
    for one in reader.topics(known, configs=True):
        state = states[one.name]
        replicas = state.replication if isinstance(state, TopicState) else 0
        there[one.name] = InternalThere(
            one.name, one.topic_id, one.partitions, replicas, dict(one.configs), effective.get(one.name, {})
        )
    return there, {name: one.missing for name, one in states.items() if isinstance(one, Missing)}


def writers(fleet: Fleet, whose: Whose) -> Mapping[str, tuple[str, str]]:
    """The entry that writes each topic, with its owner, for the topics that others on the same cluster write."""
    return {
        topic: (name, other.owner)
        for name, other in sorted(fleet.entries.items())
        if other.cluster == whose.cluster and name != whose.name
        for topic in other.outputs
    }
