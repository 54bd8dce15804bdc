"""Stream time of a partition, which Kafka Streams writes to the metadata of each committed offset."""

import base64
import binascii

# Version 1 is a byte for the version and eight for the time; version 2 may have metadata of processors behind them.
# Source: TopicPartitionMetadata (Apache Kafka, since 2.8; KIP-622).
_VERSIONS = {1, 2}
_LENGTH = 9
_UNKNOWN = -1


def partition_time(metadata: str | None) -> int | None:
    """Unix ms, None if the metadata has none: another client committed it, or its version or length is not known."""
    time = _time(metadata)
    return None if time == _UNKNOWN else time


def left_by_streams(metadata: str | None) -> bool:
    """Whether Kafka Streams committed the offset, also if it knew no stream time yet."""
    time = _time(metadata)
    return time is not None and time >= _UNKNOWN


def _time(metadata: str | None) -> int | None:
    if not metadata:
        return None
    try:
        raw = base64.b64decode(metadata, validate=True)
    except (binascii.Error, ValueError):
        return None
    if len(raw) < _LENGTH or raw[0] not in _VERSIONS or (raw[0] == 1 and len(raw) != _LENGTH):
        return None
    return int.from_bytes(raw[1:_LENGTH], "big", signed=True)
