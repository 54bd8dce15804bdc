"""How many records a read_committed consumer would get from a range of offsets, and how old the first of them is.

Offsets are no records: transaction markers, aborted records and compacted gaps have offsets too. For ranges of up to
MOST offsets in all; more are the Spark lag check's.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from kstreams_runbooks.errors import Unreachable
from kstreams_runbooks.observe.clients import librdkafka_config
from kstreams_runbooks.observe.offsets import Place

MOST = 10_000
_BATCH = 1_000
_POLL_S = 0.5


@dataclass(frozen=True, slots=True)
class Readable:
    """Records that can be read, their bytes (keys and values), and the oldest timestamp (Unix ms, None: none)."""

    records: int = 0
    bytes: int = 0
    oldest_ms: int | None = None


def count_readable(
    config: Mapping[str, Any], ranges: Mapping[Place, tuple[int, int]], timeout_s: float = 30.0
) -> dict[Place, Readable]:
    """What can be read in [start, end) of each partition, end no further than its last stable offset.

    Nothing is committed, and no group is joined. Unreachable where the ends are not reached in time.
    """
    from confluent_kafka import OFFSET_INVALID, Consumer, KafkaError, TopicPartition

    found = {place: Readable() for place in ranges}
    left = {place: end for place, (start, end) in ranges.items() if start < end}
    if not left:
        return found
    consumer = Consumer(
        {
            **librdkafka_config(config),
            "group.id": f"kstreams-runbooks-lag-{uuid4()}",
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "error",
        }
    )
    try:
        consumer.assign([TopicPartition(*place, ranges[place][0]) for place in left])
        until = time.monotonic() + timeout_s
        while left:
            if time.monotonic() > until:
                raise Unreachable(f"Kafka: {len(left)} ranges were not read to their end in {timeout_s:.0f} s")
            for message in consumer.consume(_BATCH, _POLL_S):
                place = (str(message.topic()), int(message.partition() or 0))
                error = message.error()
                if error is not None and error.code() != KafkaError._PARTITION_EOF:  # noqa: SLF001 - its public name
                    raise Unreachable(f"Kafka: {place[0]}-{place[1]} cannot be read ({error.str()})")
                if place in left and error is None and (message.offset() or 0) < left[place]:
                    found[place] = _with(found[place], message)
                if place in left and (error is not None or (message.offset() or 0) >= left[place] - 1):
                    del left[place]
            # Where a range ends in markers no record comes after it; the position moves past them.
            for position in consumer.position([TopicPartition(*place) for place in left]):
                place = (position.topic, position.partition)
                if position.offset != OFFSET_INVALID and position.offset >= left[place]:
                    del left[place]
    finally:
        consumer.close()
    return found


def _with(so_far: Readable, message: Any) -> Readable:
    _, timestamp = message.timestamp()
    oldest = timestamp if so_far.oldest_ms is None else min(so_far.oldest_ms, timestamp)
    size = len(message.key() or b"") + len(message.value() or b"")
    return Readable(so_far.records + 1, so_far.bytes + size, oldest)
