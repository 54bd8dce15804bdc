"""The queue of a run's tasks; tests/airflow/test_declared_otherwise.py sees it in a real scheduler."""

import importlib
import shutil
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from kstreams_runbooks import local_settings
from kstreams_runbooks.local_settings import task_instance_mutation_hook

_CONFIG = Path(__file__).parents[2] / "config"


@pytest.fixture(autouse=True)
def _near_kafka(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The demo's fleet, whose cluster has a queue of its own."""
    shutil.copytree(_CONFIG, tmp_path / "config")
    cluster = tmp_path / "config" / "clusters" / "demo.yaml"
    text = cluster.read_text(encoding="utf-8")
    cluster.write_text(text.replace("queue: null", "queue: near-kafka"), encoding="utf-8")
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_CONFIG", str(tmp_path / "config"))
    for name in ("DIR", "RELEASES"):
        monkeypatch.setenv(f"DEMO_{name}", str(tmp_path / name))
    for name in ("SUPERVISOR", "METRICS_1", "METRICS_2"):
        monkeypatch.setenv(f"DEMO_{name}", f"http://127.0.0.1/{name}")


def queue_of(conf: Any, *tags: str) -> str:
    """Queue of a task instance of a run that was triggered with `conf`."""
    task = SimpleNamespace(dag=SimpleNamespace(tags=set(tags)))
    instance = SimpleNamespace(task=task, queue="default")
    task_instance_mutation_hook(instance, dag_run=SimpleNamespace(conf=conf))
    return str(instance.queue)


def test_a_run_goes_to_the_workers_near_its_cluster() -> None:
    """The application of the form decides."""
    assert queue_of({"application": "orders"}, "kafka-streams", "runbook") == "near-kafka"


@pytest.mark.parametrize("conf", [None, {}, {"application": "ordres"}, {"application": 7}])
def test_without_a_known_application_it_stays_where_it_is(conf: Any) -> None:
    """The first step says what is wrong with it; the scheduler must not stumble."""
    assert queue_of(conf, "kafka-streams") == "default"


def test_a_row_without_a_task_asks_the_run() -> None:
    """Airflow calls the hook on rows fresh from its database, too."""
    dag = SimpleNamespace(tags={"kafka-streams"})
    instance = SimpleNamespace(task=None, queue="default")
    task_instance_mutation_hook(instance, dag_run=SimpleNamespace(conf={"application": "orders"}, dag=dag))
    assert instance.queue == "near-kafka"
    lonely = SimpleNamespace(task=None, queue="default")
    task_instance_mutation_hook(lonely, dag_run=SimpleNamespace(conf={"application": "orders"}, dag=None))
    assert lonely.queue == "default"


def test_dags_of_others_are_left_alone() -> None:
    """The hook sees every DAG of the installation."""
    assert queue_of({"application": "orders"}, "sales") == "default"


def test_a_warning_of_airflow_about_itself_is_not_the_first_line_of_a_log() -> None:
    """Of its own use of pathspec; every other one stays."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        importlib.reload(local_settings)
        warnings.warn("GitWildMatchPattern ('gitwildmatch') is deprecated. Use 'gitignore'", DeprecationWarning, 2)
        warnings.warn("something else is deprecated", DeprecationWarning, 2)
    assert [str(one.message) for one in seen] == ["something else is deprecated"]
