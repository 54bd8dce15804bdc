"""`clear`: run a task of a run again, with what follows it, as a person does on Airflow's page."""

import click

from kstreams_runbooks.errors import BadInput, Refused
from kstreams_runbooks.terminal.airflow.connect import airflow_at, airflow_options
from kstreams_runbooks.terminal.airflow.trigger import RUNBOOK_TAG
from kstreams_runbooks.wording import first_of, outside, sentence

_RUNS = "running"


@click.command()
@click.argument("run")
@click.argument("task")
@airflow_options
def clear(run: str, task: str, airflow_url: str, airflow_user: str) -> None:
    """Clear TASK of RUN and what follows it: the run goes on from there.

    RUN is a run id, or dag_id/run_id. It needs the login's right to clear tasks in Airflow. Each runbook's page lists
    what each step does if it is cleared: a step finds from what it observes where it has to go on.
    """
    from kstreams_runbooks.fleet.problems import nearest

    api = airflow_at(airflow_url, airflow_user)
    found = api.find_run(run, api.dag_ids(RUNBOOK_TAG))
    dag_id, run_id = found["dag_id"], found["dag_run_id"]
    tasks = api.tasks(dag_id, run_id)
    if task not in tasks:
        raise BadInput(f"task {outside(task)}: {dag_id} has no such task; {nearest(task, tasks)}")
    if tasks[task]["state"] == _RUNS:
        raise Refused(f"task {task} of run {run_id}: runs now (expected: ended); wait for its end, then clear it")
    cleared = api.clear(dag_id, run_id, task, running=False)
    others = [one for one in cleared if one != task]
    after = f" and {first_of(others, most=8)}" if others else ""
    click.echo(sentence(f"cleared {task}{after}: {api.page_of(dag_id, run_id)}"))
