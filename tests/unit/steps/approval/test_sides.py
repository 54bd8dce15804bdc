"""A plan with two sides and stages of other kinds: what a run holds, and what an approver reads, on a real ledger."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from kstreams_runbooks.decide.instances.members import group_is_empty
from kstreams_runbooks.decide.instances.verification import change_verified
from kstreams_runbooks.decide.runs.approval import Asking, approval_body
from kstreams_runbooks.decide.runs.conclusion import RunOutcome, conclusion
from kstreams_runbooks.decide.runs.message import needs_you
from kstreams_runbooks.errors import BadInput, WriteRefused
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.readings.readings import ApplicationReading, GroupReading, Taken
from kstreams_runbooks.model.runs.ledger import Approval
from kstreams_runbooks.model.runs.object_stages import CreateTopics, DeleteRecords, GrowTopics, SetOffsets
from kstreams_runbooks.model.runs.plan import DeployedInstance, Plan, SidePart
from kstreams_runbooks.model.runs.stages import StartAll, StopAll
from kstreams_runbooks.model.writes import TopicShape
from kstreams_runbooks.steps.approval.approve import approve
from kstreams_runbooks.steps.approval.authorize import authorize, keep_newest
from kstreams_runbooks.steps.approval.holds import resources
from kstreams_runbooks.steps.conclude import facts_of
from kstreams_runbooks.steps.run.ending import BEGUN
from kstreams_runbooks.steps.run.notify import notify_all
from kstreams_runbooks.steps.run.run import Run, now_ms
from kstreams_runbooks.steps.stages.order import keep_complete, require_earlier
from world.samples import BOUNCE_2, NEW, OLD, card, declared, down, instance, reading


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
    assert "**Expected gap:** orders: " in text
    assert "; green: " in text
    assert "approver, admin; and for green: green-lead" in text


def test_a_plan_without_a_first_bounce_needs_its_approval(run: Run, plan: Plan) -> None:
    """An undo of topics and offsets alone has no bounce at all."""
    offsets = replace(plan, stages=(SetOffsets(1, "orders", ("orders",), "card", undoes=(3,)),))
    run.ledger.store_plan(run.key, offsets.digest, encode(offsets))
    assert approve("approve_undo").nothing_to_ask(run) == ""
    assert approve("approve_bounce_2", bounce=2).nothing_to_ask(run) == "bounce 2 is not needed"


@pytest.fixture
def both(run: Run, plan: Plan) -> Plan:
    """A run with a stored plan of two sides, which is approved; the journal of the second one is the longer one."""
    made = two_sides(plan)
    earlier = other(run)
    for number in range(20):
        run.ledger.write_card(card(run_key=earlier.key, seq=number + 1, application="green"))
    keep_newest(run.on("green"))
    run.ledger.store_plan(run.key, made.digest, encode(made))
    at_ms = now_ms()
    run.ledger.approve(Approval(run.key, "approve_plan", made.digest, "approver", at_ms, at_ms + 60_000, None))
    return made


def other(run: Run) -> Run:
    """The run of another runbook about the other application."""
    record = replace(run.record, dag_id="rolling_bounce", run_key="", application="green")
    return replace(run, record=run.ledger.start_run(record))


def test_a_verdict_about_one_side_opens_no_write_on_another(
    run: Run, both: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The group of one application is EMPTY: that says nothing of the other one."""
    monkeypatch.setattr("kstreams_runbooks.steps.approval.authorize.take_hold", lambda *_: None)
    monkeypatch.setattr(Run, "limit", lambda *_: 8.0)
    green, empty = run.on("green"), GroupReading(Taken(1, "t"), "orders", "classic", "Empty", ())
    run.decide(group_is_empty, group=empty, group_id="orders")
    authorize(run, "approve_plan", ("group_is_empty",), going_on=True)
    with pytest.raises(WriteRefused, match="group_is_empty is never reached in the ledger"):
        authorize(green, "approve_plan", ("group_is_empty",), going_on=True)
    assert both.digest == green.plan().digest


