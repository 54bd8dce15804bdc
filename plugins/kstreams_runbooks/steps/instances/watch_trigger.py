"""What all waits in the triggerer share: each holds no worker, survives a restart, and ends with a sentence."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import cached_property, partial
from typing import Any, TypeVar

from airflow.triggers.base import BaseTrigger, TaskSuccessEvent, TriggerEvent

from kstreams_runbooks.errors import Drifted, Inconclusive, Refused, RunbookError, Unreachable
from kstreams_runbooks.model.readings.readings import ApplicationReading
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.observe import unread
from kstreams_runbooks.patience import LINE_EVERY_S
from kstreams_runbooks.steps.run.run import Run, log

# What a wait saw last, each time that it changed.
SAW = "a wait saw"

_T = TypeVar("_T")


class WatchTrigger(BaseTrigger):
    """Watches the application for one task of a run; `arguments` are what a subclass watches for, as JSON.

    Each wait has a thread of its own for calls that block. The loop's shared threads are few (six on two processors),
    and a client of a broker that is away blocks for seconds: there, waits would wait for each other.

    Its event has the outcome, its reasons, and whether the application has drifted meanwhile.
    """

    def __init__(self, *, run_key: str, task_id: str, try_number: int, **arguments: Any) -> None:
        super().__init__()  # type: ignore[no-untyped-call] # Airflow does not annotate it
        self.run_key = run_key
        # BaseTrigger has a task_id of its own, which Airflow sets.
        self.step = task_id
        self.try_number = try_number
        self.arguments = arguments
        self.saw = ""
        self.said_at = 0.0

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """Class path and arguments; no secret among them."""
        run = {"run_key": self.run_key, "task_id": self.step, "try_number": self.try_number}
        return f"{type(self).__module__}.{type(self).__qualname__}", {**run, **self.arguments}

    @cached_property
    def _thread(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(1, thread_name_prefix=f"{self.step} of {self.run_key}")

    async def aside(self, function: Callable[..., _T], *args: Any, **kwargs: Any) -> _T:
        """Call what blocks in this wait's thread, with the log of this task."""
        call = partial(copy_context().run, function, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self._thread, call)

    def tell(self, run: Run, sentence: str, waited: str = "") -> None:
        """Log what was seen and how long it took, and keep it: a wait that is killed must not lose it. Blocks."""
        self.saw = sentence
        self.count(run, sentence, waited)
        run.keep("note", SAW, {"sentence": sentence})

    def count(self, run: Run, sentence: str, waited: str) -> None:
        """Log that a wait goes on, with its time (`12 of 300 s`); keeps nothing."""
        self.said_at = time.monotonic()
        run.say(f"{sentence} ({waited})" if waited else sentence)

    @property
    def is_quiet(self) -> bool:
        """Whether the log has had no line of this wait for ten seconds."""
        return time.monotonic() - self.said_at >= LINE_EVERY_S

    async def pause(self, run: Run, seconds: float, waited: Callable[[], str]) -> None:
        """Sleep; whenever the log has had no line for ten seconds, what was seen last is one again, with its time."""
        ends = time.monotonic() + seconds
        while (line_at := self.said_at + LINE_EVERY_S) < ends:
            await asyncio.sleep(max(0.0, line_at - time.monotonic()))
            await self.aside(self.count, run, self.saw, waited())
        await asyncio.sleep(max(0.0, ends - time.monotonic()))

    def _broken(self, error: str) -> tuple[str, ...]:
        return (error, f"the last that was seen before: {self.saw}") if self.saw else (error,)

    async def watch(self, run: Run) -> Verdict:
        """Read, judge, wait, until there is an answer; every blocking call goes through `aside`: librdkafka blocks."""
        raise NotImplementedError

    def ends_the_task(self, run: Run) -> bool:  # noqa: ARG002 - for those that may
        """Whether a verdict to proceed ends the task: then no worker has to start for it."""
        return False

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """One event, also after an error."""
        ended = drifted = False
        try:
            run = await self.aside(Run.again, self.run_key, self.step, self.try_number)
            # A wait without an application of its own watches that of the run.
            run = run.on(self.arguments.get("application") or run.record.application)
            verdict = await self.watch(run)
            ended = verdict.outcome is Outcome.PROCEED and await self.aside(self.ends_the_task, run)
        except Drifted as error:
            drifted, verdict = True, Verdict(Outcome.REFUSE, self._broken(str(error)))
        except Refused as error:
            verdict = Verdict(Outcome.REFUSE, self._broken(str(error)))
        except RunbookError as error:
            verdict = Verdict(Outcome.INCONCLUSIVE, self._broken(str(error)))
        except Exception as error:  # noqa: BLE001 - after any error a person gets a sentence, and the log its trace
            log.exception("the watch of %s for %s broke", self.step, self.run_key)
            verdict = Verdict(Outcome.INCONCLUSIVE, self._broken(f"the watch broke: {type(error).__name__}: {error}"))
        finally:
            self._thread.shutdown(wait=False, cancel_futures=True)
        if ended:
            yield TaskSuccessEvent()
        else:
            yield TriggerEvent(  # type: ignore[no-untyped-call] # Airflow does not annotate it
                {"outcome": str(verdict.outcome), "reasons": list(verdict.reasons), "drifted": drifted}
            )


def reading_of(run: Run) -> ApplicationReading:
    """The application now; a broker that does not answer makes everything Missing, because it may be restarting."""
    try:
        return run.read(describes=False)
    except (Inconclusive, Unreachable) as error:
        return unread(run.application, str(error))
