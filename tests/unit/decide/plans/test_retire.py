"""The plan of a retirement: the group first, then the topics with their ids."""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.instances.guards import nothing_drifted
from kstreams_runbooks.decide.plans.retire import retire_plan
from kstreams_runbooks.decide.plans.writable import planned_writes
from kstreams_runbooks.errors import Inconclusive, Refused
from kstreams_runbooks.model.readings.readings import GroupReading, Missing, Taken, TopicReading
from kstreams_runbooks.model.readings.rest import TopicEnds
from kstreams_runbooks.model.readings.retire import RetiredTopic, RetireFacts
from kstreams_runbooks.model.runs.object_stages import DeleteGroups, DeleteTopics
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.verdicts import Outcome
from world.samples import declared, down, instance, member, reading

LEFT = TopicReading("orders-old-changelog", "id-7", 4)
GROUP = GroupReading(Taken(1, "test"), "orders", "classic", "Empty", ())
FACTS = RetireFacts(1, (LEFT,), {}, (), frozenset(), (), (), GROUP, (), TopicEnds(1, {}))
GOES = RetiredTopic(LEFT, goes=True, why="left behind by run bump/1")
STAYS = RetiredTopic(TopicReading("orders-x-changelog", "id-8", 4), goes=False, why="in quarantine")
DOWN = replace(reading(down("orders-1"), down("orders-2")), group=GROUP)


def made(**changes: Any) -> Plan:
    given: dict[str, Any] = {
        "reading": reading(),
        "declared": declared(),
        "what": "orphans",
        "topics": (GOES, STAYS),
        "facts": FACTS,
        "findings": (),
        "limits": (),
        "code": "code",
        "runbook": "reset_and_cleanup",
    }
    return retire_plan(**{**given, **changes})


def test_orphans_go_by_name_and_id() -> None:
    """The plan binds the ids; nothing of the running application is changed."""
    plan = made()
    assert plan.stages == (DeleteTopics(1, (LEFT.name,), retired=True),)
    assert (LEFT.name, "id-7", 4) in plan.facts.topics
    assert plan.stages[0].sentence == f"delete {LEFT.name} for good"
    assert plan.costs == ()
    assert plan.digest != made(topics=(replace(GOES, topic=replace(LEFT, topic_id="id-9")),)).digest


def test_an_application_out_of_use_loses_its_group_first() -> None:
    """Its offsets can be set again; records of deleted topics do not come back."""
    plan = made(what="application", reading=DOWN)
    assert plan.stages == (DeleteGroups(1, ("orders",)), DeleteTopics(2, (LEFT.name,), retired=True))
    kinds = [one.kind for one in planned_writes(plan, {})]
    assert kinds == ["delete_groups", "delete_topics"]
    alone = made(what="application", reading=DOWN, topics=())
    assert alone.stages == (DeleteGroups(1, ("orders",)),)
    without = made(what="application", reading=DOWN, facts=replace(FACTS, group=None))
    assert without.stages == (DeleteTopics(1, (LEFT.name,), retired=True),)


def test_without_a_topic_or_a_group_there_is_no_plan() -> None:
    with pytest.raises(Refused, match="nothing to retire"):
        made(topics=(STAYS,))


@pytest.mark.parametrize("changes", [{"topics": Missing("hidden")}, {"group": Missing("hidden")}])
def test_what_it_binds_has_to_be_known(changes: dict[str, Any]) -> None:
    with pytest.raises(Inconclusive):
        made(reading=replace(reading(), **changes))


def test_a_group_that_is_gone_is_no_drift_of_an_application_out_of_use() -> None:
    """Members are; of a plan about orphans an unknown group stays inconclusive."""
    plan = made(what="application", reading=DOWN)
    gone = replace(DOWN, group=Missing("known to no broker"), topics=(*DOWN.topics, LEFT))  # type: ignore[misc]
    assert nothing_drifted(gone, plan, "", 2).outcome is Outcome.PROCEED
    again = replace(gone, group=replace(GROUP, state="Stable", members=(member("orders-1"),)))
    verdict = nothing_drifted(again, plan, "", 2)
    assert verdict.outcome is Outcome.REFUSE
    assert "1 members (planned: out of use, without any)" in verdict.reasons[0]
    running = replace(reading(instance("orders-1"), instance("orders-2")), topics=gone.topics, group=gone.group)
    assert nothing_drifted(running, made(), "", 1).outcome is Outcome.INCONCLUSIVE
