"""What holds for every runbook: names of steps, their order, retries, the last step, the form."""

import os
import tempfile
from datetime import timedelta

import pytest
from lab.settings import CHECKOUT

# Airflow reads its settings when it is imported.
os.environ.setdefault("AIRFLOW_HOME", tempfile.mkdtemp(prefix="airflow-home-"))
os.environ["AIRFLOW__CORE__PLUGINS_FOLDER"] = str(CHECKOUT / "plugins")
os.environ["AIRFLOW__CORE__LOAD_EXAMPLES"] = "False"

from airflow.dag_processing.dagbag import DagBag
from airflow.sdk import DAG
from airflow.serialization.serialized_objects import DagSerialization
from kstreams_runbooks.decide.runbooks import runbook
from kstreams_runbooks.fleet.limits import Limits
from kstreams_runbooks.steps.approval.asking import AskingOperator
from kstreams_runbooks.steps.run.form import OWNER, RARE

# The same task id means the same thing in every DAG (docs/runbooks.md, "Steps of a run").
KNOWN_STEPS = {
    "observe",
    "check",
    "plan",
    "approve_plan",
    "bounce_1_first",
    "bounce_1_rest",
    "prove_every_member",
    "approve_bounce_2",
    "bounce_2_first",
    "bounce_2_rest",
    "drain_repartition_topics",
    "stop_application",
    "start_application",
    "wait_caught_up",
    "read_cards",
    "approve_undo",
    "undo",
    "describe_release",
    "choose_runbook",
    "start_runbook",
    "count_unread",
    "certify",
    "check_partitioning",
    "forecast_keys",
    "grow_topics",
    "prove_growth",
    "pause_inputs",
    "resume_inputs",
    "note_point",
    "compare_outputs",
    "approve_cutover",
    "compare_at_seam",
    "move_downstream",
    "copy_inputs",
    "stop_copier",
    "copy_rest",
    "start_copier",
    "prove_copy",
    "delete_offsets",
    "clear_state",
    "save_offsets",
    "create_topics",
    "set_offsets",
    "delete_groups",
    "delete_records",
    "delete_topics",
    "verify",
    "conclude",
}
MUTATING = {
    "grow_topics",
    "prove_growth",
    "bounce_1_first",
    "bounce_1_rest",
    "bounce_2_first",
    "bounce_2_rest",
    "stop_application",
    "start_application",
    "pause_inputs",
    "resume_inputs",
    "note_point",
    "compare_at_seam",
    "move_downstream",
    "copy_inputs",
    "stop_copier",
    "copy_rest",
    "start_copier",
    "prove_copy",
    "delete_offsets",
    "clear_state",
    "save_offsets",
    "create_topics",
    "set_offsets",
    "delete_groups",
    "delete_records",
    "delete_topics",
    "undo",
}
OBSERVING = {
    "observe",
    "describe_release",
    "check",
    "plan",
    "prove_every_member",
    "drain_repartition_topics",
    "read_cards",
    "verify",
}
LOOKS = {"observe", "check", "read_cards"}


# What is scheduled, asks nobody and changes nothing (test_fleet_check_dag.py).
MONITORS = {"fleet_check"}


def runbooks(bag: DagBag) -> list[DAG]:
    """What a person triggers."""
    return [dag for dag_id, dag in bag.dags.items() if dag_id not in MONITORS]


@pytest.fixture(scope="module")
def bag() -> DagBag:
    """Every DAG file of the project."""
    return DagBag(dag_folder=str(CHECKOUT / "dags"), bundle_name="dags")


def test_every_file_parses(bag: DagBag) -> None:
    """No import error, one DAG per file, named after it.

    Airflow passes over a file that does not contain both words "airflow" and "dag".
    """
    assert bag.import_errors == {}
    assert set(bag.dags) == {path.stem for path in (CHECKOUT / "dags").glob("*.py")}


def test_steps_are_known_few_and_documented(bag: DagBag) -> None:
    """At most 18 tasks, each a word that docs/runbooks.md explains, and a page that says what clearing it does."""
    for dag in runbooks(bag):
        assert set(dag.task_ids) <= KNOWN_STEPS
        assert len(dag.task_ids) <= 18
        for task_id in dag.task_ids:
            assert task_id.removesuffix("_first").removesuffix("_rest")[:8] in (dag.doc_md or "").replace(" ", "_")


def test_every_write_stands_behind_an_approval_and_a_plan(bag: DagBag) -> None:
    """Nothing is changed before somebody said so."""
    for dag in runbooks(bag):
        for task_id in MUTATING & set(dag.task_ids):
            ancestors = {task.task_id for task in dag.get_task(task_id).get_flat_relatives(upstream=True)}
            assert {"plan"} | LOOKS & set(dag.task_ids) <= ancestors
            assert {"approve_plan", "approve_undo"} & ancestors
            if "bounce_2" in task_id:
                assert {"prove_every_member", "approve_bounce_2"} <= ancestors


