"""Reads the partitions of inputs before their offsets move: ends, committed offsets, offsets at a time."""

from collections.abc import Collection, Mapping

from kstreams_runbooks.model.readings.input_offsets import InputPartition
from kstreams_runbooks.model.readings.readings import Missing, TopicReading
from kstreams_runbooks.observe.kafka.cluster import ClusterReader
from kstreams_runbooks.observe.kafka.ends import ends_of, places_of
from kstreams_runbooks.observe.kafka.local_starts import read_local_starts
from kstreams_runbooks.observe.kafka.offsets import Place, read_first_since

TIERED = "remote.storage.enable"


def read_input_partitions(
    reader: ClusterReader,
    group_id: str,
    topics: Collection[TopicReading],
    *,
    times: Mapping[str, int],
    saved: Mapping[str, Mapping[Place, int] | Missing],
    tiered: Collection[str],
    committed_only: bool,
) -> tuple[InputPartition, ...]:
    """Every partition of these topics, in the order of names.

    `times` (Unix ms) and `saved` are by topic, `tiered` are the topics with remote storage. Without `committed_only`
    reading ends at the end of the log. Committed offsets are read before the ends. Unreachable if no broker answers.
    """
    offsets = reader.committed([group_id])[group_id]
    places = places_of(topics)
    ends = ends_of(reader, topics)
    asked = {place: times[place[0]] for place in places if place[0] in times}
    at_time = read_first_since(reader.librdkafka, asked) if asked else {}
    local = read_local_starts(reader, [place for place in places if place[0] in tiered])
    ids = {one.name: one.topic_id for one in topics}

    def committed(place: Place) -> int | Missing | None:
        if isinstance(offsets, Missing):
            return offsets
        return offsets[place].offset if place in offsets else None

    def kept(place: Place) -> int | Missing | None:
        found = saved.get(place[0], {})
        return found if isinstance(found, Missing) else found.get(place)

    return tuple(
        InputPartition(
            topic=place[0],
            partition=place[1],
            topic_id=ids[place[0]],
            start=ends[place].start,
            stable=ends[place].stable if committed_only else ends[place].end,
            committed=committed(place),
            at_time=at_time.get(place),
            saved=kept(place),
            local_start=local.get(place),
        )
        for place in sorted(places)
    )
