"""Which unread records may soon be deleted: retention, and the time of the first unread record where it is near.

Retention deletes a log from its start, segment by segment, each once its newest record is old enough
(https://kafka.apache.org/documentation/#topicconfigs_retention.ms). So a partition is safe for some time where a
record that is young enough stands at or before the first unread one: one batched ListOffsets by timestamp says that of
all partitions at once, exactly, and without a record being read. Only what it leaves over is looked at by a consumer,
which tells records from transaction markers.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from kstreams_runbooks.model.lag import ApplicationLag, LagSnapshot, PartitionLag
from kstreams_runbooks.model.readings import Missing
from kstreams_runbooks.observe.cluster import ClusterReader
from kstreams_runbooks.observe.first_unread import first_unread
from kstreams_runbooks.observe.offsets import Place, read_first_since

_RETENTION, _POLICY = "retention.ms", "cleanup.policy"
_FOR_EVER = -1
# One partition is enough to say that an application loses records; each read costs a fetch.
MOST_READ = 500
_READ_S = 20.0

Range = tuple[int, int]


def with_ages(snapshot: LagSnapshot, reader: ClusterReader, config: Mapping[str, Any], within_ms: int) -> LagSnapshot:
    """The snapshot with retention, and `oldest_unread_ms` where that record may be deleted within `within_ms`.

    Of partitions with something to read. Where a record may be that old and nobody can say, the row is unknown.
    Unreachable where no broker answers.
    """
    unread = {_place(row) for lag in snapshot.applications for row in _readable(lag)}
    settings = reader.settings({topic for topic, _ in unread}, (_RETENTION, _POLICY))
    retention = {topic: _retention(settings.get(topic, {})) for topic, _ in unread}
    times = {
        place: since_ms
        for place in sorted(unread)
        if (kept := retention[place[0]]) is not None
        and kept != _FOR_EVER
        and (since_ms := snapshot.taken.at_ms - kept + within_ms) > 0
    }
    young = read_first_since(reader.librdkafka, times) if times else {}
    old = [_old(lag, young) for lag in snapshot.applications]
    first = _first(config, _in_turn(old)[:MOST_READ])
    return replace(
        snapshot,
        applications=tuple(
            replace(lag, partitions=tuple(_aged(row, retention, young, own, first) for row in lag.partitions))
            for lag, own in zip(snapshot.applications, old, strict=True)
        ),
    )


def _place(row: PartitionLag) -> Place:
    return row.topic, row.partition


def _readable(lag: ApplicationLag) -> list[PartitionLag]:
    return [row for row in lag.read if row.records]


def _retention(settings: Mapping[str, str]) -> int | None:
    """Milliseconds after which records may be deleted, _FOR_EVER for never; None where nobody tells."""
    if _RETENTION not in settings or _POLICY not in settings:
        return None
    return int(settings[_RETENTION]) if "delete" in settings[_POLICY] else _FOR_EVER


def _since(row: PartitionLag) -> int | None:
    """Where the group goes on reading: no earlier than where the log begins."""
    known = [offset for offset in (row.committed, row.log_start_offset) if offset is not None]
    return max(known) if known else None


def _old(lag: ApplicationLag, young: Mapping[Place, int | Missing | None]) -> dict[Place, Range]:
    """Ranges of offsets that are unread and older than the limit; by partition, where there is one."""
    found = {}
    for row in _readable(lag):
        place, since, end = _place(row), _since(row), row.last_stable_offset
        offset = young.get(place, 0)
        if isinstance(offset, Missing) or since is None or end is None:
            continue
        if since < (until := end if offset is None else min(offset, end)):
            found[place] = (since, until)
    return found


def _in_turn(old: Iterable[Mapping[Place, Range]]) -> list[tuple[Place, Range]]:
    """What to look at: the first partition of each application before the second of any."""
    turns = zip_longest(*(own.items() for own in old))
    return list(dict.fromkeys(item for turn in turns for item in turn if item is not None))


def _first(config: Mapping[str, Any], wanted: Sequence[tuple[Place, Range]]) -> dict[tuple[Place, Range], int | None]:
    """When the first record of each range was written; absent where it was not reached in time.

    A consumer reads a partition from one place only: where several applications stand in it, one after another.
    """
    found: dict[tuple[Place, Range], int | None] = {}
    left, until = list(wanted), time.monotonic() + _READ_S
    while left and (rest_s := until - time.monotonic()) > 0:
        now = dict(reversed(left))
        answers = first_unread(config, now, rest_s)
        found |= {(place, now[place]): answer for place, answer in answers.items()}
        left = [(place, bounds) for place, bounds in left if now[place] != bounds]
    return found


def _aged(
    row: PartitionLag,
    retention: Mapping[str, int | None],
    young: Mapping[Place, int | Missing | None],
    old: Mapping[Place, Range],
    first: Mapping[tuple[Place, Range], int | None],
) -> PartitionLag:
    if row.role == "orphaned" or not row.records:
        return row
    kept, place = retention[row.topic], _place(row)
    if kept is None:
        why = f"{_RETENTION} is not told (needs DescribeConfigs on the topic): unread records may expire unseen"
        return replace(row, state="unknown", why=why)
    row = replace(row, retention_ms=kept)
    if isinstance(answer := young.get(place), Missing):
        return replace(row, state="unknown", why=f"the age of its unread records is not known: {answer.missing}")
    if place not in old:
        return row
    if (place, old[place]) not in first:
        why = f"how old its first unread record is was not found out ({_READ_S:.0f} s, {MOST_READ} partitions at most)"
        return replace(row, state="unknown", why=why)
    return replace(row, oldest_unread_ms=first[place, old[place]])
