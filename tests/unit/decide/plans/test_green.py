"""The stages that start a second application next to the first, and those that take it away again."""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.plans.copier_costs import CopierLoad
from kstreams_runbooks.decide.plans.green import (
    CHAIN,
    ChainPart,
    GoingChain,
    GreenParts,
    cancel_command,
    cancel_plan,
    going_back,
    green_costs,
    green_plan,
    start_command,
)
from kstreams_runbooks.decide.runs.answers import deleted_for_good
from kstreams_runbooks.errors import Refused
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.runs.object_stages import CreateTopics, DeleteTopics, SetOffsets
from kstreams_runbooks.model.runs.plan import DeployedInstance, Plan, PlanFacts, SidePart
from kstreams_runbooks.model.runs.stages import Bounce, StartAll, StopAll
from kstreams_runbooks.model.writes import TopicShape
from world.samples import declared

_RUNS = DeployedInstance("green-1", "4.3.1", (), "4.3.1")
FACTS = PlanFacts("", (("orders-control", "id-1", 2),), ("green-1",), (_RUNS,), static_membership=False, code="code")
PARTS = GreenParts(
    "orders",
    ("customers-control", "orders-control"),
    (TopicShape("totals-green", 2, 1),),
    (TopicShape("orders-v2-by-customer-repartition", 2, 1), TopicShape("orders-v2-counts-changelog", 2, 1)),
)


def started() -> Plan:
    """The plan of a start."""
    return green_plan(declared(), FACTS, PARTS, (), (("max_lag", 1.0),))


def cancelled(*, up: bool = True, group: bool = True, topics: tuple[str, ...] = ("totals-green",)) -> Plan:
    """The plan that takes it away."""
    return cancel_plan(declared(), FACTS, "orders", topics, up=up, group=group, findings=(), limits=())


def kinds(plan: Plan) -> list[str]:
    """Each stage by its kind."""
    return [one.kind for one in plan.stages]


def test_every_offset_is_committed_before_anything_runs() -> None:
    """Of its inputs and of its new repartition topics: nothing begins by auto.offset.reset."""
    made = started()
    assert kinds(made) == ["create_topics", "set_offsets", "set_offsets", "stop_all", "clear_state", "start_all"]
    assert [one.number for one in made.stages] == [1, 2, 3, 4, 5, 6]
    begins = [one for one in made.stages if isinstance(one, SetOffsets)]
    assert {(one.to, one.group) for one in begins} == {("start", declared().application_id)}
    assert [one.topics for one in begins] == [
        ("customers-control", "orders-control"),
        ("orders-v2-by-customer-repartition",),
    ]
    [creates] = [one for one in made.stages if isinstance(one, CreateTopics)]
    assert [one.name for one in creates.topics] == [
        "totals-green",
        "orders-v2-by-customer-repartition",
        "orders-v2-counts-changelog",
    ]


_COPIES = DeployedInstance("widening-1", "0.1.0", (("mode", "same-partition"),), "4.4.0")
CHAIN_FACTS = replace(FACTS, at_start=(_COPIES,))
CHAIN_SIDE = SidePart(CHAIN, "widening", "demo", CHAIN_FACTS)


def test_a_copier_fills_wider_topics_by_key_before_it_starts() -> None:
    """Seeded while it is down, like the application itself; both are down until everything has its offsets."""
    wide = (TopicShape("orders-wide", 6, 1),)
    parts = replace(PARTS, inputs=("orders-wide",), chain=ChainPart(CHAIN_SIDE, "widening", ("orders-control",), wide))
    made = green_plan(declared(), FACTS, parts, (), ())
    assert [(one.kind, one.side) for one in made.stages if not isinstance(one, Bounce)] == [
        ("create_topics", ""),
        ("set_offsets", "chain"),
        ("set_offsets", ""),
        ("set_offsets", ""),
        ("stop_all", "chain"),
        ("stop_all", ""),
        ("clear_state", ""),
        ("start_all", "chain"),
        ("start_all", ""),
    ]
    [creates] = [one for one in made.stages if isinstance(one, CreateTopics)]
    assert creates.topics[0] == wide[0]
    copies, begins = (one for one in made.stages if isinstance(one, StartAll))
    assert dict(copies.settings) == {"mode": "by-key", "partitions": "orders-wide:6"}
    assert begins == made.start
    assert made.sides == (CHAIN_SIDE,)


