"""How a run ended, from what `conclude` left with Airflow."""

from typing import Any

import pytest
from click.testing import CliRunner
from kstreams_runbooks.terminal.airflow import trigger as module
from kstreams_runbooks.terminal.airflow.trigger import trigger
from kstreams_runbooks.terminal.airflow.wait import Ended, outcome_of

STOPPED: dict[str, Any] = {
    "outcome": "stopped, changed",
    "sentence": "gate of orders-1: lag 7",
    "exit_code": 1,
    "next": ["GO ON: repair it:", "    kstreams-runbooks clear r bounce_1_first"],
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

    def xcom(self, _dag: str, _run: str, task: str, key: str) -> Any:
        """What `conclude` left under a key."""
        return self.left.get(key) if task == "conclude" else None

    def page_of(self, *_: str) -> str:
        """The page of the run."""
        return f"{self.url}/r"


def test_what_a_person_can_do_is_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """After GO ON and GO BACK; `conclude` of a release before this one left none."""
    api = FakeAirflow(return_value=STOPPED | {"manually": BY_HAND})
    monkeypatch.setattr(module, "airflow_at", lambda *_: api)
    done = CliRunner().invoke(trigger, ["library_bump", "--application", "orders", "--wait"])
    assert (done.exit_code, done.stdout.splitlines()) == (
        1,
        ["stopped, changed: gate of orders-1: lag 7", *STOPPED["next"], *BY_HAND],
    )
    older: Any = FakeAirflow(return_value=STOPPED)
    assert outcome_of(older, "library_bump", "r", "failed").manually == ()


@pytest.mark.parametrize(
    ("outcome", "left", "changed"),
    [
        ("stopped, changed", {}, True),
        ("refused or rejected, nothing changed", {}, False),
        ("inconclusive", {}, False),
        ("inconclusive", {"changed": True}, True),
        ("stopped, changed", {"changed": False}, False),
    ],
)
def test_whether_a_run_changed_anything_is_what_it_left(outcome: str, left: dict[str, Any], changed: bool) -> None:
    """A release from before that left its outcome alone."""
    assert ended("failed", return_value=STOPPED | {"outcome": outcome} | left).changed is changed


def ended(state: str, **left: Any) -> Ended:
    api: Any = FakeAirflow(state, **left)
    return outcome_of(api, "library_bump", "r", state)


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
    assert away.next == ("GO ON: repair what is named above, then let `conclude` report it:", REPORT[1])
