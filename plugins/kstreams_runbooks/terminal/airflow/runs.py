"""`runs`: the runs in progress or waiting for a person; check them before you deploy a new version of this project."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from kstreams_runbooks.decide.runbooks import may_change
from kstreams_runbooks.decide.runs.commands import UNDO
from kstreams_runbooks.decide.runs.conclusion import RunOutcome
from kstreams_runbooks.decide.runs.go_on import INDENT
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.runs.ledger import airflow_run
from kstreams_runbooks.terminal.airflow.connect import airflow_at, airflow_options
from kstreams_runbooks.terminal.airflow.progress import at_work, paused_lines
from kstreams_runbooks.terminal.airflow.trigger import RUNBOOK_TAG, application_of
from kstreams_runbooks.terminal.columns import columns, shown

if TYPE_CHECKING:
    from kstreams_runbooks.terminal.airflow.client import AirflowApi

SCHEMA_VERSION = 1
_NEWEST = 20
_OPEN = ("queued", "running")
_MINUTE_S = 60


@click.command()
@click.option("--open", "open_only", is_flag=True, help="Only queued, running and waiting runs.")
@click.option("--format", "form", type=click.Choice(["json", "text"]), default="text", show_default=True)
@airflow_options
def runs(open_only: bool, form: str, airflow_url: str, airflow_user: str) -> None:
    """List the newest runs of every runbook (or all open ones), oldest first, with their outcome or current step.

    An open run shows since when and for whom it waits, with --open also the present text of its question, which
    Airflow's page may not have. A run in the queue of a paused DAG shows what to do. One that has ended shows how it
    goes on, how it goes back, and what a person can do manually, until a later run has changed its application, or
    has taken it back.
    """
    api = airflow_at(airflow_url, airflow_user)
    paused = api.dags(RUNBOOK_TAG)
    dag_ids = list(paused)
    found = (api.open_runs(dag_ids) if open_only else api.newest_runs(dag_ids, _NEWEST)) if dag_ids else []
    lines = _with_next([_described(api, run, is_paused=paused.get(run["dag_id"], False)) for run in found])
    if form == "json":
        click.echo(json.dumps({"schema_version": SCHEMA_VERSION, "runs": lines}, indent=2, sort_keys=True))
        return
    now, width = datetime.now(UTC), columns()
    for line in lines:
        click.echo(as_text(line, now, width, whole=open_only))
    if not lines:
        click.echo("no run is queued, running or waiting" if open_only else "no runs", err=True)


def _described(api: "AirflowApi", run: Mapping[str, Any], *, is_paused: bool) -> dict[str, Any]:
    from kstreams_runbooks.terminal.airflow.question import open_questions
    from kstreams_runbooks.terminal.airflow.wait import outcome_of

    dag_id, run_id, conf = run["dag_id"], run["dag_run_id"], run["conf"] or {}
    is_open = run["state"] in _OPEN
    tasks = api.tasks(dag_id, run_id) if is_open else {}
    questions = [asdict(one) for one in open_questions(api, dag_id, run_id, tasks)] if is_open else []
    ended = None if is_open else outcome_of(api, dag_id, run_id, run["state"])
    return {
        "dag_id": dag_id,
        "run_id": run_id,
        "application": conf.get("application") or _undone(api, dag_id, conf),
        "dry_run": conf.get("dry_run", True),
        "state": run["state"],
        "outcome": ended and ended.outcome,
        "sentence": ended and ended.sentence,
        "next": list(ended.next) if ended else [],
        "manually": list(ended.manually) if ended else [],
        "changed": ended.changed if ended else None,
        "undoes": conf.get("run") if dag_id == UNDO else None,
        "asked_by": run["triggering_user_name"],
        "since": run["start_date"] or run["queued_at"],
        "ended": None if is_open else run.get("end_date"),
        "dag_paused": is_paused,
        "at": list(at_work(tasks)),
        "waits_for": questions,
        "link": api.page_of(dag_id, run_id),
    }


def _undone(api: "AirflowApi", dag_id: str, conf: Mapping[str, Any]) -> str | None:
    """The application of the run that an undo takes back: its own form need not have it."""
    run = conf.get("run")
    if dag_id != UNDO or not isinstance(run, str):
        return None
    try:
        return application_of(api, run.strip())
    except BadInput:
        return None


def _with_next(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same runs, oldest first, without the next action of one that a later run makes useless."""
    return [
        run | {"next": [], "manually": []} if any(_ends(run, later) for later in runs[place + 1 :]) else run
        for place, run in enumerate(runs)
    ]


