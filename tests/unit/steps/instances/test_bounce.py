"""The bounce operator where a person deploys: it parks for the person first, then at the gate; on a real ledger."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.sdk.exceptions import TaskAwaitingInput, TaskDeferred
from kstreams_runbooks.deployers.manual import ManualDeployer
from kstreams_runbooks.errors import Refused
from kstreams_runbooks.fleet.deployers.manual import ManualSettings
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.model.readings.readings import ApplicationReading, GroupReading, Start
from kstreams_runbooks.model.runs.ledger import Approval
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.runs.question import QUESTION
from kstreams_runbooks.steps.instances.bounce import BounceOperator, bounce_first
from kstreams_runbooks.steps.instances.deploy_trigger import DeployTrigger
from kstreams_runbooks.steps.instances.gate_trigger import GateTrigger
from kstreams_runbooks.steps.instances.together import start_all, stop_all
from kstreams_runbooks.steps.run.ending import StepFailed
from kstreams_runbooks.steps.run.person import ANSWERED, CANNOT
from kstreams_runbooks.steps.run.run import Run, now_ms
from world.samples import BOUNCE_1, CONF, DUE, NEW, declared, down, instance, member, reading

BEFORE, AFTER = Start(500, 41), Start(900, 50)
# Two instances down, their members still in the group.
STOPPED = reading(down("orders-1"), down("orders-2"), group=reading().group)
LIMITS = ("deploy_wait_h", "gate_interval_s", "gate_good_readings", "gate_ceiling_s", "max_reading_age_s")


@pytest.fixture
def plan(plan: Plan) -> Plan:
    """The plan of a bump that a person deploys, without static membership."""
    limits = (*plan.limits, *((name, 5.0) for name in (*LIMITS, "commit_interval_s", "bake_s")))
    return replace(plan, limits=limits, facts=replace(plan.facts, static_membership=False))


class World:
    """What is observed, and who was taken out of the group for it."""

    def __init__(self) -> None:
        self.now: ApplicationReading = reading()
        self.removed: list[str] = []


@pytest.fixture
def world(run: Run, monkeypatch: pytest.MonkeyPatch) -> World:
    """An approved run of an application that a person deploys."""
    made = World()
    names = ("orders-1", "orders-2")
    settings = ManualSettings.model_validate(
        {
            "kind": "manual",
            "instances": [{"name": name, "metrics": f"http://{name}:1"} for name in names],
            "releases": {"3.4.1": "orders:17", NEW: "orders:18"},
        }
    )
    at_ms, digest = now_ms(), run.plan().digest
    run.ledger.approve(Approval(run.key, "approve_plan", digest, "approver", at_ms, at_ms + 60_000, None))
    monkeypatch.setattr(Ledger, "open", classmethod(lambda *_: run.ledger))
    monkeypatch.setattr(Run, "read", lambda _, **__: made.now)
    monkeypatch.setattr(Run, "deployer", ManualDeployer(settings, application_id="orders", dry_run=False))
    monkeypatch.setattr(Run, "declared", declared())
    monkeypatch.setattr(Run, "application", SimpleNamespace(application_id="orders"))
    monkeypatch.setattr("kstreams_runbooks.steps.plan.cards.bytes_to_restore", lambda *_: 0)
    monkeypatch.setattr("kstreams_runbooks.steps.approval.authorize.take_hold", lambda *_: None)
    monkeypatch.setattr("kstreams_runbooks.steps.instances.rolling.let_it_start", lambda *_: None)
    monkeypatch.setattr(
        "kstreams_runbooks.steps.instances.request.remove",
        lambda _, members: made.removed.extend(one.member_id for one in members),
    )
    return made


def context(run: Run) -> dict[str, Any]:
    """What Airflow gives to a task of that run."""
    ti = SimpleNamespace(dag_id="library_bump", run_id="r", task_id=run.task_id, try_number=1)
    dag = SimpleNamespace(dag_id="library_bump", params=CONF)
    dag_run = SimpleNamespace(triggering_user_name="oncall", run_after=DUE, conf=CONF)
    return {"ti": ti, "dag": dag, "dag_run": dag_run, "params": CONF}


def operator() -> BounceOperator:
    """The canary of bounce 1."""
    return bounce_first(1, "approve_plan")


def asked(run: Run) -> TaskDeferred:
    """The first deferral of the task."""
    with pytest.raises(TaskDeferred) as parked:
        operator().execute(context(run))
    return parked.value


def answered(run: Run, before: TaskDeferred, outcome: str) -> TaskDeferred:
    """The deferral after the trigger of `before` has fired."""
    assert before.method_name == "deployed"
    event = {"outcome": outcome, "reasons": ["because"]}
    with pytest.raises(TaskDeferred) as parked:
        operator().deployed(context(run), event, **(before.kwargs or {}))
    return parked.value


def test_it_waits_for_the_person_and_then_at_the_gate(run: Run, world: World) -> None:
    """The gate does not take the start that ran when it was asked for; the approval may end while it is waited for."""
    first = asked(run)
    assert isinstance(first.trigger, DeployTrigger)
    assert [card.object for card in run.ledger.cards(run.key)] == ["orders-1"]
    run.ledger.approve(Approval(run.key, "approve_plan", run.plan().digest, "approver", now_ms(), now_ms() - 1, None))
    world.now = reading(
        instance("orders-1", release=NEW, settings=BOUNCE_1.settings, start=AFTER),
        instance("orders-2"),
        group=reading().group,
    )
    second = answered(run, first, "proceed")
    assert isinstance(second.trigger, GateTrigger)
    assert second.method_name == "resume"
    assert second.trigger.arguments["expected"]["previous"] == {"started_at_ms": 500, "pid": 41}
    assert world.removed == ["orders-1-1"]


def test_members_of_the_old_start_are_removed_in_between(run: Run, world: World) -> None:
    """Then it waits on, without them."""
    first = asked(run)
    world.now = reading(instance("orders-1", start=AFTER), instance("orders-2"), group=reading().group)
    second = answered(run, first, "wait")
    assert isinstance(second.trigger, DeployTrigger)
    assert world.removed == [member("orders-1").member_id]
    assert list(second.trigger.arguments["awaited"]["members"]) == []
    third = answered(run, second, "proceed")
    assert isinstance(third.trigger, GateTrigger)
    assert world.removed == ["orders-1-1"]


@pytest.mark.usefixtures("world")
def test_a_request_is_withdrawn_once_it_is_done_or_too_late(run: Run, left: list[tuple[str, dict[str, Any]]]) -> None:
    """The gate that follows is a wait too, and asks nothing; members that go in between end no request."""
    first, given = asked(run), context(run)
    given["ti"].xcom_push = lambda key, value: left.append((key, value))
    for outcome, kept in (("wait", 1), ("proceed", 2)):
        with pytest.raises(TaskDeferred):
            operator().deployed(given, {"outcome": outcome, "reasons": ["because"]}, **(first.kwargs or {}))
        assert len(left) == kept
    with pytest.raises(StepFailed):
        operator().deployed(given, {"outcome": "refuse", "reasons": ["late"]}, **(first.kwargs or {}))
    assert left[1:3] == [(QUESTION, {}), (QUESTION, {})]


@pytest.mark.parametrize(("outcome", "code"), [("refuse", 1), ("inconclusive", 3)])
def test_a_wait_that_ended_without_it_fails_the_task(run: Run, world: World, outcome: str, code: int) -> None:
    """With the exit code of its reason; nothing else is done."""
    first = asked(run)
    event = {"outcome": outcome, "reasons": ["not in time"]}
    with pytest.raises(StepFailed) as failed:
        operator().deployed(context(run), event, **(first.kwargs or {}))
    assert failed.value.code == code
    assert run.ledger.evidence(run.key, kind="failure")[-1].payload["sentence"] == "not in time"
    assert world.removed == []


def test_nobody_is_asked_without_an_approval(run: Run, world: World) -> None:
    """A request is a write: the ledger is asked first."""
    run.ledger.approve(Approval(run.key, "approve_plan", "0" * 16, "approver", now_ms(), now_ms() + 60_000, None))
    with pytest.raises(StepFailed):
        operator().execute(context(run))
    assert run.ledger.cards(run.key) == []
    assert world.removed == []


def test_what_is_deployed_already_goes_to_its_gate(run: Run, world: World) -> None:
    """A cleared task whose person was faster."""
    world.now = reading(
        instance("orders-1", release=NEW, settings=BOUNCE_1.settings, start=AFTER), instance("orders-2")
    )
    assert isinstance(asked(run).trigger, GateTrigger)
    assert run.ledger.cards(run.key) == []


def test_all_at_once_is_asked_for_and_a_clear_says_that_it_was_done(
    run: Run, world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Stop and restart of everything: all of it is asked for, the group is emptied, then the start is asked for."""
    caplog.set_level("INFO", "kstreams_runbooks.run")
    emptied: list[str] = []
    monkeypatch.setattr(
        "kstreams_runbooks.steps.instances.together._empty",
        lambda _, members: emptied.extend(one.member_id for one in members),
    )
    for world.now in (reading(), reading(down("orders-1"), instance("orders-2"), group=reading().group)):
        with pytest.raises(Refused) as refused:
            stop_all(run, BOUNCE_1)
        assert str(refused.value) == (
            f"{run.task_id} waits for a person: stop orders-1 and leave it stopped; stop orders-2 and leave it "
            f"stopped; do it, then clear {run.task_id} and what follows it"
        )
    assert emptied == []
    assert "PLEASE stop orders-2 and leave it stopped" in caplog.text
    world.now = STOPPED
    stop_all(run, BOUNCE_1)
    assert emptied == ["orders-1-1", "orders-2-1"]

    world.now = reading(down("orders-1"), down("orders-2"), group=replace_group(state="Empty"))
    with pytest.raises(
        Refused, match=r"waits for a person: set orders-1 to release .*; set orders-2 .*; do it, then clear"
    ):
        start_all(run, BOUNCE_1)
    assert "PLEASE set orders-2 to release 4.3.1 (orders:18) with upgrade.from=3.4" in caplog.text


