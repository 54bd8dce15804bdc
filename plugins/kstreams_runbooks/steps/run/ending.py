"""Ends a step with one sentence, never with a traceback, for an error of our own tree."""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from airflow.sdk.definitions.retry_policy import ExceptionRetryPolicy, RetryAction, RetryRule

from kstreams_runbooks.decide.runbooks import longest_h
from kstreams_runbooks.errors import BadInput, Inconclusive, RunbookError, Unreachable
from kstreams_runbooks.steps.run.note import note_progress
from kstreams_runbooks.steps.run.run import Run, log
from kstreams_runbooks.wording import outside, sentence


class StepFailed(SystemExit):
    """Ends the task as failed without a traceback; its exit code is that of the error tree."""


class StepUnreachable(SystemExit):
    """The same for a system that does not answer: worth a retry."""


# A retry does not change a decision; a system that did not answer may be back.
RETRY_UNREACHABLE = ExceptionRetryPolicy(rules=[RetryRule(exception=StepFailed, action=RetryAction.FAIL)])


# The ledger entry of each step that began: it distinguishes a step that ended from one that was killed.
BEGUN = "begun"

# The XCom key under which Airflow keeps why a step failed (`kstreams-runbooks trigger --wait` reads it).
ERROR = "error"


@contextmanager
def reported(context: Mapping[str, Any], what: str) -> Iterator[Run]:
    """The run of `context`; logs first what the step does, and turns our own errors into one last line."""
    try:
        run = Run.begin(context)
    except RunbookError as error:
        log.log(_level(error), "%s", _never_began(context["params"], error))
        raise ended_by(context, error) from None
    run.say(f"{run.task_id}: {what}")
    try:
        run.keep("note", BEGUN, {"what": what, "run_ends_ms": _run_ends_ms(context)})
        note_progress(run)
        yield run
    except RunbookError as error:
        log.log(_level(error), "%s", run.line(_kept(run, error)))
        raise ended_by(context, error) from None


def _level(error: RunbookError) -> int:
    """How loud the last line is: what is not known, or does not answer, is a warning; a refusal is an error."""
    return logging.WARNING if isinstance(error, Inconclusive | Unreachable) else logging.ERROR


def _run_ends_ms(context: Mapping[str, Any]) -> int | None:
    """When Airflow ends the run of a context (its `dagrun_timeout`); clearing a run that has ended starts it again."""
    dag_run = context.get("dag_run")
    started = getattr(dag_run, "start_date", None)
    if dag_run is None or started is None:
        return None
    return int((started + timedelta(hours=longest_h(dag_run.dag_id))).timestamp() * 1000)


def _never_began(params: Mapping[str, Any], error: RunbookError) -> str:
    """The last line of a step whose run cannot be read; only for bad input is it certain that nothing was changed."""
    dry = "DRY RUN " if params.get("dry_run", True) else ""
    refused = "REFUSED, nothing was changed: " if isinstance(error, BadInput) else ""
    return sentence(f"[{outside(params.get('application') or 'unknown')} @ unknown] {dry}{refused}{error}")


def _kept(run: Run, error: RunbookError) -> str:
    """The last line of a step that failed, after the ledger kept it; the ledger itself may not answer."""
    try:
        run.keep("failure", type(error).__name__, {"sentence": str(error), "exit_code": error.exit_code})
        wrote = run.ledger.run(run.key).wrote_at_ms
    except RunbookError as second:
        return f"{error} (this could not be kept: {second})"
    return str(error) if wrote else f"REFUSED, nothing was changed: {error}"


def leave(context: Mapping[str, Any], key: str, value: dict[str, Any]) -> None:
    """Leave an answer in Airflow's XCom, for clients of its API, also if the task fails afterwards.

    If Airflow rejects it, one line of the log reports that: the ledger has the answer too.
    """
    try:
        context["ti"].xcom_push(key, value)
    except Exception as error:  # noqa: BLE001 - the step ends as without it
        log.warning("%s could not be stored in Airflow: %s", key, error)


def ended_by(context: Mapping[str, Any], error: RunbookError) -> SystemExit:
    """The exception that ends a task after one of our own errors; stores its sentence in Airflow first."""
    leave(context, ERROR, {"sentence": str(error), "exit_code": error.exit_code})
    return StepUnreachable(error.exit_code) if isinstance(error, Unreachable) else StepFailed(error.exit_code)
