"""The remaining time of a drain, and the time of the next reading."""

from kstreams_runbooks.model.readings.drain import DrainReading
from kstreams_runbooks.model.verdicts import Outcome, Verdict

# A person would not wait longer to see a change.
LONGEST_S = 30.0


def eta_ms(readings: tuple[DrainReading, ...]) -> int | None:
    """The remaining time at the pace of the readings so far; None if the rest does not shrink."""
    # Offsets and records are different numbers: a pace is of one of them.
    alike = [one for one in readings if one.counted is readings[-1].counted]
    totals = [(one.taken.at_ms, one.unread) for one in alike if one.unread is not None]
    if not totals:
        return None
    (began, most), (now, left) = totals[0], totals[-1]
    if most is None or left is None or now <= began or left >= most:
        return None
    return round(left * (now - began) / (most - left))


def pause_s(readings: tuple[DrainReading, ...], shortest_s: float) -> float:
    """Seconds until the next reading: twice as many after each that failed, up to LONGEST_S.

    Never more because much is left: a pace may rise at any time, and a person who waits for the end has to see it.
    """
    failed = 0
    for reading in reversed(readings):
        if not reading.problems:
            break
        failed += 1
    return max(shortest_s, min(LONGEST_S, shortest_s * 2.0 ** min(failed, 10))) if failed else shortest_s


def enough(readings: tuple[DrainReading, ...], needed: int) -> int:
    """The number of readings, from the first of these on, that can prove it if nothing moves: `needed`, or one more.

    Readable records among many offsets are only counted once the offsets rest, as a second reading shows: the first
    has offsets then, and all that follow have none.
    """
    first_counts = not readings or readings[0].counted
    return needed if first_counts or any(one.unread != 0 for one in readings[1:]) else needed + 1


def is_final(verdict: Verdict) -> bool:
    """Whether no further reading changes it: it is proven, or a person is needed."""
    return verdict.outcome is Outcome.PROCEED or bool(verdict.findings)
