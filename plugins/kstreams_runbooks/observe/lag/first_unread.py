"""The first record that a consumer would get from a range of offsets: its offset and its timestamp."""

import time
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple
from uuid import uuid4

from kstreams_runbooks.model.readings.lag import Isolation
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.observe.kafka.clients import open_consumer
from kstreams_runbooks.observe.kafka.offsets import Place

_BATCH = 500
_POLL_S = 0.2
# One batch of each partition is enough.
_FETCH_BYTES = 65_536
_REFUSED = "TOPIC_AUTHORIZATION_FAILED"

# Waiting does not change it, and it is the same for every partition of the topic.
NOT_ALLOWED = Missing("its records may not be read (needs Read on the topic)")


class First(NamedTuple):
    """A record's offset and timestamp (Unix ms)."""

    offset: int
    written_ms: int


def first_unread(
    config: Mapping[str, Any],
    ranges: Mapping[Place, tuple[int, int]],
    timeout_s: float,
    isolation: Isolation = "read_committed",
) -> dict[Place, First | None]:
    """Like `first_or_missing`, but a partition that may not be read is absent too."""
    answers = first_or_missing(config, ranges, timeout_s, isolation)
    return {place: answer for place, answer in answers.items() if not isinstance(answer, Missing)}


def first_or_missing(
    config: Mapping[str, Any],
    ranges: Mapping[Place, tuple[int, int]],
    timeout_s: float,
    isolation: Isolation = "read_committed",
) -> dict[Place, First | Missing | None]:
    """The first readable record in [start, end) of each partition, None if there is none, NOT_ALLOWED at once.

    A partition that was not reached in time is absent. Nothing is committed, and no group is joined.
    """
    from confluent_kafka import TopicPartition

    left = {place: end for place, (start, end) in ranges.items() if start < end}
    if not left:
        return {}
    consumer = open_consumer(
        config,
        {
            "group.id": f"kstreams-runbooks-lag-{uuid4()}",
            "isolation.level": isolation,
            "enable.auto.commit": False,
            "auto.offset.reset": "error",
            "max.partition.fetch.bytes": _FETCH_BYTES,
        },
    )
    try:
        consumer.assign([TopicPartition(*place, ranges[place][0]) for place in left])
        return _look(consumer, left, time.monotonic() + timeout_s)
    finally:
        consumer.close()


def _look(consumer: Any, left: dict[Place, int], until: float) -> dict[Place, First | Missing | None]:
    from confluent_kafka import TopicPartition

    found: dict[Place, First | Missing | None] = {}
    while left and time.monotonic() < until:
        done = answered(consumer.consume(_BATCH, _POLL_S), left)
        # If a range holds only markers, no record comes; the position moves past them.
        done |= _passed(consumer, {place: end for place, end in left.items() if place not in done})
        if done:
            consumer.pause([TopicPartition(*place) for place in done])
            left = {place: end for place, end in left.items() if place not in done}
            found |= done
    return found


def answered(messages: Iterable[Any], left: Mapping[Place, int]) -> dict[Place, First | Missing | None]:
    """What a batch of a consumer's messages shows of the partitions that are `left`, by the end of each range."""
    found: dict[Place, First | Missing | None] = {}
    for message in messages:
        place, error = (message.topic(), message.partition()), message.error()
        if error is not None and error.name() == _REFUSED:
            found |= {one: NOT_ALLOWED for one in left if one[0] == place[0] and one not in found}
        elif error is None and place in left and place not in found:
            _, written_ms = message.timestamp()
            found[place] = First(message.offset(), written_ms) if message.offset() < left[place] else None
    return found


def _passed(consumer: Any, left: Mapping[Place, int]) -> dict[Place, None]:
    from confluent_kafka import OFFSET_INVALID, TopicPartition

    positions = consumer.position([TopicPartition(*place) for place in left])
    offsets = {(one.topic, one.partition): one.offset for one in positions if one.offset != OFFSET_INVALID}
    return {place: None for place, offset in offsets.items() if offset >= left[place]}
