"""A run is followed to its end, and asked questions are answered."""

import time
from typing import Any

import pytest
from kstreams_runbooks.errors import Refused
from lab import follow as module
from lab.follow import follow, last_line


class FakeAirflow:
    """A run that asks `asks` times and then ends."""

    login, url = "approver", "http://airflow"

    def __init__(self, asks: int) -> None:
        self.left = asks
        self.answered: list[str] = []

    def run(self, _dag: str, _run: str) -> dict[str, Any]:
        """Still going while it has something to ask."""
        return {"state": "running" if self.left else "success"}

    def tasks(self, _dag: str, _run: str) -> dict[str, dict[str, Any]]:
        """None that matter."""
        return {}

    def pending(self, _dag: str, _run: str) -> list[dict[str, Any]]:
        """One question at a time."""
        return [{"task_instance": {"task_id": "approve_plan"}, "subject": "approve it"}] if self.left else []

    def answer(self, _dag: str, _run: str, task_id: str) -> None:
        """Kept."""
        self.answered.append(task_id)
        self.left -= 1


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "READING_S", 0.0)


def test_a_question_is_answered_until_the_run_ends() -> None:
    """Asked again by four eyes, it is answered again."""
    api: Any = FakeAirflow(asks=2)
    assert follow(api, "library_bump", "r", approver=api, poll_s=0.01) == "success"
    assert api.answered == ["approve_plan", "approve_plan"]


def test_a_question_that_never_ends_is_refused() -> None:
    """A login that may not approve would be asked for ever."""
    api: Any = FakeAirflow(asks=99)
    with pytest.raises(Refused, match="approve_plan asks again after 3 answers by approver"):
        follow(api, "library_bump", "r", approver=api, poll_s=0.01)


def test_a_question_is_left_alone_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer in the same moment as the question fails the task."""
    monkeypatch.setattr(module, "READING_S", 0.2)
    api: Any = FakeAirflow(asks=1)
    began = time.monotonic()
    assert follow(api, "library_bump", "r", approver=api, poll_s=0.01) == "success"
    assert time.monotonic() - began >= 0.2
    assert api.answered == ["approve_plan"]


def test_the_last_line_is_the_packages_own() -> None:
    """Airflow's own lines and whom it is about are left out."""
    log = ["Pre task execution", "[orders @ demo] wait: lag 20 records", "[orders @ demo] DRY RUN proceed", "Task done"]
    assert last_line(log) == "DRY RUN proceed"
    assert last_line(["[2026-11-21] something else"]) == ""