@pytest.mark.usefixtures("both")
def test_another_run_that_changed_any_side_stops_the_next_write(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also a write on the first one."""
    monkeypatch.setattr("kstreams_runbooks.steps.approval.authorize.take_hold", lambda *_: None)
    monkeypatch.setattr(Run, "limit", lambda *_: 8.0)
    authorize(run, "approve_plan", ())
    there = other(run)
    run.ledger.write_card(card(run_key=there.key, seq=21, application="green"))
    with pytest.raises(WriteRefused, match="has changed green since this run read it"):
        authorize(run, "approve_plan", ())


def test_a_side_that_was_not_read_stops_the_next_write(run: Run, plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until this run has changed it: then its own change is the last thing that it knows of it."""
    monkeypatch.setattr("kstreams_runbooks.steps.approval.authorize.take_hold", lambda *_: None)
    monkeypatch.setattr(Run, "limit", lambda *_: 8.0)
    made = two_sides(plan)
    run.ledger.store_plan(run.key, made.digest, encode(made))
    at_ms = now_ms()
    run.ledger.approve(Approval(run.key, "approve_plan", made.digest, "approver", at_ms, at_ms + 60_000, None))
    with pytest.raises(WriteRefused, match="application green was not read before the plan"):
        authorize(run, "approve_plan", ())
    run.ledger.write_card(card("green-1", run_key=run.key, application="green", at_ms=at_ms))
    authorize(run, "approve_plan", ())


def test_a_stage_waits_for_those_before_it(run: Run, both: Plan) -> None:
    """A task that was marked successful manually leaves no end of its stage."""
    stop, create, *_ = both.stages
    require_earlier(run, stop)
    with pytest.raises(WriteRefused, match=r"stage 1 \(stop every instance .*clear stop_application and what follows"):
        require_earlier(run, create)
    keep_complete(run, stop)
    require_earlier(run, create)
    with pytest.raises(WriteRefused, match="clear create_topics and what follows it"):
        require_earlier(run.on("green"), both.stages[3])
    assert [bool(both.stopped_before(one)) for one in both.stages] == [False, True, True, True, True]


def _proven(run: Run, after: ApplicationReading, name: str) -> None:
    """What `verify` finds of one side."""
    plan = replace(run.plan(), stages=(BOUNCE_2,), facts=replace(run.plan().facts, topics=()), sides=())
    now = replace(after, application=name)
    run.on(name).decide(change_verified, before=now, earlier=now, after=now, plan=plan)


@pytest.mark.usefixtures("both")
def test_a_run_is_completed_once_each_side_is_proven(run: Run) -> None:
    """`verify` was killed after the first of them, or found the second one unwell."""
    done = reading(instance("orders-1", release=NEW), instance("orders-2", release=NEW))
    run.keep("note", BEGUN, {"what": "verify"})
    _proven(run, done, "orders")
    assert conclusion(facts_of(run)).outcome is not RunOutcome.COMPLETED
    _proven(run, reading(instance("orders-1"), instance("orders-2")), "green")
    assert conclusion(facts_of(run)).outcome is not RunOutcome.COMPLETED
    _proven(run, done, "green")
    assert conclusion(facts_of(run)).outcome is RunOutcome.COMPLETED


@pytest.mark.usefixtures("both")
def test_an_instance_of_another_side_that_is_down_is_named(run: Run) -> None:
    """The last look is at each application whose instances the run touched."""
    facts = replace(
        facts_of(run),
        touched=("orders-1", "green-1"),
        reading=reading(),
        others=(reading(down("green-1")),),
    )
    said = conclusion(facts).sentence
    assert "green-1 is DOWN" in said
    assert "orders-1" not in said


@pytest.mark.usefixtures("both")
def test_the_newest_reading_of_each_side_counts(run: Run) -> None:
    """One task keeps the readings of both."""
    for name in ("orders", "green"):
        run.ledger.record(
            run.key, "observe", 1, "reading", "application", encode(replace(reading(), application=name)), now_ms()
        )
    assert run.observed().application == "orders"
    assert run.on("green").observed().application == "green"


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("", "green: nothing (expected another application); name one"),
        ("orders", "green: orders (expected another application); name one"),
        ("abroad", "green: abroad is in cluster far (expected demo)"),
    ],
)
def test_a_side_that_cannot_be_one_is_one_sentence(
    run: Run, monkeypatch: pytest.MonkeyPatch, given: str, sentence: str
) -> None:
    """Before there is a plan, a field of the form names it."""

    class Fleet:
        """One application of another cluster."""

        def side(self, name: str) -> Any:
            """It is far."""
            return type("Entry", (), {"name": name, "cluster": "far"})

    monkeypatch.setattr("kstreams_runbooks.steps.run.run.load_fleet", Fleet)
    record = replace(run.record, run_id="new", run_key="", params={"green": given})
    asked = replace(run, record=run.ledger.start_run(record))
    with pytest.raises(BadInput) as error:
        asked.side("green")
    assert str(error.value).startswith(sentence)


@pytest.mark.usefixtures("both")
def test_each_owner_is_notified_once(run: Run, config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two teams get a message of their own; a team that owns both gets one."""
    file = tmp_path / "told.jsonl"
    notifier = {"notifier": "kstreams_runbooks.demo.file_notifier.FileNotifier", "arguments": {"path": str(file)}}
    (config / "notifications.yaml").write_text(yaml.safe_dump({"notifiers": {"file": notifier}}), encoding="utf-8")
    owners = {"orders": "team-orders", "green": "team-green"}
    entry = lambda run: type("Entry", (), {"owner": owners[run.record.application], "zone": "UTC"})  # noqa: E731
    monkeypatch.setattr(Run, "application", property(entry))
    notify_all(run, needs_you, asks="approve it", lines=("Now",))
    said = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert [(one["owner"], one["application"]) for one in said] == [("team-orders", "orders"), ("team-green", "green")]
    owners["green"] = "team-orders"
    notify_all(replace(run, try_number=2), needs_you, asks="approve it", lines=("Now",))
    assert len(file.read_text(encoding="utf-8").splitlines()) == 3


def test_the_readers_of_outputs_that_are_cleaned_are_asked_too(
    run: Run, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An approver of each, once; an automatic approval of the application alone is not theirs."""
    automatic = {"orders": True, "green": True, "billing": False}

    def entry(run: Run) -> Any:
        name = run.record.application
        return declared(name=name, automatic_approval=automatic[name])

    monkeypatch.setattr(Run, "declared", property(entry))
    both = two_sides(plan)
    cleaned = DeleteRecords(6, ("results",), shown=True, readers=("green", "billing"))
    made = replace(both, stages=(*both.stages, cleaned))
    assert made.digest != both.digest
    run.ledger.store_plan(run.key, made.digest, encode(made))
    asks = approve("approve_plan")
    assert [one.name for one in asks.others(run)] == ["green", "billing"]
    assert not asks.is_automatic(run)
    automatic["billing"] = True
    assert asks.is_automatic(run)
