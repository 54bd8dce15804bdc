"""A step as an Airflow task."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from kstreams_runbooks.steps.run.ending import RETRY_UNREACHABLE, reported
from kstreams_runbooks.steps.run.person import AskingTask
from kstreams_runbooks.steps.run.run import Run

# A restarting broker or agent is back within half of this time.
_RETRIES = 2
_RETRY_DELAY = timedelta(seconds=15)
# The settings of a task that only reads.
READS: Mapping[str, Any] = {"retries": _RETRIES, "retry_delay": _RETRY_DELAY, "retry_policy": RETRY_UNREACHABLE}


class Step(AskingTask):
    """A task that calls one function with its run; `what` is the first line of its log."""

    def __init__(self, *, what: str, act: Callable[[Run], None], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.what = what
        self.act = act

    def execute(self, context: Mapping[str, Any]) -> None:
        """Call the function; an error of our own tree ends the task with one sentence."""
        with reported(context, self.what) as run:
            self.act(run)


def step(what: str) -> Callable[[Callable[[Run], None]], Callable[[], Step]]:
    """Turn a function of a run that only reads into a task factory; `what` is the first line of its log."""
    return _as_task(what, **READS)


def write(what: str) -> Callable[[Callable[[Run], None]], Callable[[], Step]]:
    """The same for a function that changes something: only a person repeats a write, never a scheduler."""
    return _as_task(what, retries=0)


def _as_task(what: str, **settings: Any) -> Callable[[Callable[[Run], None]], Callable[[], Step]]:
    def wrap(function: Callable[[Run], None]) -> Callable[[], Step]:
        def made() -> Step:
            name, doc = function.__name__, function.__doc__
            return Step(task_id=name, doc_md=doc, what=what, act=function, **settings)

        return made

    return wrap
