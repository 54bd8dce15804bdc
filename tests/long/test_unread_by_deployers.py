"""A topology command that fails, with a team's commands and with a person who deploys: every runbook is inconclusive.

With supervisord: tests/airflow/test_unread_topology.py. What a docker deployer's command does then:
tests/integration/test_deployer_docker.py.
"""

from collections.abc import Callable
from typing import Any

import pytest
from lab.afresh import afresh
from lab.application import FROM_RELEASE, TO_RELEASE, WITH_REPARTITION, Deployed
from lab.settings import Lab
from lab.stack import Stack
from world.endings import INCONCLUSIVE, begun_other, ended
from world.given import command_deployer, declared_as, manual_deployer
from world.runs import log_of

pytestmark = pytest.mark.long

_FAILS = {"run": ["sh", "-c", "echo no login to the registry >&2; exit 1", "topology", "{release}", "{settings}"]}


def unread(made: dict[str, Any]) -> dict[str, Any]:
    """A deployer whose topology command exits 1."""
    return made | {"commands": made["commands"] | {"topology": _FAILS}, "settable": ["topology.optimization"]}


@pytest.fixture(scope="module")
def running(stack: Stack) -> Stack:
    """Two instances on the new release."""
    afresh(stack, Deployed(release=TO_RELEASE))
    return stack


@pytest.mark.parametrize("deployer", [command_deployer, manual_deployer])
@pytest.mark.parametrize(
    ("runbook", "form"),
    [
        ("library_bump", {"target": FROM_RELEASE}),
        ("rolling_bounce", {"release": WITH_REPARTITION}),
        ("rolling_bounce", {"settings": {"topology.optimization": "all"}}),
        ("stop_and_restart", {"release": WITH_REPARTITION}),
        ("control_topic_flush", {"release": WITH_REPARTITION, "switch": "manual", "longest_hold_min": 60}),
        ("reset_and_cleanup", {"release": WITH_REPARTITION, "mode": "reset", "targets": {"orders": "earliest"}}),
        ("plan_change", {"release": WITH_REPARTITION}),
    ],
)
def test_nothing_is_planned_on_what_was_not_read(
    running: Stack, runbook: str, form: dict[str, Any], deployer: Callable[[Lab], dict[str, Any]]
) -> None:
    """For real, not as a dry run: nothing was stopped, nobody was asked; the outcome has the command's last line."""
    with declared_as(running, deployer=unread(deployer(running.lab))):
        trial = begun_other(running, runbook, **form)
        document = ended(trial, state="failed", outcome=INCONCLUSIVE, restarted=())
    assert "no login to the registry" in document["run"]["outcome_sentence"]
    assert document["recheck"]["different"] == []
    assert "PLEASE" not in log_of(running, trial.run_id, "conclude")
