"""Where a run's tasks are done: on workers near the cluster that the application runs on.

Airflow does not template `queue`, and the application is only known once a run is triggered, so this is Airflow's hook
for it. `airflow_local_settings.py` (in `$AIRFLOW_HOME/config`) needs one line to switch it on:

    from kstreams_runbooks.steps.queues import task_instance_mutation_hook
"""

from typing import Any

_TAG = "kafka-streams"


def task_instance_mutation_hook(task_instance: Any, dag_run: Any = None) -> None:
    """Set the queue that the cluster of the run's application declares.

    Never raises and asks no database: it runs in the scheduler, for the task instances of every DAG. A run of an
    unknown application keeps Airflow's default queue, where its first step says what is wrong.
    """
    name = (getattr(dag_run, "conf", None) or {}).get("application")
    if not isinstance(name, str) or _TAG not in task_instance.task.dag.tags:
        return
    from kstreams_runbooks.fleet import load_fleet

    fleet = load_fleet()
    application = fleet.applications.get(name)
    cluster = fleet.clusters.get(application.cluster) if application else None
    if cluster and cluster.queue:
        task_instance.queue = cluster.queue
