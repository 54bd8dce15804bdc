"""Which unread records may soon be deleted, and whether what stands still is a record at all.

Retention deletes a log from its start, segment by segment, each once its newest record is old enough
(https://kafka.apache.org/documentation/#topicconfigs_retention.ms). So a partition is safe for some time where a
record that is young enough stands at or before the first unread one: one batched ListOffsets by timestamp says that of
all partitions at once, exactly, and without a record being read. Only what it leaves over is looked at by a consumer,
which tells records from transaction markers; so is what a group has not read since the reading before, once: a marker
at the end of a log is never committed by anybody.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any, NamedTuple

from kstreams_runbooks.decide.carried import carried, looked
from kstreams_runbooks.model.lag import ApplicationLag, LagSnapshot, PartitionLag
from kstreams_runbooks.model.readings import Missing
from kstreams_runbooks.observe.cluster import ClusterReader
from kstreams_runbooks.observe.first_unread import First, Isolation, first_or_missing
from kstreams_runbooks.observe.offsets import Place, read_first_since

_RETENTION, _POLICY = "retention.ms", "cleanup.policy"
_FOR_EVER = -1
# One partition is enough to say that an application loses records, and what was found out is kept; each costs a fetch.
MOST_READ = 1_000
_READ_S = 20.0

Range = tuple[int, int]
# The first record of a range, None where there is none, or why nobody can say.
Firsts = Mapping[tuple[Place, Range], First | Missing | None]
_NOT_REACHED = Missing(
    f"how old its first unread record is was not found out ({_READ_S:.0f} s, {MOST_READ} partitions at most)"
)


class Look(NamedTuple):
    """How far a range was looked at, and its first record; None: there is none."""

    until: int
    record: First | None


def with_ages(
    snapshot: LagSnapshot,
    reader: ClusterReader,
    config: Mapping[str, Any],
    within_ms: int,
    before: Mapping[str, ApplicationLag] | None = None,
) -> LagSnapshot:
    """The snapshot with retention, and with the first unread record where it may be deleted within `within_ms`.

    That limit is half of the retention where that is less. `before` is the reading before of each application by name:
    what it found out and still holds is kept, and partitions that have not moved since are looked at too. Where a
    record may be that old and nobody can say, or retention is not told, the row says why (`age_why`). Unreachable where
    no broker answers.
    """
    lags = [_carried(lag, (before or {}).get(lag.application)) for lag in snapshot.applications]
    settings = reader.settings({row.topic for lag in lags for row in lag.read}, (_RETENTION, _POLICY))
    retention = {row.topic: _retention(settings.get(row.topic, {})) for lag in lags for row in lag.read}
    times = {
        _place(row): since_ms
        for row in sorted((row for lag in lags for row in _unknown(lag)), key=_place)
        if (kept := retention[row.topic]) is not None
        and kept != _FOR_EVER
        and (since_ms := snapshot.taken.at_ms - kept + min(within_ms, kept // 2)) > 0
    }
    young = read_first_since(reader.librdkafka, times) if times else {}
    old = [_old(lag, young) for lag in lags]
    still = [_still(lag, (before or {}).get(lag.application)) for lag in lags]
    # One look at the whole of what stands still says how old its first record is, too.
    wanted = [own | rest for own, rest in zip(old, still, strict=True)]
    first = {
        once: _first(
            config,
            _in_turn(own for lag, own in zip(lags, wanted, strict=True) if lag.exactly_once is once)[:MOST_READ],
            "read_committed" if once else "read_uncommitted",
        )
        for once in (True, False)
    }
    return replace(
        snapshot,
        applications=tuple(
            replace(
                lag,
                partitions=tuple(
                    _aged(_looked(row, answer), retention, young, own, answer)
                    for row in lag.partitions
                    for answer in (_answer(row, ranges, seen),)
                ),
            )
            for lag, own, ranges in zip(lags, old, wanted, strict=True)
            for seen in (first[lag.exactly_once],)
        ),
    )


def _place(row: PartitionLag) -> Place:
    return row.topic, row.partition


def _carried(lag: ApplicationLag, before: ApplicationLag | None) -> ApplicationLag:
    rows = {_place(row): row for row in (before.partitions if before else ())}
    return replace(lag, partitions=tuple(carried(row, rows.get(_place(row))) for row in lag.partitions))


def _unknown(lag: ApplicationLag) -> list[PartitionLag]:
    """Rows with something to read, or so it seems, whose first record is not known."""
    return [row for row in lag.read if row.records and row.oldest_unread_ms is None]


def _retention(settings: Mapping[str, str]) -> int | None:
    """Milliseconds after which records may be deleted, _FOR_EVER for never; None where nobody tells."""
    if _RETENTION not in settings or _POLICY not in settings:
        return None
    return int(settings[_RETENTION]) if "delete" in settings[_POLICY] else _FOR_EVER


def _since(row: PartitionLag) -> int | None:
    """Where to look from: where the group stands or the log begins, and no earlier than anything can be."""
    known = [offset for offset in (row.committed, row.log_start_offset, row.none_until) if offset is not None]
    return max(known) if known else None


def _old(lag: ApplicationLag, young: Mapping[Place, int | Missing | None]) -> dict[Place, Range]:
    """Ranges of offsets that are unread and older than the limit; by partition, where there is one."""
    found = {}
    for row in _unknown(lag):
        place, since, end = _place(row), _since(row), row.last_stable_offset
        offset = young.get(place, 0)
        if isinstance(offset, Missing) or since is None or end is None:
            continue
        if since < (until := end if offset is None else min(offset, end)):
            found[place] = (since, until)
    return found


def _still(lag: ApplicationLag, before: ApplicationLag | None) -> dict[Place, Range]:
    """Ranges of offsets from which the group has read nothing since the reading before."""
    rows = {_place(row): row for row in (before.partitions if before else ())}
    found = {}
    for row in _unknown(lag):
        was, since, end = rows.get(_place(row)), _since(row), row.last_stable_offset
        if was is None or was.committed != row.committed or since is None or end is None:
            continue
        # Where somebody has looked, and there was nothing, only what came since is looked at.
        if was.records or was.none_until is not None:
            found[_place(row)] = (since, end)
    return found


def _in_turn(wanted: Iterable[Mapping[Place, Range]]) -> list[tuple[Place, Range]]:
    """What to look at: the first partition of each application before the second of any."""
    turns = zip_longest(*(own.items() for own in wanted))
    return list(dict.fromkeys(item for turn in turns for item in turn if item is not None))


def _first(config: Mapping[str, Any], wanted: Sequence[tuple[Place, Range]], isolation: Isolation) -> Firsts:
    """The first record of each range; absent where it was not reached in time.

    A consumer reads a partition from one place only: where several applications stand in it, one after another.
    """
    found: dict[tuple[Place, Range], First | Missing | None] = {}
    left, until = list(wanted), time.monotonic() + _READ_S
    while left and (rest_s := until - time.monotonic()) > 0:
        now = dict(reversed(left))
        answers = first_or_missing(config, now, rest_s, isolation)
        found |= {(place, now[place]): answer for place, answer in answers.items()}
        left = [(place, bounds) for place, bounds in left if now[place] != bounds]
    return found


def _answer(row: PartitionLag, wanted: Mapping[Place, Range], first: Firsts) -> Look | Missing | None:
    """What was found in the row's range; Missing where it was not reached, None where nobody was to look."""
    if (place := _place(row)) not in wanted:
        return None
    bounds = wanted[place]
    answer = first.get((place, bounds), _NOT_REACHED)
    return answer if isinstance(answer, Missing) else Look(bounds[1], answer)


