"""A gate in a roll whose instances run different topologies: it refuses at once and leads to undo."""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.instances.gate import gate
from kstreams_runbooks.model.readings.readings import ApplicationReading, GroupReading
from kstreams_runbooks.model.verdicts import Outcome
from world.samples import BOUNCE_1, NEW, expectation, instance, partition, reading
from world.sides import AUDITED, COUNTS

RENAMED = COUNTS.replace("by-customer-repartition", "by-client-repartition")
FILTERED = COUNTS.replace("--> out\n", "--> filter\n").replace("      <-- count\n", "      <-- filter\n") + (
    """    Processor: filter (stores: [])
      --> out
      <-- count
"""
)


def sample(second: int, new: str = AUDITED, *, state: str = "PreparingRebalance", **changes: Any) -> ApplicationReading:
    """One instance on the new release with this topology, the other on the old one."""
    own = instance("orders-1", release=NEW, settings=BOUNCE_1.settings, topology=new)
    moving = (partition(committed=second * 100, stable=second * 100 + 50),)
    found = reading(
        own, instance("orders-2", topology=COUNTS), at_ms=second * 1000, **{"partitions": moving, **changes}
    )
    assert isinstance(found.group, GroupReading)
    return replace(found, group=replace(found.group, state=state))


@pytest.mark.parametrize(("new", "topic"), [(AUDITED, "orders-audit-repartition"), (RENAMED, "orders-by-client-rep")])
def test_a_group_of_two_topologies_that_does_not_settle_is_refused(new: str, topic: str) -> None:
    """At the second reading: a rebalance of a moment is none, and a topic that is created would not help."""
    assert gate((sample(1, new),), expectation()).outcome is not Outcome.REFUSE
    found = gate((sample(1, new), sample(2, new)), expectation())
    assert found.outcome is Outcome.REFUSE
    assert found.text.startswith("instances run different topologies: ")
    assert f"{topic}" in found.text
    assert "is read by orders-1 alone" in found.text
    assert "they cannot share a group (group orders is in PreparingRebalance)" in found.text
    assert found.text.endswith("undo this run")


def test_a_topic_that_the_old_leader_never_creates_is_a_sign() -> None:
    """The group is stable, and the new member waits in vain."""
    lacks = replace(partition(), topic="orders-audit-repartition", role="repartition", state="missing", records=None)
    samples = tuple(sample(second, state="Stable", partitions=(partition(), lacks)) for second in (1, 2))
    found = gate(samples, expectation())
    assert (found.outcome, "topic orders-audit-repartition does not exist" in found.text) == (Outcome.REFUSE, True)


def test_a_member_that_keeps_what_its_topology_does_not_read_is_a_sign() -> None:
    """A static member got the assignment of its former topology back (KIP-345)."""
    samples = []
    for second in (1, 2):
        found = sample(second, RENAMED, state="Stable")
        assert isinstance(found.group, GroupReading)
        first, second_member = found.group.members
        held = replace(first, partitions=("orders-0", "orders-by-customer-repartition-0"))
        samples.append(replace(found, group=replace(found.group, members=(held, second_member))))
    verdict = gate(tuple(samples), expectation())
    assert verdict.outcome is Outcome.REFUSE
    assert "orders-1 holds partitions of orders-by-customer-repartition, which it does not read" in verdict.text


def test_what_looks_alike_is_none() -> None:
    """The same topics behind other operators, a rebalance of one topology, an instance that shows none, an undo."""
    for new in (COUNTS, FILTERED):
        assert gate((sample(1, new), sample(2, new)), expectation()).outcome is not Outcome.REFUSE
    settled = tuple(sample(second, state="Stable") for second in (1, 2))
    assert gate(settled, expectation()).outcome is not Outcome.REFUSE
    rebalances = tuple(sample(second) for second in (1, 2))
    assert gate(rebalances, replace(expectation(), goes_back=True)).outcome is not Outcome.REFUSE
    passing = (sample(1), sample(2, state="Stable"))
    assert gate(passing, expectation()).outcome is not Outcome.REFUSE
