"""Everything that a group has committed, with metadata and leader epochs, before a write replaces it."""

from collections.abc import Sequence

from kstreams_runbooks.decide.topology.java_pattern import KAFKAS_OWN
from kstreams_runbooks.errors import Inconclusive
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.writes import CommittedOffset, SavedOffsets
from kstreams_runbooks.observe.kafka.cluster import ClusterReader
from kstreams_runbooks.wording import first_of


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


def require_all_topics(reader: ClusterReader, group_ids: Sequence[str]) -> None:
    """Inconclusive if these groups may have offsets on topics that this login may not see."""
    hidden = read_hidden(reader)
    what = f"group {first_of(group_ids)}: offsets on topics that are not visible to this login would not be saved"
    if isinstance(hidden, Missing):
        raise Inconclusive(f"{what}, and whether there are such topics is not known: {hidden.missing}")
    if hidden:
        raise Inconclusive(f"{what}: {first_of(hidden)}; grant it Describe on them, or delete its offsets by topic")


def read_hidden(reader: ClusterReader) -> tuple[str, ...] | Missing:
    """Topics that this login may not see, apart from the brokers' own; sends a request to each broker."""
    hidden = reader.names().hidden
    return hidden if isinstance(hidden, Missing) else tuple(sorted(hidden - KAFKAS_OWN))
