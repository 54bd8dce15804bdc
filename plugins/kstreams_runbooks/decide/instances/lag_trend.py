"""The pace of the lag, and of the restore, that keep a gate shut: a line of a log, never a reason."""

from collections.abc import Sequence

from kstreams_runbooks.decide.lag import total_lag
from kstreams_runbooks.model.readings.readings import ApplicationReading, InstanceReading, StreamsReading


def lag_trend(samples: Sequence[ApplicationReading], max_lag: int) -> str:
    """How fast the lag falls or grows over consecutive readings, and when it is under `max_lag` at that pace.

    Empty if it is under it already, or if fewer than two readings have it.
    """
    read = [
        (one.taken.at_ms, total_lag(one.partitions).records) for one in samples if isinstance(one.partitions, tuple)
    ]
    if len(read) < 2:  # noqa: PLR2004 - a pace is between two
        return ""
    (began_ms, before), (ended_ms, now) = read[0], read[-1]
    if now <= max_lag or ended_ms <= began_ms:
        return ""
    per_s = (before - now) / ((ended_ms - began_ms) / 1000)
    if not per_s:
        return "lag neither falls nor grows"
    if per_s < 0:
        return f"lag grows by {-per_s:,.1f} records/s"
    return f"lag falls by {per_s:,.1f} records/s: under its limit in about {(now - max_lag) / per_s:,.0f} s"


def restore_trend(samples: Sequence[ApplicationReading], instance: str) -> str:
    """How fast an instance restores its stores over consecutive readings, and when it is done at that pace.

    Empty if it does not restore, or if fewer than two readings have the number of records that are left.
    """
    read = [(one.taken.at_ms, left) for one in samples if (left := _left(one, instance)) is not None]
    if len(read) < 2:  # noqa: PLR2004 - a pace is between two
        return ""
    (began_ms, before), (ended_ms, now) = read[0], read[-1]
    if now >= before or ended_ms <= began_ms:
        return "its restore does not advance"
    per_s = (before - now) / ((ended_ms - began_ms) / 1000)
    return f"it restores {per_s:,.1f} records/s: done in about {now / per_s:,.0f} s"


def _left(sample: ApplicationReading, instance: str) -> int | None:
    """The records that an instance still has to restore, None if it does not restore or does not know."""
    found = sample.instance(instance)
    if not isinstance(found, InstanceReading) or not isinstance(found.streams, StreamsReading):
        return None
    restoring, left = found.streams.restoring, found.streams.restore_remaining
    return left if isinstance(restoring, int) and restoring and isinstance(left, int) and left >= 0 else None
