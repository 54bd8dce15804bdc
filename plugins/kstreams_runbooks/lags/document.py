"""A lag reading as JSON and as text."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from kstreams_runbooks.lags.window import status_of
from kstreams_runbooks.model.lag import ApplicationLag, LagSnapshot, PartitionLag

SCHEMA_VERSION: Final = 1


def document(snapshots: Sequence[LagSnapshot]) -> dict[str, Any]:
    """Every application of every cluster; a value that is not known is null."""
    return {
        "schema_version": SCHEMA_VERSION,
        "applications": [
            {
                "application_id": lag.application_id,
                "application": lag.application,
                "cluster": snapshot.cluster,
                "group_type": lag.group_type,
                "group_state": lag.group_state,
                "status": status_of(snapshot, lag).word,
                "unread_offsets": lag.unread,
                "problems": list(lag.problems),
                "partitions": [_partition(one) for one in lag.partitions],
            }
            for snapshot in snapshots
            for lag in snapshot.applications
        ],
    }


def as_text(snapshots: Sequence[LagSnapshot]) -> str:
    """One line for each application, then its topics with something to read or something to say."""
    return "\n".join(line for snapshot in snapshots for lag in snapshot.applications for line in _lines(snapshot, lag))


def exit_code(snapshots: Sequence[LagSnapshot]) -> int:
    """0 everything is read, 1 unread records, 3 something is not known."""
    every = [lag for snapshot in snapshots for lag in snapshot.applications]
    if any(lag.unread is None for lag in every):
        return 3
    return 1 if any(_to_read(lag) for lag in every) else 0


def _to_read(lag: ApplicationLag) -> int:
    return sum(one.records or 0 for one in lag.read)


def _partition(one: PartitionLag) -> dict[str, Any]:
    return {
        "topic": one.topic,
        "partition": one.partition,
        "role": one.role,
        "committed": one.committed,
        "last_stable_offset": one.last_stable_offset,
        "log_end_offset": one.log_end_offset,
        "readable_records": one.records if one.exact else None,
        "unread_offsets": one.records,
        "oldest_unread_ms": one.oldest_unread_ms,
        "stream_time_ms": one.stream_time_ms,
        "open_transaction": one.open_transaction,
        "state": one.state,
    }


def _lines(snapshot: LagSnapshot, lag: ApplicationLag) -> Iterator[str]:
    found = status_of(snapshot, lag)
    kind = f"{lag.group_type} group, {lag.group_state}" if lag.group_type else "no group"
    yield f"{lag.application_id} @ {snapshot.cluster}: {found.word}, {found.sentence} ({kind})"
    for topic in dict.fromkeys(one.topic for one in lag.partitions):
        rows = [one for one in lag.partitions if one.topic == topic]
        unread = sum(one.records or 0 for one in rows)
        remarks = [f"{one.partition}: {one.why}" for one in rows if one.why]
        remarks += [f"{one.partition}: a transaction is open" for one in rows if one.open_transaction]
        unit = "records" if all(one.exact for one in rows) else "offsets"
        if unread or remarks:
            told = f" ({'; '.join(remarks)})" if remarks else ""
            yield f"  {topic:50} {rows[0].role:12} {unread:>14,} {unit} to read{told}"
