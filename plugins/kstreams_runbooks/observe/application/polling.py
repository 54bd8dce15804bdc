"""Polls many instances at once; an application with dead instances does not delay the others."""

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

_T = TypeVar("_T")

# Most of the time is waiting: more threads only hold more connections open at once.
_THREADS = 32
# A quarter of the threads: with three applications whose agents all hang, a quarter is left for the others.
_OF_ONE = 8
# Two answers of 10 s, one after the other. If an application has more hanging instances than that, the rest is not
# polled; they would most likely be Missing as well.
_SECONDS = 20.0


def poll_all(
    calls: Mapping[str, Sequence[Callable[[], _T]]],
    not_polled: Callable[[str], _T],
    *,
    of_one: int = _OF_ONE,
    seconds: float = _SECONDS,
) -> dict[str, list[_T]]:
    """What the calls of each application return, in their order.

    At most `of_one` calls of one application run at the same time, and none begins more than `seconds` after its first:
    those get what `not_polled` makes of the reason. The application with the fewest running calls is next.
    """
    work = _Work(calls, not_polled, of_one, seconds)
    count = min(_THREADS, sum(map(len, calls.values())))
    if count:
        with ThreadPoolExecutor(count, thread_name_prefix="polling") as pool:
            for done in [pool.submit(work.do) for _ in range(count)]:
                done.result()
    return {name: [work.results[name, number] for number in range(len(each))] for name, each in calls.items()}


class _Work(Generic[_T]):
    """The remaining calls, and the results of the others."""

    def __init__(
        self,
        calls: Mapping[str, Sequence[Callable[[], _T]]],
        not_polled: Callable[[str], _T],
        of_one: int,
        seconds: float,
    ) -> None:
        self.results: dict[tuple[str, int], _T] = {}
        self._waiting = {name: deque(enumerate(each)) for name, each in calls.items() if each}
        self._running = dict.fromkeys(calls, 0)
        self._until: dict[str, float] = {}
        self._changed = threading.Condition()
        self._not_asked = not_polled
        self._of_one = of_one
        self._seconds = seconds

    def do(self) -> None:
        """What each thread does: one call after another until none is left."""
        while (taken := self._next()) is not None:
            name, number, call, late = taken
            try:
                why = f"not asked: the other instances of the application took {self._seconds:g} s in all"
                self.results[name, number] = self._not_asked(why) if late else call()
            finally:
                with self._changed:
                    self._running[name] -= 1
                    self._changed.notify_all()

    def _next(self) -> tuple[str, int, Callable[[], _T], bool] | None:
        with self._changed:
            while self._waiting:
                name = min(self._waiting, key=lambda one: self._running[one])
                if self._running[name] < self._of_one:
                    return self._take(name)
                # Every application that has calls left runs as many as it may.
                self._changed.wait()
        return None

    def _take(self, name: str) -> tuple[str, int, Callable[[], _T], bool]:
        number, call = self._waiting[name].popleft()
        if not self._waiting[name]:
            del self._waiting[name]
        self._running[name] += 1
        now = time.monotonic()
        return name, number, call, now > self._until.setdefault(name, now + self._seconds)
