"""Keys of a topic whose newest record is before an offset: what a table lacks that is read from there on."""

import time
from collections.abc import Mapping
from typing import Any, Final
from uuid import uuid4

from kstreams_runbooks.errors import Unreachable
from kstreams_runbooks.model.readings.lag import Isolation
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.reset import MissingKeys
from kstreams_runbooks.observe.kafka.clients import open_consumer
from kstreams_runbooks.observe.kafka.offsets import Place
from kstreams_runbooks.wording import outside

# Some ten seconds of a consumer, and the keys of so many records fit into the memory of a command.
MOST_OFFSETS: Final = 1_000_000
_BATCH = 10_000
_POLL_S = 0.5
_TIMEOUT_S = 60.0
_EXAMPLES = 5


def read_missing_keys(
    config: Mapping[str, Any], topic: str, ranges: Mapping[Place, tuple[int, int, int]], isolation: Isolation
) -> MissingKeys:
    """The keys of `topic` that a table lacks which is read from its targets on, deleted ones apart.

    `ranges` are (start, target, end) of its partitions. The count is Missing above MOST_OFFSETS offsets, or if the
    topic cannot be read in time. Nothing is committed, and no group is joined.
    """
    read = {place: (start, end) for place, (start, target, end) in ranges.items() if start < min(target, end)}
    offsets = sum(end - start for start, end in read.values())
    if offsets > MOST_OFFSETS:
        return MissingKeys(
            topic,
            Missing(
                f"{offsets:,} offsets are more than one look reads (limit {MOST_OFFSETS:,}); give the table earliest"
            ),
        )
    try:
        last = _last(config, read, isolation) if read else {}
    except Unreachable as error:
        return MissingKeys(topic, Missing(str(error)))
    missing = sorted(key for (place, key), (offset, kept) in last.items() if kept and offset < ranges[place][1])
    examples = tuple(outside(key.decode("utf-8", "backslashreplace"), 80) for key in missing[:_EXAMPLES])
    return MissingKeys(topic, len(missing), examples)


def _last(
    config: Mapping[str, Any], ranges: Mapping[Place, tuple[int, int]], isolation: Isolation
) -> dict[tuple[Place, bytes], tuple[int, bool]]:
    """The newest offset of each key in each partition, and whether it has a value; Unreachable after a minute."""
    from confluent_kafka import TopicPartition

    settings = {
        "group.id": f"kstreams-runbooks-keys-{uuid4()}",
        "isolation.level": isolation,
        "enable.auto.commit": False,
        "auto.offset.reset": "earliest",
    }
    consumer = open_consumer(config, settings)
    found: dict[tuple[Place, bytes], tuple[int, bool]] = {}
    left, until = {place: end for place, (_, end) in ranges.items()}, time.monotonic() + _TIMEOUT_S
    try:
        consumer.assign([TopicPartition(*place, start) for place, (start, _) in ranges.items()])
        while left:
            if time.monotonic() > until:
                topic, number = min(left)
                raise Unreachable(f"Kafka: {topic}-{number}: its keys were not read in {_TIMEOUT_S:.0f} s")
            for message in consumer.consume(_BATCH, _POLL_S):
                place, key = (message.topic(), message.partition()), message.key()
                if message.error() is None and key is not None and message.offset() < ranges[place][1]:
                    found[place, key] = (message.offset(), message.value() is not None)
            at = consumer.position([TopicPartition(*place) for place in left])
            for one in at:
                if one.offset >= left[one.topic, one.partition]:
                    del left[one.topic, one.partition]
    finally:
        consumer.close()
    return found
