"""`approve` and `reject`: answer the open question of a run, as a person does on Airflow's page."""

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from kstreams_runbooks.decide.runs.answers import APPROVE, DELETING, REJECT, meant
from kstreams_runbooks.errors import BadInput, Inconclusive, Refused, RunbookError
from kstreams_runbooks.terminal.airflow.connect import airflow_at, airflow_options
from kstreams_runbooks.terminal.airflow.progress import LINE_EVERY_S
from kstreams_runbooks.terminal.airflow.trigger import RUNBOOK_TAG
from kstreams_runbooks.terminal.columns import columns, shown
from kstreams_runbooks.wording import outside, sentence, why_no_reason

if TYPE_CHECKING:
    from kstreams_runbooks.terminal.airflow.client import AirflowApi

_EMERGENCY, _REASON = "emergency_reason", "reason"
# Airflow starts the task that judges an answer within a few seconds.
_JUDGED_S = 30.0
_POLL_S = 1.0
# In any other state the task has received the answer, and has not judged it yet.
_ENDED = {"success", "failed", "skipped", "upstream_failed", "removed"}


@click.command()
@click.argument("run")
@click.option("--option", metavar="TEXT", help="The answer, if the question has other answers than Approve.")
@click.option("--reason", metavar="TEXT", help="Why; sent if the question has a field for it.")
@click.option("--emergency-reason", metavar="TEXT", help="Only if no other approver can answer: the reason.")
@airflow_options
def approve(
    run: str,
    option: str | None,
    reason: str | None,
    emergency_reason: str | None,
    airflow_url: str,
    airflow_user: str,
) -> None:
    """Approve the open question of RUN (a run id, or dag_id/run_id) as this login, and show whether the answer counts.

    The question is printed first. Exit codes: 0 it counts, 1 it does not or may not be given, 3 not known yet.
    """
    given = {_REASON: _checked("--reason", reason), _EMERGENCY: _checked("--emergency-reason", emergency_reason)}
    _answer(airflow_at(airflow_url, airflow_user), run, option, APPROVE, given)


@click.command()
@click.argument("run")
@click.option("--option", metavar="TEXT", help="The answer, if the question has other answers than Reject.")
@click.option("--reason", metavar="TEXT", required=True, help="Why; kept in the run's note, and with the answer.")
@airflow_options
def reject(run: str, option: str | None, reason: str, airflow_url: str, airflow_user: str) -> None:
    """Reject the open question of RUN (a run id, or dag_id/run_id) as this login: the run ends.

    The question is printed first. The reason goes with the answer, or into the run's note. A login that may not answer
    stops the run by marking the task that asks as failed in Airflow.
    """
    given = {_REASON: _checked("--reason", reason)}
    _answer(airflow_at(airflow_url, airflow_user), run, option, REJECT, given)


def _checked(name: str, reason: str | None) -> str | None:
    if reason is not None and (why := why_no_reason(reason)):
        raise BadInput(f"{name}: {why}")
    return reason and reason.strip()


def _answer(api: "AirflowApi", run: str, option: str | None, usual: str, given: Mapping[str, str | None]) -> None:
    from kstreams_runbooks.terminal.airflow.client import Denied
    from kstreams_runbooks.terminal.airflow.question import question_of, without_addresses

    found = api.find_run(run, api.dag_ids(RUNBOOK_TAG))
    dag_id, run_id = found["dag_id"], found["dag_run_id"]
    asked = api.pending(dag_id, run_id)
    if not asked:
        raise Refused(f"run {run_id}: waits for no answer (expected: one question); `kstreams-runbooks runs` shows it")
    if len(asked) > 1:
        names = ", ".join(one["task_instance"]["task_id"] for one in asked)
        raise Refused(f"run {run_id}: has {len(asked)} open questions ({names}; expected: one); answer them in Airflow")
    [pending], question = asked, question_of(asked[0], api)
    option = _option(run_id, pending, option or usual, named=option is not None)
    for line in (question.sentence, *map(without_addresses, question.text)):
        click.echo(shown(line, columns()), err=True)
    # A form refuses an answer with a field that it does not have.
    fields = pending.get("params") or {}
    lacking = [name for name, text in given.items() if text and name not in fields]
    if _EMERGENCY in lacking:
        raise BadInput(f"--emergency-reason: {question.task} has no field for it; leave it out")
    params = {name: text for name, text in given.items() if text and name in fields}
    try:
        api.answer(dag_id, run_id, question.task, option, params)
    except Denied:
        who = f" (may answer: {question.may_answer})" if question.may_answer else ""
        stop = _or_marked(api, dag_id, run_id, question.task)
        raise Refused(
            f"{question.task} of run {run_id}: Airflow takes no answer of {api.login}{who}; use another login; {stop}"
        ) from None
    if _REASON in lacking:
        _note(api, dag_id, run_id, f"{api.login}: {option} at {question.task}: {given[_REASON]}")
    stops = option == pending["options"][-1]
    click.echo(sentence(_judged(api, dag_id, run_id, question.task, option, stops=stops)))


