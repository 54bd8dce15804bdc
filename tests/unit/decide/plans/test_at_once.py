"""A group without members, and topics read to where they ended."""

import pytest
from kstreams_runbooks.decide.drain.marks import read_up_to
from kstreams_runbooks.decide.instances.check import ready_for_change
from kstreams_runbooks.decide.instances.members import group_is_empty
from kstreams_runbooks.model.readings.lag import PartitionLag
from kstreams_runbooks.model.readings.readings import GroupReading, Missing, Taken
from kstreams_runbooks.model.verdicts import Outcome
from world.samples import declared, down, gone, instance, member, partition, reading

TAKEN = Taken(1, "test")
INNER = "orders-x-repartition"


@pytest.mark.parametrize(
    ("group", "outcome"),
    [
        (GroupReading(TAKEN, "orders", "classic", "Empty", ()), Outcome.PROCEED),
        (GroupReading(TAKEN, "orders", "classic", "Stable", (member("orders-1"),)), Outcome.WAIT),
        (GroupReading(TAKEN, "orders", "classic", "PreparingRebalance", ()), Outcome.WAIT),
        (Missing("timed out"), Outcome.INCONCLUSIVE),
    ],
)
def test_only_the_coordinators_word_empties_a_group(group: GroupReading | Missing, outcome: Outcome) -> None:
    """A stopped application leaves its members behind."""
    assert group_is_empty(group, "orders").outcome is outcome


@pytest.mark.parametrize(
    ("one", "mark", "outcome"),
    [
        (partition(10, 10, topic=INNER), 10, Outcome.PROCEED),
        (partition(9, 10, topic=INNER), 10, Outcome.WAIT),
        (partition(None, 10, topic=INNER), 10, Outcome.INCONCLUSIVE),
        (partition(None, 10, topic=INNER, log_start=10), 10, Outcome.PROCEED),
        (partition(10, 3, topic=INNER), 10, Outcome.INCONCLUSIVE),
        (partition(10, Missing("no leader"), topic=INNER), 10, Outcome.INCONCLUSIVE),
        (gone(INNER), 10, Outcome.INCONCLUSIVE),
    ],
)
def test_a_mark_is_reached_by_a_committed_offset_only(one: PartitionLag, mark: int, outcome: Outcome) -> None:
    """Never committed is not 0 to read; an offset past the end of a log passed none of its records."""
    assert read_up_to((one,), (("orders-x-repartition-0", mark),), "orders").outcome is outcome


def test_a_partition_that_was_not_read_is_inconclusive() -> None:
    """So is an application whose offsets nobody can read."""
    assert read_up_to((), (("t-0", 1),), "orders").outcome is Outcome.INCONCLUSIVE
    assert read_up_to(Missing("timed out"), (("t-0", 1),), "orders").outcome is Outcome.INCONCLUSIVE


def test_an_application_that_is_not_well_may_be_restarted_at_once() -> None:
    """What refuses a rolling bounce is a finding here."""
    sick = reading(instance("orders-1", state="ERROR"), instance("orders-2"))
    assert ready_for_change(sick, declared(), 0, 30_000).outcome is Outcome.REFUSE
    verdict = ready_for_change(sick, declared(), 0, 30_000, at_once=True)
    assert verdict.outcome is Outcome.PROCEED
    assert "orders-1: Streams is in ERROR" in verdict.findings[0].message
    gone = reading(down("orders-1"), down("orders-2"))
    assert ready_for_change(gone, declared(), 0, 30_000, at_once=True).outcome is Outcome.PROCEED


def test_what_the_way_back_needs_is_needed_at_once_too() -> None:
    """A deployment that cannot be read, a stranger in the group."""
    rogue = GroupReading(TAKEN, "orders", "classic", "Stable", (member("orders-1"), member("rogue")))
    assert ready_for_change(reading(group=rogue), declared(), 0, 30_000, at_once=True).outcome is Outcome.REFUSE
    blind = reading(group=Missing("timed out"))
    assert ready_for_change(blind, declared(), 0, 30_000, at_once=True).outcome is Outcome.INCONCLUSIVE
