"""Who reads an orphaned topic, and what came to it after its certificate, before its records are deleted."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from kstreams_runbooks.decide.topology.partitions import repartition_topics
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.errors import BadInput, RunbookError
from kstreams_runbooks.fleet import Application
from kstreams_runbooks.model.readings.emptying import CertifiedTopics, EmptyingSeen
from kstreams_runbooks.model.readings.readings import GroupReading, InstanceReading, Missing, StreamsReading
from kstreams_runbooks.model.readings.states import is_empty
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.kafka.ends import ends_at
from kstreams_runbooks.observe.kafka.offsets import Ends, GroupOffsets, Place
from kstreams_runbooks.watch.drain.unread import count_and_first

_STOP = "stop it, or keep the topic"
_SHARE = "share"


def read_emptying(
    entry: Application,
    kafka: Mapping[str, Any],
    certified: CertifiedTopics,
    instances: Collection[InstanceReading] = (),
) -> EmptyingSeen:
    """What speaks against deleting the records of these topics; `kafka` is a librdkafka configuration.

    `instances` show what a running release reads if its group does not report partitions. Unreachable if no broker
    answers.
    """
    topics, group_id = certified.ids, entry.application_id
    places = [(topic, number) for topic in topics for number in certified.of(topic)]
    with ClusterReader(kafka) as reader:
        # Share groups commit no offsets, and without members they read nothing.
        kinds = {name: kind for name, kind, state in reader.groups() if kind != _SHARE or not is_empty(state)}
        every = reader.lists_every_group()
        committed = reader.committed(sorted({*kinds, group_id}))
        groups = {group: reader.group_of(group, kind) for group, kind in kinds.items()}
        ends = ends_at(reader, places)
    unknown = [f"group {group}: {one.missing}" for group, one in committed.items() if isinstance(one, Missing)]
    unknown += [one.missing for one in groups.values() if isinstance(one, Missing)]
    unknown += list(_unread_ends(ends))
    if every is not True:
        why = f"({every.missing})" if isinstance(every, Missing) else "; grant it Describe on Cluster"
        unknown.append(f"whether other groups read {', '.join(sorted(topics))} is not visible to this login {why}")
    readers = [
        f"{member.client_id} on {member.host}, a member of group {group}, reads topic {topic} (expected no reader); "
        f"{_STOP}"
        for group, found in groups.items()
        if not isinstance(found, Missing)
        for member in found.members
        for topic in sorted({place.rpartition("-")[0] for place in member.partitions} & topics.keys())
    ]
    readers += _running(instances, group_id, topics)
    own_group = groups.get(group_id)
    if isinstance(own_group, GroupReading) and any(one.tasks for one in own_group.members) and not _is_shown(instances):
        unknown.append(f"group {group_id} reports tasks alone, and no instance shows its topology; wait until one does")
    readers += [
        f"group {group} has a committed offset on topic {topic} (expected none but those of {group_id}); look at who "
        "reads it"
        for group, offsets in committed.items()
        if group != group_id and not isinstance(offsets, Missing)
        for topic in sorted({name for name, _ in offsets} & topics.keys())
    ]
    own = committed.get(group_id, {})
    ranges = _ranges(certified, {} if isinstance(own, Missing) else own, ends)
    found, silent = _first(entry, kafka, ranges)
    return EmptyingSeen(
        {f"{topic}-{number}": offset for (what, topic, number), offset in found.items() if what == "grown"},
        {f"{topic}-{number}": offset for (what, topic, number), offset in found.items() if what == "unread"},
        tuple(dict.fromkeys(readers)),
        (*dict.fromkeys(unknown), *silent),
    )


def _unread_ends(ends: Mapping[Place, Ends]) -> Iterator[str]:
    for (topic, number), (start, stable, end) in ends.items():
        if lacking := next((one.missing for one in (start, stable, end) if isinstance(one, Missing)), ""):
            yield f"{topic}-{number}: {lacking}"
        elif stable != end:
            yield f"{topic}-{number}: a transaction is open on it (expected none); wait until it has ended"


def _is_shown(instances: Iterable[InstanceReading]) -> bool:
    return any(isinstance(one.streams, StreamsReading) and isinstance(one.streams.topology, str) for one in instances)


def _running(instances: Iterable[InstanceReading], group_id: str, topics: Collection[str]) -> Iterator[str]:
    for one in instances:
        text = one.streams.topology if isinstance(one.streams, StreamsReading) else None
        if isinstance(text, str):
            with suppress(BadInput):
                for name in sorted(repartition_topics(parse_topology(text))):
                    if (topic := f"{group_id}-{name}") in topics:
                        yield f"{one.instance} runs a release that reads topic {topic} (expected no reader); {_STOP}"


_Range = tuple[str, str, int]


def _ranges(certified: CertifiedTopics, own: GroupOffsets, ends: Mapping[Place, Ends]) -> dict[_Range, tuple[int, int]]:
    """Offsets that may hold no readable record, by what it would show."""
    found: dict[_Range, tuple[int, int]] = {}
    for (topic, number), (start, stable, _) in ends.items():
        if isinstance(start, int) and isinstance(stable, int):
            limit = certified.ends[f"{topic}-{number}"]
            found["grown", topic, number] = (max(start, limit), stable)
            if (topic, number) in own:
                found["unread", topic, number] = (max(start, own[topic, number].offset), min(limit, stable))
    return {key: (begin, end) for key, (begin, end) in found.items() if begin < end}


def _first(
    entry: Application, kafka: Mapping[str, Any], ranges: Mapping[_Range, tuple[int, int]]
) -> tuple[dict[_Range, int], tuple[str, ...]]:
    """The first readable record of each range that has one, and the partitions whose records could not be read."""
    _, first = count_and_first(entry, kafka)
    found: dict[_Range, int] = {}
    silent: list[str] = []
    for what in ("grown", "unread"):
        asked = {(topic, number): part for (kind, topic, number), part in ranges.items() if kind == what}
        try:
            answers = first(asked)
        except RunbookError as error:
            silent.append(f"records of {', '.join(sorted({topic for topic, _ in asked}))} are not read: {error}")
            continue
        for place, (begin, end) in asked.items():
            if place not in answers:
                silent.append(
                    f"{place[0]}-{place[1]}: whether offsets {begin:,} to {end:,} have a readable record is not known; "
                    "try again"
                )
            elif (answer := answers[place]) is not None:
                found[what, *place] = answer.offset
    return found, tuple(silent)
