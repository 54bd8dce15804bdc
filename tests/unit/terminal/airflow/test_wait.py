"""The wait for a run's end: what it shows meanwhile, and how the run ended, from what `conclude` left with Airflow."""

from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner
from kstreams_runbooks.errors import BadInput, Unreachable
from kstreams_runbooks.terminal.airflow import trigger as module
from kstreams_runbooks.terminal.airflow.trigger import trigger
from kstreams_runbooks.terminal.airflow.wait import Ended, outcome_of, wait

STOPPED: dict[str, Any] = {
    "outcome": "stopped, changed",
    "sentence": "gate of orders-1: lag 7",
    "exit_code": 1,
    "next": ["GO ON: repair it:", "    kstreams-runbooks clear r bounce_1_first"],
    "manually": [],
    "changed": True,
}
COMPLETED: dict[str, Any] = {
    "outcome": "completed",
    "sentence": "as planned",
    "exit_code": 0,
    "next": [],
    "manually": [],
    "changed": True,
}
BY_HAND = ["MANUALLY, the last change first:", "    supervisorctl restart orders-1"]


class FakeAirflow:
    """A run that has ended as failed, and what its `conclude` left."""

    url = "http://airflow"

    def __init__(self, state: str = "failed", **left: Any) -> None:
        self.state, self.left = state, left

    def dag_ids(self, _: str) -> list[str]:
        """The runbook."""
        return ["library_bump"]

    def dag(self, _: str) -> dict[str, Any]:
        """A form with one field."""
        form = {"value": None, "schema": {"type": "string", "examples": ["orders"]}, "description": ""}
        return {"is_paused": False, "params": {"application": form, "dry_run": form | {"schema": {"type": "boolean"}}}}

    def trigger(self, *_: object) -> str:
        """The id."""
        return "r"

    def run(self, *_: str) -> dict[str, Any]:
        """The run."""
        return {"state": self.state}

    def tasks(self, dag: str, _: str) -> dict[str, Any]:
        """Every runbook ends with `conclude`; a monitor has none."""
        return {"judge": {}} if dag == "fleet_check" else {"conclude": {}}

    def xcom(self, _dag: str, _run: str, task: str, key: str) -> Any:
        """What `conclude` left under a key."""
        return self.left.get(key) if task == "conclude" else None

    def page_of(self, *_: str) -> str:
        """The page of the run."""
        return f"{self.url}/r"


def test_what_a_person_can_do_is_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """After GO ON and GO BACK."""
    api = FakeAirflow(return_value=STOPPED | {"manually": BY_HAND})
    monkeypatch.setattr(module, "airflow_at", lambda *_: api)
    done = CliRunner().invoke(trigger, ["library_bump", "--application", "orders", "--wait"])
    assert (done.exit_code, done.stdout.splitlines()) == (
        1,
        ["stopped, changed: gate of orders-1: lag 7", *STOPPED["next"], *BY_HAND],
    )


@pytest.mark.parametrize("outcome", ["stopped, changed", "inconclusive"])
@pytest.mark.parametrize("changed", [True, False])
def test_whether_a_run_changed_anything_is_what_it_left(outcome: str, changed: bool) -> None:
    """The outcome alone does not show it."""
    assert ended("failed", return_value=STOPPED | {"outcome": outcome, "changed": changed}).changed is changed


@pytest.mark.parametrize("field", [name for name in STOPPED if name != "exit_code"])
def test_an_answer_that_lacks_a_field_is_one_sentence(field: str) -> None:
    """Nothing stands in for a field: without it nothing is known about the end."""
    left = {name: value for name, value in STOPPED.items() if name != field}
    with pytest.raises(BadInput, match=f"Airflow: {field} of its answer is not in the format of Airflow 3"):
        ended("failed", return_value=left)


def ended(state: str, **left: Any) -> Ended:
    api: Any = FakeAirflow(state, **left)
    return outcome_of(api, "library_bump", "r", state)


@pytest.mark.parametrize(("state", "code"), [("success", 0), ("failed", 3)])
def test_a_monitor_ends_with_its_state(state: str, code: int) -> None:
    """It has no outcome: its tasks fail if something could not be checked."""
    api: Any = FakeAirflow(state)
    end = outcome_of(api, "fleet_check", "r", state)
    assert (end.exit_code, end.sentence.startswith("fleet_check ")) == (code, True)


REPORT = ("GO ON: let `conclude` report it:", "    kstreams-runbooks clear library_bump/r conclude")


def test_a_run_that_a_person_marked_goes_on_by_its_conclude() -> None:
    """It has no outcome, or another one than its colour; nothing but `conclude` knows the way back."""
    for one in (ended("failed"), ended("success"), ended("success", return_value=STOPPED)):
        assert (one.outcome, one.next, one.exit_code) == (None, REPORT, 3)


def test_a_run_that_never_began_has_an_outcome_and_goes_on_by_a_new_one() -> None:
    """Its `conclude` has left both; one that failed at a run that had begun left none, and may be cleared."""
    error = {"sentence": "application orders is disabled", "exit_code": 2}
    again = ["GO ON: start a new run:", "    kstreams-runbooks trigger library_bump --application orders"]
    never = ended("failed", error=error | {"outcome": "refused or rejected, nothing changed", "next": again})
    assert (never.outcome, never.next, never.exit_code) == ("refused or rejected, nothing changed", tuple(again), 2)
    away = ended("failed", error={"sentence": "ledger: away", "exit_code": 4})
    assert away.outcome is None
    assert away.next == ("GO ON: once the ledger answers, let `conclude` report it:", REPORT[1])


