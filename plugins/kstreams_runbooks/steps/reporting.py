"""How a step ends: with a sentence, never with a traceback for an error of our own tree."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from airflow.sdk.definitions.retry_policy import ExceptionRetryPolicy, RetryAction, RetryRule

from kstreams_runbooks.errors import RunbookError, Unreachable
from kstreams_runbooks.steps.run import Run, log


class StepFailed(SystemExit):
    """Ends the task failed without a traceback; its code is the one of the error tree."""


class StepUnreachable(SystemExit):
    """The same for a system that does not answer: worth another try."""


# A decision does not change by asking again; a system that was away may be back.
RETRY_UNREACHABLE = ExceptionRetryPolicy(rules=[RetryRule(exception=StepFailed, action=RetryAction.FAIL)])


@contextmanager
def reported(context: Mapping[str, Any], what: str) -> Iterator[Run]:
    """The run of `context`; says first what the step does, and turns our own errors into one last line."""
    try:
        run = Run.begin(context)
    except RunbookError as error:
        log.error("[%s] REFUSED, nothing was changed: %s", context["params"].get("application"), error)
        raise _exit(error) from None
    run.say(f"{run.task_id}: {what}")
    try:
        yield run
    except RunbookError as error:
        run.keep("failure", type(error).__name__, {"sentence": str(error), "exit_code": error.exit_code})
        refused = (
            "" if run.record.wrote_at_ms or run.ledger.run(run.key).wrote_at_ms else "REFUSED, nothing was changed: "
        )
        log.error("[%s @ %s] %s%s", run.record.application, run.record.cluster, refused, error)
        raise _exit(error) from None


def _exit(error: RunbookError) -> SystemExit:
    return StepUnreachable(error.exit_code) if isinstance(error, Unreachable) else StepFailed(error.exit_code)
