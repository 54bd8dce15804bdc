"""What an earlier reading found out about a partition, and what of it still holds: a log changes at its ends alone."""

from dataclasses import replace

from kstreams_runbooks.model.lag import PartitionLag


def carried(row: PartitionLag, before: PartitionLag | None) -> PartitionLag:
    """The row with what was known of the same offset before: its first unread record, or up to where there is none.

    A first unread record that the log begins behind now was deleted unread (`lost`). Where the group has moved, or the
    topic is another one, nothing of before holds.
    """
    if before is None or row.state not in {"ok", "never_committed"}:
        return row
    if (before.committed, before.topic_id, before.role) != (row.committed, row.topic_id, row.role):
        return row
    if before.lost:
        row = replace(row, lost=True)
    if before.none_until is None or row.log_start_offset is None:
        return row
    if row.log_start_offset > before.none_until:
        return replace(row, lost=row.lost or before.oldest_unread_ms is not None)
    return looked(row, before.none_until, before.oldest_unread_ms)


def looked(row: PartitionLag, none_until: int, oldest_ms: int | None) -> PartitionLag:
    """The row once its log was looked at: nothing readable before `none_until`; a record there where it has a time.

    What holds no record up to the last stable offset has none to read, however many offsets are left.
    """
    found = replace(row, none_until=none_until, oldest_unread_ms=oldest_ms)
    if oldest_ms is None and row.last_stable_offset is not None and none_until >= row.last_stable_offset:
        return replace(found, records=0, exact=True)
    return found