class WorkingAirflow(FakeAirflow):
    """A run that is at these tasks, in these states, at each look; then it has ended."""

    def __init__(self, *looks: dict[str, str], state: str = "running", left: Any = None) -> None:
        super().__init__(return_value=COMPLETED)
        self.looks, self.state, self.question = [*looks], state, left

    def run(self, *_: str) -> dict[str, Any]:
        """The run, which goes on for as long as there are looks left."""
        return {"state": self.state if self.looks else "success"}

    def tasks(self, *_: str) -> dict[str, Any]:
        """The tasks of the next look."""
        return {name: {"state": state} for name, state in self.looks.pop(0).items()}

    def pending(self, *_: str) -> list[dict[str, Any]]:
        """No question of Airflow."""
        return []

    def dag(self, _: str) -> dict[str, Any]:
        """It is paused."""
        return super().dag(_) | {"is_paused": True}

    def xcom(self, dag: str, run: str, task: str, key: str) -> Any:
        """What the task that waits left, and `conclude`."""
        return super().xcom(dag, run, task, key) or (self.question if key == "question" else None)


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The lines of a wait that looks each four seconds."""

    def lines(api: Any) -> list[str]:
        now, said = [0.0], list[str]()
        clock = SimpleNamespace(monotonic=lambda: now[0], sleep=lambda seconds: now.__setitem__(0, now[0] + seconds))
        for name in ("wait", "progress"):
            monkeypatch.setattr(f"kstreams_runbooks.terminal.airflow.{name}.time", clock)
        assert wait(api, "library_bump", "r", say=said.append, poll_s=4.0).exit_code == 0
        return said

    return lines


def test_a_wait_shows_what_is_at_work_and_for_how_long(shown: Any) -> None:
    """At once when another task is, and each ten seconds while nothing changes; another state alone is no change."""
    ended, first, rest = {"observe": "success"}, {"bounce_1_first": "deferred"}, {"bounce_1_rest": "running"}
    looks = [{"observe": "running"}, *[ended | first] * 5, ended | {"bounce_1_first": "running"}, ended | rest, ended]
    assert shown(WorkingAirflow(*looks)) == [
        "observe: running, 0 s",
        "bounce_1_first: deferred, 0 s",
        "bounce_1_first: deferred, 12 s",
        "bounce_1_rest: running, 0 s",
        "r: running, 0 s",
    ]


def test_a_run_of_a_paused_dag_is_said_with_the_command(shown: Any) -> None:
    """It was paused after the trigger: the run would wait for ever."""
    assert shown(WorkingAirflow({}, {}, state="queued")) == [
        "r: queued, 0 s",
        "library_bump is paused in Airflow: the run stays queued until it is not:",
        "    airflow dags unpause library_bump",
    ]


def test_what_a_person_has_to_deploy_is_said_once(shown: Any) -> None:
    """No answer ends it, so Airflow has no question."""
    left = {"subject": "deploy orders-1", "until": "18:31 UTC", "asked_at_ms": 1_700_000_000_000}
    assert shown(WorkingAirflow(*[{"bounce_1_first": "deferred"}] * 2, left=left)) == [
        "waits for bounce_1_first: deploy orders-1; until 18:31 UTC; http://airflow/r",
        "bounce_1_first: deferred, 0 s",
    ]


def test_an_outage_is_said_each_ten_seconds_too(shown: Any) -> None:
    """With its limit; what is at work is said again once Airflow is back."""
    api: Any = WorkingAirflow({"observe": "running"}, {"observe": "running"})
    states = iter(["running", *[""] * 4, "running"])

    def run(*_: str) -> dict[str, Any]:
        if (state := next(states, "success")) == "":
            raise Unreachable("Airflow does not answer")
        return {"state": state}

    api.run = run
    assert shown(api) == [
        "observe: running, 0 s",
        "Airflow does not answer (waiting for it)",
        "Airflow does not answer (waiting for it, 12 of 300 s)",
        "observe: running, 0 s",
    ]


def test_why_a_task_waits_to_be_tried_again_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once for each cause; the outcome of `conclude` is the end of the wait and no such line."""
    states = [{"observe": "up_for_retry"}, {"observe": "up_for_retry"}, {"observe": "failed", "conclude": "failed"}]
    why = "Kafka at b1:9092: no answer within 8 s"
    left = {"sentence": why, "exit_code": 4}

    class Retrying(FakeAirflow):
        def run(self, *_: str) -> dict[str, Any]:
            """It goes on as long as there are states."""
            return {"state": "running" if states else "failed"}

        def tasks(self, *_: str) -> dict[str, dict[str, Any]]:
            """The tasks of one look."""
            return {name: {"state": state} for name, state in states.pop(0).items()}

        def xcom(self, _dag: str, _run: str, _task: str, key: str) -> Any:
            """Each failed task left why."""
            return left if key == "error" else None

    monkeypatch.setattr("kstreams_runbooks.terminal.airflow.wait.open_questions", lambda *_: ())
    said: list[str] = []
    api: Any = Retrying()
    wait(api, "library_bump", "r", say=said.append, poll_s=0)
    assert [line for line in said if why in line] == [
        "observe: waits to be tried again: Kafka at b1:9092: no answer within 8 s",
        "observe: failed: Kafka at b1:9092: no answer within 8 s",
    ]
