"""Polls from a worker: the one loop of every short wait that does not defer."""

import time
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from kstreams_runbooks.model.verdicts import Verdict
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
) -> _T:
    """The value of the last `look`: the first whose verdict `is_over`, or the first after the ceiling.

    `until` is a ceiling that outlives this process. It logs the reason to wait once for each new sentence. A missed
    reading is taken again for a while (patience.py); the error of the last one ends the wait.
    """
    ends, said = time.monotonic() + pace.ceiling_s, ""
    while True:
        seen, verdict = run.patiently(look)
        if is_over(verdict) or time.monotonic() >= ends or (until is not None and until.is_over()):
            return seen
        if verdict.sentence != said:
            said = verdict.sentence
            run.say(said)
        time.sleep(pace.every_s)
