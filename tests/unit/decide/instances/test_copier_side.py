"""Decisions about instances, for a copier: check, members, gate, guards and verification.

Covers decide/instances/members.py, check.py, gate.py, guards.py and verification.py for readings without a Streams
client.
"""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.instances.check import ready_for_change
from kstreams_runbooks.decide.instances.gate import gate
from kstreams_runbooks.decide.instances.guards import nothing_drifted
from kstreams_runbooks.decide.instances.members import members_of, strangers
from kstreams_runbooks.decide.instances.verification import change_verified
from kstreams_runbooks.decide.plans.basis import facts
from kstreams_runbooks.model.copying import AS_DEPLOYED
from kstreams_runbooks.model.fleet_entry import DeclaredApplication
from kstreams_runbooks.model.readings.readings import (
    ApplicationReading,
    Deployment,
    GroupReading,
    InstanceReading,
    MemberReading,
    Missing,
    Taken,
)
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.runs.stages import StartAll, StopAll
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.observe.application.copying import client_of_process
from world.samples import declared, expectation, partition
from world.samples import reading as read

DECLARED: DeclaredApplication = declared(
    instances=("p-1", "p-2"), releases=(AS_DEPLOYED,), static_membership=False, uses=(), copies=True, as_deployed=True
)
START = StartAll(2, AS_DEPLOYED, ())


class Copier:
    """The parts of a fleet entry that its instances are read by."""

    application_id = "orders"

    def __init__(self, **client_ids: str) -> None:
        self.client_ids = client_ids or {"p-1": "p-1", "p-2": "p-2"}


def instance(name: str = "p-1", copier: Any = None, **deployment: Any) -> InstanceReading:
    """One instance that runs."""
    there = Deployment(Taken(1_000, "test"), name, "running", 500, 41, AS_DEPLOYED, (), applied=True)
    there = replace(there, **deployment)
    return InstanceReading(name, there, client_of_process(there, copier or Copier()))


def member(client_id: str, instance_id: str | None = None) -> MemberReading:
    """One consumer in the group."""
    return MemberReading(f"{client_id}-uuid", client_id, "/10.0.0.9", instance_id)


def group(*members: MemberReading, state: str = "Stable") -> GroupReading:
    """The group with these members, by default one of each instance."""
    return GroupReading(Taken(1_000, "test"), "orders", "classic", state, members or (member("p-1"), member("p-2")))


def reading(**changes: Any) -> ApplicationReading:
    """Both instances, which are members."""
    found = read(instance("p-1"), instance("p-2"), group=group())
    return replace(found, **changes)


def ready(found: ApplicationReading) -> tuple[Outcome, tuple[str, ...]]:
    """The verdict of `check`."""
    verdict = ready_for_change(found, DECLARED, 0, 30_000)
    return verdict.outcome, verdict.reasons


def test_members_are_known_by_their_client_id() -> None:
    """Alone or with more behind a hyphen; without a declared one every member may be its own."""
    one, two = instance("p-1"), instance("p-2")
    there = group(member("p-1"), member("p-1-0"), member("p-10"), member("p-2"))
    assert [each.client_id for each in members_of(there, one)] == ["p-1", "p-1-0"]
    assert [each.client_id for each in strangers(reading(group=there))] == ["p-10"]
    anonymous = instance("p-1", Copier(other=""))
    assert len(members_of(there, anonymous)) == len(there.members)
    static = replace(two, group_instance_id="static-2")
    assert members_of(group(member("rdkafka", "static-2")), static)


def test_a_copier_that_runs_may_be_changed() -> None:
    """Nothing is asked of it that needs a topology or a Kafka Streams release."""
    verdict = ready_for_change(reading(), DECLARED, 0, 30_000)
    assert (verdict.outcome, verdict.findings) == (Outcome.PROCEED, ())


@pytest.mark.parametrize(
    ("changes", "outcome", "reason"),
    [
        ({"group": group(state="PreparingRebalance")}, Outcome.REFUSE, "group orders: PreparingRebalance"),
        ({"group": group(member("p-1"))}, Outcome.REFUSE, "p-2: no member in group orders (expected 1 or more)"),
        ({"group": group(member("p-1"), member("p-2"), member("x"))}, Outcome.REFUSE, "group orders: member x on"),
        (
            {"instances": (instance("p-1"), instance("p-2", process="stopped"))},
            Outcome.REFUSE,
            "p-2 is DOWN (its process",
        ),
        (
            {"instances": (instance("p-1"), instance("p-2", started_at_ms=None))},
            Outcome.INCONCLUSIVE,
            "p-2: its deployer does not report when its process started (started_at_ms)",
        ),
    ],
)
def test_a_copier_that_is_unwell_is_not(changes: dict[str, Any], outcome: Outcome, reason: str) -> None:
    """One sentence with the reason."""
    found, reasons = ready(reading(**changes))
    assert found is outcome
    assert reasons[0].startswith(reason)


