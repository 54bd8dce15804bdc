"""`runs`: the runs in progress or waiting for a person; check them before you deploy a new version of this project."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from kstreams_runbooks.terminal.airflow.connect import airflow_at, airflow_options
from kstreams_runbooks.wording import sentence

if TYPE_CHECKING:
    from kstreams_runbooks.terminal.airflow.client import AirflowApi

SCHEMA_VERSION = 1
TAG = "kafka-streams"
_NEWEST = 20
_OPEN = ("queued", "running")
_IDLE = {None, "none", "success", "failed", "skipped", "upstream_failed", "removed"}
_MINUTE_S = 60


@click.command()
@click.option("--open", "open_only", is_flag=True, help="Only queued, running and waiting runs.")
@click.option("--format", "form", type=click.Choice(["json", "text"]), default="text", show_default=True)
@airflow_options
def runs(open_only: bool, form: str, airflow_url: str, airflow_user: str) -> None:
    """List the newest runs of every runbook (or all open ones), oldest first, with current step and who may answer."""
    api = airflow_at(airflow_url, airflow_user)
    dag_ids = api.dag_ids(TAG)
    found = (api.open_runs(dag_ids) if open_only else api.newest_runs(dag_ids, _NEWEST)) if dag_ids else []
    lines = [_described(api, run) for run in found]
    if form == "json":
        click.echo(json.dumps({"schema_version": SCHEMA_VERSION, "runs": lines}, indent=2, sort_keys=True))
        return
    for line in lines:
        click.echo(_text(line))
    if not lines:
        click.echo("no run is queued, running or waiting" if open_only else "no runs", err=True)


def _described(api: "AirflowApi", run: Mapping[str, Any]) -> dict[str, Any]:
    from kstreams_runbooks.terminal.airflow.question import question_of

    dag_id, run_id, conf = run["dag_id"], run["dag_run_id"], run["conf"] or {}
    is_open = run["state"] in _OPEN
    tasks = api.tasks(dag_id, run_id) if is_open else {}
    questions = [asdict(question_of(one, api)) for one in api.pending(dag_id, run_id)] if is_open else []
    return {
        "dag_id": dag_id,
        "run_id": run_id,
        "application": conf.get("application"),
        "dry_run": conf.get("dry_run", True),
        "state": run["state"],
        "asked_by": run["triggering_user_name"],
        "since": run["start_date"] or run["queued_at"],
        "at": [name for name, task in tasks.items() if task["state"] not in _IDLE],
        "waits_for": questions,
        "link": api.page_of(dag_id, run_id),
    }


def _since(text: str | None) -> str:
    if text is None:
        return ", not queued yet"
    since = datetime.fromisoformat(text).astimezone(UTC)
    minutes = (datetime.now(UTC) - since).total_seconds() / _MINUTE_S
    return f", since {since:%Y-%m-%d %H:%M} UTC ({minutes:.0f} min)"


def _text(run: Mapping[str, Any]) -> str:
    from kstreams_runbooks.terminal.airflow.question import Question

    dry = "DRY RUN " if run["dry_run"] else ""
    since = _since(run["since"])
    at = f" at {', '.join(run['at'])}" if run["at"] else ""
    first = (
        f"{run['run_id']}: {dry}{run['dag_id']} of {run['application']}, {run['state']}{at}, asked by "
        f"{run['asked_by']}{since}"
    )
    return "\n  ".join(map(sentence, [first, *(Question(**one).sentence for one in run["waits_for"]), run["link"]]))
