"""Commands about a run that a person can paste."""

import json

from kstreams_runbooks.model.runs.ledger import RunRecord
from kstreams_runbooks.wording import pasted

UNDO = "undo"


def trigger_command(record: RunRecord, *, execute: bool = True) -> str:
    """The command that repeats a run: for real, or without `execute` as a dry run."""
    words = ["kstreams-runbooks", "trigger", record.dag_id]
    # An undo that is refused at its first step may have none: it has that of its run.
    words += ["--application", record.application] if record.application else []
    # No form has a field of another name; a run with such a field is refused at its first step.
    given = {name: value for name, value in sorted(record.params.items()) if name.isidentifier() and name.isascii()}
    long = [name for name, value in given.items() if isinstance(value, str) and "\n" in value]
    for name, value in given.items():
        if name not in {"application", "dry_run", "reason", *long} and value is not None:
            words += ["--param", f"{name}={value if isinstance(value, str) else json.dumps(value)}"]
    words += ["--reason", record.reason] if record.reason else []
    # A text of several lines cannot be in a command: it comes from a file again.
    files = [f'--param "{name}=$(cat {name}.txt)"' for name in long]
    return " ".join([pasted(words, links=False), *files, *(["--execute"] if execute else [])])


def undo_command(record: RunRecord, *fields: str) -> str:
    """The command for a dry run of the undo of a run; `fields` are others of its form, as `name=value`."""
    words = ["kstreams-runbooks", "trigger", UNDO, record.name]
    return pasted([*words, *(word for one in fields for word in ("--param", one))], links=False)


def clear_command(record: RunRecord, task_id: str) -> str:
    """The command that runs a task of a run again, with what follows it."""
    return clear_named(record.name, task_id)


def clear_named(run: str, task_id: str) -> str:
    """The same, by the name of the run."""
    return pasted(["kstreams-runbooks", "clear", run, task_id], links=False)


def approve_command(record: RunRecord, option: str = "") -> str:
    """The command that answers the open question of a run; `option` is an answer other than Approve."""
    return pasted(["kstreams-runbooks", "approve", record.name, *(["--option", option] if option else [])], links=False)


def unpause_command(dag_id: str) -> str:
    """Airflow's own command that lets runs of a DAG begin."""
    return pasted(["airflow", "dags", "unpause", dag_id], links=False)


def why_paused(dag_id: str) -> str:
    """Why a run of a paused DAG is not triggered, with the command that unpauses it."""
    waits = "is paused in Airflow, a run would wait in the queue"
    return f"runbook {dag_id}: {waits}; unpause it first: {unpause_command(dag_id)}"


def evidence_command(record: RunRecord) -> str:
    """The command that prints the evidence of a run."""
    return pasted(["kstreams-runbooks", "evidence", record.name], links=False)
