"""Polls from a worker: the one loop of every short wait that does not defer."""

import time
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from kstreams_runbooks.model.verdicts import Verdict
from kstreams_runbooks.patience import LINE_EVERY_S, pause
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.run.until import Until

_T = TypeVar("_T")


class Pace(NamedTuple):
    """Seconds between two readings, and until the last one; neither depends on the wall clock."""

    every_s: float
    ceiling_s: float


def poll(
    run: Run,
    pace: Pace,
    look: Callable[[], tuple[_T, Verdict]],
    is_over: Callable[[Verdict], bool],
    until: Until | None = None,
    trend: Callable[[], str] = lambda: "",
) -> _T:
    """The value of the last `look`: the first whose verdict `is_over`, or the first after the ceiling.

    `until` is a ceiling that outlives this process. It logs the reason to wait for each new sentence. Once in ten
    seconds, also between two readings, it logs that it goes on (`12 of 300 s`), with the `trend` of what it waits for.
    A missed reading is taken again for a while (patience.py); the error of the last one ends the wait.
    """
    began = time.monotonic()
    ends, said, said_at = began + pace.ceiling_s, "", began

    def line(now: float) -> None:
        nonlocal said_at
        said_at, pace_of_it = now, trend()
        run.say(f"{said}{pace_of_it and f'; {pace_of_it}'} ({now - began:.0f} of {pace.ceiling_s:.0f} s)")

    while True:
        seen, verdict = run.patiently(look)
        if is_over(verdict) or time.monotonic() >= ends or (until is not None and until.is_over()):
            return seen
        now = time.monotonic()
        if verdict.sentence != said or now - said_at >= LINE_EVERY_S:
            said = verdict.sentence
            line(now)
        pause(pace.every_s, lambda _: line(time.monotonic()))
