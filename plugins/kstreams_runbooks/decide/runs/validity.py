"""Whether an approval still holds by the clocks, each of which can only refuse."""

from kstreams_runbooks.model.runs.journal import CLOCK_TOLERANCE_MS, Clock
from kstreams_runbooks.model.runs.ledger import Approval
from kstreams_runbooks.model.times import HOUR_MS, MINUTE_MS, SECOND_MS, utc_second


def not_valid(approval: Approval, now_ms: int, lifetime_ms: int, earliest: Clock | None, latest: Clock | None) -> str:
    """Why an approval does not hold, empty if it does.

    `now_ms` is this worker's clock, `lifetime_ms` how long an approval may hold, `earliest` and `latest` the lowest and
    the highest time in the application's journal after the approval. It was given no later than `earliest`: it ends no
    later than its lifetime after that; and one that has expired by any clock of the journal stays expired. The order of
    journal entries decides everything else (steps/approval/authorize.py).
    """
    if approval.at_ms > now_ms + CLOCK_TOLERANCE_MS:
        return (
            f"the approval by {approval.by} is from {utc_second(approval.at_ms)}, {_span(approval.at_ms - now_ms)} "
            f"after this worker's clock ({utc_second(now_ms)}; tolerance {CLOCK_TOLERANCE_MS // SECOND_MS} s): "
            "set the workers' clocks right"
        )
    if approval.expires_at_ms > now_ms + lifetime_ms + CLOCK_TOLERANCE_MS:
        return (
            f"the approval by {approval.by} holds until {utc_second(approval.expires_at_ms)}, longer than "
            f"{_span(lifetime_ms)} from now (limit approval_expiry_h)"
        )
    ends_ms, why = approval.expires_at_ms, ""
    if earliest is not None and earliest.at_ms < approval.at_ms:
        ends_ms -= approval.at_ms - earliest.at_ms
        why = (
            f" (it was given at {utc_second(approval.at_ms)}, but {_entry(earliest)}, which came after it, is from "
            f"{utc_second(earliest.at_ms)}: it counts from the earlier time)"
        )
    if ends_ms < now_ms:
        ago = f"the approval by {approval.by} expired {(now_ms - ends_ms) / MINUTE_MS:.0f} min ago{why}"
        return f"{ago}; if a clock is wrong, set it right" if why else ago
    if latest is not None and ends_ms < latest.at_ms:
        return (
            f"the approval by {approval.by} expired at {utc_second(ends_ms)}{why}: this worker's clock says "
            f"{utc_second(now_ms)}, but {_entry(latest)} is from {utc_second(latest.at_ms)}; "
            "set the clock that is wrong"
        )
    return ""


def _entry(clock: Clock) -> str:
    return f"journal entry {clock.seq} (run {clock.run_key}, {clock.task_id or 'no task'})"


def _span(length_ms: int) -> str:
    hours = length_ms / HOUR_MS
    return f"{hours:g} h" if hours >= 1 and hours == int(hours) else f"{length_ms / SECOND_MS:,.0f} s"
