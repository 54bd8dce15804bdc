"""What a group reads no further, although something is there: by several readings in a row."""

from collections.abc import Mapping
from dataclasses import dataclass

from kstreams_runbooks.model.readings.lag import ApplicationLag, PartitionLag
from kstreams_runbooks.model.times import utc_minute
from kstreams_runbooks.wording import first_of, pasted


@dataclass(frozen=True, slots=True)
class NoProgress:
    """Why it is stalled (empty: it is not), and partitions of which nobody can say whether they are."""

    sentence: str
    unknown: tuple[str, ...]


def no_progress(readings: Mapping[int, ApplicationLag], samples: int) -> NoProgress:
    """Partitions with the same committed offset in the last `samples` readings (by time, oldest first).

    With a readable record from there on they are stalled, whatever the group does meanwhile: one that rebalances for
    ever gets no further either. Without one they wait, unless a transaction is open all the time: nothing behind it can
    be read until it ends. Where nobody looked whether there is a record, that is not known: markers have offsets too.
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
    """Whether somebody looked, and there is one."""
    return row.oldest_unread_ms is not None or (row.exact and bool(row.records))


def _is_open(row: PartitionLag) -> bool:
    """Whether a transaction is open that keeps the group back: one that reads uncommitted records passes it."""
    stable = row.last_stable_offset
    return bool(row.open_transaction) and stable is not None and (row.committed is None or row.committed <= stable)


def _since(rows: list[PartitionLag]) -> str:
    """Since when all of them stand where they stand, or longer; empty where it is not known of one."""
    since = [one.committed_since_ms for one in rows if one.committed_since_ms is not None]
    return f" since {utc_minute(max(since))} or longer," if len(since) == len(rows) else ""


def _of_transactions(rows: list[PartitionLag], readings: Mapping[int, ApplicationLag], application: str) -> str:
    """Which partitions cannot be read on, since when, and how to find whose transaction it is."""
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
