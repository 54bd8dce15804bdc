"""Since when a group has committed offsets and no member, and when brokers may forget these offsets.

Brokers keep the offsets of an EMPTY group for `offsets.retention.minutes` from then on. Source: KIP-211.
"""

from kstreams_runbooks.model.readings.lag import ApplicationLag
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.states import is_empty
from kstreams_runbooks.model.readings.status import KeptReading, Standing

NOT_SEEN = Missing("no reading shows since when it has no member")


def stands_still(lag: ApplicationLag) -> bool:
    """Whether a group has committed offsets and no member."""
    return is_empty(lag.group_state or "") and any(one.committed is not None for one in lag.read)


def standing(lag: ApplicationLag, before: KeptReading | None, kept_ms: int | Missing) -> Standing | None:
    """Since when the group has no member, at the earliest; None while it has members or no offsets.

    `before` is the reading before this one, `kept_ms` how long brokers keep offsets. The group became EMPTY after the
    last reading with members; without one it is not known.
    """
    if not stands_still(lag):
        return None
    if before is None:
        return Standing(NOT_SEEN, kept_ms)
    since_ms = before.standing.since_ms if before.standing else NOT_SEEN if stands_still(before.lag) else before.at_ms
    return Standing(since_ms, kept_ms)
