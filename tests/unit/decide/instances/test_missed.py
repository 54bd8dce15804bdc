"""Which gaps of a reading another look may close."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.instances.missed import missed, moving
from kstreams_runbooks.model.readings.readings import (
    ApplicationReading,
    Deployment,
    GroupReading,
    InstanceReading,
    Lasting,
    Missing,
    NoClient,
    NotListening,
    ProcessState,
    Start,
)
from kstreams_runbooks.model.readings.states import CLIENT_DUE_MS
from world.samples import instance, reading

SILENT = Missing("http at 1: no answer within 3 s")


def own(**changes: object) -> ApplicationReading:
    """The first instance with other parts; its process has run for an hour."""
    first = instance("orders-1")
    assert isinstance(first.deployment, Deployment)
    started = reading().taken.at_ms - 3_600_000
    deployment = replace(first.deployment, process="running", started_at_ms=started)
    return reading(replace(replace(first, deployment=deployment), **changes), instance("orders-2"))  # type: ignore[arg-type]


def test_a_whole_reading_misses_nothing() -> None:
    """Nothing is read again."""
    assert missed(reading()) == ()


@pytest.mark.parametrize(
    ("state", "moves"),
    [
        ("PreparingRebalance", True),
        ("CompletingRebalance", True),
        ("ASSIGNING", True),
        ("Reconciling", True),
        ("Stable", False),
        ("Empty", False),
        ("NOT_READY", False),
    ],
)
def test_a_group_that_rebalances_is_looked_at_again(state: str, moves: bool) -> None:
    """It leaves that by itself; another state it may keep."""
    now = reading(group=GroupReading(reading().taken, "orders", "classic", state, ()))
    assert moving(now) == ((f"group orders: {state} (expected Stable)",) if moves else ())
    assert moving(replace(now, group=Missing("no coordinator"))) == ()


@pytest.mark.parametrize("part", ["broker", "group", "topics", "partitions"])
def test_the_cluster_owes_each_part(part: str) -> None:
    """While an instance shows its topology."""
    assert missed(replace(reading(), **{part: Missing("no coordinator")})) == ("no coordinator",)  # type: ignore[arg-type]


def test_an_agent_of_a_process_that_runs_owes_an_answer() -> None:
    """And a deployer one about every instance."""
    assert missed(own(streams=SILENT)) == (f"orders-1: {SILENT.missing}",)
    assert missed(own(deployment=Missing("supervisord is silent"))) == ("orders-1: supervisord is silent",)


def test_what_has_nothing_to_answer_owes_nothing() -> None:
    """Down, or of a process that is not seen; and a JVM without its client has answered."""
    first = own().instances[0]
    assert isinstance(first, InstanceReading)
    assert isinstance(first.deployment, Deployment)
    for deployment in (
        replace(first.deployment, process="stopped"),
        replace(first.deployment, process="unknown"),
    ):
        assert missed(own(deployment=deployment, streams=SILENT)) == ()
    assert missed(own(streams=NoClient("no client in the JVM", Start(1, 7)))) == ()


def test_a_process_that_was_just_started_owes_an_answer_once_it_listens() -> None:
    """In a roll all of them are new, and a busy one misses an answer as any other."""
    first = own().instances[0]
    assert isinstance(first.deployment, Deployment)
    new = replace(first.deployment, started_at_ms=reading().taken.at_ms - CLIENT_DUE_MS + 1)
    refused = NotListening("http at 1: no process listens")
    assert missed(own(deployment=new, streams=refused)) == ()
    assert missed(own(deployment=new, streams=SILENT)) == (f"orders-1: {SILENT.missing}",)
    assert missed(own(streams=refused)) == (f"orders-1: {refused.missing}",)


def test_without_a_topology_no_partitions_are_owed() -> None:
    """All instances are down, and nothing describes what they would read."""
    down = replace(reading().instances[0], streams=SILENT, deployment=own_deployment("stopped"))
    assert missed(replace(reading(down), partitions=Missing("no topology"))) == ()


def test_the_group_of_an_application_that_is_down_is_as_it_is() -> None:
    """A copier that has never run has none: looking again for half a minute would make the reading too old to use."""
    down = replace(reading().instances[0], streams=SILENT, deployment=own_deployment("stopped"))
    lacks = replace(reading(down), group=Missing("group orders is known to no broker"))
    assert missed(lacks) == ()
    perhaps = replace(down, deployment=own_deployment("unknown"))
    assert missed(replace(lacks, instances=(perhaps,))) == ("group orders is known to no broker",)


def own_deployment(process: ProcessState) -> Deployment:
    """The deployment of the first instance in another state."""
    deployment = own().instances[0].deployment
    assert isinstance(deployment, Deployment)
    return replace(deployment, process=process)


@pytest.mark.parametrize("part", ["deployment", "streams"])
def test_what_stays_is_read_once(part: str) -> None:
    """A refused login of an agent or of a deployer costs no patience; a silent one next to it does."""
    assert (
        missed(own(**{part: Lasting("jolokia: HTTP 401 (expected 200); the login is not accepted; correct it")})) == ()
    )
    assert missed(own(**{part: SILENT})) == (f"orders-1: {SILENT.missing}",)
