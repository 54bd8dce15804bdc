"""Committed offsets and the ends of partitions, in four batched calls.

Order matters more than speed: committed offsets first, then the log ends, then the last stable offsets. Each only
grows, so a reading never shows a group ahead of the log, and an LSO below the LEO is a transaction that is open. In the
other order, records written in between would look like one. An LSO above the LEO shows that the log has grown
meanwhile, at least that far. Committed offsets come through kafka-python, whose text of the commit metadata is whole;
the ends through librdkafka, which answers per partition (kafka-python's call fails for all of them if one is unknown)
and in half the time.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from kstreams_runbooks.errors import Unreachable
from kstreams_runbooks.model.readings.readings import Missing, NoLeader
from kstreams_runbooks.model.writes import NO_EPOCH
from kstreams_runbooks.observe.kafka.clients import REQUEST_TIMEOUT_MS
from kstreams_runbooks.observe.kafka.read_only import ReadOnly

_NEVER_COMMITTED = -1
# Of an offset or a time that a broker looked for.
NO_RECORD: Final = -1
# Partitions in one call: librdkafka takes four times as long for ten thousand at once as in five calls side by side.
_AT_ONCE = 2_000
_ATTEMPTS = 4
# A leader that is silent is asked again, if others answer, for as long as a dead broker keeps its partitions.
_SILENT_ATTEMPTS = 2
# librdkafka calls errors retriable for transactions only, so these are named: a leader is just being chosen or moved.
_MOVING = frozenset(
    {
        "NOT_LEADER_FOR_PARTITION",
        "LEADER_NOT_AVAILABLE",
        "REPLICA_NOT_AVAILABLE",
        "UNKNOWN_LEADER_EPOCH",
        "FENCED_LEADER_EPOCH",
        "OFFSET_NOT_AVAILABLE",
    }
)
_TRANSPORT = frozenset({"_TRANSPORT", "_ALL_BROKERS_DOWN", "_TIMED_OUT", "_TIMED_OUT_QUEUE", "_RESOLVE"})

Place = tuple[str, int]


@dataclass(frozen=True, slots=True)
class HeldPartition:
    """What one partition still holds: its first offset, its end (exclusive) and the timestamp of its first record.

    `oldest_ms` is -1 if there is none.
    """

    topic: str
    partition: int
    start: int | Missing
    end: int | Missing
    oldest_ms: int | Missing

    @property
    def values(self) -> tuple[int | Missing, ...]:
        """What was read of it."""
        return self.start, self.end, self.oldest_ms


class Ends(NamedTuple):
    """Start of a partition, the offset up to which a read_committed consumer can read it (LSO), and its end (LEO)."""

    start: int | Missing
    stable: int | Missing
    end: int | Missing


def read_ends(librdkafka: ReadOnly, places: list[Place]) -> dict[Place, Ends]:
    """Both ends and the last stable offset of partitions, in three batched calls.

    A partition whose leader does not answer is Missing; Unreachable if no leader answers.
    """
    from confluent_kafka import IsolationLevel
    from confluent_kafka.admin import OffsetSpec  # type: ignore[attr-defined] # public, but not re-exported

    earliest = dict.fromkeys(places, OffsetSpec.earliest())  # type: ignore[no-untyped-call] # not annotated
    starts = _ends(librdkafka, earliest, IsolationLevel.READ_UNCOMMITTED)
    # A leader that is down costs one timeout, not one for each call.
    there = [place for place in places if not isinstance(starts[place], Missing)]
    latest = dict.fromkeys(there, OffsetSpec.latest())  # type: ignore[no-untyped-call] # not annotated
    ends = starts | _ends(librdkafka, latest, IsolationLevel.READ_UNCOMMITTED)
    stable = starts | _ends(librdkafka, latest, IsolationLevel.READ_COMMITTED)
    return {place: Ends(starts[place], stable[place], _grown(ends[place], stable[place])) for place in places}


def _grown(end: int | Missing, stable: int | Missing) -> int | Missing:
    return end if isinstance(end, Missing) or isinstance(stable, Missing) else max(end, stable)


def read_first_since(librdkafka: ReadOnly, times: Mapping[Place, int]) -> dict[Place, int | Missing | None]:
    """Offset of the first record that is not older than the time given for its partition (Unix ms), None for none.

    One batched call. Every record before that offset is older. Missing and Unreachable as for `read_ends`.
    """
    from confluent_kafka import IsolationLevel
    from confluent_kafka.admin import OffsetSpec  # type: ignore[attr-defined] # public, but not re-exported

    specs = {place: OffsetSpec.for_timestamp(at_ms) for place, at_ms in times.items()}
    found = _ends(librdkafka, specs, IsolationLevel.READ_UNCOMMITTED)
    return {place: None if offset == NO_RECORD else offset for place, offset in found.items()}


def read_held(librdkafka: ReadOnly, places: Sequence[Place]) -> tuple[HeldPartition, ...]:
    """What each of these partitions holds; Unreachable if no leader answers."""
    from confluent_kafka import IsolationLevel
    from confluent_kafka.admin import OffsetSpec  # type: ignore[attr-defined] # public, but not re-exported

    read = IsolationLevel.READ_UNCOMMITTED
    starts = _ends(librdkafka, dict.fromkeys(places, OffsetSpec.earliest()), read)  # type: ignore[no-untyped-call] # not annotated
    # The first record that is not older than 1970: the first one that is still there.
    first = _ends(librdkafka, dict.fromkeys(places, OffsetSpec.for_timestamp(0)), read, _timestamp)
    ends = _ends(librdkafka, dict.fromkeys(places, OffsetSpec.latest()), read)  # type: ignore[no-untyped-call] # not annotated
    return tuple(HeldPartition(*place, starts[place], ends[place], first[place]) for place in places)


def read_newest(librdkafka: ReadOnly, places: Sequence[Place]) -> dict[Place, int | Missing]:
    """The newest timestamp (Unix ms) among the records of each partition, -1 without a record; in one batched call.

    Missing from brokers before 3.0 (KIP-734). Unreachable as for `read_ends`.
    """
    from confluent_kafka import IsolationLevel
    from confluent_kafka.admin import OffsetSpec  # type: ignore[attr-defined] # public, but not re-exported

    newest = dict.fromkeys(places, OffsetSpec.max_timestamp())  # type: ignore[no-untyped-call] # not annotated
    return _ends(librdkafka, newest, IsolationLevel.READ_UNCOMMITTED, _timestamp)


class Committed(NamedTuple):
    """A committed offset with the text and the leader epoch that were committed with it; -1 if it has none."""

    offset: int
    metadata: str
    leader_epoch: int = NO_EPOCH


GroupOffsets = Mapping[Place, Committed]


def read_committed(admin: ReadOnly, group_ids: Sequence[str]) -> dict[str, GroupOffsets]:
    """Every offset that each group has committed; a partition that it never committed is absent."""
    if not group_ids:
        return {}
    answer = admin.list_group_offsets(dict.fromkeys(group_ids))
    return {group: _by_place(offsets) for group, offsets in answer.items()}


def read_stable(admin: ReadOnly, group_id: str) -> GroupOffsets:
    """The same of one group; UnstableOffsetCommitError while a transaction that has not ended may replace some."""
    return _by_place(admin.list_stable_offsets(group_id))


def _by_place(offsets: Mapping[Any, Any]) -> GroupOffsets:
    return {
        (partition.topic, partition.partition): Committed(found.offset, found.metadata or "", found.leader_epoch)
        for partition, found in offsets.items()
        if found.offset != _NEVER_COMMITTED
    }


def _offset(answer: Any) -> int:
    offset: int = answer.offset
    return offset


def _timestamp(answer: Any) -> int:
    timestamp: int = answer.timestamp
    return timestamp


def _ends(
    librdkafka: ReadOnly,
    specs: Mapping[Place, Any],
    isolation: Any,
    of: Callable[[Any], int] = _offset,
) -> dict[Place, int | Missing]:
    """Send a ListOffsets to each leader, several if it has many partitions; ask again if a leader has just moved.

    Unreachable if no leader at all answers.
    """
    from tenacity import RetryError, Retrying, retry_if_result, stop_after_attempt, wait_exponential_jitter

    found: dict[Place, int | Missing] = {}
    silent: dict[Place, str] = {}
    attempts: Counter[Place] = Counter()

    def ask() -> bool:
        from confluent_kafka import KafkaException, TopicPartition

        left = [
            place for place in specs if not isinstance(found.get(place), int) and attempts[place] < _SILENT_ATTEMPTS
        ]
        silent.clear()
        if not left:
            return False
        if found:
            # librdkafka asks the leader that it knows, in the epoch that it knows, until it reads the metadata again.
            with suppress(KafkaException):
                librdkafka.list_topics(timeout=REQUEST_TIMEOUT_MS / 1000)
        futures: dict[Any, Any] = {}
        for at in range(0, len(left), _AT_ONCE):
            futures |= librdkafka.list_offsets(
                {TopicPartition(*place): specs[place] for place in left[at : at + _AT_ONCE]},
                isolation_level=isolation,
                request_timeout=REQUEST_TIMEOUT_MS / 1000,
            )
        again = False
        for partition, future in futures.items():
            place = (partition.topic, partition.partition)
            try:
                answer = future.result()
            except KafkaException as error:
                failure = error.args[0]
                if failure.name() in _TRANSPORT:
                    silent[place] = f"no leader answers ({failure.str()})"
                    attempts[place] += 1
                moves = failure.name() in _MOVING
                found[place] = (NoLeader if moves or place in silent else Missing)(silent.get(place, failure.str()))
                again = again or moves
                continue
            # A leader went away during the call: librdkafka answers -1001 without an error. It is not an end.
            if answer.offset < NO_RECORD:
                silent[place] = "no leader answers (an answer without an offset)"
                attempts[place] += 1
                found[place] = NoLeader(silent[place])
            else:
                found[place] = of(answer)
        # Each attempt at a silent leader costs the whole timeout. If no leader answers, nothing moves.
        return again or 0 < len(silent) < len(specs)

    retrying = Retrying(
        retry=retry_if_result(bool),
        stop=stop_after_attempt(_ATTEMPTS),
        wait=wait_exponential_jitter(multiplier=0.1, max=1.0),
    )
    # What could not be read stays Missing, with the broker's own words.
    with suppress(RetryError):
        retrying(ask)
    if len(silent) == len(specs) > 0:
        raise Unreachable(f"Kafka: {next(iter(silent.values()))} for any of the {len(specs)} partitions asked for")
    return found
