"""`runs` shows how a run goes on and back until that is of no use any more."""

from typing import Any

import pytest
from kstreams_runbooks.terminal.airflow.runs import _with_next

COMPLETED, STOPPED, UNSURE = "completed", "stopped, changed", "inconclusive"
REFUSED = "refused or rejected, nothing changed"
LINES = {"next": ["GO ON:", "GO BACK:"], "manually": ["MANUALLY:"]}


def run(dag_id: str, run_id: str = "later", outcome: str | None = None, **other: Any) -> dict[str, Any]:
    """A run of orders as `runs` has it; whether it changed anything follows from its outcome."""
    found = {"dag_id": dag_id, "run_id": run_id, "application": "orders", "dry_run": False, "outcome": outcome}
    changed = None if outcome is None else outcome in {COMPLETED, STOPPED}
    return found | {"changed": changed, "undoes": None, **LINES} | other


A = run("library_bump", "a", STOPPED)


@pytest.mark.parametrize(
    "later",
    [
        run("library_bump", outcome=REFUSED),
        run("certify_drain", outcome=COMPLETED),
        run("certify_drain", outcome=STOPPED),
        run("plan_change", outcome=COMPLETED),
        run("plan_change"),
        run("library_bump"),
        run("rolling_bounce", outcome=UNSURE),
        run("rolling_bounce", outcome="dry run", dry_run=True),
        run("undo", outcome=REFUSED, undoes="a"),
        run("undo", undoes="a"),
        run("undo", outcome="dry run", dry_run=True, undoes="a"),
        run("undo", outcome=COMPLETED, undoes="b", changed=False),
        run("undo", outcome=COMPLETED, undoes="rolling_bounce/a", changed=False),
        run("undo", outcome=COMPLETED, undoes=["a"], changed=False),
        run("library_bump", outcome=COMPLETED, application="payments"),
    ],
    ids=lambda one: f"{one['dag_id']} {one['outcome']} {one['undoes'] or ''} {one['application']}",
)
def test_a_later_run_that_changed_nothing_leaves_the_way_back(later: dict[str, Any]) -> None:
    """A person would look for it in vain."""
    assert _with_next([A, later]) == [A, later]


@pytest.mark.parametrize(
    "later",
    [
        run("undo", outcome=COMPLETED, undoes="a", changed=False),
        run("undo", outcome=COMPLETED, undoes=" library_bump/a#2 ", application=None),
        run("undo", outcome=COMPLETED, undoes="b"),
        run("rolling_bounce", outcome=COMPLETED),
        run("rolling_bounce", outcome=STOPPED),
        run("rolling_bounce", outcome=UNSURE, changed=True),
        run("a_teams_own", outcome=STOPPED),
    ],
    ids=lambda one: f"{one['dag_id']} {one['outcome']} {one['undoes'] or ''}",
)
def test_a_run_that_was_undone_or_changed_again_shows_no_way_back(later: dict[str, Any]) -> None:
    """Its commands would take back something else; those of the later run are shown."""
    refused = run("library_bump", "last", REFUSED)
    assert _with_next([A, later, refused]) == [A | {"next": [], "manually": []}, later, refused]
