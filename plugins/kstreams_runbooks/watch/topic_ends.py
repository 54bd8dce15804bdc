"""Topics by name with the ends of all their partitions: a comparison of topics needs every one."""

from collections.abc import Sequence
from typing import NamedTuple

from kstreams_runbooks.errors import BadInput, Inconclusive
from kstreams_runbooks.model.readings.readings import Missing, TopicReading
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.kafka.ends import ends_of
from kstreams_runbooks.wording import outside


class KnownEnds(NamedTuple):
    """Of one partition: its log's start, the end up to which committed records can be read, and its end."""

    start: int
    stable: int
    end: int


def existing_topics(reader: ClusterReader, wanted: Sequence[str]) -> list[TopicReading]:
    """These topics; BadInput if one does not exist, Inconclusive if this login cannot see one."""
    names = reader.names()
    if hidden := names.unseen(wanted):
        raise Inconclusive(next(iter(hidden.values())))
    if absent := [name for name in wanted if name not in names.visible]:
        raise BadInput(
            f"topic {outside(absent[0])}: does not exist on the cluster; give the full name of one that does"
        )
    topics = {topic.name: topic for topic in reader.topics(wanted)}
    if gone := [name for name in wanted if name not in topics]:
        raise Inconclusive(f"topic {gone[0]}: was deleted while it was read; read it again")
    return [topics[name] for name in wanted]


def known_ends(reader: ClusterReader, topic: TopicReading) -> list[KnownEnds]:
    """The ends of all partitions; Inconclusive if one is not known."""
    ends = ends_of(reader, [topic])
    known = []
    for number in range(topic.partitions):
        start, stable, end = ends[topic.name, number]
        if isinstance(start, Missing) or isinstance(stable, Missing) or isinstance(end, Missing):
            why = next(each.missing for each in (start, stable, end) if isinstance(each, Missing))
            raise Inconclusive(f"{topic.name}-{number}: its ends are not known ({why}); read it again")
        known.append(KnownEnds(start, stable, end))
    return known
