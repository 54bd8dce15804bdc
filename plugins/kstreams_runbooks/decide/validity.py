"""Whether an approval still holds by the clocks, none of which is trusted further than it refuses."""

from datetime import UTC, datetime

from kstreams_runbooks.model.journal import Clock
from kstreams_runbooks.model.ledger import Approval

# Clocks of workers that are set by NTP differ by less; a question is answered in more.
TOLERANCE_MS = 60_000


def not_valid(approval: Approval, now_ms: int, lifetime_ms: int, seen: Clock | None) -> str:
    """Why an approval does not hold, empty where it does.

    `now_ms` is this worker's clock, `lifetime_ms` how long an approval may hold, `seen` the highest time that the
    journal of the application has from after it. An approval that has expired by any clock that the journal has seen
    stays so; the order of journal entries decides everything else (steps/authorize.py).
    """
    if approval.at_ms > now_ms + TOLERANCE_MS:
        return (
            f"the approval by {approval.by} is from {_at(approval.at_ms)}, {_span(approval.at_ms - now_ms)} after this "
            f"worker's clock ({_at(now_ms)}; tolerance {TOLERANCE_MS // 1000} s): set the workers' clocks right"
        )
    if approval.expires_at_ms > now_ms + lifetime_ms + TOLERANCE_MS:
        return (
            f"the approval by {approval.by} holds until {_at(approval.expires_at_ms)}, longer than "
            f"{_span(lifetime_ms)} from now (limit approval_expiry_h)"
        )
    if approval.expires_at_ms < now_ms:
        return f"the approval by {approval.by} expired {(now_ms - approval.expires_at_ms) / 60_000:.0f} min ago"
    if seen is not None and approval.expires_at_ms < seen.at_ms:
        return (
            f"the approval by {approval.by} expired at {_at(approval.expires_at_ms)}: this worker's clock says "
            f"{_at(now_ms)}, but journal entry {seen.seq} (run {seen.run_key}, {seen.task_id or 'no task'}) is from "
            f"{_at(seen.at_ms)}; set the clock that is wrong"
        )
    return ""


def _at(at_ms: int) -> str:
    try:
        return f"{datetime.fromtimestamp(at_ms / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC"
    except (ValueError, OverflowError, OSError):
        return f"{at_ms} ms"


def _span(length_ms: int) -> str:
    hours = length_ms / 3_600_000
    return f"{hours:g} h" if hours >= 1 and hours == int(hours) else f"{length_ms / 1000:,.0f} s"
