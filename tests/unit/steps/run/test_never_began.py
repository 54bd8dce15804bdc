"""A step that left no beginning in the ledger, as Airflow shows it."""

from typing import Any

import pytest
from kstreams_runbooks.steps.run.never_began import NeverBegan, never_began

TASKS = ["plan", "approve_plan", "pause_inputs", "certify", "conclude"]


class Dag:
    """Its tasks in their order."""

    task_ids = TASKS


class Airflow:
    """What a task instance of `conclude` may ask."""

    dag_id, run_id, task_id = "control_topic_flush", "r", "conclude"

    def __init__(self, states: dict[str, str | None], error: Any = None) -> None:
        self.states, self.error = states, error

    def get_task_states(self, dag_id: str, run_ids: list[str]) -> dict[str, dict[str, str | None]]:
        """The states of one run."""
        assert (dag_id, run_ids) == ("control_topic_flush", ["r"])
        return {"r": self.states}

    def xcom_pull(self, task_ids: str, key: str) -> Any:
        """What `pause_inputs` has left."""
        return self.error if (task_ids, key) == ("pause_inputs", "error") else None


def found(states: dict[str, str | None], error: Any = None, *, answered: bool = False) -> NeverBegan | None:
    """After the approval, the last step that began."""
    context = {"dag": Dag, "ti": Airflow(states, error)}
    return never_began(context, "approve_plan", answered=answered)


GIVEN: dict[str, str | None] = {
    "plan": "success",
    "approve_plan": "success",
    "pause_inputs": "failed",
    "certify": "upstream_failed",
}


def test_the_step_that_failed_is_named_with_what_it_said() -> None:
    """Airflow kept the sentence, the ledger was away."""
    away = {"sentence": "ledger: nothing listens on this port", "exit_code": 4}
    sentence = "pause_inputs did not begin: ledger: nothing listens on this port"
    assert found(GIVEN, away) == NeverBegan("pause_inputs", sentence, 4)


def test_a_step_that_said_nothing_has_a_log() -> None:
    """Its worker died, or the import of its DAG."""
    late = found(GIVEN)
    assert late is not None
    assert (late.task_id, late.exit_code) == ("pause_inputs", 0)
    assert late.sentence == (
        "pause_inputs failed before it began and left no reason (its worker or the import of its DAG died); look at "
        "its log"
    )


def test_what_was_marked_by_hand_is_not_blamed_on_the_step_before() -> None:
    """Unless that step has left a sentence of its own, or did not end well."""
    marked = GIVEN | {"pause_inputs": "success", "certify": "success"}
    late = found(marked)
    assert late is not None
    assert late.sentence == (
        "pause_inputs did not begin, and Airflow shows it as success (expected: begun after approve_plan); marked by "
        "hand does not count"
    )
    assert found(marked, answered=True) is None
    assert found(GIVEN | {"approve_plan": "failed", "pause_inputs": "upstream_failed"}) is None


def test_an_airflow_that_does_not_answer_hides_no_outcome(caplog: pytest.LogCaptureFixture) -> None:
    """The ledger has to do."""
    assert never_began({"ti": Airflow({})}, "approve_plan", answered=False) is None
    assert "cannot be read from Airflow" in caplog.text
