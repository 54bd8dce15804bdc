"""Everything that a group has committed, with metadata and leader epochs, before a write replaces it."""

from kstreams_runbooks.errors import Inconclusive
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.writes import CommittedOffset, SavedOffsets
from kstreams_runbooks.observe.kafka.cluster import ClusterReader


def read_saved(reader: ClusterReader, group_id: str) -> SavedOffsets:
    """The offsets of a group, none if no broker knows it; Inconclusive if they cannot be read.

    A broker leaves out the offsets on topics that this login may not Describe.
    """
    at_ms = reader.taken().at_ms
    found = reader.committed([group_id])[group_id]
    if isinstance(found, Missing):
        raise Inconclusive(f"offsets of group {group_id}: {found.missing}")
    return SavedOffsets(
        group_id,
        at_ms,
        tuple(
            CommittedOffset(topic, partition, one.offset, one.metadata, one.leader_epoch)
            for (topic, partition), one in sorted(found.items())
        ),
    )
