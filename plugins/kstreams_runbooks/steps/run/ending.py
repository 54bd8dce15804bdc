"""Ends a step with one sentence, never with a traceback, for an error of our own tree."""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

from airflow.sdk.definitions.retry_policy import ExceptionRetryPolicy, RetryAction, RetryRule

from kstreams_runbooks.decide.runbooks import longest_h
from kstreams_runbooks.decide.runs.conclusion import RunOutcome
from kstreams_runbooks.decide.runs.go_on import Ending
from kstreams_runbooks.decide.runs.next_action import NextAction, next_action
from kstreams_runbooks.errors import BadInput, Inconclusive, LoginRefused, RunbookError, Unreachable
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.steps.run.note import note_failed, note_never_began, note_progress
from kstreams_runbooks.steps.run.run import Run, log, record_of
from kstreams_runbooks.wording import outside, sentence


class StepFailed(SystemExit):
    """Ends the task as failed without a traceback; its exit code is that of the error tree."""


class StepUnreachable(SystemExit):
    """The same for a system that does not answer: worth a retry, which a refused login is not."""


# A retry does not change a decision; a system that did not answer may be back.
RETRY_UNREACHABLE = ExceptionRetryPolicy(rules=[RetryRule(exception=StepFailed, action=RetryAction.FAIL)])


# The ledger entry of each step that began: it distinguishes a step that ended from one that was killed. It has the
# tasks of the DAG: the check that concludes a run which Airflow has ended has no DAG.
BEGUN = "begun"

# The task that reports how a run ended.
_LAST = "conclude"

# The XCom key under which Airflow keeps why a step failed (`kstreams-runbooks trigger --wait` reads it).
ERROR = "error"


@contextmanager
def reported(context: Mapping[str, Any], what: str) -> Iterator[Run]:
    """The run of `context`; logs first what the step does, and turns our own errors into one last line."""
    try:
        run = Run.begin(context)
    except RunbookError as error:
        action = _next_of_none(context, error)
        note_never_began(context, error, action, again_in_s(context, error))
        log.log(_level(error), "%s", _never_began(context["params"], error, action))
        if action is None:
            raise ended_by(context, error) from None
        if context["ti"].task_id == _LAST:
            for line in action.lines:
                log.log(_level(error), "%s", sentence(line))
        outcome = {"outcome": str(RunOutcome.NOTHING_CHANGED), "next": list(action.lines)}
        raise ended_by(context, error, outcome) from None
    run.say(f"{run.task_id}: {what}")
    try:
        tasks = list(getattr(context.get("dag"), "task_ids", ()))
        run.keep("note", BEGUN, {"what": what, "run_ends_ms": _run_ends_ms(context), "tasks": tasks})
        note_progress(run)
        yield run
    except RunbookError as error:
        last = _kept(run, error)
        # The state of a task shows neither the cause nor that it is tried again: `conclude` may be minutes away.
        note_failed(run, error, again_in_s(context, error))
        log.log(_level(error), "%s", run.line(last))
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


def _next_of_none(context: Mapping[str, Any], error: RunbookError) -> NextAction | None:
    """The next action of a run that never began; None if it may have begun and changed something.

    Bad input alone proves nothing: a ledger that has to be migrated is bad input too, in the middle of a run. The run
    has not begun if the ledger does not exist yet, or answers and has no record of it.
    """
    if not isinstance(error, BadInput):
        return None
    try:
        found = record_of(context)
        ledger = Ledger.existing()
        if ledger is not None and ledger.same_run(found) is not None:
            return None
        form = context["dag"].params
        own = replace(found, params={name: value for name, value in found.params.items() if name in form})
        return next_action(
            Ending(
                own,
                RunOutcome.NOTHING_CHANGED,
                reached="",
                failure=str(error),
                exit_code=error.exit_code,
                is_void=False,
                cards=(),
            )
        )
    except (RunbookError, RecursionError):
        # A value that is nested too deep is what was refused: no command can repeat it.
        return None


def _never_began(params: Mapping[str, Any], error: RunbookError, action: NextAction | None) -> str:
    """The last line of a step whose run cannot be read."""
    dry = "DRY RUN " if params.get("dry_run", True) else ""
    refused = "REFUSED, nothing was changed: " if action is not None else ""
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


def _is_tried_again(error: RunbookError) -> bool:
    """Whether a repetition of the task may help: a system may be back, a refused login and a wrong form stay."""
    return isinstance(error, Unreachable) and not isinstance(error, LoginRefused)


def again_in_s(context: Mapping[str, Any], error: RunbookError) -> float | None:
    """Seconds until Airflow repeats the task after this error, None if it does not."""
    ti, task = context["ti"], context.get("task")
    tries, most = getattr(ti, "try_number", 1), getattr(ti, "max_tries", 0)
    delay = getattr(task, "retry_delay", None)
    if not _is_tried_again(error) or delay is None or tries > most:
        return None
    return float(delay.total_seconds())


def ended_by(context: Mapping[str, Any], error: RunbookError, more: Mapping[str, Any] | None = None) -> SystemExit:
    """The exception that ends a task after one of our own errors; stores its sentence, and `more`, in Airflow first."""
    leave(context, ERROR, {"sentence": str(error), "exit_code": error.exit_code, **(more or {})})
    return StepUnreachable(error.exit_code) if _is_tried_again(error) else StepFailed(error.exit_code)
