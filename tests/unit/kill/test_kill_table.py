"""What the kill harness takes and prints, without a stack."""

from dataclasses import replace
from typing import Any

import pytest
from kill.__main__ import drawn, in_order, known, number, selected
from kill.harness import Row, Struck
from kill.moments import Kill, Moment, moments_of
from kill.runbooks import RUNBOOKS
from kill.table import Session, document, markdown, passed
from kstreams_runbooks.errors import BadInput
from lab.report import FAULTS
from lab.settings import CHECKOUT
from world.two_sides import DAG

TASKS = ("observe", "check", "plan", "bounce_1_first", "conclude")
KILL = Struck(Kill("plan", Moment.WORKING, 1, 0.8, "derives | the bounces"), "tried again by itself")
ROW = Row("plan", "kill-1", (KILL,), "completed", 12_345, dict.fromkeys(FAULTS, 0), (), 90.0)
SESSION = Session("library_bump", ("plan",), 7)


def test_a_good_row_passes_and_nothing_else_does() -> None:
    """No row, no kill, any fault: each of them is an exit code of 1."""
    assert passed([ROW])
    assert not passed([])
    assert not passed([replace(ROW, kills=())])
    assert not passed([ROW, replace(ROW, faults=("orders-1 is stopped",))])


def test_the_table_has_a_line_per_kill_and_every_fault() -> None:
    """Task, killed at, outcome, judge; the seed that it was drawn with; a bar in a log line breaks no column."""
    text = markdown(SESSION, [replace(ROW, faults=("orders-1 is stopped",))])
    assert (
        "| plan | its process, at work | 0.8 s after its start | derives \\| the bounces | tried again by itself; "
        "completed | 0, 0, 0, 0 of 12,345 |" in text
    )
    assert "seed 7" in text
    assert "1 runs, 1 kills, 12,345 inputs judged; 1 run with a fault" in text
    assert "- plan: orders-1 is stopped" in text


def test_a_table_that_was_broken_off_says_so() -> None:
    """It is written after each row, and never passes for the whole."""
    text = markdown(replace(SESSION, tasks=("plan", "verify"), seed=None), [ROW])
    assert "every task, 1 of 2 tried so far" in text
    assert "(2 chosen tasks, 1" in markdown(replace(SESSION, tasks=("plan", "verify"), seed=None, chosen=True), [ROW])


def test_a_run_that_could_not_be_judged_says_so() -> None:
    """Missing figures are no zeros."""
    row = replace(ROW, judge=dict.fromkeys(FAULTS), inputs_seen=None, faults=("not judged: broker away",))
    assert "| not judged |" in markdown(SESSION, [row])
    assert document(SESSION, [row])["ok"] is False
    assert document(SESSION, [row])["rows"][0]["judge"]["missing"] is None


def test_a_selection_keeps_the_order_of_the_runbook() -> None:
    """However it is written; nothing given is everything."""
    assert selected(TASKS, "conclude, observe") == ("observe", "conclude")
    assert selected(TASKS, "") == TASKS


def test_the_same_seed_draws_the_same_tasks() -> None:
    """A failed draw can be tried again, and every task can be drawn."""
    assert drawn(TASKS, 5, 2) == drawn(TASKS, 5, 2)
    assert {name for seed in range(40) for name in drawn(TASKS, seed, 2)} == set(TASKS)
    assert drawn(TASKS, 1, 5) == TASKS


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: known("libary_bump"), "RUNBOOK=libary_bump: unknown; set RUNBOOK to one of library_bump"),
        (lambda: selected(TASKS, "plam"), "TASKS=plam: plam is no task of the runbook; did you mean plan?"),
        (lambda: drawn(TASKS, 1, 6), "COUNT=6: there are 5 tasks; set COUNT from 1 to 5"),
        (lambda: number({"SEED": "x"}, "SEED"), "SEED=x: not a whole number from 0"),
    ],
)
def test_bad_input_is_one_sentence(call: Any, sentence: str) -> None:
    """Before a stack is started wherever that can be known."""
    with pytest.raises(BadInput) as error:
        call()
    assert str(error.value).startswith(sentence)


def _described(module: str, name: str) -> dict[str, Any]:
    return {"class_ref": {"module_path": module, "class_name": name}}


def test_what_a_task_does_decides_when_it_is_killed() -> None:
    """A bounce between stop and start and at its gate, an approval while it waits, any other while it works."""
    assert moments_of(_described("kstreams_runbooks.steps.instances.bounce", "BounceOperator")) == (
        Moment.STOPPING,
        Moment.DEFERRED,
    )
    assert moments_of(_described("kstreams_runbooks.steps.approval.approve", "ApprovePlan")) == (Moment.ASKING,)
    plain = _described("airflow.providers.standard.decorators.python", "_PythonDecoratedOperator")
    assert moments_of(plain) == (Moment.WORKING,)


def test_tasks_come_in_the_order_in_which_they_run() -> None:
    """Airflow's API lists them by name."""
    tasks = [
        {"task_id": "check", "downstream_task_ids": ["plan"]},
        {"task_id": "observe", "downstream_task_ids": ["check"]},
        {"task_id": "plan", "downstream_task_ids": []},
    ]
    assert list(in_order(tasks)) == ["observe", "check", "plan"]


@pytest.mark.parametrize("name", RUNBOOKS)
def test_every_scenario_names_a_runbook_that_there_is(name: str) -> None:
    """A DAG that was renamed or dropped takes its scenario with it."""
    dag = RUNBOOKS[name].dag or name
    folder = "tests/world" if dag == DAG else "dags"
    assert (CHECKOUT / folder / f"{dag}.py").is_file()
