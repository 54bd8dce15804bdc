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


# What fits next to an offset (offset.metadata.max.bytes, 4 KiB): LastCopied has the same limit.
_MOST_PARTITIONS = 128


@dataclass(frozen=True, slots=True)
class CopiedInto:
    """The target of a copy: the topic with this id, and the end of each partition before the copy begins."""

    topic_id: str
    ends: tuple[int, ...]

    def at(self, offset: int) -> str:
        """The metadata of this offset, if a copy begins at it."""
        number = UUID(self.topic_id).int
        marks = {
            "copied-to-offset": offset,
            "target-id-high": number >> 64,
            "target-id-low": number & (1 << 64) - 1,
            "target-partitions": len(self.ends),
        }
        if len(self.ends) <= _MOST_PARTITIONS:
            marks |= {f"to-{partition}": end - 1 & (1 << 64) - 1 for partition, end in enumerate(self.ends)}
        kept = b"".join(_entry(name, value) for name, value in marks.items())
        return base64.b64encode(struct.pack(">bqi", _VERSION, _NO_TIME, len(marks)) + kept).decode()


def _entry(name: str, value: int) -> bytes:
    return struct.pack(">i", len(name)) + name.encode() + struct.pack(">Q", value)
