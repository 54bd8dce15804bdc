"""Instances that a run leaves down: down, and set to what it leaves them with, or not known."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.instances.left_down import left_down
from kstreams_runbooks.model.readings.readings import InstanceReading, Missing
from kstreams_runbooks.model.target import Target
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from world.samples import NEW, OLD, down, instance, reading

UNREAD = Missing("its deployer does not answer")


@pytest.mark.parametrize(
    ("one", "outcome", "why"),
    [
        (down("copier-1"), Outcome.PROCEED, f"copier-1: down, set to release={OLD}"),
        (instance("copier-1"), Outcome.REFUSE, "copier-1: its process is running (expected: down)"),
        (down("copier-1", release=NEW), Outcome.REFUSE, f"copier-1: set to release={NEW} (expected release={OLD})"),
        (
            down("copier-1", settings=(("until", "orders:0:7"),)),
            Outcome.REFUSE,
            f"copier-1: set to release={OLD}, until=orders:0:7 (expected release={OLD})",
        ),
        (down("copier-1", release=UNREAD), Outcome.INCONCLUSIVE, UNREAD.missing),
        (replace(down("copier-1"), deployment=UNREAD), Outcome.INCONCLUSIVE, UNREAD.missing),
    ],
)
def test_what_is_left_down(one: InstanceReading, outcome: Outcome, why: str) -> None:
    """Only what was looked at is well."""
    assert left_down(reading(one), Target(OLD)) == Verdict(outcome, (why,))


def test_no_instance_is_not_well() -> None:
    """Nothing was read."""
    assert left_down(replace(reading(), instances=()), Target(OLD)).outcome is Outcome.INCONCLUSIVE
