"""Whom a run tells when its declaration was broken meanwhile."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kstreams_runbooks.decide.runs.message import needs_you
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.steps.run.contact import Contact, contact_of, keep_contact, last_contact
from kstreams_runbooks.steps.run.notify import notify, notify_all
from kstreams_runbooks.steps.run.run import Run


@pytest.fixture
def broken(told: Callable[[], list[dict[str, Any]]], run: Run, config: Path) -> Run:  # noqa: ARG001 - a notifier
    """A run that kept its contact, and whose declaration is no YAML now."""
    keep_contact(run)
    del vars(run)["application"]
    (config / "applications").mkdir()
    (config / "applications" / "orders.yaml").write_text("owner: [", encoding="utf-8")
    with pytest.raises(BadInput, match="application orders is disabled"):
        assert run.application
    return run


def test_the_message_reaches_the_owner_of_before(broken: Run, told: Callable[[], list[dict[str, Any]]]) -> None:
    """With every message of the run, in the zone of before."""
    notify(broken, needs_you, asks="approve it", lines=("Now: RUNNING",))
    notify_all(broken, needs_you, asks="look at it", lines=("Now: ERROR",), of="the same step")
    assert [one["owner"] for one in told()] == ["team-orders", "team-orders"]


def test_a_declaration_that_was_always_broken_costs_no_message_either(
    run: Run, told: Callable[[], list[dict[str, Any]]]
) -> None:
    """It has no owner then, and the notifier's own recipients get it."""
    del vars(run)["application"]
    assert contact_of(run) == Contact("", "UTC")
    notify(run, needs_you, asks="approve it", lines=("Now: RUNNING",))
    (only,) = told()
    assert only["owner"] == ""


def test_a_check_knows_it_from_the_newest_run(broken: Run) -> None:
    """The check has no run of its own."""
    assert last_contact(broken.ledger, "orders") == Contact("team-orders", "UTC")
    assert last_contact(broken.ledger, "billing") == Contact()
