"""Whether a person has deployed what was asked for."""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.instances.deployed import deployed, left_in_group, old_start_gone
from kstreams_runbooks.model.readings.readings import Deployment, InstanceReading, Missing, Start
from kstreams_runbooks.model.runs.gate import Awaited
from kstreams_runbooks.model.verdicts import Outcome
from world.samples import BOUNCE_1, NEW, applied, down, instance, member, reading

BEFORE = Start(100, 40)
AWAITED = Awaited("orders-1", BOUNCE_1, BEFORE, (member("orders-1", static=False),))
DONE = instance("orders-1", release=NEW, settings=BOUNCE_1.settings)


def set_to(one: InstanceReading, **changes: Any) -> InstanceReading:
    """The same instance with something else in its deployment."""
    assert isinstance(one.deployment, Deployment)
    return replace(one, deployment=replace(one.deployment, **changes))


def test_deployed_in_a_new_start_goes_on_to_its_gate() -> None:
    """Whether it is well is not asked here: a release that dies at once has been deployed too."""
    assert deployed(reading(DONE), AWAITED).outcome is Outcome.PROCEED
    dead = replace(DONE, streams=Missing("no client", Start(900, 50)))
    assert deployed(reading(dead), AWAITED).outcome is Outcome.PROCEED
    error = instance("orders-1", release=NEW, settings=BOUNCE_1.settings, state="ERROR")
    assert deployed(reading(error), AWAITED).outcome is Outcome.PROCEED


@pytest.mark.parametrize(
    ("one", "why"),
    [
        (
            instance("orders-1", start=BEFORE),
            "orders-1 is set to 3.4.1 with no setting of a runbook (asked for: 4.3.1 with upgrade.from=3.4)",
        ),
        (
            instance("orders-1", release=NEW),
            "orders-1 is set to 4.3.1 with no setting of a runbook (asked for: 4.3.1 with upgrade.from=3.4)",
        ),
        (applied(DONE, value=False), "orders-1 was started before it was set (asked for: a restart)"),
        (
            instance("orders-1", release=NEW, settings=BOUNCE_1.settings, start=BEFORE),
            "orders-1: still the start from before (asked for: a restart)",
        ),
        (
            instance("orders-1", release=NEW, settings=BOUNCE_1.settings, version="4.0.1"),
            "orders-1 runs 4.0.1 (asked for: 4.3.1)",
        ),
        (replace(DONE, streams=Missing("connection refused")), "orders-1: connection refused"),
        (
            set_to(DONE, process="stopped", applied=Missing("x")),
            "orders-1 is DOWN (its process is stopped); asked for: running",
        ),
        (
            set_to(DONE, process="unknown"),
            "orders-1: the instances command does not know its process (asked for: running)",
        ),
    ],
)
def test_waits_for_what_a_person_can_still_do(one: InstanceReading, why: str) -> None:
    """And says what that is."""
    verdict = deployed(reading(one, instance("orders-2")), AWAITED)
    assert verdict.outcome is Outcome.WAIT
    assert why in verdict.reasons


@pytest.mark.parametrize(
    "one",
    [
        replace(DONE, deployment=Missing("the instances command is away")),
        set_to(DONE, release=Missing("nobody knows")),
        applied(DONE, value=Missing("nobody knows")),
    ],
)
def test_missing_is_never_deployed(one: InstanceReading) -> None:
    """A doubt is said, and is not a yes."""
    assert deployed(reading(one), AWAITED).outcome is Outcome.INCONCLUSIVE
    assert deployed(reading(instance("orders-2")), AWAITED).outcome is Outcome.INCONCLUSIVE


def test_the_old_start_is_gone_only_where_that_is_certain() -> None:
    """Another process answers, or it is told to be stopped; a refused connection is neither."""
    assert not old_start_gone(reading(instance("orders-1", start=BEFORE)), AWAITED)
    assert not old_start_gone(reading(set_to(replace(DONE, streams=Missing("refused")))), AWAITED)
    assert old_start_gone(reading(instance("orders-1", start=Start(900, 50))), AWAITED)
    assert old_start_gone(reading(replace(DONE, streams=Missing("no client", Start(900, 50)))), AWAITED)
    assert old_start_gone(reading(down("orders-1")), AWAITED)
    assert not old_start_gone(reading(set_to(down("orders-1"), pid=40)), AWAITED)
    unknown = replace(AWAITED, previous=None)
    assert not old_start_gone(reading(instance("orders-1")), unknown), "which start it was is not known"


def test_only_members_that_are_still_there_are_left() -> None:
    """By their ids, which a new start does not have."""
    assert [one.member_id for one in left_in_group(reading(DONE), AWAITED)] == ["orders-1-1"]
    gone = replace(AWAITED, members=(replace(AWAITED.members[0], member_id="old"),))
    assert left_in_group(reading(DONE), gone) == ()
    assert left_in_group(reading(DONE, group=Missing("away")), AWAITED) == ()
