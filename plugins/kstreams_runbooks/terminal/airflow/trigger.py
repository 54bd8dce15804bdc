"""`trigger`: start a runbook from a terminal or a CI, and wait for its outcome."""

import json
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from kstreams_runbooks.decide.runs.commands import UNDO, why_paused
from kstreams_runbooks.errors import BadInput, Refused
from kstreams_runbooks.finite import FiniteRange
from kstreams_runbooks.terminal.airflow.connect import airflow_at, airflow_options
from kstreams_runbooks.terminal.columns import columns, shown
from kstreams_runbooks.wording import markdown, outside, sentence

if TYPE_CHECKING:
    from kstreams_runbooks.terminal.airflow.client import AirflowApi

SCHEMA_VERSION = 1
RUNBOOK_TAG = "runbook"
_MONITOR_TAG = "monitor"


@click.command()
@click.argument("runbook")
@click.argument("run", required=False)
@click.option("--application", metavar="NAME", help="Application of the fleet.")
@click.option("--target", metavar="RELEASE", help="Same as --param target=RELEASE.")
@click.option("--param", "params", multiple=True, metavar="NAME=VALUE", help="A field of the form; repeatable.")
@click.option("--execute", is_flag=True, help="Change the application; without it the run is a dry run.")
@click.option("--reason", metavar="TEXT", help="Reason or ticket, shown in approval, evidence and note.")
@click.option("--run-id", metavar="ID", help="Default: APPLICATION.RUNBOOK.UTC; an existing id is refused.")
@click.option("--wait/--no-wait", "waits", default=False, help="Wait for the end; the exit code is the outcome's.")
@click.option("--timeout", type=FiniteRange(min=0), metavar="SECONDS", help="Limit of --wait.")
@click.option("--format", "form", type=click.Choice(["json", "text"]), default="text", show_default=True)
@airflow_options
def trigger(
    runbook: str,
    run: str | None,
    application: str | None,
    target: str | None,
    params: tuple[str, ...],
    execute: bool,
    reason: str | None,
    run_id: str | None,
    waits: bool,
    timeout: float | None,
    form: str,
    airflow_url: str,
    airflow_user: str,
) -> None:
    """Trigger RUNBOOK over Airflow's API; a dry run unless --execute is given.

    `trigger undo RUN` takes back a run, of the application that it was about. `trigger fleet_check` checks
    the fleet now.

    With --wait: 0 completed (or dry run), 1 refused, rejected, stopped or a person is needed, 2 bad input, 3
    inconclusive, 4 Airflow is unreachable.

    A dry run prints its plan. While an approval waits, stderr shows who may approve and the link.
    """
    from kstreams_runbooks.terminal.airflow.form import filled, pairs_of
    from kstreams_runbooks.terminal.airflow.wait import wait

    if timeout is not None and not waits:
        raise BadInput("--timeout: is the limit of --wait; give both, or none")
    given = pairs_of([*params, *([f"target={target}"] if target is not None else [])])
    if run is not None and runbook != UNDO:
        raise BadInput(f"{outside(run)}: {outside(runbook)} takes no run, only {UNDO} does; give --application")
    if run is not None and "run" in given:
        raise BadInput("--param run: is the second argument already; give one of them")
    api = airflow_at(airflow_url, airflow_user)
    fields = _form(api, runbook)
    if run is not None:
        given["run"] = run
        application = application or application_of(api, run)
    conf = filled(runbook, fields, given, application=application, execute=execute, reason=reason)
    run_id = api.trigger(runbook, conf, run_id or _run_id(runbook, application), _note(conf, reason))
    link = api.page_of(runbook, run_id)
    click.echo(sentence(f"triggered {run_id}: {link}"), err=True)
    document: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "run": {"dag_id": runbook, "run_id": run_id, "conf": conf, "link": link},
    }
    if not waits:
        _print(document, form, run_id)
        return
    ended = wait(api, runbook, run_id, say=lambda line: click.echo(sentence(line), err=True), timeout_s=timeout)
    document |= {"state": ended.state, "outcome": ended.outcome, "sentence": ended.sentence}
    document |= {"plan": list(ended.plan)} if ended.plan else {}
    document |= {"next": list(ended.next)} if ended.next else {}
    document |= {"manually": list(ended.manually)} if ended.manually else {}
    end = f"{ended.outcome or ended.state}: {ended.sentence}"
    _print(document | {"exit_code": ended.exit_code}, form, *ended.plan, end, *ended.next, *ended.manually)
    sys.exit(ended.exit_code)


def _form(api: "AirflowApi", runbook: str) -> Mapping[str, Any]:
    """Fields of a runbook's form; BadInput names the nearest runbook if it is unknown, Refused if it is paused."""
    from kstreams_runbooks.fleet.problems import nearest

    known = [*api.dag_ids(RUNBOOK_TAG), *api.dag_ids(_MONITOR_TAG)]
    if runbook not in known:
        raise BadInput(f"runbook {runbook}: unknown to Airflow; {nearest(runbook, known)} ({api.url})")
    dag = api.dag(runbook)
    if dag["is_paused"]:
        raise Refused(why_paused(runbook))
    fields: Mapping[str, Any] = dag["params"]
    return fields


def application_of(api: "AirflowApi", run: str) -> str | None:
    """The application of a run, from the form with which it was triggered; None if that names none.

    BadInput if Airflow does not have the run.
    """
    found = api.find_run(run, api.dag_ids(RUNBOOK_TAG))
    application = (found["conf"] or {}).get("application")
    return application if isinstance(application, str) else None


def _run_id(runbook: str, application: str | None) -> str:
    at = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    return ".".join(part for part in (application, runbook, at) if part)


def _note(conf: Mapping[str, Any], reason: str | None) -> str:
    """The note next to the run in Airflow's list."""
    rest = ", ".join(f"{name} {value}" for name, value in conf.items() if name not in {"reason", "dry_run"})
    # Airflow shows it as Markdown.
    return markdown("".join(("dry run: " if conf.get("dry_run") else "", rest, f" ({reason})" if reason else "")))


def _print(document: Mapping[str, Any], form: str, *lines: str) -> None:
    """The document, or its lines: the outcome and the next action are last, where a person looks after a wait."""
    if form == "json":
        click.echo(json.dumps(document, indent=2, sort_keys=True))
        return
    width = columns()
    for line in lines:
        click.echo(shown(line, width))
