"""How long the rest of a drain takes, and when it is worth looking again."""

from kstreams_runbooks.model.readings.drain import DrainReading
from kstreams_runbooks.model.verdicts import Outcome, Verdict

# No longer than a person would wait to see that something has changed.
LONGEST_S = 30.0


def eta_ms(readings: tuple[DrainReading, ...]) -> int | None:
    """How long the rest takes at the pace of the readings so far; None where it does not get less."""
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
    """Seconds until the next reading: twice as many after each that could not be taken, up to LONGEST_S.

    Never more because much is left: a pace may rise at any time, and whoever waits for the end is to hear of it.
    """
    failed = 0
    for reading in reversed(readings):
        if not reading.problems:
            break
        failed += 1
    return max(shortest_s, min(LONGEST_S, shortest_s * 2.0 ** min(failed, 10))) if failed else shortest_s


def enough(readings: tuple[DrainReading, ...], needed: int) -> int:
    """How many readings, from the first of these on, can prove it where nothing moves: `needed`, or one more.

    Whether anything among many offsets can be read is only looked for once they rest, seen so by a second reading: the
    first has offsets then, where all that follow have nothing.
    """
    first_counts = not readings or readings[0].counted
    return needed if first_counts or any(one.unread != 0 for one in readings[1:]) else needed + 1


def is_final(verdict: Verdict) -> bool:
    """Whether no further reading changes it: it is proven, or a person is needed."""
    return verdict.outcome is Outcome.PROCEED or bool(verdict.findings)
