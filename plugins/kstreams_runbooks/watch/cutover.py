"""Reads what decides whether one side of an application may take over from the other."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from kstreams_runbooks.decide.comparison.compared import Side
from kstreams_runbooks.decide.lag import total_lag
from kstreams_runbooks.decide.outputs.classes import class_of_both, output_classes
from kstreams_runbooks.errors import BadInput, Inconclusive, Refused
from kstreams_runbooks.fleet import Application, Consumer, Copier, Fleet, copiers_of
from kstreams_runbooks.matching import PatternTooSlow
from kstreams_runbooks.model.output_classes import OutputClass
from kstreams_runbooks.model.readings.cutover import (
    CopyingSide,
    CutoverReading,
    DownstreamReading,
    GroupOnOutput,
    KeptFor,
    PairedOutput,
    SideReading,
)
from kstreams_runbooks.model.readings.readings import ApplicationReading, GroupReading, Missing
from kstreams_runbooks.model.readings.touched import HiddenTopic, TopicState
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.kafka.topic_users import read_topic_users
from kstreams_runbooks.observe.kafka.touched import read_topic_states
from kstreams_runbooks.observe.lag.topology_topics import topology_topics
from kstreams_runbooks.watch.kept_for import read_kept_for
from kstreams_runbooks.watch.sides import OutputPair

_MANUAL: Final = "manual"


@dataclass(frozen=True, slots=True)
class CutoverSide:
    """One side as it is declared, as it runs, and as it was just read."""

    entry: Application
    version: Side
    reading: ApplicationReading


@dataclass(frozen=True, slots=True)
class CutoverAsked:
    """Both sides and the copier in front, None without one; `most_unread` records may be left to the new side."""

    fleet: Fleet
    old: CutoverSide
    new: CutoverSide
    copier: Copier | None
    most_unread: int


def counterparts(old: Application, new: Application) -> Mapping[str, str]:
    """Each output of the old side with that of the new one, as the entry of the side that started second has them.

    BadInput if neither entry is the `green_of` of the other one.
    """
    if new.green_of == old.name:
        return {blue: green for green, blue in new.green_outputs.items()}
    if old.green_of == new.name:
        return dict(old.green_outputs)
    raise BadInput(
        f"green: {new.name} is no second side of {old.name} (expected green_of of one of them to name the other); "
        f"write its entry with `kstreams-runbooks declare-green {old.name}`"
    )


def further_sides(
    fleet: Fleet, old: Application, new: Application, copier: Copier | None, kafka: Mapping[str, Any]
) -> tuple[str, ...]:
    """The other applications that a cutover concerns, by name: chained copiers, neighbours, and groups that move.

    Inconclusive if the groups of the cluster cannot be read, Unreachable if no broker answers.
    """
    with ClusterReader(kafka) as reader:
        users = _readers(fleet, old, reader, _written(old, new))
    if isinstance(users, Missing):
        raise Inconclusive(f"the groups that read the outputs of {old.name}: {users.missing}")
    names = (
        *(one.name for one in chain_of(fleet, old, new, copier)),
        *neighbours_of(fleet, old, new, copier),
        *(name for name in _entries(fleet, old, new, users)),
    )
    return tuple(dict.fromkeys(names))


def chain_of(fleet: Fleet, old: Application, new: Application, copier: Copier | None) -> tuple[Copier, ...]:
    """The copiers between the copier in front and one of the sides."""
    front = copier.name if copier else ""
    found = {one.name: one for side in (old, new) for one in copiers_of(fleet, side)}
    return tuple(one for name, one in sorted(found.items()) if name != front)


def neighbours_of(fleet: Fleet, old: Application, new: Application, copier: Copier | None) -> tuple[str, ...]:
    """Other applications that read what the copier writes: they wait while it is stopped."""
    held = {*copier.outputs} if copier else set()
    found = (one for one in fleet.applications.values() if held & {*one.inputs, *one.control} and not one.copies)
    return tuple(
        sorted(one.name for one in found if one.cluster == old.cluster and one.name not in {old.name, new.name})
    )


def read_cutover(asked: CutoverAsked, kafka: Mapping[str, Any]) -> CutoverReading:
    """Everything that decides whether the new side may take over; `kafka` is a librdkafka configuration.

    BadInput if the entries do not belong together, Refused if an output is chosen by code; Inconclusive if a topology
    cannot be read, Unreachable if no broker answers.
    """
    fleet, old, new = asked.fleet, asked.old.entry, asked.new.entry
    paired = counterparts(old, new)
    with ClusterReader(kafka) as reader:
        old_side, new_side = (_side(one, reader) for one in (asked.old, asked.new))
        counts = _counts(reader, {*old_side.outputs, *paired.values(), *new_side.outputs})
        readers = _readers(fleet, old, reader, old_side.outputs)
        types = _types(reader, () if isinstance(readers, Missing) else readers)
        moving = () if isinstance(readers, Missing) else tuple(_entries(fleet, old, new, readers))
        downstream = tuple(_downstream(fleet.entries[name], old_side.outputs, types) for name in moving)
        downstream = tuple(one if one.acts else replace(one, kept=_kept(reader, one, paired)) for one in downstream)
    classes = {one.topic: one for one in pair_classes(asked.old, asked.new, paired)}
    return CutoverReading(
        old=old_side,
        new=new_side,
        copier=None if asked.copier is None else _copying(asked.copier),
        chain=tuple(map(_copying, chain_of(fleet, old, new, asked.copier))),
        outputs=tuple(
            PairedOutput(
                topic,
                paired.get(topic, ""),
                counts[topic],
                counts.get(paired.get(topic, ""), 0),
                classes[topic].kind if topic in classes else None,
                classes[topic].asked if topic in classes else (),
            )
            for topic in old_side.outputs
        ),
        readers=readers,
        downstream=downstream,
        most_unread=asked.most_unread,
    )


def readers_now(
    fleet: Fleet, old: Application, outputs: Sequence[str], kafka: Mapping[str, Any]
) -> tuple[GroupOnOutput, ...] | Missing:
    """Each group with members or offsets on these outputs of the old side now; Missing if one is not known.

    Unreachable if no broker answers.
    """
    with ClusterReader(kafka) as reader:
        return _readers(fleet, old, reader, outputs)


def output_pairs(old: CutoverSide, new: CutoverSide) -> tuple[OutputPair, ...]:
    """Each output of the old side with its counterpart and the class of both."""
    paired = counterparts(old.entry, new.entry)
    return tuple(OutputPair(one.topic, paired[one.topic], one) for one in pair_classes(old, new, paired))


def pair_classes(old: CutoverSide, new: CutoverSide, paired: Mapping[str, str]) -> Iterator[OutputClass]:
    """The class of each output of the old side that has a counterpart: what both versions promise."""
    first, second = ({one.topic: one for one in _classes(side)} for side in (old, new))
    for topic, of_old in first.items():
        if (counterpart := second.get(paired.get(topic, ""))) is not None:
            yield class_of_both(of_old, counterpart)


def _classes(side: CutoverSide) -> tuple[OutputClass, ...]:
    declared = side.entry.declared()
    return output_classes(side.version, {one.topic: one for one in declared.output_semantics}, declared.punctuators)


def _side(side: CutoverSide, reader: ClusterReader) -> SideReading:
    entry, names = side.entry, reader.names()
    try:
        topics = topology_topics(side.version.topology, entry.application_id, names)
    except (BadInput, PatternTooSlow) as error:
        raise Inconclusive(f"topics of {entry.name}: {error}") from None
    if topics.extractors:
        raise Refused(
            f"application {entry.name}: code chooses topics that it writes ({', '.join(sorted(topics.extractors))}; "
            "expected topics that its topology names): their ends cannot be noted; name them in the topology"
        )
    read, why = topics.read_on(names)
    if why:
        raise Inconclusive(f"inputs of {entry.name}: {why}")
    inputs = topics.inputs(read, entry.inputs) | side.version.read(is_global=True)
    return SideReading(
        application=entry.name,
        group_id=entry.application_id,
        inputs=tuple(sorted(inputs)),
        outputs=tuple(sorted(topics.outputs)),
        internal=tuple(sorted(topics.internal | topics.changelogs)),
        unread=_unread(side.reading),
        acts=entry.deployer.kind != _MANUAL,
    )


def _unread(reading: ApplicationReading) -> int | Missing:
    """Offsets that its group has not committed, those of internal topics too."""
    if isinstance(reading.partitions, Missing):
        return reading.partitions
    lag = total_lag(reading.partitions)
    return Missing(lag.unknown[0]) if lag.unknown else lag.records


def _copying(copier: Copier) -> CopyingSide:
    acts = copier.deployer.kind != _MANUAL
    return CopyingSide(copier.name, copier.delivery, copier.inputs, copier.outputs, acts)


def _counts(reader: ClusterReader, topics: set[str]) -> dict[str, int | Missing]:
    """Partitions by topic; Missing for one that is hidden, or does not exist."""
    found: dict[str, int | Missing] = {}
    for name, state in read_topic_states(reader, topics - {""}).items():
        if isinstance(state, HiddenTopic):
            found[name] = Missing(state.missing)
        elif isinstance(state, TopicState) and state.exists:
            found[name] = state.partitions
        else:
            found[name] = Missing("does not exist (expected: written by its side); look at that side")
    return found


def _written(old: Application, new: Application) -> tuple[str, ...]:
    """The outputs of the old side as far as the entries name them."""
    return tuple(dict.fromkeys((*old.outputs, *counterparts(old, new))))


def _readers(
    fleet: Fleet, old: Application, reader: ClusterReader, outputs: Sequence[str]
) -> tuple[GroupOnOutput, ...] | Missing:
    """Each group with members or offsets on these outputs, with its fleet entry."""
    users, unlisted = read_topic_users(reader, outputs, old.application_id)
    if unlisted:
        return Missing(unlisted[0])
    entries = {one.application_id: one.name for one in fleet.entries.values() if one.cluster == old.cluster}
    return tuple(GroupOnOutput(one.topic, one.group_id, entries.get(one.group_id, "")) for one in users)


def _entries(fleet: Fleet, old: Application, new: Application, readers: Sequence[GroupOnOutput]) -> Iterator[str]:
    """The entries of groups that move: they read an output now, and declare it as an input."""
    found = sorted({one.entry for one in readers if one.entry} - {old.name, new.name})
    for name in found:
        if {*fleet.entries[name].inputs} & {one.topic for one in readers if one.entry == name}:
            yield name


def _kept(reader: ClusterReader, group: DownstreamReading, paired: Mapping[str, str]) -> tuple[KeptFor, ...]:
    """How long brokers keep what a group needs that a person moves; an output without a counterpart is refused."""
    return read_kept_for(reader, {*group.topics, *(paired[topic] for topic in group.topics if paired.get(topic))})


def _types(reader: ClusterReader, readers: Sequence[GroupOnOutput]) -> dict[str, str]:
    """The type of each group; Inconclusive if it cannot be read."""
    found = {}
    for group_id in sorted({one.group_id for one in readers}):
        group = reader.group(group_id)
        if not isinstance(group, GroupReading):
            raise Inconclusive(f"group {group_id}: {group.missing}")
        found[group_id] = group.type
    return found


def _downstream(entry: Application, outputs: Sequence[str], types: Mapping[str, str]) -> DownstreamReading:
    topics = tuple(topic for topic in entry.inputs if topic in outputs)
    consumer = entry if isinstance(entry, Consumer) else None
    return DownstreamReading(
        entry=entry.name,
        kind="streams" if consumer is None else "consumer",
        group_id=entry.application_id,
        group_type=types[entry.application_id],
        topics=topics,
        settings=tuple(sorted((name, topic) for name, topic in entry.input_settings.items() if topic in topics)),
        delivery="exactly_once" if entry.reads_committed else "at_least_once",
        transactional_ids=() if consumer is None else consumer.transactional_ids,
        acts=entry.deployer.kind != _MANUAL,
    )
