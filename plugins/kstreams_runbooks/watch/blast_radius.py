"""Reads for `blast-radius`: everything that a reset of an application would touch, and nothing is changed."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kstreams_runbooks.connections import kafka_config
from kstreams_runbooks.decide.comparison.compared import Side
from kstreams_runbooks.decide.fleet_graph import fleet_graph, require_own_outputs
from kstreams_runbooks.decide.internal_topics.derived import prefix_of
from kstreams_runbooks.decide.plans.adoptable import with_sources
from kstreams_runbooks.decide.reset.offsets import moved_offsets
from kstreams_runbooks.decide.reset.pace import read_pace
from kstreams_runbooks.decide.reset.radius import Asked, blast_radius
from kstreams_runbooks.decide.reset.stores import restored_topics, table_inputs
from kstreams_runbooks.decide.reset.targets import parse_targets, with_defaults
from kstreams_runbooks.decide.topology.names import internal_by_id, is_changelog
from kstreams_runbooks.deployers import Deployer, make_deployer
from kstreams_runbooks.errors import BadInput, Inconclusive, RunbookError
from kstreams_runbooks.fleet import Application, Fleet, load_fleet
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.model.local_state import Directories
from kstreams_runbooks.model.offset_targets import OffsetTarget
from kstreams_runbooks.model.readings.input_offsets import MovedOffset
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.reset import (
    BlastRadius,
    LocalSize,
    MissingKeys,
    ReadPace,
    ResetFacts,
    ResetMode,
    TopicUser,
)
from kstreams_runbooks.model.topology.topology import Topology
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.application.application import reading_instances, topics_of
from kstreams_runbooks.observe.kafka.offsets import Place
from kstreams_runbooks.observe.kafka.topic_names import TopicNames, not_visible
from kstreams_runbooks.observe.kafka.topic_users import read_topic_users
from kstreams_runbooks.observe.lag.input_partitions import TIERED, read_input_partitions
from kstreams_runbooks.observe.lag.last_offsets import read_missing_keys
from kstreams_runbooks.watch.drain.unread import isolation_of
from kstreams_runbooks.watch.reset_counts import counted_moves, oldest_left
from kstreams_runbooks.watch.reset_neighbours import read_running_uses
from kstreams_runbooks.watch.restoring_logs import read_restoring_logs
from kstreams_runbooks.watch.saved_targets import saved_by_topic
from kstreams_runbooks.watch.versions import versions_last_run

_POLICY = "cleanup.policy"
# Readings of the scheduled check behind the highest pace: four hours of them.
_LOOKS = 48
# States of a group without a member.
_STOPPED = {"EMPTY", "DEAD"}


@dataclass(frozen=True, slots=True)
class ResetQuestion:
    """What a person asks: the mode, the targets as given by topic, and outputs whose records would be deleted.

    `brings` are the versions that start afterwards: their inputs have targets too. `directories` are the only task
    directories that go, none for all. `lost` are stores that may begin empty. Unless `counts`, offsets count in place
    of records. `instead` are topics that do not exist yet, each with the one that has its records.
    """

    mode: ResetMode
    targets: Mapping[str, Any]
    emptied: tuple[str, ...] = ()
    brings: tuple[Side, ...] = ()
    directories: Directories = ()
    lost: tuple[str, ...] = ()
    counts: bool = True
    instead: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Read:
    """What was read before the offsets are resolved."""

    facts: ResetFacts
    sides: tuple[Side, ...]
    outputs: frozenset[str]
    targets: Mapping[str, OffsetTarget]
    tables: frozenset[str]
    read: frozenset[str]


def read_blast_radius(application: str, question: ResetQuestion, say: Callable[[str], None]) -> BlastRadius:
    """The blast radius of a reset of an application now; `say` receives what takes long, and why.

    BadInput for a question that does not fit the application, Inconclusive if its topology is not known: by names alone
    a neighbour's topics would be taken for its own. Unreachable if no broker answers.
    """
    return read_reset(application, question, say).radius


@dataclass(frozen=True, slots=True)
class ReadReset:
    """The blast radius of a reset, the target of each input whose offsets it sets (defaults included), the outputs.

    `read` are all topics that the application reads, those of global stores too. `last` are the topologies that may
    have run last.
    """

    radius: BlastRadius
    targets: Mapping[str, OffsetTarget]
    outputs: frozenset[str]
    read: frozenset[str]
    last: tuple[Topology, ...] = ()


def read_reset(application: str, question: ResetQuestion, say: Callable[[str], None]) -> ReadReset:
    """The same with the targets and the outputs."""
    fleet = load_fleet()
    entry = fleet.application(application)
    _require_fitting(question)
    config = kafka_config(fleet.cluster(entry.cluster).connection)
    graph = fleet_graph(one.declared() for one in fleet.entries.values())
    with ClusterReader(config) as reader:
        read = _read(fleet, entry, question, reader, config)
    require_own_outputs(graph, entry.name, question.emptied, read.outputs)
    rows = moved_offsets(read.targets, read.facts.inputs)
    isolation = isolation_of(entry)
    asked = Asked(
        entry.declared(),
        question.mode,
        read.outputs,
        rows,
        counted_moves(config, rows, isolation, say, exact=question.counts) if rows else (),
        tuple(_missing_keys(config, entry, question.mode, read, rows)),
        question.emptied,
        question.directories,
        question.lost,
    )
    radius, last = blast_radius(asked, read.sides, read.facts, graph), tuple(one.topology for one in read.sides)
    return ReadReset(radius, read.targets, read.outputs, read.read, last)


def _reads(side: Side, instead: Mapping[str, str]) -> Side:
    """A version with other topics in place of those that it reads."""
    topics = {instead.get(name, name): one for name, one in side.declared.topics.items()}
    return Side(with_sources(side.topology, instead), replace(side.declared, topics=topics)) if instead else side


def _require_fitting(question: ResetQuestion) -> None:
    if question.targets and question.mode in {"state", "retire"}:
        raise BadInput(
            f"mode {question.mode}: sets no offsets (expected no target); leave the targets out, or use mode reset or "
            "offsets"
        )
    if not question.targets and question.mode == "offsets":
        raise BadInput("mode offsets: has no target (expected at least one): it would change nothing; give one")


def _read(
    fleet: Fleet, entry: Application, question: ResetQuestion, reader: ClusterReader, config: Mapping[str, Any]
) -> _Read:
    deployer, group_id = make_deployer(entry, dry_run=True), entry.application_id
    with reading_instances(entry, deployer) as instances_read:
        taken, names, groups = reader.taken(), reader.names(), reader.groups()
        instances = instances_read()
    sides = tuple(_reads(side, question.instead) for side in versions_last_run(entry, deployer, instances))
    topics = topics_of((side.topology for side in sides), group_id, names)
    # A version that starts afterwards may read more: without an offset it would follow auto.offset.reset there.
    every = (*sides, *(_reads(side, question.instead) for side in question.brings))
    brought = topics_of((side.topology for side in every), group_id, names)
    if isinstance(topics, Missing) or isinstance(brought, Missing):
        lacking = next(one.missing for one in (topics, brought) if isinstance(one, Missing))
        raise Inconclusive(f"topology of {entry.name}: {lacking}")
    sources, unproven = brought.read_on(names)
    inputs = sources - brought.internal
    restored = frozenset[str]().union(*(restored_topics(side) for side in every))
    parsed = parse_targets(question.targets, inputs, taken.at_ms, restored=restored)
    tables = frozenset(topic for side in every for topic in table_inputs(side) if topic in inputs)
    moves = question.mode in {"reset", "offsets"}
    written, rebuilds = inputs & brought.outputs, question.mode == "reset"
    shared = written & brought.inputs(inputs, entry.inputs)
    targets = {}
    if moves:
        targets = with_defaults(parsed, inputs, tables, rebuilds=rebuilds, written=written, shared=shared)
    problems = [unproven, *names.unseen(inputs).values(), *fleet.not_looked_at]
    problems += [
        f"internal topics begin with {prefix}, as a setting of the program has it (expected: with its application.id "
        f"{group_id}): they are not found by that; reset it manually"
        for prefix in sorted({prefix_of(side.declared, group_id) for side in every} - {group_id})
    ]
    absent = sorted(inputs - names.visible - names.unseen(inputs).keys())
    problems += [f"input {name}: the topic does not exist on the cluster" for name in absent]
    ids = {group_id, *(one.application_id for one in fleet.entries.values() if one.cluster == entry.cluster)}
    ids |= {group for group, *_ in groups}
    own = internal_by_id(names.visible, ids).get(group_id, ())
    problems += _hidden(names, ids, group_id)
    settings = reader.settings(inputs & names.visible, (_POLICY, TIERED))
    if question.mode == "reset":
        # A compacted input has lost older values: a store that it fed is rebuilt in part.
        problems += [
            f"input {name}: its {_POLICY} is not visible to this login; grant it DescribeConfigs on Topic {name}"
            for name in sorted(inputs & names.visible)
            if _POLICY not in settings.get(name, {})
        ]
    there = reader.topics(inputs & names.visible)
    partitions = read_input_partitions(
        reader,
        group_id,
        there,
        times={topic: one.at_ms for topic, one in targets.items() if one.at_ms is not None},
        saved=saved_by_topic(entry.declared(), targets, there),
        tiered=[topic for topic, own_settings in settings.items() if own_settings.get(TIERED) == "true"],
        committed_only=entry.reads_committed,
    )
    outputs = frozenset(entry.outputs) | topics.outputs
    users, unlisted = _users(reader, {*outputs, *own}, group_id)
    others = [one for one in fleet.entries.values() if one.cluster == entry.cluster and one.name != entry.name]
    working = {group for group, _, state in groups if state.upper() not in _STOPPED}
    uses, unseen = read_running_uses(others, names, working)
    facts = ResetFacts(
        taken=taken,
        inputs=partitions,
        policies={topic: one[_POLICY] for topic, one in settings.items() if _POLICY in one},
        internal=reader.topics(own),
        sizes=reader.bytes_of(own) if own else {},
        users=users,
        others=uses,
        local=tuple(_local(deployer, one.name) for one in entry.deployer.instances),
        pace=_pace(entry),
        oldest_ms=oldest_left(config, partitions, isolation_of(entry)),
        problems=tuple(dict.fromkeys(filter(None, (*problems, *unlisted, *unseen)))),
        restoring=read_restoring_logs(reader, [*filter(is_changelog, own), *((restored | inputs) & names.visible)]),
    )
    return _Read(facts, sides, outputs, targets, tables, inputs | restored)


def _hidden(names: TopicNames, ids: Collection[str], group_id: str) -> list[str]:
    hidden = names.hidden
    if isinstance(hidden, Missing):
        return [f"whether there are other internal topics is not known: {hidden.missing}"]
    return [not_visible(name) for name in internal_by_id(hidden, ids).get(group_id, ())]


def _users(reader: ClusterReader, topics: Collection[str], own: str) -> tuple[tuple[TopicUser, ...], tuple[str, ...]]:
    try:
        return read_topic_users(reader, topics, own)
    except Inconclusive as error:
        return (), (f"which groups use its topics is not known: {error}",)


def _local(deployer: Deployer, instance: str) -> LocalSize:
    try:
        return LocalSize(instance, deployer.state_sizes(instance))
    except RunbookError as error:
        return LocalSize(instance, Missing(str(error)))


def _pace(entry: Application) -> ReadPace | Missing:
    try:
        ledger = Ledger.existing()
        kept = () if ledger is None else ledger.lag_readings(entry.cluster, [entry.name], _LOOKS)[entry.name]
    except (RunbookError, ValueError) as error:
        return Missing(f"readings of the ledger: {error}")
    return read_pace(kept)


def _missing_keys(
    config: Mapping[str, Any], entry: Application, mode: ResetMode, read: _Read, rows: Sequence[MovedOffset]
) -> list[MissingKeys]:
    """Of each table that is rebuilt from another target than the start of its log."""
    if mode != "reset":
        return []
    found = []
    for topic in sorted(read.tables):
        its: dict[Place, tuple[int, int, int]] = {
            (one.topic, one.partition): (one.start, one.after, one.stable)
            for one in rows
            if one.topic == topic and one.start is not None and one.after is not None and one.stable is not None
        }
        if any(start < after for start, after, _ in its.values()):
            found.append(read_missing_keys(config, topic, its, isolation_of(entry)))
    return found
