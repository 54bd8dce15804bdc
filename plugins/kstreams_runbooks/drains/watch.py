"""Reading after reading until there is an answer, or nobody waits for it any longer."""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from tenacity import RetryCallState, Retrying, retry_if_result

from kstreams_runbooks.decide.drain import drained
from kstreams_runbooks.decide.drain_pace import is_final, pause_s
from kstreams_runbooks.errors import Inconclusive, Unreachable
from kstreams_runbooks.model.drain import DrainQuestion, DrainReading
from kstreams_runbooks.model.readings import Taken
from kstreams_runbooks.model.verdicts import Verdict
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.drain import DrainReader


@dataclass(frozen=True, slots=True)
class Waits:
    """Seconds between two readings, and until it is given up; None: as many readings as would prove it, no more."""

    interval_s: float
    ceiling_s: float | None


@dataclass(frozen=True, slots=True)
class Answer:
    """What was asked, every reading, the verdict on them, and whether the last one found no broker."""

    question: DrainQuestion
    readings: tuple[DrainReading, ...]
    verdict: Verdict
    unreachable: bool = False


class Watch:
    """One wait for a drain. `config` is a librdkafka configuration."""

    def __init__(self, reader: DrainReader, config: Mapping[str, Any], question: DrainQuestion, waits: Waits) -> None:
        self._reader = reader
        self._config = config
        self._question = question
        self._waits = waits
        self._readings: list[DrainReading] = []
        self._verdict = drained((), question)
        self._unreachable = False
        self._began = 0.0

    def until_answered(self, show: Callable[[Answer], None]) -> Answer:
        """Look until it is proven, a person is needed, or time is over; Ctrl-C ends it with what is known then."""
        until = None if self._waits.ceiling_s is None else time.monotonic() + self._waits.ceiling_s

        def is_over(_: RetryCallState) -> bool:
            return len(self._readings) >= self._question.readings if until is None else time.monotonic() >= until

        retrying = Retrying(
            retry=retry_if_result(lambda verdict: not is_final(verdict)),
            wait=lambda _: self._pause_s(),
            stop=is_over,
            retry_error_callback=lambda _: self._verdict,
        )
        with suppress(KeyboardInterrupt):
            retrying(self._look, show)
        return self._answer()

    def _pause_s(self) -> float:
        """Until the next reading is due: intervals count from beginning to beginning."""
        return max(0.0, pause_s(tuple(self._readings), self._waits.interval_s) - (time.monotonic() - self._began))

    def _look(self, show: Callable[[Answer], None]) -> Verdict:
        self._began = time.monotonic()
        self._readings.append(self._read())
        self._verdict = drained(tuple(self._readings), self._question)
        show(self._answer())
        return self._verdict

    def _answer(self) -> Answer:
        return Answer(self._question, tuple(self._readings), self._verdict, self._unreachable)

    def _read(self) -> DrainReading:
        self._unreachable = False
        try:
            with ClusterReader(self._config) as reader:
                return self._reader.read(reader)
        except Inconclusive as error:
            why = str(error)
        except Unreachable as error:
            why, self._unreachable = str(error), True
        return DrainReading(Taken(time.time_ns() // 1_000_000, ""), (), {}, {}, {}, problems=(why,))
