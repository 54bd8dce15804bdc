"""Ends of partitions, as far as they are certain: the only way by which the rest of the package reads them.

The visible end of a partition with too few replicas in sync need not be the end of its log (observe/kafka/in_sync.py).
Its end and its last stable offset are then Missing.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from kstreams_runbooks.model.readings.readings import Missing, NoLeader, TopicReading
from kstreams_runbooks.observe.kafka.cluster import ClusterReader
from kstreams_runbooks.observe.kafka.offsets import Ends, HeldPartition, Place, read_ends, read_held
from kstreams_runbooks.wording import first_of


def places_of(topics: Iterable[TopicReading]) -> list[Place]:
    """Every partition of these topics."""
    return [(topic.name, number) for topic in topics for number in range(topic.partitions)]


def ends_of(reader: ClusterReader, topics: Iterable[TopicReading]) -> dict[Place, Ends]:
    """Ends of every partition of these topics, in three batched calls.

    A partition whose leader does not answer is Missing; Unreachable if no leader answers.
    """
    there = tuple(topics)
    return _certain(there, _read(reader, places_of(there)))


def ends_at(reader: ClusterReader, places: Collection[Place]) -> dict[Place, Ends]:
    """Ends of these partitions, one that does not exist is Missing; four batched calls.

    Unreachable as for `ends_of`; Inconclusive if a broker refuses a topic.
    """
    if not places:
        return {}
    topics = reader.topics({topic for topic, _ in places})
    return _certain(topics, _read(reader, sorted(places)))


def held_of(reader: ClusterReader, topics: Iterable[TopicReading]) -> tuple[HeldPartition, ...] | Missing:
    """What every partition of these topics still holds, and from when."""
    there = tuple(topics)
    uncertain = {(topic.name, number): Missing(why) for topic in there for number, why in topic.uncertain}
    found = reader.patiently(
        lambda: reader.ask("offsets of inputs", lambda: read_held(reader.librdkafka, places_of(there))),
        lambda held: (
            () if isinstance(held, Missing) else _silent({(one.topic, one.partition): one.values for one in held})
        ),
    )
    if isinstance(found, Missing):
        return found
    return tuple(replace(one, end=uncertain.get((one.topic, one.partition), one.end)) for one in found)


def _read(reader: ClusterReader, places: list[Place]) -> dict[Place, Ends]:
    """The ends as they are seen; a leader that does not answer may be back in a moment."""
    return reader.patiently(
        lambda: read_ends(reader.librdkafka, places),
        _silent,
    )


def _silent(read: Mapping[Place, Iterable[int | Missing]]) -> tuple[str, ...]:
    """The partitions without a leader for a moment, by what was answered."""
    where: dict[str, list[str]] = {}
    for (topic, number), values in read.items():
        for why in dict.fromkeys(one.missing for one in values if isinstance(one, NoLeader)):
            where.setdefault(why, []).append(f"{topic}-{number}")
    return tuple(f"{first_of(places)}: {why}" for why, places in where.items())


def _certain(topics: Iterable[TopicReading], ends: dict[Place, Ends]) -> dict[Place, Ends]:
    for topic in topics:
        for number, why in topic.uncertain:
            if (found := ends.get((topic.name, number))) is not None:
                ends[topic.name, number] = Ends(found.start, Missing(why), Missing(why))
    return ends
