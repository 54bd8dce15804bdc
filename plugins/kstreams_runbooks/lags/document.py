"""A lag reading as JSON, and what it means as an exit code."""

from collections.abc import Sequence
from typing import Any, Final

from kstreams_runbooks.lags.window import Answer
from kstreams_runbooks.model.lag import PartitionLag

SCHEMA_VERSION: Final = 1


def document(answers: Sequence[Answer]) -> dict[str, Any]:
    """Every application of every cluster; a value that is not known is null."""
    return {
        "schema_version": SCHEMA_VERSION,
        "applications": [
            {
                "application_id": one.lag.application_id,
                "application": one.lag.application,
                "cluster": one.cluster,
                "taken_at_ms": one.at_ms,
                "group_type": one.lag.group_type,
                "group_state": one.lag.group_state,
                "status": one.status.word,
                "problems": list(one.lag.problems),
                "unseen_changelogs": list(one.lag.unseen),
                "partitions": [_partition(row) for row in one.lag.partitions],
            }
            for one in answers
        ],
    }


def exit_code(answers: Sequence[Answer]) -> int:
    """0 everything is read, 1 unread records, 3 something is not known.

    What a transaction holds that is still open is not known; it is told where nothing else is left to read. So is
    whether records may expire unread (no right to read the topic's retention is no sign that all is well), whether
    offsets that were deleted had a record unread, and whether a changelog that is not visible is still there.
    """
    every = [one.lag for one in answers]
    if any(lag.unread is None for lag in every):
        return 3
    if any(lag.unread for lag in every):
        return 1
    doubts = (one.open_transaction or one.age_why or one.perhaps_lost for lag in every for one in lag.read)
    return 3 if any(doubts) or any(lag.unseen for lag in every) else 0


def _partition(one: PartitionLag) -> dict[str, Any]:
    return {
        "topic": one.topic,
        "partition": one.partition,
        "role": one.role,
        "committed": one.committed,
        "last_stable_offset": one.last_stable_offset,
        "log_end_offset": one.log_end_offset,
        "unread_offsets": one.offsets,
        # A range without an offset has no record, counted or not.
        "readable_records": one.records if one.exact or one.records == 0 else None,
        "at_least": one.at_least,
        "oldest_unread_ms": one.oldest_unread_ms,
        "stream_time_ms": one.stream_time_ms,
        "open_transaction": one.open_transaction,
        "state": one.state,
        "why": one.why or None,
    }
