"""What an earlier reading found out about a partition, and what of it still holds: a log changes at its ends alone."""

from dataclasses import replace

from kstreams_runbooks.model.readings.lag import PartitionLag


def carried(row: PartitionLag, before: PartitionLag | None) -> PartitionLag:
    """The row with what was known of the same offset before: its first unread record, or up to where there is none.

    A first unread record that the log begins behind now was deleted unread (`lost`), what nobody had looked at perhaps.
    Of a repartition topic Streams itself deletes what was committed, and the offset may be the older reading of the
    two. Where the group has moved, or the topic is another one, nothing of before holds.
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
    """The row, read at `at_ms`, with since when its group is known to stand where it stands."""
    if row.committed is None:
        return row
    stood = before is not None and (before.committed, before.topic_id) == (row.committed, row.topic_id)
    return replace(row, committed_since_ms=(before.committed_since_ms if before and stood else None) or at_ms)


def looked(row: PartitionLag, none_until: int, oldest_ms: int | None) -> PartitionLag:
    """The row once its log was looked at: nothing readable before `none_until`; a record there where it has a time.

    Offsets that hold no record are none to read, however many they are.
    """
    found = replace(row, none_until=none_until, oldest_unread_ms=oldest_ms)
    if oldest_ms is not None or row.last_stable_offset is None or row.records is None:
        return found
    left = min(row.records, max(0, row.last_stable_offset - none_until))
    return replace(found, records=left, exact=left == 0)
