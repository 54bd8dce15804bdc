"""`runs` fits the terminal: what a person reads is broken, a command to paste is not."""

from datetime import UTC, datetime
from typing import Any

import pytest
from kstreams_runbooks.terminal.airflow.runs import as_text

NOW = datetime(2026, 11, 24, 10, 40, tzinfo=UTC)
LINK = "http://127.0.0.1:8080/dags/library_bump/runs/r"
QUESTION = {
    "task": "approve_plan",
    "subject": "[orders @ demo] approve library bump to 4.3.1",
    "link": f"{LINK}/tasks/approve_plan/required_actions",
    "may_answer": "approver, admin",
    "until": "2026-11-24 18:31 UTC",
    "since": "2026-11-24T10:31:00+00:00",
    "why": "",
    "text": (
        "Expected gap: 4–11 s per instance; static membership: its partitions wait for the restart, the others go on",
        f"Plan digest: ab12; written: 2026-11-24 10:31 UTC. The present text is in [the run's note]({LINK})",
    ),
}
RUN: dict[str, Any] = {
    "dag_id": "library_bump",
    "run_id": "r",
    "application": "orders",
    "dry_run": False,
    "state": "running",
    "outcome": None,
    "sentence": "",
    "next": [],
    "manually": [],
    "asked_by": "oncall",
    "since": "2026-11-24T10:29:00+00:00",
    "ended": None,
    "dag_paused": False,
    "at": ["approve_plan"],
    "waits_for": [QUESTION],
    "link": LINK,
}


@pytest.mark.parametrize("columns", [80, 100, 120])
def test_the_text_of_an_open_question_fits(columns: int) -> None:
    """Its links are once below, as an address of their own."""
    lines = as_text(RUN, NOW, columns, whole=True).split("\n")
    assert [line for line in lines if len(line) > columns and not line.strip().startswith("http")] == []
    assert "](" not in "\n".join(lines)
    assert any("Expected gap: 4–11 s per instance" in line for line in lines)


def test_a_command_stays_whole() -> None:
    """Half a command that is pasted does something else."""
    command = f"    kstreams-runbooks trigger library_bump --application orders --reason {'x' * 80}"
    by_hand = f"    supervisorctl restart {'orders-1 ' * 10}"
    run = {**RUN, "waits_for": [], "state": "failed", "outcome": "stopped, changed", "next": ["GO ON:", command]}
    lines = as_text(run | {"manually": ["MANUALLY, the last change first:", by_hand]}, NOW, 80).split("\n")
    assert lines[2:] == ["  GO ON:", command, "  MANUALLY, the last change first:", by_hand, f"  {LINK}"]
