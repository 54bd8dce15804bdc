"""Earlier findings on a partition that are still valid: a log changes only at its ends."""

from dataclasses import replace

from kstreams_runbooks.model.readings.lag import PartitionLag


def carried(row: PartitionLag, before: PartitionLag | None) -> PartitionLag:
    """The row with earlier facts about the same offset: its first unread record, or the end of the range without one.

    If the log now begins after a first unread record, that record was deleted unread (`lost`); offsets that were never
    checked for records are perhaps lost. In a repartition topic Streams itself deletes committed records, and the
    offset may be the older reading of the two. If the group has moved, or the topic is another one, no earlier fact
    holds.
    """
    if before is None or row.state not in {"ok", "never_committed"}:
        return row
    if (before.committed, before.topic_id, before.role) != (row.committed, row.topic_id, row.role):
        return row
    row = replace(row, lost=before.lost, perhaps_lost=before.perhaps_lost)
    if (start := row.log_start_offset) is None:
        return row
    if start > max(before.none_until or 0, row.committed or 0) and row.role == "source" and before.records:
        known = before.oldest_unread_ms is not None
        return replace(row, lost=row.lost or known, perhaps_lost=not known or row.perhaps_lost)
    if before.none_until is None or start > before.none_until:
        return row
    return looked(row, before.none_until, before.oldest_unread_ms)


def dated(row: PartitionLag, before: PartitionLag | None, at_ms: int) -> PartitionLag:
    """The row, read at `at_ms`, with the time since when its group is known to be at its offset."""
    if row.committed is None:
        return row
    stood = before is not None and (before.committed, before.topic_id) == (row.committed, row.topic_id)
    return replace(row, committed_since_ms=(before.committed_since_ms if before and stood else None) or at_ms)


def looked(row: PartitionLag, none_until: int, oldest_ms: int | None) -> PartitionLag:
    """The row once its log was read: nothing readable before `none_until`; a record there if it has a time.

    Offsets without a record are not left to read, however many they are.
    """
    found = replace(row, none_until=none_until, oldest_unread_ms=oldest_ms)
    if oldest_ms is not None or row.last_stable_offset is None or row.records is None:
        return found
    left = min(row.records, max(0, row.last_stable_offset - none_until))
    return replace(found, records=left, exact=left == 0)
