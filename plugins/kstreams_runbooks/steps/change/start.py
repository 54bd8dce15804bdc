"""Starts a run of another DAG from a step, once: its id is fixed, and an existing run stays as it is."""

from collections.abc import Mapping
from typing import Any

from airflow.sdk.exceptions import AirflowRuntimeError
from airflow.sdk.execution_time import task_runner
from airflow.sdk.execution_time.comms import ErrorResponse, TriggerDagRun

from kstreams_runbooks.decide.runs.commands import why_paused
from kstreams_runbooks.errors import Refused


def start_run(dag_id: str, run_id: str, conf: Mapping[str, Any], note: str) -> bool:
    """Trigger a run as the login that triggered this one; False if a run with that id exists.

    `TriggerDagRunOperator` does the same after its task has ended, too late to keep the result. Refused if Airflow
    rejects the run, or if the DAG is paused and the run would wait in the queue.
    """
    try:
        if task_runner.RuntimeTaskInstance.get_dag(dag_id).is_paused:
            raise Refused(why_paused(dag_id))
        answer = task_runner.SUPERVISOR_COMMS.send(
            TriggerDagRun(dag_id=dag_id, run_id=run_id, conf=dict(conf), note=note)
        )
    except AirflowRuntimeError as error:
        raise Refused(f"run {run_id} of {dag_id}: Airflow rejected it ({error}); clear this step") from None
    return not isinstance(answer, ErrorResponse)
