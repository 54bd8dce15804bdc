"""What the scheduled check reports of inputs that a run holds: expected while it works, an alarm once it has ended."""

from collections.abc import Iterator

from kstreams_runbooks.model.readings.hold import HoldForecast, seconds_text
from kstreams_runbooks.model.runs.held_inputs import HeldInputs, HeldStatus
from kstreams_runbooks.model.times import SECOND_MS, utc_minute


def held_status(
    held: HeldInputs, forecast: HoldForecast | None, at_ms: int, *, ended: bool, worker: str = ""
) -> HeldStatus:
    """An alarm if the run has ended, or if inputs are held for longer than its forecast.

    `worker` is another run that is changing the application now, such as an undo of it: then it is not left alone.
    The sentence has since when, which, how, and the time that is left of the smallest limit.
    """
    held_s = max(0, at_ms - held.since_ms) / SECOND_MS
    longest = None if forecast is None or forecast.unknown else forecast.seconds[1]
    overdue = longest is not None and held_s > longest
    if ended and worker:
        state = f"the run has ended, and run {worker} is at work on the application"
    elif ended:
        state = "the run has ended and brings nothing back"
    elif overdue:
        state = f"the run is still at work, longer than its forecast (limit {seconds_text(longest or 0)})"
    else:
        within = "it has no forecast" if longest is None else f"forecast: at most {seconds_text(longest)}"
        state = f"the run is at work ({within})"
    parts = (
        f"inputs {', '.join(held.inputs)} of {held.application} are held ({held.how_held}) since "
        f"{utc_minute(held.since_ms)}, {seconds_text(held_s)}, by run {held.run_key}: {state}",
        *_left(forecast, held.since_ms, held_s),
    )
    return HeldStatus("; ".join(parts), alarm=overdue or (ended and not worker))


def _left(forecast: HoldForecast | None, since_ms: int, held_s: float) -> Iterator[str]:
    """The time left of the limit that ends first, and of the part of it that a forecast may use."""
    if forecast is None or (limit := min(forecast.limits, key=lambda one: one.seconds, default=None)) is None:
        yield "how long what waits lasts is not known: the run has kept no limit"
        return
    half, whole = limit.allowed_s - held_s, limit.seconds - held_s
    first = f"half is over in {seconds_text(half)}" if half > 0 else f"half is over since {seconds_text(-half)}"
    if limit.allowed_s == limit.seconds:
        first = ""
    ends = utc_minute(since_ms + round(limit.seconds * SECOND_MS))
    last = f"all of it in {seconds_text(whole)} ({ends})" if whole > 0 else f"all of it since {ends}"
    yield f"of the {seconds_text(limit.seconds)} that {limit.what}, {', '.join(filter(None, (first, last)))}"
