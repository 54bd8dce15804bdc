"""Which instances run, and whether what they say is of the start that runs."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.drain.workers import running_instances, strange_members
from kstreams_runbooks.model.readings.drain import RunningInstance
from kstreams_runbooks.model.readings.readings import (
    Deployment,
    GroupReading,
    InstanceReading,
    MemberReading,
    Missing,
    Start,
    Taken,
)
from world.samples import down, instance, member

TASKS = frozenset({"0_0"})
NOW = 100_000


def group(*members: MemberReading) -> GroupReading:
    return GroupReading(Taken(0, "test"), "orders", "classic", "Stable" if members else "Empty", members)


def running(*instances: InstanceReading, group: GroupReading | None) -> tuple[RunningInstance, ...]:
    return running_instances(instances, group, lambda members: TASKS if members else frozenset(), NOW)


def deployed(one: InstanceReading, **changes: object) -> InstanceReading:
    assert isinstance(one.deployment, Deployment)
    return replace(one, deployment=replace(one.deployment, **changes))  # type: ignore[arg-type]


def test_one_that_runs_has_the_tasks_of_its_members() -> None:
    """And one that is down is none of them."""
    found = running(instance("orders-1"), down("orders-2"), group=group(member("orders-1")))
    assert found == (RunningInstance("orders-1", "RUNNING", 0, TASKS),)


def test_a_client_that_has_ended_is_told_from_one_that_begins() -> None:
    """Its process lives: after a minute without a client nothing comes any more."""
    lost = replace(instance("orders-1"), streams=Missing("no client", Start(NOW - 61_000, 41)))
    begins = replace(instance("orders-2"), streams=Missing("no client", Start(NOW - 59_000, 42)))
    assert running(lost, begins, group=group()) == (
        RunningInstance("orders-1", None, None, None, "no client", gone=True),
        RunningInstance("orders-2", None, None, None, "no client"),
    )
    [dead] = running(instance("orders-1", state="ERROR"), group=group())
    assert dead.gone


@pytest.mark.parametrize(
    ("changes", "stale"),
    [
        ({"pid": 41, "started_at_ms": 500}, False),
        ({"pid": 99, "started_at_ms": 500}, True),
        ({"pid": None, "started_at_ms": 5_500}, False),
        ({"pid": None, "started_at_ms": 5_501}, True),
        ({"pid": None, "started_at_ms": None}, False),
    ],
)
def test_what_is_of_another_start_is_not_believed(changes: dict[str, object], *, stale: bool) -> None:
    """By process id; where that is not seen by the time of the start, two clocks apart."""
    [found] = running(deployed(instance("orders-1"), **changes), group=group(member("orders-1")))
    assert bool(found.why) is stale


def test_one_whose_process_nobody_sees_is_down_only_while_the_group_is_empty() -> None:
    """A person deploys it: nothing but its metrics and the group tell."""
    unseen = deployed(down("orders-1"), process="unknown")
    assert running(unseen, group=group()) == ()
    assert running(unseen, group=None) == ()
    [found] = running(unseen, group=group(member("orders-1")))
    assert (found.state, found.why) == (None, "connection refused")


def test_a_process_that_runs_and_does_not_answer_is_not_known() -> None:
    """Never taken for down."""
    silent = deployed(down("orders-1"), process="running")
    [found] = running(silent, group=group())
    assert (found.why, found.gone) == ("connection refused", False)


def test_a_member_of_no_declared_instance_is_strange() -> None:
    """It may process what nobody looks at."""
    [told] = strange_members((instance("orders-1"),), group(member("orders-1"), member("rogue")))
    assert told.startswith("member rogue-client-StreamThread-1-consumer on /127.0.0.1 belongs to no declared instance")
    assert not list(strange_members((instance("orders-1"),), None))


def test_a_client_id_that_begins_as_an_instances_is_not_its_own() -> None:
    """An undeclared canary beside it."""
    canary = MemberReading("m", "orders-1-client-canary-StreamThread-1-consumer", "/127.0.0.1")
    [told] = strange_members((instance("orders-1"),), group(member("orders-1"), canary))
    assert told.startswith("member orders-1-client-canary-StreamThread-1-consumer")
