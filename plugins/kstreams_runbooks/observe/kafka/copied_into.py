"""What the shipped copier wants next to a committed offset: the target that the records before it are in.

The copier writes it with each commit (LastCopied in topic_copier). An offset at which a copy begins gets it from here.
"""

import base64
import struct
from uuid import UUID

# Version 2 of the metadata in which Kafka Streams keeps the time of a partition, without a time yet.
# Source: TopicPartitionMetadata, ProcessorMetadata (Apache Kafka, since 3.2; KIP-622).
_VERSION, _NO_TIME = 2, -1


def copied_into(target_id: str, partitions: int) -> str:
    """The metadata of an offset at which a copy into the topic with this id and so many partitions begins."""
    number = UUID(target_id).int
    halves = {"target-id-high": number >> 64, "target-id-low": number & (1 << 64) - 1}
    kept = b"".join(_entry(name, value) for name, value in (*halves.items(), ("target-partitions", partitions)))
    return base64.b64encode(struct.pack(">bqi", _VERSION, _NO_TIME, 3) + kept).decode()


def _entry(name: str, value: int) -> bytes:
    return struct.pack(">i", len(name)) + name.encode() + struct.pack(">Q", value)