def test_the_copier_of_wider_topics_goes_with_it() -> None:
    """Stopped before its topics are deleted; what does not run, and has no group, is no stage."""
    gone = GoingChain(CHAIN_SIDE, "widening", up=True, has_group=True)
    of: dict[str, Any] = {"up": True, "group": True, "findings": (), "limits": ()}
    made = cancel_plan(declared(), FACTS, "orders", ("orders-wide", "totals-green"), **of, chain=gone)
    assert [(one.kind, one.side) for one in made.stages if not isinstance(one, Bounce)] == [
        ("stop_all", "chain"),
        ("stop_all", ""),
        ("clear_state", ""),
        ("save_offsets", ""),
        ("delete_groups", ""),
        ("delete_groups", "chain"),
        ("delete_topics", ""),
    ]
    made = cancel_plan(declared(), FACTS, "orders", (), **of, chain=replace(gone, up=False, has_group=False))
    assert {one.side for one in made.stages if not isinstance(one, Bounce)} == {""}


def test_nothing_of_the_first_application_is_a_stage_or_is_bound() -> None:
    """It may be bounced while the second one catches up, for days."""
    made = started()
    assert (made.sides, made.costs) == ((), ())
    assert {name for name, *_ in made.facts.topics} == {"orders-control"}
    assert not deleted_for_good(made)
    assert ("green_of", "orders") in made.change


def test_after_its_start_the_way_back_is_the_other_mode() -> None:
    """An undo would leave its topics behind."""
    assert started().undo[-1].endswith(cancel_command(declared().name))
    assert cancel_command("green").endswith("blue_green_start --application green --param mode=cancel")
    assert cancelled().undo[-1].endswith(start_command(declared().name))


def test_cancel_deletes_its_topics_for_good_and_starts_nothing() -> None:
    """Stopped, cleared, ends noted, its group deleted, then exactly its topics, at rest."""
    made = cancelled()
    assert kinds(made) == ["stop_all", "clear_state", "save_offsets", "delete_groups", "delete_topics"]
    [stop] = [one for one in made.stages if isinstance(one, StopAll)]
    assert stop.stays == _RUNS.target
    [gone] = [one for one in made.stages if isinstance(one, DeleteTopics)]
    assert (gone.topics, gone.at_rest) == (("totals-green",), True)
    assert deleted_for_good(made) == (gone,)


def test_a_side_that_has_served_is_taken_away_for_good() -> None:
    """There is no start of it: the way back is a new second side."""
    of: Any = {"up": True, "group": True, "findings": (), "limits": ()}
    made = cancel_plan(declared(), FACTS, "orders-v2", ("totals",), **of, mode="retire")
    assert kinds(made) == kinds(cancelled())
    assert dict(made.change) == {"mode": "retire", "green_of": "orders-v2"}
    assert made.title == f"retire {declared().name}, orders-v2 serves"
    assert made.undo[-1] == "afterwards: none; a way back is a new second side"


@pytest.mark.parametrize(
    ("up", "group", "topics", "stages"),
    [
        (False, True, ("totals-green",), ["clear_state", "save_offsets", "delete_groups", "delete_topics"]),
        (False, False, ("totals-green",), ["clear_state", "save_offsets", "delete_topics"]),
        (False, True, (), ["clear_state", "delete_groups"]),
        (False, False, (), ["clear_state"]),
    ],
)
def test_cancel_after_a_start_that_ended_anywhere(
    up: bool, group: bool, topics: tuple[str, ...], stages: list[str]
) -> None:
    """What is not there is no stage."""
    assert kinds(cancelled(up=up, group=group, topics=topics)) == stages


def test_instances_that_are_set_to_different_releases() -> None:
    """One release starts."""
    other = replace(_RUNS, instance="green-2", release="3.4.1", version="3.4.1")
    facts = replace(FACTS, at_start=(_RUNS, other))
    with pytest.raises(Refused, match=r"green-2 has 3\.4\.1.*, green-1 has 4\.3\.1"):
        green_plan(declared(), facts, PARTS, (), ())


def test_costs_name_what_is_not_known() -> None:
    """Disk, traffic and instances; a part that was not read is on top of the figures."""
    load = CopierLoad("orders-control", "orders-control", 5_000_000, 1, 2_000_000.0, 50_000)
    [known] = green_costs("green", 2, (load,), 7_000_000)
    assert known.severity == "info"
    assert "instances: 2 more run; disk: about 7.0 MB" in known.message
    assert "5.0 MB of history are read at full speed, then 2.0 MB a second" in known.message
    [unknown] = green_costs("green", 2, (replace(load, bytes_per_s=Missing("no leader")),), Missing("no right"))
    assert unknown.severity == "warning"
    assert "traffic of orders-control: no leader, disk: no right" in unknown.message


def test_a_person_who_deploys_it() -> None:
    """The way back from it is refused later, so it is said before."""
    assert going_back("green", by_person=False) == ()
    [finding] = going_back("green", by_person=True)
    assert (finding.id, finding.severity) == ("green-deployed-by-person", "warning")
