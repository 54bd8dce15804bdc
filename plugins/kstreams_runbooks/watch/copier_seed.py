"""Reads what the first offsets of a copier are chosen from."""

from kstreams_runbooks.fleet.copier import TopicCopier
from kstreams_runbooks.model.readings.copied_into import CopiedInto
from kstreams_runbooks.model.readings.copying import SeedPlace, SeedReading, TopicEnd
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.writes import SavedOffsets
from kstreams_runbooks.observe.kafka.cluster import ClusterReader
from kstreams_runbooks.observe.kafka.ends import ends_of, places_of


def read_seed(copier: TopicCopier, reader: ClusterReader, before: SavedOffsets) -> tuple[SeedReading, dict[str, str]]:
    """The reading, and the id of each source. `before` are the offsets that its group has committed."""
    names = reader.names()
    wanted = {*copier.inputs, *copier.outputs}
    hidden = names.unseen(wanted)
    topics = {one.name: one for one in reader.topics(wanted & names.visible)}
    ends = ends_of(reader, topics.values())
    committed = before.by_place()
    sources = [topics[name] for name in copier.inputs if name in topics]
    targets = [topics[name] for name in copier.outputs if name in topics]
    into = {}
    for source, target in copier.route_pairs:
        if source in topics and target in topics:
            read = [ends[place].end for place in places_of([topics[target]])]
            known = tuple(end for end in read if not isinstance(end, Missing))
            if len(known) == len(read):
                into[source] = CopiedInto(topics[source].topic_id, topics[target].topic_id, known)
    seeds = tuple(
        SeedPlace(
            *place,
            *ends[place],
            one.offset if (one := committed.get(place)) else None,
            one.metadata if one else "",
            into.get(place[0]),
        )
        for place in places_of(sources)
    )
    return SeedReading(
        copier.name,
        copier.application_id,
        copier.route_pairs,
        seeds,
        tuple(TopicEnd(*place, ends[place].end) for place in places_of(targets)),
        tuple(sorted(wanted - names.visible - hidden.keys())),
        tuple(hidden.values()),
    ), {one.name: one.topic_id for one in sources}