def test_a_runbook_is_started_behind_a_plan_and_a_choice(bag: DagBag) -> None:
    """Only the DAG that plans a change starts another one, and nothing of that DAG changes an application."""
    starting = {dag.dag_id for dag in runbooks(bag) if "start_runbook" in dag.task_ids}
    assert starting == {"plan_change"}
    dag = bag.dags["plan_change"]
    ancestors = [task.task_id for task in dag.get_task("start_runbook").get_flat_relatives(upstream=True)]
    assert set(ancestors) == {"observe", "describe_release", "plan", "choose_runbook"}
    assert not MUTATING & set(dag.task_ids)


def test_mutating_steps_never_retry_and_observing_ones_twice(bag: DagBag) -> None:
    """A write is repeated by a person, never by a scheduler."""
    for dag in runbooks(bag):
        for task in dag.tasks:
            assert task.retries == (2 if task.task_id in OBSERVING else 0), task.task_id


def test_conclude_is_the_last_and_always_runs(bag: DagBag) -> None:
    """No setup or teardown: they would turn a run that was marked failed green."""
    for dag in runbooks(bag):
        assert [task.task_id for task in dag.leaves] == ["conclude"]
        assert dag.get_task("conclude").trigger_rule == "all_done"
        assert not any(task.is_setup or task.is_teardown for task in dag.tasks)


def test_each_run_has_a_limit_with_a_reason(bag: DagBag) -> None:
    """Long enough for each of its questions to be asked twice, at the time that a question waits unless declared."""
    waits_h = Limits().approval_timeout_h
    for dag in runbooks(bag):
        row = runbook(dag.dag_id)
        questions = sum(isinstance(task, AskingOperator) for task in dag.tasks)
        assert dag.dagrun_timeout == timedelta(hours=row.longest_h), dag.dag_id
        assert row.because, dag.dag_id
        assert row.longest_h >= 2 * questions * waits_h + 1, dag.dag_id
        line = f"| `{dag.dag_id}` | {row.longest_h:g} | {row.because} |"
        assert line in (CHECKOUT / "docs" / "runbooks.md").read_text(encoding="utf-8")


def test_the_form_starts_with_dry_run_and_no_application(bag: DagBag) -> None:
    """Safe by default."""
    for dag in runbooks(bag):
        # One that only ever looks has nothing to be kept from.
        changes = MUTATING | {"start_runbook"}
        assert dag.params.get_param("dry_run").value is bool(changes & set(dag.task_ids))
        assert not dag.params.get_param("application").has_value
        for name, param in ((name, dag.params.get_param(name)) for name in dag.params):
            assert param.description, name
            assert param.schema.get("title"), name


def test_what_a_run_is_about_and_dry_run_are_not_folded_away(bag: DagBag) -> None:
    """Five fields at most fit above the fold with Dry run; what a plan or a refusal asks for is behind them, folded."""
    for dag in runbooks(bag):
        sections = [dag.params.get_param(name).schema.get("section") for name in dag.params]
        assert sections == sorted(sections, key=lambda one: (one is not None, one != RARE)), dag.dag_id
        assert dag.params.get_param("dry_run").schema.get("section") is None
        assert all(dag.params.get_param(name).schema.get("section") is None for name in NEEDED & set(dag.params))


# The fields that a person has to fill.
NEEDED = {"application", "target", "run", "partitions", "green"}


def test_optional_fields_are_optional(bag: DagBag) -> None:
    """Airflow's form demands a value of every field whose type does not take null; it cannot empty a default either."""
    for dag in bag.dags.values():
        for name in dag.params:
            param = dag.params.get_param(name)
            kinds = param.schema.get("type", "")
            chosen = kinds == "boolean" or "enum" in param.schema
            may_be_left = "null" in kinds or (chosen and param.has_value)
            # The ledger knows the application of the run to undo; a second one may read the control topics themselves.
            optional = {("undo", "application"), ("blue_green_start", "partitions")}
            is_needed = name in NEEDED and (dag.dag_id, name) not in optional
            assert may_be_left is not is_needed, (dag.dag_id, name)


def test_the_list_of_dags_shows_what_each_does_and_whose_it_is(bag: DagBag) -> None:
    """One line, and one owner."""
    for dag in bag.dags.values():
        assert dag.description, dag.dag_id
        assert len(dag.description) <= 200
        assert {task.owner for task in dag.tasks} == {OWNER}


def test_every_dag_survives_serialization(bag: DagBag) -> None:
    """The scheduler and the UI only ever see the serialized form."""
    for dag in bag.dags.values():
        assert DagSerialization.from_dict(DagSerialization.to_dict(dag)).task_dict.keys() == dag.task_dict.keys()