def test_fewer_members_than_instances_are_too_few() -> None:
    """If no client.id distinguishes them, their number does."""
    nameless = tuple(instance(name, Copier(other="")) for name in ("p-1", "p-2"))
    found, reasons = ready(reading(instances=nameless, group=group(member("rdkafka"))))
    assert (found, reasons) == (
        Outcome.REFUSE,
        ("group orders: 1 members (expected 2 or more, one of each instance of the copier); look at its logs",),
    )


def at(ms: int, **changes: Any) -> ApplicationReading:
    """A reading at a time, with a backlog that would close any other gate."""
    return reading(taken=Taken(ms, "test"), partitions=(partition(0, 5_000_000),), **changes)


EXPECTED = expectation(instance="p-1", bounce=START.bounce, good_readings=2)


def test_its_gate_opens_for_process_start_and_member() -> None:
    """The lag is not judged."""
    verdict = gate((at(1_000), at(2_000), at(3_000)), EXPECTED)
    assert verdict.outcome is Outcome.PROCEED
    assert verdict.sentence.endswith("the lag of a copier is not judged")


@pytest.mark.parametrize(
    ("changes", "outcome", "reason"),
    [
        ({"group": group(member("p-2"))}, Outcome.WAIT, "group orders: no member of p-1 yet"),
        ({"group": group(state="Empty")}, Outcome.WAIT, "group orders: Empty (expected Stable)"),
        ({"group": Missing("no answer")}, Outcome.INCONCLUSIVE, "group of orders: no answer"),
        (
            {"instances": (instance("p-1", started_at_ms=100, pid=40), instance("p-2"))},
            Outcome.WAIT,
            "p-1: still the start from before the restart",
        ),
        (
            {"instances": (instance("p-1", process="starting"), instance("p-2"))},
            Outcome.WAIT,
            "p-1: CREATED (expected RUNNING)",
        ),
        (
            {"instances": (instance("p-1", process="failed"), instance("p-2"))},
            Outcome.REFUSE,
            "p-1 is DEAD (its process has failed): expected running; read its log",
        ),
    ],
)
def test_its_gate_stays_shut(changes: dict[str, Any], outcome: Outcome, reason: str) -> None:
    """For the process, its start, the group and the member."""
    verdict = gate((at(1_000), at(2_000, **changes)), EXPECTED)
    assert verdict.outcome is outcome
    assert verdict.reasons[0] == reason


def plan(found: ApplicationReading) -> Plan:
    """Stopped and started as it is."""
    return Plan(
        runbook="control_topic_flush",
        application="orders",
        cluster="demo",
        change=(),
        limits=DECLARED.limits,
        stages=(StopAll(1), START),
        facts=facts(found, DECLARED, "code"),
        costs=(),
        findings=(),
        undo=(),
        title="",
        worst_case="",
    )


def test_guards_and_verification_judge_it_as_deployed() -> None:
    """With a backlog, progress counts, and no committed offset may go back."""
    made = plan(reading())
    assert nothing_drifted(reading(), made, "p-1", 2).outcome is Outcome.PROCEED
    one = reading(partitions=(partition(100, 5_000_000),))
    two = reading(partitions=(partition(200, 5_000_000),))
    verdict = change_verified(one, one, two, made)
    assert verdict.outcome is Outcome.PROCEED
    assert "every partition with something to read advances" in verdict.sentence
    assert change_verified(two, one, one, made).outcome is Outcome.REFUSE
    assert change_verified(one, one, one, made).reasons[0].startswith("no progress on orders-0 (4999900 to read")


def test_a_stranger_in_its_group_is_drift() -> None:
    """As for any other application."""
    more = reading(group=group(member("p-1"), member("p-2"), member("x")))
    assert nothing_drifted(more, plan(reading()), "p-1", 2).outcome is Outcome.REFUSE
