"""A plan with two sides and stages of other kinds: what a run holds, and what an approver reads, on a real ledger."""

from dataclasses import replace

from kstreams_runbooks.decide.runs.approval import Asking, approval_body
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.runs.plan import DeployedInstance, Plan, SidePart
from kstreams_runbooks.model.runs.stages import CreateTopics, GrowTopics, SetOffsets, StartAll, StopAll
from kstreams_runbooks.model.writes import TopicShape
from kstreams_runbooks.steps.approval.approve import approve
from kstreams_runbooks.steps.approval.holds import resources
from kstreams_runbooks.steps.run.run import Run
from world.samples import NEW, OLD, declared


def two_sides(plan: Plan) -> Plan:
    """A cutover of two applications."""
    there = replace(plan.facts, instances=("green-1",), at_start=(DeployedInstance("green-1", OLD, (), OLD),))
    stages = (
        StopAll(1),
        CreateTopics(2, (TopicShape("control", 4, 1),)),
        GrowTopics(3, (("orders", 8),), side="green"),
        SetOffsets(4, "green", ("orders",), "end", side="green"),
        StartAll(5, NEW, (), side="green"),
    )
    return replace(plan, stages=stages, sides=(SidePart("green", "green", "demo", there, plan.costs),), at_once=True)


def test_a_run_holds_its_sides_and_the_topics_that_it_changes(run: Run, plan: Plan) -> None:
    """With a plan of one application, that one."""
    assert [str(one) for one in resources(run)] == ["application:demo:orders"]
    both = two_sides(plan)
    run.ledger.store_plan(run.key, both.digest, encode(both))
    assert [str(one) for one in resources(run)] == [
        "application:demo:green",
        "application:demo:orders",
        "topic:demo:control",
        "topic:demo:orders",
    ]
    assert resources(run.on("green")) == resources(run)


def test_each_side_sees_its_part_of_the_stored_plan(run: Run, plan: Plan) -> None:
    """With the digest of the whole, to which an approval is bound."""
    both = two_sides(plan)
    run.ledger.store_plan(run.key, both.digest, encode(both))
    green = run.on("green")
    assert (green.plan().application, green.plan().digest, run.plan().digest) == ("green", both.digest, both.digest)
    assert green.plan().facts.instances == ("green-1",)
    assert [one.number for one in green.plan().stages] == [2, 3, 4, 5]
    assert [one.number for one in run.plan().stages] == [1, 2, 3]
    assert [one.release for one in green.plan().bounces] == [NEW]
    assert green.whole_plan() == both
    assert green.first.record.application == "orders"


def test_an_approver_reads_every_stage(plan: Plan) -> None:
    """And who of the other team has to answer too."""
    both = two_sides(plan)
    green = declared(name="green", approvers=("green-lead",))
    asking = Asking(declared(), "oncall", "", 0, 1_000, "", (green,))
    text = approval_body(asking, both, 1, "as planned", fleet_limits=(), cards=())
    for stage in both.stages:
        assert stage.sentence.partition(" (")[0].replace("_", "\\_") in text
    assert "approver, admin; and for green: green-lead" in text


def test_a_plan_without_a_first_bounce_needs_its_approval(run: Run, plan: Plan) -> None:
    """An undo of topics and offsets alone has no bounce at all."""
    offsets = replace(plan, stages=(SetOffsets(1, "orders", ("orders",), "card", undoes=(3,)),))
    run.ledger.store_plan(run.key, offsets.digest, encode(offsets))
    assert approve("approve_undo").nothing_to_ask(run) == ""
    assert approve("approve_bounce_2", bounce=2).nothing_to_ask(run) == "bounce 2 is not needed"
