"""The pace of the lag that keeps a gate shut: a line of a log, never a reason."""

from collections.abc import Sequence

from kstreams_runbooks.decide.lag import total_lag
from kstreams_runbooks.model.readings.readings import ApplicationReading


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