def _or_marked(api: "AirflowApi", dag_id: str, run_id: str, task_id: str) -> str:
    """How a login that may not answer stops a run: `conclude` runs then, but not if the run itself is marked."""
    page = api.page_of(dag_id, run_id)
    return f"to stop the run without an answer, mark {task_id} (not the run) as failed in Airflow ({page})"


def _note(api: "AirflowApi", dag_id: str, run_id: str, line: str) -> None:
    """Add a line to the run's note; the answer was given before, and counts without it."""
    try:
        api.add_note(dag_id, run_id, line)
    except RunbookError as error:
        click.echo(sentence(f"run {run_id}: answered, but the reason is not in the run's note: {error}"), err=True)


def _option(run_id: str, pending: Mapping[str, Any], wanted: str, *, named: bool) -> str:
    """The answer, if the question has it; BadInput names its answers.

    Reject is the way to stop, under any name. Approve is also the way on of a plan that deletes for good: that plan is
    asked once. The way on of a later question has to be named: a script that approves every question must not pass it.
    """
    options = tuple(pending.get("options") or ())
    if (wanted == REJECT and not named) or options == DELETING:
        wanted = meant(wanted, options)
    if wanted in options:
        return wanted
    known = ", ".join(f"{outside(one)!r}" for one in options) or "none"
    what = f"--option {outside(wanted)}" if named else f"run {run_id}"
    raise BadInput(f"{what}: its question has no answer {outside(wanted)!r} (answers: {known}); give --option")


def _judged(api: "AirflowApi", dag_id: str, run_id: str, task_id: str, option: str, *, stops: bool) -> str:
    """What became of an answer; Refused if it did not count, Inconclusive if that is not known in time.

    One that `stops` the run ends its task as failed. After any other answer a task that failed did not go on.
    """
    from kstreams_runbooks.terminal.airflow.question import question_of

    began = said_at = time.monotonic()
    until = began + _JUDGED_S
    while True:
        if again := [one for one in api.pending(dag_id, run_id) if one["task_instance"]["task_id"] == task_id]:
            question = question_of(again[0], api)
            why = question.why or f"the answer {option!r} of {api.login} did not count; its log has the reason"
            who = f" (may answer: {question.may_answer})" if question.may_answer else ""
            stop = f"; {_or_marked(api, dag_id, run_id, task_id)}" if stops else ""
            raise Refused(f"{task_id} of run {run_id} asks again{who}: {why}{stop}")
        state = api.tasks(dag_id, run_id)[task_id]["state"]
        if state == "success" or (stops and state == "failed"):
            return f"{task_id} of run {run_id}: answered {option!r}, the task is {state}"
        if state in _ENDED:
            why = _why_failed(api, dag_id, run_id, task_id)
            raise Refused(f"{task_id} of run {run_id}: answered {option!r}, but the task is {state}: {why}")
        if time.monotonic() >= until:
            raise Inconclusive(
                f"{task_id} of run {run_id}: answered {option!r}; whether it counts is not known after "
                f"{_JUDGED_S:g} s; look with `kstreams-runbooks runs --open`"
            )
        if time.monotonic() - said_at >= LINE_EVERY_S:
            said_at = time.monotonic()
            waited = f"{said_at - began:.0f} of {_JUDGED_S:g} s"
            click.echo(f"{task_id}: {state}, the answer is not judged yet ({waited})", err=True)
        time.sleep(_POLL_S)


def _why_failed(api: "AirflowApi", dag_id: str, run_id: str, task_id: str) -> str:
    """The sentence with which a task failed."""
    from kstreams_runbooks.terminal.airflow.shapes import Left, require

    left = api.xcom(dag_id, run_id, task_id, "error")
    if left is None:
        return f"its log has the reason ({api.page_of(dag_id, run_id, task_id)})"
    require(Left, left, api.url)
    return str(left["sentence"])