def _looked(row: PartitionLag, answer: Look | Missing | None) -> PartitionLag:
    """The row with what was found in its range, where that was reached."""
    if not isinstance(answer, Look):
        return row
    if answer.record is None:
        return looked(row, answer.until, None)
    return looked(row, answer.record.offset, answer.record.written_ms)


def _aged(
    row: PartitionLag,
    retention: Mapping[str, int | None],
    young: Mapping[Place, int | Missing | None],
    old: Mapping[Place, Range],
    answer: Look | Missing | None,
) -> PartitionLag:
    """The row with its retention, or why it is not known whether its records are old."""
    if row.role == "orphaned" or row.state not in {"ok", "never_committed"}:
        return row
    # Also where nothing is unread just now: what is not told does not become known by that.
    if (kept := retention[row.topic]) is None:
        why = f"{_RETENTION} is not told (needs DescribeConfigs on the topic): unread records may expire unseen"
        return replace(row, age_why=why)
    row = replace(row, retention_ms=kept)
    if isinstance(answer, Look):
        return row
    if isinstance(when := young.get(_place(row)), Missing):
        return replace(row, age_why=f"the age of its unread records is not known: {when.missing}")
    # Of what only stands still, and was not reached, more is found out at the next check.
    if isinstance(answer, Missing) and (_place(row) in old or answer is not _NOT_REACHED):
        return replace(row, age_why=answer.missing)
    return row
