"""The scheduled check as a DAG: its tasks, when it runs, and that it changes nothing."""

import os
import tempfile
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lab.settings import CHECKOUT, Lab, Ports

# Airflow reads its settings when it is imported.
os.environ.setdefault("AIRFLOW_HOME", tempfile.mkdtemp(prefix="airflow-home-"))
os.environ["AIRFLOW__CORE__PLUGINS_FOLDER"] = str(CHECKOUT / "plugins")
os.environ["AIRFLOW__CORE__LOAD_EXAMPLES"] = "False"

from airflow.dag_processing.dagbag import DagBag
from airflow.sdk import DAG
from kstreams_runbooks.local_settings import task_instance_mutation_hook

TASKS = ["list_clusters", "read_cluster", "judge", "sweep_holds", "notify_changes"]


def parsed() -> DAG:
    """The DAG as Airflow reads the file now."""
    bag = DagBag(dag_folder=str(CHECKOUT / "dags" / "fleet_check.py"), bundle_name="dags")
    assert bag.import_errors == {}
    return bag.dags["fleet_check"]


@pytest.fixture(scope="module")
def dag() -> DAG:
    """With the project's own settings, also where a stack with others is up."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("KSTREAMS_RUNBOOKS_CONFIG", raising=False)
        return parsed()


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of declarations of the test's own."""
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_CONFIG", str(tmp_path))
    return tmp_path


def test_what_follows_what(dag: DAG) -> None:
    """Each in the words of its page; telling waits for no sweep, which may hang."""
    assert set(dag.task_ids) == set(TASKS)
    for before, after in pairwise(TASKS[:3]):
        assert dag.get_task(before).downstream_task_ids == {after}
    assert dag.get_task("judge").downstream_task_ids == {"sweep_holds", "notify_changes"}
    # Both ends are leaves: either of them that fails makes the check red.
    assert {task.task_id for task in dag.leaves} == {"sweep_holds", "notify_changes"}
    for name in TASKS:
        assert f"**{name}**" in (dag.doc_md or "") or f"**{name}," in (dag.doc_md or "")


def test_one_cluster_that_fails_stops_nothing_behind_it(dag: DAG) -> None:
    """One mapped task a cluster; what follows runs whatever came before, and no scheduler repeats it."""
    assert dag.get_task("read_cluster").is_mapped
    assert all(dag.get_task(name).trigger_rule == "all_done" for name in TASKS[2:])
    assert {task.retries for task in dag.tasks} == {0}
    assert {dag.get_task(name).execution_timeout for name in TASKS[1:]} == {timedelta(minutes=5)}


def test_it_runs_every_five_minutes_one_at_a_time_and_makes_up_for_nothing(dag: DAG) -> None:
    """Bounded: a check that hangs does not keep the next one from running for ever."""
    assert dag.schedule == timedelta(minutes=5)
    assert (dag.catchup, dag.max_active_runs, dag.dagrun_timeout) == (False, 1, timedelta(minutes=15))
    assert dag.params.dump() == {"acknowledge": None, "reason": None}


@pytest.mark.parametrize(
    ("text", "schedule"),
    [
        ("every_minutes: 2\n", timedelta(minutes=2)),
        ("every_minutes: 0\n", None),
        # Its first task says what is wrong.
        ("every_minutes: often\n", timedelta(minutes=5)),
        (None, timedelta(minutes=5)),
    ],
)
def test_how_often_is_a_setting(config: Path, text: str | None, schedule: timedelta | None) -> None:
    """Of the file fleet_check.yaml; 0 leaves it to a person."""
    if text is not None:
        (config / "fleet_check.yaml").write_text(text, encoding="utf-8")
    assert parsed().schedule == schedule


@pytest.fixture
def two_clusters(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The demo's application on a cluster with a queue of its own, a copy of it on one without."""
    for name, value in Lab(config, Ports()).fleet_environment().items():
        if name.startswith("DEMO_"):
            monkeypatch.setenv(name, value)
    (config / "applications").mkdir()
    (config / "clusters").mkdir()
    example = (CHECKOUT / "config" / "applications" / "orders.yaml").read_text(encoding="utf-8")
    for name in ("far", "near"):
        queue = "near-the-brokers" if name == "near" else "null"
        (config / "clusters" / f"{name}.yaml").write_text(f"connection: kafka_{name}\nqueue: {queue}\n")
        text = example.replace("cluster: demo", f"cluster: {name}")
        (config / "applications" / f"orders-{name}.yaml").write_text(text, encoding="utf-8")


@pytest.mark.usefixtures("two_clusters")
@pytest.mark.parametrize(
    ("task_id", "map_index", "queue"),
    [
        ("read_cluster", 0, "default"),
        ("read_cluster", 1, "near-the-brokers"),
        ("read_cluster", 2, "default"),
        ("read_cluster", -1, "default"),
        ("judge", -1, "default"),
    ],
)
def test_a_cluster_is_read_on_its_own_queue(dag: DAG, task_id: str, map_index: int, queue: str) -> None:
    """Airflow templates no queue: the line in airflow_local_settings.py sets it, by the order of the clusters."""
    task: Any = SimpleNamespace(dag=dag)
    instance = SimpleNamespace(task=task, task_id=task_id, map_index=map_index, queue="default")
    task_instance_mutation_hook(instance, SimpleNamespace(conf={}))
    assert instance.queue == queue
