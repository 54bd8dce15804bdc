"""One missed reading ends nothing: it is taken again for a stated time, and a wait shows that it goes on.

Writes are never repeated here.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

from tenacity import RetryCallState, Retrying, retry_if_exception, retry_if_result, stop_after_delay
from tenacity.wait import wait_exponential

from kstreams_runbooks.errors import Inconclusive, LoginRefused, Unreachable

# Seconds in which a reading is taken again. A broker that restarts, a coordinator that moves and an agent on a busy
# machine are back within half of it; one answer may take 10 s (wire/limits.py).
READ_AGAIN_S = 30.0
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.5, 4.0
# A person who reads the log wants to see that a wait goes on.
LINE_EVERY_S = 10.0

_T = TypeVar("_T")


def read_again(
    read: Callable[[], _T], say: Callable[[str], None], missing: Callable[[_T], Sequence[str]] = lambda _: ()
) -> _T:
    """The first value of `read` of which nothing is `missing`, or its last value or error once the time is over.

    Each repetition is reported to `say`, with its reason. Only Unreachable and Inconclusive are worth one, and of them
    no refused login: it stays refused.
    """
    began, limit_s = time.monotonic(), READ_AGAIN_S

    def report(state: RetryCallState) -> None:
        outcome = state.outcome
        error = outcome.exception() if outcome else None
        why = str(error) if error else "; ".join(missing(outcome.result())) if outcome else ""
        say(f"reads again ({time.monotonic() - began:.0f} of {limit_s:g} s): {why}")

    def lacks(value: _T) -> bool:
        return bool(missing(value))

    def last(state: RetryCallState) -> _T:
        if state.outcome is None:
            raise AssertionError  # it is called after a try
        value: _T = state.outcome.result()
        return value

    retrying = Retrying(
        retry=retry_if_exception(_may_pass) | retry_if_result(lacks),
        stop=stop_after_delay(limit_s),
        wait=wait_exponential(multiplier=_FIRST_PAUSE_S, max=_LONGEST_PAUSE_S),
        before_sleep=report,
        retry_error_callback=last,
    )
    return retrying(read)


def _may_pass(error: BaseException) -> bool:
    """Whether the same reading may succeed in a moment."""
    return isinstance(error, Unreachable | Inconclusive) and not isinstance(error, LoginRefused)


def pause(seconds: float, line: Callable[[float], None]) -> None:
    """Sleep, and give `line` the seconds that are left after each ten of them."""
    left = seconds
    while left > LINE_EVERY_S:
        time.sleep(LINE_EVERY_S)
        left -= LINE_EVERY_S
        line(left)
    time.sleep(left)


def repeated(take: Callable[[], _T], number: int, apart_s: float, say: Callable[[str], None]) -> tuple[_T, ...]:
    """`number` readings, `apart_s` apart, with a line for each: `reading 1 of 3`."""
    taken: list[_T] = []
    for at in range(1, number + 1):
        if taken:
            pause(apart_s, partial(_in_seconds, say, f"reading {at} of {number}"))
        say(f"reading {at} of {number}")
        taken.append(take())
    return tuple(taken)


def _in_seconds(say: Callable[[str], None], what: str, left_s: float) -> None:
    say(f"{what} in {left_s:.0f} s")


@contextmanager
def going_on(what: str, say: Callable[[str], None]) -> Iterator[None]:
    """Report each ten seconds that the block goes on: `orders-1: stops (20 s)`."""
    began, over = time.monotonic(), threading.Event()

    def report() -> None:
        while not over.wait(LINE_EVERY_S):
            say(f"{what} ({time.monotonic() - began:.0f} s)")

    reporter = threading.Thread(target=report, daemon=True)
    reporter.start()
    try:
        yield
    finally:
        over.set()
        reporter.join()
