"""The first record that a consumer would get from a range of offsets: where, and when it was written."""

import time
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple
from uuid import uuid4

from kstreams_runbooks.observe.clients import librdkafka_config
from kstreams_runbooks.observe.offsets import Place

_BATCH = 500
_POLL_S = 0.2
# One batch of each partition is all that is wanted.
_FETCH_BYTES = 65_536


Isolation = Literal["read_committed", "read_uncommitted"]


class First(NamedTuple):
    """A record's offset, and when it was written (Unix ms)."""

    offset: int
    written_ms: int


def first_unread(
    config: Mapping[str, Any],
    ranges: Mapping[Place, tuple[int, int]],
    timeout_s: float,
    isolation: Isolation = "read_committed",
) -> dict[Place, First | None]:
    """The first readable record in [start, end) of each partition, None where there is none.

    A partition that was not reached in time is absent. Nothing is committed, and no group is joined.
    """
    from confluent_kafka import OFFSET_INVALID, Consumer, TopicPartition

    found: dict[Place, First | None] = {}
    left = {place: end for place, (start, end) in ranges.items() if start < end}
    if not left:
        return found
    consumer = Consumer(
        {
            **librdkafka_config(config),
            "group.id": f"kstreams-runbooks-lag-{uuid4()}",
            "isolation.level": isolation,
            "enable.auto.commit": False,
            "auto.offset.reset": "error",
            "max.partition.fetch.bytes": _FETCH_BYTES,
        }
    )
    try:
        consumer.assign([TopicPartition(*place, ranges[place][0]) for place in left])
        until = time.monotonic() + timeout_s
        while left and time.monotonic() < until:
            done: set[Place] = set()
            for message in consumer.consume(_BATCH, _POLL_S):
                place = (str(message.topic()), int(message.partition() or 0))
                if message.error() is None and place in left and place not in done:
                    _, written_ms = message.timestamp()
                    offset = message.offset() or 0
                    found[place] = First(offset, written_ms) if offset < left[place] else None
                    done.add(place)
            # Where a range holds markers alone no record comes; the position moves past them.
            for position in consumer.position([TopicPartition(*place) for place in left if place not in done]):
                place = (position.topic, position.partition)
                if position.offset != OFFSET_INVALID and position.offset >= left[place]:
                    found[place] = None
                    done.add(place)
            if done:
                consumer.pause([TopicPartition(*place) for place in done])
                left = {place: end for place, end in left.items() if place not in done}
    finally:
        consumer.close()
    return found
