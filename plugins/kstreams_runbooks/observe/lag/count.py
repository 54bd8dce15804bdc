"""Counts the records that a consumer gets from a range of offsets, and finds the time of the oldest.

An offset is not always a record: transaction markers and compacted gaps have offsets too, and so have aborted records,
which a read_committed consumer never gets.
"""

import time
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from kstreams_runbooks.errors import Inconclusive, RunbookError, Unreachable
from kstreams_runbooks.model.readings.lag import Isolation, Readable
from kstreams_runbooks.observe.kafka.clients import open_consumer
from kstreams_runbooks.observe.kafka.offsets import Place

_BATCH = 10_000
_POLL_S = 0.5
# How long nothing may arrive after every remaining partition has reported that it has no more for now.
_SILENT_S = 5.0
_NOT_A_FAILURE_OF_THE_CLUSTER = {
    "_AUTO_OFFSET_RESET": "an offset of the range is not there: deleted by retention or manually",
    "UNKNOWN_TOPIC_OR_PART": "it is not on the cluster any more",
    "_UNKNOWN_PARTITION": "it is not on the cluster any more",
    "TOPIC_AUTHORIZATION_FAILED": "these credentials may not read it; allow Read",
}


def count_readable(
    config: Mapping[str, Any],
    ranges: Mapping[Place, tuple[int, int]],
    timeout_s: float = 30.0,
    isolation: Isolation = "read_committed",
) -> dict[Place, Readable]:
    """Count the readable records in [start, end) of each partition, end no further than its last stable offset.

    Nothing is committed, and no group is joined. Unreachable if the ends are not reached in time, Inconclusive if an
    offset is gone or past an open transaction: never a smaller number.
    """
    from confluent_kafka import TopicPartition

    left = {place: end for place, (start, end) in ranges.items() if start < end}
    if not left:
        return {place: Readable() for place in ranges}
    consumer = open_consumer(
        config,
        {
            "group.id": f"kstreams-runbooks-lag-{uuid4()}",
            "isolation.level": isolation,
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "error",
        },
    )
    try:
        consumer.assign([TopicPartition(*place, ranges[place][0]) for place in left])
        sums = _read(consumer, left, timeout_s)
    finally:
        consumer.close()
    return {place: sums.get(place, Readable()) for place in ranges}


def _read(consumer: Any, left: dict[Place, int], timeout_s: float) -> dict[Place, Readable]:
    """Read every partition to its end; the partitions that are done are removed from `left`."""
    from confluent_kafka import TopicPartition

    sums: dict[Place, Readable] = {}
    until = time.monotonic() + timeout_s
    silent_since = time.monotonic()
    dry: set[Place] = set()
    while left:
        messages = consumer.consume(_BATCH, _POLL_S)
        done = {place for message in messages if (place := _taken(message, left, sums, dry)) is not None}
        # If a range ends in markers, no record comes after it; the position moves past them.
        done |= {place for place, offset in _positions(consumer, left).items() if offset >= left[place]}
        for place in done:
            left.pop(place, None)
        if done and left:
            consumer.pause([TopicPartition(*place) for place in done])
        now = time.monotonic()
        silent_since = now if messages else silent_since
        if left and left.keys() <= dry and now - silent_since > _SILENT_S:
            raise Inconclusive(
                f"{_named(left)}: nothing more to read before the end of the range: it is past an open transaction; "
                "read the last stable offsets again, and repeat"
            )
        if left and now > until:
            raise Unreachable(f"Kafka: {_named(left)}: not read to the end of the range in {timeout_s:.0f} s")
    return sums


def _taken(message: Any, left: Mapping[Place, int], sums: dict[Place, Readable], dry: set[Place]) -> Place | None:
    """Count one message; its partition if the range is at its end."""
    place = (message.topic(), message.partition())
    if place not in left:
        return None
    error, offset, end = message.error(), message.offset(), left[place]
    if error is not None:
        if error.name() != "_PARTITION_EOF":
            raise _failure(place, error)
        dry.add(place)
        return place if offset >= end else None
    if offset < end:
        _, timestamp = message.timestamp()
        size = len(message.key() or b"") + len(message.value() or b"")
        sums[place] = _with(sums.get(place), size, timestamp)
    return place if offset >= end - 1 else None


def _with(before: Readable | None, size: int, timestamp: int) -> Readable:
    """What was read of a partition, with one more record of `size` bytes."""
    if before is None or before.oldest_ms is None or before.newest_ms is None or before.step_back_ms is None:
        return Readable(1, size, timestamp, newest_ms=timestamp, step_back_ms=0)
    return Readable(
        before.records + 1,
        before.bytes + size,
        min(before.oldest_ms, timestamp),
        newest_ms=max(before.newest_ms, timestamp),
        step_back_ms=max(before.step_back_ms, before.newest_ms - timestamp),
    )


def _positions(consumer: Any, left: Mapping[Place, int]) -> dict[Place, int]:
    from confluent_kafka import TopicPartition

    return {(one.topic, one.partition): one.offset for one in consumer.position([TopicPartition(*at) for at in left])}


def _failure(place: Place, error: Any) -> RunbookError:
    name = f"{place[0]}-{place[1]}"
    if why := _NOT_A_FAILURE_OF_THE_CLUSTER.get(error.name()):
        return Inconclusive(f"{name}: {why}")
    return Unreachable(f"Kafka: {name} cannot be read ({error.str()})")


def _named(places: Mapping[Place, int]) -> str:
    topic, number = min(places)
    more = f" and {len(places) - 1:,} more" if len(places) > 1 else ""
    return f"{topic}-{number}{more}"
