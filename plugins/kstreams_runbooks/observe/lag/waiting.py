"""Reads how long records may wait in topics: retention by time and by size, and when committed offsets expire.

Retention deletes whole segments, each once its newest record is past it, or once the other segments alone have
`retention.bytes`. So `segment.ms` and `segment.bytes` lengthen every limit, and are not read.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, TypeVar

from kstreams_runbooks.model.readings.hold import WaitingTopic
from kstreams_runbooks.model.readings.lag import Isolation, PartitionLag, unread_ranges
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.times import MINUTE_MS, SECOND_MS
from kstreams_runbooks.observe.kafka.cluster import ClusterReader
from kstreams_runbooks.observe.kafka.configs import broker_down, read_broker_config
from kstreams_runbooks.observe.kafka.offsets import read_newest
from kstreams_runbooks.observe.lag.first_unread import first_or_missing

_POLICY, _RETENTION_MS, _RETENTION_BYTES = "cleanup.policy", "retention.ms", "retention.bytes"
_TOMBSTONES = "delete.retention.ms"
_OFFSETS_RETENTION = "offsets.retention.minutes"
_UNLIMITED = -1
# The first record of each partition comes with the first fetch.
_FIRST_S = 10.0
_NOT_READ = Missing("its partitions were not read")

# Rows of one look at a group, and its time (Unix ms).
LookedAt = tuple[int, Sequence[PartitionLag]]


def read_offsets_retention_ms(reader: ClusterReader) -> int | Missing:
    """How long a broker keeps offsets without a new commit: the smallest value of all brokers."""
    nodes = reader.ask("describe cluster", lambda: reader.admin.describe_cluster()["brokers"])
    if isinstance(nodes, Missing):
        return nodes
    if down := broker_down(nodes):
        return Missing(f"{_OFFSETS_RETENTION}: {down}")
    ids = [int(node["broker_id"]) for node in nodes]
    values = reader.ask("broker configs", lambda: read_broker_config(reader.admin, ids, _OFFSETS_RETENTION))
    if isinstance(values, Missing):
        return values
    known = [int(value) for value in values if value is not None]
    if not known or len(known) < len(values):
        return Missing("not reported by every broker; grant this login DescribeConfigs on Cluster")
    return min(known) * MINUTE_MS


def read_waiting(
    reader: ClusterReader,
    config: Mapping[str, Any],
    topics: Collection[str],
    looks: Sequence[LookedAt],
    isolation: Isolation,
) -> tuple[WaitingTopic, ...]:
    """How long records may wait in each of these topics.

    `looks` are at the group that reads them, oldest first and the present one last: bytes per second are the most
    between two of them. What a topic's limits do not need is not read. Unreachable if no broker answers.
    """
    settings = reader.settings(topics, (_POLICY, _RETENTION_MS, _RETENTION_BYTES, _TOMBSTONES))
    found = [_limits(name, settings.get(name, {})) for name in sorted(topics)]
    sized = [one.topic for one in found if one.deletes is True and one.retention_bytes != _UNLIMITED]
    timed = [one.topic for one in found if one.deletes is True and one.retention_ms != _UNLIMITED]
    sizes = reader.bytes_of(sized) if sized else {}
    ages = _ages(reader, config, [row for row in looks[-1][1] if row.topic in timed], looks, isolation)
    with_size = [_with_size(one, looks, sizes, settings) if one.topic in sized else one for one in found]
    return tuple(
        replace(one, age_ms=_largest(ages.get(one.topic, [_NOT_READ]))) if one.topic in timed else one
        for one in with_size
    )


def _limits(name: str, settings: Mapping[str, str]) -> WaitingTopic:
    hidden = Missing(f"not reported; grant this login DescribeConfigs on Topic {name}")
    tombstones: int | Missing | None = int(settings[_TOMBSTONES]) if _TOMBSTONES in settings else hidden
    return WaitingTopic(
        topic=name,
        deletes="delete" in settings[_POLICY] if _POLICY in settings else hidden,
        retention_ms=int(settings[_RETENTION_MS]) if _RETENTION_MS in settings else hidden,
        retention_bytes=int(settings[_RETENTION_BYTES]) if _RETENTION_BYTES in settings else hidden,
        tombstones_ms=tombstones if "compact" in settings.get(_POLICY, "compact") else None,
    )


def _with_size(
    topic: WaitingTopic,
    looks: Sequence[LookedAt],
    sizes: Mapping[str, int] | Missing,
    settings: Mapping[str, Mapping[str, str]],
) -> WaitingTopic:
    """The topic with its bytes per second, and with those that wait in its fullest partition."""
    rows = [row for row in looks[-1][1] if row.topic == topic.topic]
    size = _bytes_of_a_record(topic.topic, rows, sizes, settings[topic.topic][_POLICY])
    rate = _largest([_most_per_s(row.name, looks) for row in rows])
    waiting = _largest([row.offsets if row.offsets is not None else Missing(row.why) for row in rows])
    return replace(topic, bytes_per_s=_product(rate, size), waiting_bytes=_product(waiting, size))


def _bytes_of_a_record(
    topic: str, rows: Sequence[PartitionLag], sizes: Mapping[str, int] | Missing, policy: str
) -> float | Missing:
    """The mean over what the topic holds, by the offsets that it has."""
    if isinstance(sizes, Missing):
        return sizes
    if topic not in sizes:
        return Missing(f"size of {topic}: not reported by any broker; grant this login Describe on Cluster")
    if "compact" in policy:
        return Missing(f"{topic} is compacted too: its offsets do not show how many bytes a record has")
    ends = [(row.log_start_offset, row.log_end_offset) for row in rows]
    known = [end - start for start, end in ends if start is not None and end is not None]
    if not rows or len(known) < len(rows):
        return Missing(f"an end of {topic} is not known")
    # Without a record nothing shows its size; a topic that gets some has them.
    return sizes[topic] / sum(known) if sum(known) else 0.0


def _most_per_s(name: str, looks: Sequence[LookedAt]) -> float | Missing:
    """The most that came to a partition between two looks in a row; the last two have to be known."""
    rates = [_per_s(pair, name) for pair in pairwise(looks)]
    if not rates or isinstance(rates[-1], Missing):
        return rates[-1] if rates else Missing(f"{name} was looked at once (expected twice)")
    return max(rate for rate in rates if not isinstance(rate, Missing))


def _per_s(pair: tuple[LookedAt, LookedAt], name: str) -> float | Missing:
    """Offsets that came to a partition each second between two looks; negative if it was created again."""
    (then_ms, then), (now_ms, now) = pair
    before = next((row.log_end_offset for row in then if row.name == name), None)
    after = next((row.log_end_offset for row in now if row.name == name), None)
    if before is None or after is None or now_ms <= then_ms:
        return Missing(f"two ends of {name} are not known")
    return (after - before) * SECOND_MS / (now_ms - then_ms)


def _ages(
    reader: ClusterReader,
    config: Mapping[str, Any],
    rows: Sequence[PartitionLag],
    looks: Sequence[LookedAt],
    isolation: Isolation,
) -> dict[str, list[int | Missing]]:
    """By topic, how old the first waiting record of each partition is, and records that have just arrived."""
    at_ms, found = looks[-1][0], defaultdict[str, list[int | Missing]](list)
    ranges = unread_ranges(row for row in rows if row.records)
    firsts = first_or_missing(config, ranges, _FIRST_S, isolation)
    for topic, number in ranges:
        first = firsts.get((topic, number), Missing(f"{topic}-{number} was not read within {_FIRST_S:g} s"))
        found[topic] += [] if first is None else [first if isinstance(first, Missing) else at_ms - first.written_ms]
    busy = [(row.topic, row.partition) for row in rows if _is_busy(row.name, looks)]
    for (topic, _), newest_ms in (read_newest(reader.librdkafka, busy) if busy else {}).items():
        known = isinstance(newest_ms, Missing) or newest_ms >= 0
        found[topic] += [newest_ms if isinstance(newest_ms, Missing) else at_ms - newest_ms] if known else []
    for row in rows:
        # Also for a topic without waiting records: its age is known.
        found[row.topic] += [Missing(f"{row.name}: {row.why}")] if row.records is None else []
    return found


def _is_busy(name: str, looks: Sequence[LookedAt]) -> bool:
    """Whether records came to a partition between the last two looks: its newest one shows how late they are."""
    rates = [_per_s(pair, name) for pair in pairwise(looks[-2:])]
    return any(not isinstance(rate, Missing) and rate > 0 for rate in rates)


_N = TypeVar("_N", int, float)


def _largest(values: Iterable[_N | Missing]) -> _N | Missing:
    """The largest value, 0 for none; the first unknown one if any is."""
    found = list(values)
    if lacking := [one for one in found if isinstance(one, Missing)]:
        return lacking[0]
    return max([one for one in found if not isinstance(one, Missing)], default=0)


def _product(one: float | Missing, other: float | Missing) -> int | Missing:
    if isinstance(one, Missing):
        return one
    return other if isinstance(other, Missing) else round(max(0, one * other))
