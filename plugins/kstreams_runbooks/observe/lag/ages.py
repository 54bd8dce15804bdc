"""Finds unread records that may soon be deleted, and whether an offset that does not advance is a record at all.

Retention deletes a log from its start, segment by segment, each once its newest record is old enough
(https://kafka.apache.org/documentation/#topicconfigs_retention.ms). So a partition is safe for some time if a record
that is young enough is at or before the first unread one: one batched ListOffsets by timestamp shows that for all
partitions at once, exactly, and without reading a record. A consumer reads only the remaining partitions, because it
distinguishes records from transaction markers. It also reads, once, what a group has not read since the previous
reading: a consumer never commits past a marker at the end of a log.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kstreams_runbooks.decide.status.carried import carried, dated
from kstreams_runbooks.model.readings.lag import ApplicationLag, PartitionLag
from kstreams_runbooks.model.readings.lag_snapshot import LagSnapshot
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.observe.kafka.cluster import ClusterReader
from kstreams_runbooks.observe.kafka.offsets import Place, read_first_since
from kstreams_runbooks.observe.lag.looks import NOT_REACHED, Look, Range, answer_of, look, with_look

_RETENTION, _POLICY = "retention.ms", "cleanup.policy"
_FOR_EVER = -1


def with_ages(
    snapshot: LagSnapshot,
    reader: ClusterReader,
    config: Mapping[str, Any],
    within_ms: int,
    before: Mapping[str, ApplicationLag] | None = None,
) -> LagSnapshot:
    """The snapshot with retention, and with the first unread record if it may be deleted within `within_ms`.

    That limit is half of the retention if that is less. `before` is the previous reading of each application by name:
    its findings that still hold are kept, and partitions that have not moved since are read too. If a record may be
    that old and its age is unknown, or the retention is unknown, the row has the reason (`age_why`). Unreachable if no
    broker answers.
    """
    at_ms = snapshot.taken.at_ms
    lags = [_carried(lag, (before or {}).get(lag.application), at_ms) for lag in snapshot.applications]
    settings = reader.settings({row.topic for lag in lags for row in lag.read}, (_RETENTION, _POLICY))
    retention = {row.topic: _retention(settings.get(row.topic, {})) for lag in lags for row in lag.read}
    times = {
        _place(row): since_ms
        for row in sorted((row for lag in lags for row in _unknown(lag)), key=_place)
        if (kept := retention[row.topic]) is not None
        and kept != _FOR_EVER
        and (since_ms := at_ms - kept + min(within_ms, kept // 2)) > 0
    }
    young = read_first_since(reader.librdkafka, times) if times else {}
    old = [_old(lag, young) for lag in lags]
    still = [_still(lag, (before or {}).get(lag.application)) for lag in lags]
    # One read of all unread offsets of a partition that has not moved also gives the age of its first record.
    wanted = [own | rest for own, rest in zip(old, still, strict=True)]
    first = look(config, lags, wanted)
    return replace(
        snapshot,
        applications=tuple(
            replace(
                lag,
                partitions=tuple(
                    _aged(with_look(row, answer), retention, young, own, answer)
                    for row in lag.partitions
                    for answer in (answer_of(row, ranges, seen),)
                ),
            )
            for lag, own, ranges in zip(lags, old, wanted, strict=True)
            for seen in (first[lag.exactly_once],)
        ),
    )


def _place(row: PartitionLag) -> Place:
    return row.topic, row.partition


def _carried(lag: ApplicationLag, before: ApplicationLag | None, at_ms: int) -> ApplicationLag:
    was = {_place(row): row for row in (before.partitions if before else ())}
    pairs = [(row, was.get(_place(row))) for row in lag.partitions]
    return replace(lag, partitions=tuple(dated(carried(row, one), one, at_ms) for row, one in pairs))


def _unknown(lag: ApplicationLag) -> list[PartitionLag]:
    """Rows that seem to have unread records, and whose first record is not known."""
    return [row for row in lag.read if row.records and row.oldest_unread_ms is None]


def _retention(settings: Mapping[str, str]) -> int | None:
    """Milliseconds after which records may be deleted, _FOR_EVER for never; None if the settings are not reported."""
    if _RETENTION not in settings or _POLICY not in settings:
        return None
    return int(settings[_RETENTION]) if "delete" in settings[_POLICY] else _FOR_EVER


def _since(row: PartitionLag) -> int | None:
    """The first offset to look at: the group's position or the start of the log, and not before a known empty range."""
    known = [offset for offset in (row.committed, row.log_start_offset, row.none_until) if offset is not None]
    return max(known) if known else None


def _old(lag: ApplicationLag, young: Mapping[Place, int | Missing | None]) -> dict[Place, Range]:
    """Ranges of offsets that are unread and older than the limit, by partition, if it has any."""
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
    """Ranges of offsets from which the group has read nothing since the previous reading."""
    rows = {_place(row): row for row in (before.partitions if before else ())}
    found = {}
    for row in _unknown(lag):
        was, since, end = rows.get(_place(row)), _since(row), row.last_stable_offset
        if was is None or was.committed != row.committed or since is None or end is None:
            continue
        # If an earlier look found nothing, only later offsets are read.
        if was.records or was.none_until is not None:
            found[_place(row)] = (since, end)
    return found


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
    # Also if nothing is unread now: an unknown retention stays unknown.
    if (kept := retention[row.topic]) is None:
        why = f"{_RETENTION} is not reported (needs DescribeConfigs on the topic): unread records may expire unseen"
        return replace(row, age_why=why)
    row = replace(row, retention_ms=kept)
    if isinstance(answer, Look):
        return row
    if isinstance(when := young.get(_place(row)), Missing):
        return replace(row, age_why=f"the age of its unread records is not known: {when.missing}")
    # A range that is not old, has not moved and was not reached gets its answer at the next check.
    if isinstance(answer, Missing) and (_place(row) in old or answer is not NOT_REACHED):
        return replace(row, age_why=answer.missing)
    return row
