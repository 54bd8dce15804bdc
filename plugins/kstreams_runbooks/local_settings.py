"""Settings that Airflow can import into its own: the queue of a run's tasks, and imports that are made once.

One line in `airflow_local_settings.py` (in `$AIRFLOW_HOME/config`) switches both on:

    from kstreams_runbooks.local_settings import task_instance_mutation_hook

It also keeps a warning of Airflow about its own use of a library from being the first line of each task's log.

Every task is a process of its own, forked from a worker; a task does not import again what the worker has imported.
The imports below took 0.6 s of processor time from a task that reads an application.
"""

import warnings
from typing import Any

import kstreams_runbooks.act.groups
import kstreams_runbooks.act.instance
import kstreams_runbooks.decide.registry
import kstreams_runbooks.deployers
import kstreams_runbooks.ledger  # noqa: F401 - like those above, for the tasks that are forked from here
from kstreams_runbooks.fleet import load_fleet
from kstreams_runbooks.observe.kafka.clients import import_clients

_TAG = "kafka-streams"
_MAPPED = "read_cluster"

import_clients()
# Airflow 3.3 reads .airflowignore with a class that pathspec 1.0 calls deprecated: once in each task, above its log.
warnings.filterwarnings("ignore", "GitWildMatchPattern", DeprecationWarning)


def task_instance_mutation_hook(task_instance: Any, dag_run: Any = None) -> None:
    """Set the queue declared by the cluster of the run's application, or by the cluster that a mapped task reads.

    Airflow does not template `queue`, and the application is only known once a run is triggered. Never raises and reads
    no database: it runs in the scheduler, for the task instances of every DAG. A run of an unknown application keeps
    Airflow's default queue; its first step reports the error.
    """
    # A row fresh from the database has no task yet; then the run knows its DAG.
    dag = getattr(task_instance.task, "dag", None) or getattr(dag_run, "dag", None)
    if dag is None or _TAG not in dag.tags:
        return
    name = (getattr(dag_run, "conf", None) or {}).get("application")
    fleet = load_fleet()
    cluster = None
    if isinstance(name, str) and name in fleet.applications:
        cluster = fleet.clusters.get(fleet.applications[name].cluster)
    elif getattr(task_instance, "task_id", None) == _MAPPED:
        # fleet_check maps it over these, in this order; a task that is not expanded yet has no index.
        number, used = getattr(task_instance, "map_index", -1), fleet.used_clusters
        cluster = fleet.clusters.get(used[number]) if 0 <= number < len(used) else None
    if cluster and cluster.queue:
        task_instance.queue = cluster.queue
