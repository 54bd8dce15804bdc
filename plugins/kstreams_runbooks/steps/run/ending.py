"""How a step ends: with a sentence, never with a traceback for an error of our own tree."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from airflow.sdk.definitions.retry_policy import ExceptionRetryPolicy, RetryAction, RetryRule

from kstreams_runbooks.errors import BadInput, RunbookError, Unreachable
from kstreams_runbooks.steps.run.run import Run, log
from kstreams_runbooks.wording import outside, sentence


class StepFailed(SystemExit):
    """Ends the task failed without a traceback; its code is the one of the error tree."""


class StepUnreachable(SystemExit):
    """The same for a system that does not answer: worth another try."""


# A decision does not change by asking again; a system that was away may be back.
RETRY_UNREACHABLE = ExceptionRetryPolicy(rules=[RetryRule(exception=StepFailed, action=RetryAction.FAIL)])


# What stands in the ledger from each step that began, so that its end can be told from a step that was killed.
BEGUN = "begun"

# Where Airflow keeps why a step failed (`kstreams-runbooks trigger --wait` reads it).
ERROR = "error"


@contextmanager
def reported(context: Mapping[str, Any], what: str) -> Iterator[Run]:
    """The run of `context`; says first what the step does, and turns our own errors into one last line."""
    try:
        run = Run.begin(context)
    except RunbookError as error:
        log.error("%s", _never_began(context["params"], error))
        raise ended_by(context, error) from None
    run.say(f"{run.task_id}: {what}")
    try:
        run.keep("note", BEGUN, {"what": what})
        yield run
    except RunbookError as error:
        log.error("%s", run.line(_kept(run, error)))
        raise ended_by(context, error) from None


def _never_began(params: Mapping[str, Any], error: RunbookError) -> str:
    """The last line of a step whose run cannot be found; only of a run that never was is it known what it changed."""
    dry = "DRY RUN " if params.get("dry_run", True) else ""
    refused = "REFUSED, nothing was changed: " if isinstance(error, BadInput) else ""
    return sentence(f"[{outside(params.get('application'))} @ unknown] {dry}{refused}{error}")


def _kept(run: Run, error: RunbookError) -> str:
    """The last line of a step that failed, after it was kept; the ledger itself may be what does not answer."""
    try:
        run.keep("failure", type(error).__name__, {"sentence": str(error), "exit_code": error.exit_code})
        wrote = run.ledger.run(run.key).wrote_at_ms
    except RunbookError as second:
        return f"{error} (this could not be kept: {second})"
    return str(error) if wrote else f"REFUSED, nothing was changed: {error}"


def leave(context: Mapping[str, Any], key: str, value: dict[str, Any]) -> None:
    """Leave an answer with Airflow, where whoever has only its API finds it, also when the task fails afterwards.

    That Airflow does not take it is one line of the log: the ledger has it as well.
    """
    try:
        context["ti"].xcom_push(key, value)
    except Exception as error:  # noqa: BLE001 - the step ends as it would have
        log.warning("%s could not be left with Airflow: %s", key, error)


def ended_by(context: Mapping[str, Any], error: RunbookError) -> SystemExit:
    """What ends a task that failed with one of our own errors, once Airflow has its sentence."""
    leave(context, ERROR, {"sentence": str(error), "exit_code": error.exit_code})
    return StepUnreachable(error.exit_code) if isinstance(error, Unreachable) else StepFailed(error.exit_code)
