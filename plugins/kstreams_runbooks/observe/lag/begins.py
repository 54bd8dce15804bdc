"""Whether a copy of a topic has the first records of it: compared record by record, in the order of each partition."""

import hashlib
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final
from uuid import uuid4

from kstreams_runbooks.errors import RunbookError
from kstreams_runbooks.model.readings.green import GreenHistory
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.observe.kafka.clients import open_consumer
from kstreams_runbooks.observe.kafka.cluster import ClusterReader
from kstreams_runbooks.observe.kafka.ends import ends_of
from kstreams_runbooks.observe.kafka.offsets import Place, read_first_since

# Of each partition of the source; records that are all equal show no place.
_FIRST: Final = 20
# In the copy: from the first record that is not older. A copy in which they come later is not proven.
_SEARCHED: Final = 10_000
_LIMIT_S: Final = 20.0
_BATCH, _POLL_S = 1_000, 0.3

_Record = tuple[int, bytes]


def read_begins(
    config: Mapping[str, Any], reader: ClusterReader, source: str, copy: str, *, compacted: bool
) -> tuple[GreenHistory, ...]:
    """For each partition of `copy`, whether it has the first committed records of `source`, one after the other.

    Of a `compacted` topic only the first is looked for: brokers remove others from either at any time. Nothing is
    committed, and no group is joined. What cannot be read, or not within 20 s, is Missing.
    """
    topics = {one.name: one for one in reader.topics([source, copy])}
    if len(topics) < len({source, copy}):
        absent = next(name for name in (source, copy) if name not in topics)
        return (GreenHistory(0, Missing(f"topic {absent} does not exist")),)
    if topics[source].partitions != topics[copy].partitions:
        counts = f"{source} has {topics[source].partitions:,} partitions, {copy} {topics[copy].partitions:,}"
        return (GreenHistory(0, Missing(f"{counts} (expected as many): the copy is by key")),)
    ends = ends_of(reader, topics.values())
    found = []
    for number in range(topics[copy].partitions):
        try:
            found.append(_history(config, reader, (source, number), (copy, number), ends, 1 if compacted else _FIRST))
        except RunbookError as error:
            found.append(GreenHistory(number, Missing(str(error))))
    return tuple(found)


def _history(
    config: Mapping[str, Any],
    reader: ClusterReader,
    source: Place,
    copy: Place,
    ends: Mapping[Place, Any],
    most: int,
) -> GreenHistory:
    spans: list[tuple[int, int]] = []
    for place in (source, copy):
        start, stable, _ = ends[place]
        if isinstance(start, Missing) or isinstance(stable, Missing):
            why = start if isinstance(start, Missing) else stable
            return GreenHistory(copy[1], Missing(f"{place[0]}-{place[1]}: {why.missing}"))
        spans.append((start, stable))
    first = _taken(_records(config, source, *spans[0]), most)
    if isinstance(first, Missing):
        return GreenHistory(copy[1], first)
    if not first:
        return GreenHistory(copy[1], "empty")
    first_ms = first[0][0]
    if most > 1 and len(first) > 1 and len(set(first)) == 1:
        return GreenHistory(copy[1], Missing("its first records are all equal: they show no place"), first_ms)
    since = read_first_since(reader.librdkafka, {copy: first_ms})[copy]
    if isinstance(since, Missing):
        return GreenHistory(copy[1], since, first_ms)
    if since is None:
        return GreenHistory(copy[1], "absent", first_ms)
    searched = _taken(_records(config, copy, since, spans[1][1]), _SEARCHED)
    if isinstance(searched, Missing):
        return GreenHistory(copy[1], searched, first_ms)
    wanted = tuple(first)
    is_there = any(tuple(searched[at : at + len(wanted)]) == wanted for at in range(len(searched)))
    return GreenHistory(copy[1], "there" if is_there else "absent", first_ms)


def _taken(records: Iterator[_Record | Missing], most: int) -> list[_Record] | Missing:
    found: list[_Record] = []
    for record in records:
        if isinstance(record, Missing):
            return record
        found.append(record)
        if len(found) == most:
            break
    return found


def _records(config: Mapping[str, Any], place: Place, start: int, end: int) -> Iterator[_Record | Missing]:
    """The committed records of a partition in [start, end): timestamp, and a digest of all else; Missing ends it."""
    from confluent_kafka import TopicPartition

    if start >= end:
        return
    until = time.monotonic() + _LIMIT_S
    with _consumer(config) as consumer:
        consumer.assign([TopicPartition(*place, start)])
        while True:
            for message in consumer.consume(_BATCH, _POLL_S):
                if (error := message.error()) is not None:
                    yield Missing(f"{place[0]}-{place[1]} cannot be read: {error.str()}")
                    return
                if message.offset() >= end:
                    return
                yield message.timestamp()[1], _digest(message)
            # Markers and aborted records have no message; the position passes them.
            if consumer.position([TopicPartition(*place)])[0].offset >= end:
                return
            if time.monotonic() > until:
                yield Missing(f"{place[0]}-{place[1]}: not read within {_LIMIT_S:.0f} s")
                return


@contextmanager
def _consumer(config: Mapping[str, Any]) -> Iterator[Any]:
    consumer = open_consumer(
        config,
        {
            "group.id": f"kstreams-runbooks-begins-{uuid4()}",
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "auto.offset.reset": "error",
        },
    )
    try:
        yield consumer
    finally:
        consumer.close()


def _digest(message: Any) -> bytes:
    """Of key, value and headers; each length is part of it, and null differs from empty."""
    found = hashlib.sha256()
    parts: list[bytes | None] = [message.key(), message.value()]
    for name, value in message.headers() or ():
        parts += [name.encode(), value]
    for part in parts:
        found.update(b"-" if part is None else f"{len(part)}:".encode() + part)
    return found.digest()
