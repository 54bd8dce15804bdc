"""Reads the topics from beginning to last stable offset, read_committed, until nothing moves any more.

Partitions are assigned, not subscribed: no group is joined and nothing is committed, so reading changes nothing.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from confluent_kafka import OFFSET_BEGINNING, Consumer, IsolationLevel, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec  # type: ignore[attr-defined] # public, but not re-exported

from kstreams_runbooks.demo.judge.collected import Collected
from kstreams_runbooks.demo.traffic.topics import TopicRole
from kstreams_runbooks.demo.traffic.wire import QUIET, partition_counts, retrying
from kstreams_runbooks.errors import BadInput, Unreachable

_BATCH: Final = 5_000
_POLL_S: Final = 0.1
_ENDS_S: Final = 0.5
_PROGRESS_S: Final = 5.0
_EARLIEST: Final = OffsetSpec.earliest()  # type: ignore[no-untyped-call] # not annotated
_LATEST: Final = OffsetSpec.latest()  # type: ignore[no-untyped-call] # not annotated

_CONSUMER: Final[Mapping[str, str | int | bool]] = {
    # librdkafka wants a name; with assigned partitions and no commit the broker never hears of the group
    "group.id": "kstreams-runbooks-verify-traffic",
    "enable.auto.commit": False,
    "enable.partition.eof": True,
    "isolation.level": "read_committed",
    "auto.offset.reset": "earliest",
    # per partition; the default of 64 MB is too much for a few dozen of them
    "queued.max.messages.kbytes": 8_192,
    "fetch.wait.max.ms": 100,
}


@dataclass(frozen=True, slots=True)
class PartitionEnd:
    """How far one partition could be read; offsets are exclusive ends, `earliest` is the first remaining one."""

    role: TopicRole
    topic: str
    partition: int
    earliest: int
    last_stable: int
    log_end: int
    reached: int
    moving: bool

    def doubts(self) -> tuple[str, ...]:
        """Return the reasons why the records that were read may not be all."""
        place = f"{self.topic}-{self.partition}"
        found = []
        if self.earliest > 0:
            found.append(f"{place} begins at offset {self.earliest}: earlier records were deleted")
        if self.reached < self.last_stable:
            found.append(f"{place} was read to offset {self.reached} of {self.last_stable} when the time was up")
        if self.moving:
            found.append(f"{place} still moved when the time was up (log end {self.log_end})")
        elif self.last_stable < self.log_end:
            found.append(f"{place} has an open transaction: stable to {self.last_stable}, log end {self.log_end}")
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Reading:
    """The result of a reading: the records, the seconds, and how far each partition could be read."""

    collected: Collected
    ends: tuple[PartitionEnd, ...]
    records: int
    seconds: float

    def doubts(self) -> dict[TopicRole, tuple[str, ...]]:
        """Group the doubts of all partitions by role."""
        return {
            role: tuple(doubt for end in self.ends if end.role is role for doubt in end.doubts()) for role in TopicRole
        }


def read_topics(
    config: Mapping[str, str],
    names: Mapping[TopicRole, str],
    *,
    settle_s: float,
    timeout_s: float,
    progress: Callable[[str], None] = lambda _: None,
) -> Reading:
    """Read everything; done once all ends are reached and none has moved for `settle_s`, at most `timeout_s`.

    `config` is a librdkafka config with at least `bootstrap.servers`. Raises Unreachable if no broker answers,
    BadInput for a topic that does not exist.
    """
    bootstrap = config["bootstrap.servers"]
    admin = AdminClient({**QUIET, **config})
    collected = Collected(partition_counts(admin, names, bootstrap))
    ends = _Ends(admin, names, collected.partitions, bootstrap)
    consumer = Consumer({**QUIET, **config, **_CONSUMER})
    try:
        return _read(consumer, collected, ends, settle_s, timeout_s, progress)
    finally:
        consumer.close()


def _read(
    consumer: Consumer,
    collected: Collected,
    ends: "_Ends",
    settle_s: float,
    timeout_s: float,
    progress: Callable[[str], None],
) -> Reading:
    """Consume until settled or out of time."""
    consumer.assign([TopicPartition(place.topic, place.partition, OFFSET_BEGINNING) for place in ends.roles])
    role_of = {place.topic: role for place, role in ends.roles.items()}
    reached = dict.fromkeys(((place.topic, place.partition) for place in ends.roles), 0)
    add = collected.add
    records = 0
    began = spoke = time.monotonic()
    while True:
        for message in consumer.consume(_BATCH, _POLL_S):
            error = message.error()
            topic, partition, offset = message.topic(), message.partition(), message.offset()
            if topic is None or partition is None or offset is None:
                continue
            if error is None:
                add(role_of[topic], partition, offset, _bytes(message.key()), _bytes(message.value()))
                records += 1
            elif error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001 - librdkafka's public name for it
                reached[topic, partition] = offset
            elif error.code() in {KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC}:  # noqa: SLF001 - the same
                raise BadInput(f"topic {topic} was deleted while it was read")
        now = time.monotonic()
        ends.look(now)
        still = ends.still_for(now)
        late = now >= began + timeout_s
        if late or (still >= settle_s and ends.all_reached(reached)):
            return Reading(collected, ends.read(reached, now - settle_s if late else None), records, now - began)
        if now >= spoke + _PROGRESS_S:
            progress(f"{records:,} records read, {records / (now - began):,.0f}/s")
            spoke = now


def _bytes(content: str | bytes | None) -> bytes | None:
    return content.encode() if isinstance(content, str) else content


class _Ends:
    """The ends of all partitions, read every `_ENDS_S`, and when they last moved."""

    def __init__(
        self, admin: AdminClient, names: Mapping[TopicRole, str], partitions: Mapping[TopicRole, int], bootstrap: str
    ) -> None:
        self._admin = admin
        self._bootstrap = bootstrap
        self.roles = {
            TopicPartition(topic, partition): role
            for role, topic in names.items()
            for partition in range(partitions[role])
        }
        self._earliest = self._list(_EARLIEST, IsolationLevel.READ_UNCOMMITTED)
        self._stable: dict[tuple[str, int], int] = {}
        self._end: dict[tuple[str, int], int] = {}
        self._looked = 0.0
        self._moved: dict[tuple[str, int], float] = {}

    def look(self, now: float) -> None:
        """Read the ends again if they are due."""
        if now < self._looked + _ENDS_S:
            return
        self._looked = now
        stable = self._list(_LATEST, IsolationLevel.READ_COMMITTED)
        end = self._list(_LATEST, IsolationLevel.READ_UNCOMMITTED)
        for place, offset in end.items():
            if self._end.get(place) != offset or self._stable.get(place) != stable[place]:
                self._moved[place] = now
        self._stable, self._end = stable, end

    def still_for(self, now: float) -> float:
        """Seconds since the last move, or since the first reading."""
        return now - max(self._moved.values())

    def all_reached(self, reached: Mapping[tuple[str, int], int]) -> bool:
        """Whether every partition was read to its last stable offset."""
        return all(reached[place] >= offset for place, offset in self._stable.items())

    def read(self, reached: Mapping[tuple[str, int], int], since: float | None) -> tuple[PartitionEnd, ...]:
        """Return how far each partition was read; a partition is moving if it moved after `since`."""
        return tuple(
            PartitionEnd(
                role=role,
                topic=place.topic,
                partition=place.partition,
                earliest=self._earliest[place.topic, place.partition],
                last_stable=self._stable[place.topic, place.partition],
                log_end=self._end[place.topic, place.partition],
                reached=reached[place.topic, place.partition],
                moving=since is not None and self._moved[place.topic, place.partition] > since,
            )
            for place, role in self.roles.items()
        )

    def _list(self, spec: OffsetSpec, isolation: IsolationLevel) -> dict[tuple[str, int], int]:
        """One batched call for all partitions, retried on the wire."""

        def call() -> dict[tuple[str, int], int]:
            futures = self._admin.list_offsets(
                dict.fromkeys(self.roles, spec), isolation_level=isolation, request_timeout=3.0
            )
            return {(place.topic, place.partition): future.result().offset for place, future in futures.items()}

        try:
            return retrying()(call)
        except KafkaException as error:
            reason = error.args[0].str()
            raise Unreachable(f"the offsets of the topics cannot be read at {self._bootstrap} ({reason})") from error
