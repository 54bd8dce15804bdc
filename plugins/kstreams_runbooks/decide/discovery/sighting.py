"""Identify Kafka Streams applications among groups: by type, members, offsets, topics.

Sources: StreamsPartitionAssignor#name (`stream`, the assignor of every classic Streams group); StreamsConfig,
`client.id` (`<client.id>-StreamThread-<n>-consumer`, client.id being `<application.id>-<process UUID>` by default);
TopicPartitionMetadata (partition time in the metadata of commits); KIP-1071 (streams groups).
"""

import re

from kstreams_runbooks.model.discovery.discovery import Sighting, SightingKind, Signs
from kstreams_runbooks.model.readings.readings import GroupReading, Missing

_ASSIGNOR = "stream"
_THREAD = re.compile(r"(?P<client>.+)-StreamThread-(?P<thread>\d+)-consumer")
# A name that a declaration can have (fleet/values.py), as Kafka allows in the topics that begin with it.
_DECLARABLE = re.compile(r"[a-zA-Z0-9._-]{1,249}")
_READERS = ("consumer", "streams", "")


def client_of(client_id: str) -> str | None:
    """The common part of the client ids of one process, None for a client id that no Streams thread has."""
    found = _THREAD.fullmatch(client_id)
    return found["client"] if found else None


def sighted(signs: Signs) -> Sighting:
    """Whether a group is an application, perhaps one, something else, or cannot be read."""
    kind, why = _judged(signs)
    if kind == "application" and not _DECLARABLE.fullmatch(signs.group_id):
        kind, why = "perhaps", f"{why}; but no topic can begin with its name, so nothing can declare it"
    return Sighting(signs, kind, why)


def _judged(signs: Signs) -> tuple[SightingKind, str]:
    if signs.type == "share":
        return "other", "a share group"
    if signs.protocol_type not in _READERS:
        return "other", f"a group of the protocol {signs.protocol_type}, which reads no topics by it"
    if isinstance(signs.group, Missing):
        return "unknown", signs.group.missing
    if isinstance(signs.committed, Missing):
        return "unknown", signs.committed.missing
    if signs.type == "streams":
        return "application", "a streams group (KIP-1071)"
    return _with_members(signs, signs.group) if signs.group.members else _stopped(signs, len(signs.committed))


def _with_members(signs: Signs, group: GroupReading) -> tuple[SightingKind, str]:
    threads = any(client_of(member.client_id) for member in group.members)
    left = _left(signs)
    if group.protocol == _ASSIGNOR:
        return "application", f"the partitions of its members ({len(group.members)}) by the assignor {_ASSIGNOR}"
    if group.protocol or signs.type == "consumer":
        by = f"by the assignor {group.protocol}" if group.protocol else "by the consumer protocol (KIP-848)"
        if left:
            return "perhaps", f"its members share its partitions {by}, as Kafka Streams never does, but it has {left}"
        if signs.unseen:
            return "unknown", f"its members share its partitions {by}, as Kafka Streams never does, but {signs.unseen}"
        named = ", although its client ids look so" if threads else ""
        return "other", f"its members share its partitions {by}, as Kafka Streams never does{named}"
    # In the middle of a rebalance there is no assignor.
    if threads and left:
        return "application", f"client ids of stream threads, and {left}"
    if threads or left:
        return "perhaps", f"{left or 'client ids of stream threads'}, and no more than that ({group.state})"
    if signs.unseen:
        return "unknown", f"nothing is visible that Kafka Streams leaves behind ({group.state}), but {signs.unseen}"
    return "other", f"nothing that Kafka Streams leaves behind ({group.state})"


def _stopped(signs: Signs, topics: int) -> tuple[SightingKind, str]:
    if signs.stamped:
        return "application", f"no member runs, and it has {_left(signs)}"
    # Offsets on hidden topics are excluded: no visible offset does not mean that there is none.
    if signs.internal and not topics and not signs.unseen:
        return "application", f"no member runs, and it has {_left(signs)}"
    if signs.unseen:
        return "unknown", f"no member runs, and {signs.unseen}"
    if signs.internal:
        return "perhaps", f"no member runs, and it has {_left(signs)}, but none of its offsets is stamped by Streams"
    return "other", "no member runs, and nothing that Kafka Streams leaves behind"


def _left(signs: Signs) -> str:
    """Traces of Kafka Streams, in words; empty without any."""
    parts = []
    if signs.stamped:
        parts.append(f"partition times in {signs.stamped} of its offsets")
    if signs.internal:
        parts.append(f"{len(signs.internal)} internal {'topic' if len(signs.internal) == 1 else 'topics'}")
    return " and ".join(parts)
