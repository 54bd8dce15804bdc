"""The stages of a growth in place, and an undo before and after it."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.plans.undo import undo_plan
from kstreams_runbooks.decide.plans.undo_cards import OtherCard
from kstreams_runbooks.decide.plans.way_back import Undone
from kstreams_runbooks.errors import Inconclusive, Refused
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing, TopicReading
from kstreams_runbooks.model.runs.cards import TopicGrown
from kstreams_runbooks.model.runs.object_stages import GrowTopics, SetOffsets
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.runs.stages import StartAll
from kstreams_runbooks.rules import upgrade_path_rules
from world.growing import growth_in_place
from world.samples import OLD, declared, reading


def test_the_topics_grow_between_the_stop_and_the_start() -> None:
    """Everything is read first; a new partition gets its beginning; the copier starts by key with what it had."""
    plan = growth_in_place()
    assert [f"{one.kind}{'@' * bool(one.side)}{one.side}" for one in plan.stages] == [
        "stop_all@copier",
        "certify",
        "stop_all",
        "grow_topics",
        "set_offsets",
        "start_all@copier",
        "start_all",
    ]
    [grows] = [one for one in plan.stages if isinstance(one, GrowTopics)]
    assert dict(grows.topics) == dict.fromkeys(
        ("orders", "orders-by-customer-repartition", "orders-counts-changelog"), 12
    )
    [seeds] = [one for one in plan.stages if isinstance(one, SetOffsets)]
    assert (seeds.group, seeds.to) == ("orders-id", "unset")
    assert seeds.topics == ("orders", "orders-by-customer-repartition")
    copier, own = [one for one in plan.stages if isinstance(one, StartAll)]
    assert copier.settings == (("a", "b"), ("mode", "by-key"), ("partitions", "orders:12"))
    assert (own.settings, own.release) == ((), OLD)
    assert plan.change == (("release", OLD), ("partitions", "12"), ("copier", "copy"))


def test_the_approver_reads_the_forecast_and_that_there_is_no_way_back() -> None:
    plan = growth_in_place()
    assert [one.object for one in plan.findings if one.id == "growth-forecast"] == ["orders", "orders-counts-changelog"]
    assert "653 of 1,000 keys move (65.3 %)" in plan.findings[-1].message
    assert "there is no way back" in plan.worst_case
    assert plan.undo[-1] == "afterwards: none, Kafka cannot remove partitions; the run can only be finished"


def test_the_inputs_are_held_until_the_copier_starts_by_key() -> None:
    """The growth is a part of the hold: it is over with the start of the copier."""
    [hold] = growth_in_place().input_holds
    assert [one.kind for one in hold.resuming] == ["grow_topics", "set_offsets", "start_all"]


def with_topic(partitions: int) -> ApplicationReading:
    """The application with one topic of so many partitions."""
    return replace(reading(), topics=(TopicReading("orders", "id-1", partitions),))


def undone(runbook: str = "partition_increase") -> Undone:
    """A run that has announced that a topic grows."""
    card = OtherCard(7, "topic_grown", "grown", "none", TopicGrown("orders", "id-1", 4, 12))
    return Undone("dag/run", runbook, at_once=True, moves=(), unguarded=False, topics=(), others=(card,))


def undo(of: Undone, there: ApplicationReading) -> Plan:
    return undo_plan(there, declared(), of, upgrade_path_rules(), 0, (), "code")


def test_an_undo_after_the_growth_is_refused_with_the_numbers() -> None:
    """And so is one that cannot read them; before the growth the card is no obstacle."""
    with pytest.raises(Refused, match=r"topic orders has 12 partitions \(4 before the run\)") as error:
        undo(undone(), with_topic(12))
    assert "finish the run" in str(error.value)
    with pytest.raises(Inconclusive, match="whether its topics have grown is not known"):
        undo(undone(), replace(reading(), topics=Missing("no answer")))
    plan = undo(undone(), with_topic(4))
    assert "undo-leaves-a-card" in {one.id for one in plan.findings}


def test_another_runbook_that_grew_a_topic_takes_the_rest_back() -> None:
    with pytest.raises(Refused, match="there is nothing to undo"):
        undo(undone("pretended"), with_topic(12))
