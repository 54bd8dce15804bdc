"""What the shipped copier wants next to a committed offset: the offset again, the target, and where its records end.

The copier writes it with each commit (LastCopied in topic_copier). An offset at which a copy begins gets it from here.
The offset is written twice: another Kafka Streams program of the group keeps what it finds next to the one it commits.
"""

import base64
import struct
from dataclasses import dataclass
from uuid import UUID

# Version 2 of the metadata in which Kafka Streams keeps the time of a partition, without a time yet.
# Source: TopicPartitionMetadata, ProcessorMetadata (Apache Kafka, since 3.2; KIP-622).
_VERSION, _NO_TIME = 2, -1
_HEAD = struct.Struct(">bqi")
_OFFSET = "copied-to-offset"
_LONG = (1 << 64) - 1


# What fits next to an offset (offset.metadata.max.bytes, 4 KiB): LastCopied has the same limit.
_MOST_PARTITIONS = 128


@dataclass(frozen=True, slots=True)
class CopiedInto:
    """A copy from the topic with this id into that one; `ends` of the target's partitions, before the copy begins."""

    source_id: str
    target_id: str
    ends: tuple[int, ...]

    def at(self, offset: int) -> str:
        """The metadata of this offset, if a copy begins at it."""
        marks = {_OFFSET: offset, **self._topics, "target-partitions": len(self.ends)}
        if len(self.ends) <= _MOST_PARTITIONS:
            marks |= {f"to-{partition}": end - 1 & _LONG for partition, end in enumerate(self.ends)}
        kept = b"".join(_entry(name, value) for name, value in marks.items())
        return base64.b64encode(_HEAD.pack(_VERSION, _NO_TIME, len(marks)) + kept).decode()

    def has(self, offset: int, metadata: str) -> bool:
        """Whether the copier, or a person, has committed this offset for a copy between these two topics."""
        marks = _marks(metadata)
        return marks.get(_OFFSET) == offset and self._topics.items() <= marks.items()

    @property
    def _topics(self) -> dict[str, int]:
        ids = {"source": UUID(self.source_id).int, "target": UUID(self.target_id).int}
        high = {f"{topic}-id-high": number >> 64 for topic, number in ids.items()}
        return high | {f"{topic}-id-low": number & _LONG for topic, number in ids.items()}


def _marks(metadata: str) -> dict[str, int]:
    """The entries of this metadata, empty for any other; numbers as they are written, without a sign."""
    try:
        version, _, count = _HEAD.unpack_from(raw := base64.b64decode(metadata, validate=True))
        place, marks = _HEAD.size, {}
        for _ in range(count if version == _VERSION else 0):
            (length,) = struct.unpack_from(">i", raw, place)
            name = raw[place + 4 : place + 4 + length].decode()
            (marks[name],) = struct.unpack_from(">Q", raw, place + 4 + length)
            place += 4 + length + 8
    except (ValueError, struct.error):
        return {}
    return marks


def _entry(name: str, value: int) -> bytes:
    return struct.pack(">i", len(name)) + name.encode() + struct.pack(">Q", value)
