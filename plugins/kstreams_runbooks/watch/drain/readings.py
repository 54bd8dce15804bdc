"""Reads until there is an answer, or the wait is over."""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from tenacity import RetryCallState, Retrying

from kstreams_runbooks.decide.drain.pace import enough
from kstreams_runbooks.model.readings.drain import DrainAnswer, DrainQuestion
from kstreams_runbooks.model.verdicts import Verdict
from kstreams_runbooks.observe.application.drain import DrainReader
from kstreams_runbooks.watch.drain.drain import DrainWatch


@dataclass(frozen=True, slots=True)
class Waits:
    """Seconds between two readings and until the end of the wait; None: only the readings that a proof needs."""

    interval_s: float
    ceiling_s: float | None


class Watch:
    """One wait for a drain. `config` is a librdkafka configuration."""

    def __init__(self, reader: DrainReader, config: Mapping[str, Any], question: DrainQuestion, waits: Waits) -> None:
        self._watch = DrainWatch(reader, config, question, waits.interval_s)
        self._ceiling_s = waits.ceiling_s

    def until_answered(self, show: Callable[[DrainAnswer], None]) -> DrainAnswer:
        """Read until the drain is proven, needs an operator, or the time is over; Ctrl-C returns the last answer."""
        watch = self._watch
        until = None if self._ceiling_s is None else time.monotonic() + self._ceiling_s

        def is_over(_: RetryCallState) -> bool:
            if until is not None:
                return time.monotonic() >= until
            return watch.taken >= enough(watch.readings, watch.question.readings)

        def look() -> Verdict:
            watch.look()
            show(self._answer())
            return watch.verdict

        with suppress(KeyboardInterrupt):
            Retrying(**watch.until(is_over), retry_error_callback=lambda _: watch.verdict)(look)
        return self._answer()

    def _answer(self) -> DrainAnswer:
        watch = self._watch
        return DrainAnswer(watch.question, watch.readings, watch.taken, watch.verdict, watch.unreachable)
