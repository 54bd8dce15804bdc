"""A step as an Airflow task."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from airflow.sdk import get_current_context, task

from kstreams_runbooks.steps.run.ending import RETRY_UNREACHABLE, reported
from kstreams_runbooks.steps.run.run import Run

# A restarting broker or agent is back within half of this time.
_RETRIES = 2
_RETRY_DELAY = timedelta(seconds=15)


def step(what: str) -> Callable[[Callable[[Run], None]], Callable[[], Any]]:
    """Turn a function of a run that only reads into a task factory; `what` is the first line of its log."""
    return _as_task(what, retries=_RETRIES, retry_delay=_RETRY_DELAY, retry_policy=RETRY_UNREACHABLE)


def write(what: str) -> Callable[[Callable[[Run], None]], Callable[[], Any]]:
    """The same for a function that changes something: only a person repeats a write, never a scheduler."""
    return _as_task(what, retries=0)


def _as_task(what: str, **settings: Any) -> Callable[[Callable[[Run], None]], Callable[[], Any]]:
    def wrap(function: Callable[[Run], None]) -> Callable[[], Any]:
        def execute() -> None:
            with reported(get_current_context(), what) as run:
                function(run)

        execute.__doc__ = function.__doc__
        execute.__name__ = function.__name__
        return task(task_id=function.__name__, doc_md=function.__doc__, **settings)(execute)

    return wrap