def _ends(run: Mapping[str, Any], later: Mapping[str, Any]) -> bool:
    """Whether a later run has taken a run back, or has changed its application.

    A dry run, one that only reads, was refused or has not ended leaves the run before it as it was, with its way back.
    """
    if later["dry_run"] or not may_change(later["dag_id"]):
        return False
    if later["outcome"] == RunOutcome.COMPLETED and _is_of(run, later["undoes"]):
        return True
    return bool(later["changed"]) and later["application"] == run["application"]


def _is_of(run: Mapping[str, Any], name: Any) -> bool:
    """Whether a run is the one that the form of an undo names; a form over the API may have any JSON there."""
    if not isinstance(name, str):
        return False
    dag_id, run_id = airflow_run(name.strip()) if "/" in name else (run["dag_id"], name.strip())
    return (dag_id, run_id) == (run["dag_id"], run["run_id"])


def as_text(run: Mapping[str, Any], now: datetime, width: int | None = None, *, whole: bool = False) -> str:
    """One run of the JSON document as text, at most `width` columns wide: what it is, how it is, where it is.

    With `whole` an open question has its present text.
    """
    from kstreams_runbooks.terminal.airflow.question import Question, without_addresses

    by = f"asked by {run['asked_by']}" if run["asked_by"] else "asked by an unknown login"
    lines = [f"{run['run_id']}: {_state(run)}", f"  {_what(run)}, {by}, {_times(run, now)}"]
    if run["state"] == "queued" and run["dag_paused"]:
        why, command = paused_lines(run["dag_id"])
        lines += [f"  {why}", command]
    if run["sentence"]:
        lines.append(f"  {run['sentence']}")
    lines += [line if line.startswith(INDENT) else f"  {line}" for line in (*run["next"], *run["manually"])]
    for one in run["waits_for"]:
        waited = _span((now - datetime.fromisoformat(one["since"])).total_seconds())
        lines.append(f"  for {waited}: {Question(**one).sentence}")
        if whole:
            # Indented as no command is; the addresses are below.
            lines += (f"   {without_addresses(line)}" for line in one["text"])
    return "\n".join(shown(line, width) for line in (*lines, f"  {run['link']}"))


def _state(run: Mapping[str, Any]) -> str:
    """The outcome in capitals, or the state of an open run with the steps that it is at."""
    if run["state"] in _OPEN:
        return " at ".join(part for part in (run["state"], ", ".join(run["at"])) if part)
    return str(run["outcome"] or f"no outcome ({run['state']})").upper()


def _what(run: Mapping[str, Any]) -> str:
    return f"{'DRY RUN ' if run['dry_run'] else ''}{run['dag_id']} of {run['application'] or 'no application'}"


def _times(run: Mapping[str, Any], now: datetime) -> str:
    """Since when, and for how long."""
    if run["since"] is None:
        return "not queued yet"
    since = datetime.fromisoformat(run["since"]).astimezone(UTC)
    if run["ended"] is None:
        return f"since {since:%Y-%m-%d %H:%M} UTC ({_span((now - since).total_seconds())})"
    took = _span((datetime.fromisoformat(run["ended"]) - since).total_seconds())
    return f"{since:%Y-%m-%d %H:%M} UTC, took {took}"


def _span(seconds: float) -> str:
    """`12 s`, `14 min` or `3 h 5 min`."""
    whole = max(0, int(seconds))
    if whole < 2 * _MINUTE_S:
        return f"{whole} s"
    hours, minutes = divmod(whole // _MINUTE_S, _MINUTE_S)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"