def test_no_start_is_asked_for_before_a_person_has_answered_that_the_state_is_cleared(
    run: Run, world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing shows it, and a cleared task proves nothing: it is asked again until there is an answer."""
    caplog.set_level("INFO", "kstreams_runbooks.run")
    asked: list[dict[str, Any]] = []
    room = "kstreams_runbooks.steps.run.person"
    monkeypatch.setattr(f"{room}.upsert_hitl_detail", lambda **one: asked.append(one))
    monkeypatch.setattr(f"{room}.get_current_context", lambda: {"ti": SimpleNamespace(id="7")})
    world.now = reading(down("orders-1"), down("orders-2"), group=replace_group(state="Empty"))
    monkeypatch.setattr(Run, "limit", lambda *_: 8.0)
    bounce = replace(BOUNCE_1, clear_state=True, must_clear=True)
    for _ in range(2):
        with pytest.raises(TaskAwaitingInput):
            start_all(run, bounce)
    assert [one["options"] for one in asked] == [["Stage 1 is done", CANNOT]] * 2
    assert "PLEASE delete the local state of orders-1 while it is stopped" in caplog.text
    assert "PLEASE set" not in caplog.text
    run.keep("note", ANSWERED, {"stage": 1, "plan": run.whole_plan().digest, "done": True, "by": "oncall"})
    with pytest.raises(Refused, match=r"waits for a person: set orders-1 to release .*; set orders-2 "):
        start_all(run, bounce)
    assert "PLEASE set orders-2 to release 4.3.1 (orders:18) with upgrade.from=3.4" in caplog.text


def test_what_a_deployer_would_refuse_later_stops_nothing(
    run: Run, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All at once: an obstacle for one instance keeps all of them up, and leaves no card."""

    def check_apply(name: str, *_: object) -> None:
        if name == "orders-2":
            raise Refused("orders-2: its file cannot be written")

    monkeypatch.setattr(run.deployer, "check_apply", check_apply)
    world.now = reading()
    with pytest.raises(Refused, match="its file cannot be written"):
        stop_all(run, BOUNCE_1)
    assert run.ledger.cards(run.key) == []


def replace_group(**changes: Any) -> GroupReading:
    """The group of the application without members."""
    group = reading().group
    assert isinstance(group, GroupReading)
    return replace(group, members=(), **changes)
