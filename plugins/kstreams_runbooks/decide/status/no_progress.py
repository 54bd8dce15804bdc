"""Partitions that a group reads no further although they have records: by several readings in a row."""

from collections.abc import Mapping
from dataclasses import dataclass

from kstreams_runbooks.model.readings.lag import ApplicationLag, PartitionLag
from kstreams_runbooks.model.times import utc_minute
from kstreams_runbooks.wording import first_of, pasted


@dataclass(frozen=True, slots=True)
class NoProgress:
    """Why it is stalled (empty: it is not), and partitions for which that is unknown."""

    sentence: str
    unknown: tuple[str, ...]


def no_progress(readings: Mapping[int, ApplicationLag], samples: int) -> NoProgress:
    """Partitions with the same committed offset in the last `samples` readings (by time, oldest first).

    With a readable record after the offset they are stalled, in any state of the group: an endless rebalance makes no
    progress either. Without one they wait, unless a transaction is open all the time: the records behind it cannot be
    read until it ends. If the log was not read for a record, that is unknown: markers have offsets too.
    """
    lags = [*readings.values()]
    window, last = lags[-samples:], lags[-1]
    rows = [{one.name: one for one in lag.read} for lag in window]
    stuck: dict[str, str] = {}
    hanging, unknown = [], []
    for name, row in rows[-1].items():
        seen = [each[name] for each in rows if name in each]
        if len(seen) < samples or len({one.committed for one in seen}) > 1:
            continue
        if (waits := all(one.records for one in seen)) and any(map(_has_record, seen)):
            never = ", never committed" if row.committed is None else ""
            stuck[name] = f"{row.records:,} to read{never}"
        elif all(map(_is_open, seen)) and len({one.last_stable_offset for one in seen}) == 1:
            hanging.append(row)
        elif waits:
            unknown.append(
                f"{name}: its offset is unchanged over {samples} readings, and whether a record is among the "
                f"{row.records:,} offsets behind it was not found out yet"
            )
    states = dict.fromkeys((lag.group_state or "in a state that is not told") for lag in window)
    said = []
    if stuck:
        group = f"while the group is {', '.join(states)}"
        since = _since([rows[-1][name] for name in stuck])
        told = tuple(f"{name} ({why})" for name, why in stuck.items())
        said.append(f"committed offsets unchanged{since} over {samples} readings {group}: {first_of(told)}")
    if hanging:
        said.append(_of_transactions(hanging, readings, last.application))
    return NoProgress("; ".join(said), tuple(unknown))


def _has_record(row: PartitionLag) -> bool:
    """Whether the log was read, and a record found."""
    return row.oldest_unread_ms is not None or (row.exact and bool(row.records))


def _is_open(row: PartitionLag) -> bool:
    """Whether an open transaction holds the group back: a group that reads uncommitted records passes it."""
    stable = row.last_stable_offset
    return bool(row.open_transaction) and stable is not None and (row.committed is None or row.committed <= stable)


def _since(rows: list[PartitionLag]) -> str:
    """The time since which all of them have been at their offsets, or longer; empty if unknown for one."""
    since = [one.committed_since_ms for one in rows if one.committed_since_ms is not None]
    return f" since {utc_minute(max(since))} or longer," if len(since) == len(rows) else ""


def _of_transactions(rows: list[PartitionLag], readings: Mapping[int, ApplicationLag], application: str) -> str:
    """Partitions that cannot be read on, since when, and how to find the owner of the transaction."""
    first = rows[0]
    since_ms = next(
        at_ms
        for at_ms, lag in readings.items()
        for one in lag.read
        if (one.name, one.last_stable_offset, one.open_transaction) == (first.name, first.last_stable_offset, True)
    )
    behind = tuple(
        f"{one.name} ({(one.log_end_offset or 0) - (one.last_stable_offset or 0):,} offsets)" for one in rows
    )
    return (
        f"a transaction is open since {utc_minute(since_ms)} or longer, and nothing "
        f"behind it can be read: {first_of(behind)}; find whose it is: kafka-transactions.sh --bootstrap-server … "
        f"find-hanging --topic {pasted([first.topic])} --partition {first.partition}, or "
        f"{pasted(['kstreams-runbooks', 'drain', application])}"
    )
