"""A start that fails on another release: what is done, what the cards and the sentence say, and what a rerun finds."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.sdk.exceptions import TaskDeferred
from kstreams_runbooks.decide.plans.set_back import with_set_back
from kstreams_runbooks.decide.runs.conclusion import RunOutcome
from kstreams_runbooks.deployers.builds import WithoutBuilds
from kstreams_runbooks.errors import Inconclusive, Interrupted, NotStarted, Refused
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.abilities import Abilities
from kstreams_runbooks.model.local_state import AfterKill, Directories, FileTimes, TaskDirectories
from kstreams_runbooks.model.readings.readings import (
    ApplicationReading,
    Deployment,
    GroupReading,
    InstanceReading,
    Missing,
    Start,
    StreamsReading,
    Taken,
)
from kstreams_runbooks.model.runs.ledger import Approval
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.runs.stages import Bounce, StartAll, StopAll
from kstreams_runbooks.model.target import RunbookSettings, Target
from kstreams_runbooks.model.writes import CommittedOffset, SavedOffsets
from kstreams_runbooks.rules import upgrade_path_rules
from kstreams_runbooks.steps.conclude import facts_of
from kstreams_runbooks.steps.instances.bounce import bounce_first
from kstreams_runbooks.steps.instances.restart import wait_caught_up
from kstreams_runbooks.steps.instances.rolling import rehearse
from kstreams_runbooks.steps.instances.together import start_all, stop_all
from kstreams_runbooks.steps.plan.next_action import next_of_run
from kstreams_runbooks.steps.run.run import Run, now_ms
from world.samples import BOUNCE_1, NEW, OLD, declared, down, instance, reading

ROOM = "kstreams_runbooks.steps.instances"
NAMES = ("orders-1", "orders-2")


class Killed(BaseException):
    """SIGKILL: nothing runs after it."""


class World(WithoutBuilds):
    """The deployer of two instances, and what is read of them; a release in `broken` ends at its start."""

    abilities = Abilities(instances=True, topology=True, clear=True, act=True, clear_directories=True)

    def __init__(self) -> None:
        self.would_write: list[str] = []
        self.declared = dict.fromkeys(NAMES, Target(OLD))
        self.runs: dict[str, Target | None] = dict.fromkeys(NAMES, Target(OLD))
        self.pids = dict.fromkeys(NAMES, 41)
        self.times = {name: {"0_0": FileTimes(1, 5)} for name in NAMES}
        self.broken = {NEW}
        self.touches = False
        self.dies_later = False
        self.killed_at, self.is_killed = "", False
        self.offset = 7
        self.ended_cleanly = True
        self.done: list[str] = []

    def instances(self) -> tuple[Deployment, ...]:
        """Both."""
        return tuple(one.deployment for one in self.read().instances if isinstance(one.deployment, Deployment))

    def read(self, *_: object, **__: object) -> ApplicationReading:
        """All of it now."""
        found = tuple(self._one(name) for name in NAMES)
        up = [one for one in found if isinstance(one.streams, StreamsReading)]
        return (
            reading(*found)
            if up
            else reading(*found, group=GroupReading(Taken(1, "test"), "orders", "classic", "Empty", ()))
        )

    def _one(self, name: str) -> InstanceReading:
        declared, runs = self.declared[name], self.runs[name]
        if runs is None:
            one = down(name, release=declared.release, settings=declared.settings)
            assert isinstance(one.deployment, Deployment)
            return replace(one, deployment=replace(one.deployment, ended_cleanly=self.ended_cleanly))
        start, version = Start(500, self.pids[name]), runs.release[:5]
        dead = self.dies_later and runs.release in self.broken
        one = instance(
            name,
            release=declared.release,
            settings=declared.settings,
            start=start,
            state="ERROR" if dead else "RUNNING",
        )
        assert isinstance(one.deployment, Deployment)
        assert isinstance(one.streams, StreamsReading)
        deployment = replace(one.deployment, pid=start.pid, applied=declared == runs)
        return replace(one, deployment=deployment, streams=replace(one.streams, version=version))

    def check_apply(self, instance: str, target: Target) -> None:
        """Anything goes."""

    def check_start(self, instance: str, once: RunbookSettings) -> None:
        """Anything goes."""

    def apply(self, instance: str, target: Target) -> None:
        """Keep it."""
        self._do(f"apply {instance} {target.release}")
        self.declared[instance] = target

    def stop(self, instance: str) -> None:
        """Down."""
        self._do(f"stop {instance}")
        self.runs[instance] = None

    def start(self, instance: str, once: RunbookSettings = ()) -> None:  # noqa: ARG002 - as for all
        """Up, unless the release is broken."""
        wanted = self.declared[instance]
        self._do(f"start {instance} {wanted.release}")
        self.pids[instance] += 1
        broken = wanted.release in self.broken
        if broken and self.touches:
            self.times[instance] = {"0_0": FileTimes(1, 50)}
        if broken and not self.dies_later:
            raise Refused(f"{instance}: ended at once: UnsupportedClassVersionError")
        self.runs[instance] = wanted

    def clear_state(self, instance: str, directories: Directories = ()) -> None:
        """These directories."""
        self._do(f"clear {instance} {','.join(directories)}")

    def state_sizes(self, instance: str) -> Mapping[str, int]:
        """Of its one task with state."""
        assert instance in NAMES
        return {"1_0": 1}

    def request(self, wish: str, instance: str, directories: Directories = ()) -> str:
        """In a few words."""
        return f"{wish} {instance} {','.join(directories)}".strip()

    def state_times(self, instance: str) -> Mapping[str, FileTimes]:
        """Of its one task."""
        return dict(self.times[instance])

    def manual_commands(self, *_: object, **__: object) -> list[str]:
        """None."""
        return []

    def _do(self, what: str) -> None:
        self.done.append(what)
        if self.is_killed or what == self.killed_at:
            self.killed_at, self.is_killed = "", True
            raise Killed


@pytest.fixture
def plan(plan: Plan) -> Plan:
    """The plan of a bump that says it."""
    limits = (
        "gate_interval_s",
        "gate_good_readings",
        "gate_ceiling_s",
        "max_reading_age_s",
        "commit_interval_s",
        "bake_s",
    )
    made = with_set_back(plan, reading(), declared(), upgrade_path_rules(), acts=True)
    return replace(made, limits=(*plan.limits, *((name, 5.0) for name in limits)))


@pytest.fixture
def world(run: Run, monkeypatch: pytest.MonkeyPatch) -> World:
    """An approved run of an application whose new release does not start."""
    made = World()
    at_ms, digest = now_ms(), run.plan().digest
    run.ledger.approve(Approval(run.key, "approve_plan", digest, "approver", at_ms, at_ms + 60_000, None))
    instances = [SimpleNamespace(name=name, metrics=name) for name in NAMES]
    application = SimpleNamespace(
        application_id="orders",
        as_deployed=None,
        deployer=SimpleNamespace(instances=instances),
        cluster="demo",
        name="orders",
    )

    def streams(url: str, **_: object) -> StreamsReading | Missing:
        [one] = [one for one in made.read().instances if one.instance == url]
        return one.streams

    @contextmanager
    def reported(*_: object) -> Iterator[Run]:
        yield run

    monkeypatch.setattr(Run, "read", made.read)
    monkeypatch.setattr(Run, "deployer", made)
    monkeypatch.setattr(Run, "declared", declared())
    monkeypatch.setattr(Run, "application", application)
    monkeypatch.setattr(Run, "side", lambda run, _: run)
    monkeypatch.setattr(f"{ROOM}.rolling.reported", reported)
    monkeypatch.setattr(f"{ROOM}.bounce.reported", reported)
    monkeypatch.setattr("kstreams_runbooks.steps.approval.authorize.take_hold", lambda *_: None)
    monkeypatch.setattr("kstreams_runbooks.steps.plan.cards.bytes_to_restore", lambda *_: 0)
    for room in ("rolling", "together"):
        monkeypatch.setattr(f"{ROOM}.{room}.let_it_start", lambda *_: None)
    monkeypatch.setattr(f"{ROOM}.untouched.make_deployer", lambda *_, **__: made)
    monkeypatch.setattr(Run, "new_deployer", lambda _: made)
    for room in ("bring", "together"):
        monkeypatch.setattr(f"{ROOM}.{room}.require_topics_still", lambda *_, **__: None)
    for room in ("untouched", "set_back"):
        monkeypatch.setattr(f"{ROOM}.{room}.read_streams", streams)
    offsets = lambda _: SavedOffsets("orders", 1, (CommittedOffset("orders", 0, made.offset),))  # noqa: E731 - one line
    monkeypatch.setattr(f"{ROOM}.set_back._committed", offsets)
    monkeypatch.setattr(f"{ROOM}.together._empty", lambda *_: None)
    monkeypatch.setattr(f"{ROOM}.together.stopped_for_good", lambda *_, **__: None)
    monkeypatch.setattr(f"{ROOM}.together.require_still_writable", lambda *_: None)
    monkeypatch.setattr("kstreams_runbooks.steps.plan.cards.bytes_of_topics", lambda *_: 0)
    return made


def bounced(run: Run) -> str:
    """The sentence with which the canary ends."""
    with pytest.raises(Refused) as refused:
        bounce_first(1, "approve_plan").execute({})
    run.keep("note", "begun", {"what": "bounce", "tasks": ["bounce_1_first", "stop_application"]})
    run.keep("failure", "Refused", {"sentence": str(refused.value), "exit_code": 1})
    return str(refused.value)


def commands(run: Run) -> tuple[str, ...]:
    """GO ON and GO BACK of the run."""
    failure = run.ledger.evidence(run.key, kind="failure")[-1]
    return next_of_run(run, RunOutcome.STOPPED, "bounce_1_first", failure, is_void=False).lines


def test_it_runs_the_old_release_again_and_nothing_is_left_to_take_back(run: Run, world: World) -> None:
    """One sentence: object, cause, what was done, and the command that brings the new release again."""
    said = bounced(run)
    assert said == (
        "orders-1 did not start on 4.3.1 with upgrade.from=3.4: orders-1: ended at once: UnsupportedClassVersionError; "
        "orders-1 was set back to 3.4.1 and is RUNNING on it; correct the cause, then clear bounce_1_first"
    )
    assert world.runs == dict.fromkeys(NAMES, Target(OLD))
    assert world.done[-2:] == ["apply orders-1 3.4.1", "start orders-1 3.4.1"]
    assert [(card.object, card.done) for card in run.ledger.cards(run.key)] == [("orders-1", True)]
    assert commands(run) == (
        "GO ON: after that, clear bounce_1_first and what follows it:",
        "    kstreams-runbooks clear r bounce_1_first",
        "GO BACK: not needed, nothing is left to take back",
    )
    assert facts_of(run).wrote == ("orders-1: bounce 1: 4.3.1 with upgrade.from=3.4 (set back)",)


def test_a_cleared_task_begins_with_the_new_release_again(run: Run, world: World) -> None:
    """Mended meanwhile: the instance is brought, with a new card that leads back to the state before the first try."""
    bounced(run)
    world.broken, world.done = set(), []
    with pytest.raises(TaskDeferred):
        bounce_first(1, "approve_plan").execute({})
    assert world.runs["orders-1"] == Target.of(NEW, {"upgrade.from": "3.4"})
    first, second = run.ledger.cards(run.key)
    assert (first.done, second.done) == (True, False)
    assert second.undo == first.undo


@pytest.mark.parametrize(
    "moment",
    ["apply orders-1 4.3.1", "stop orders-1", "start orders-1 4.3.1", "apply orders-1 3.4.1", "start orders-1 3.4.1"],
)
def test_killed_at_any_write_a_rerun_ends_on_the_old_release(run: Run, world: World, moment: str) -> None:
    """Also in the middle of setting back: the times of its state are those of the first stop."""
    world.killed_at = moment
    with pytest.raises(Killed):
        bounce_first(1, "approve_plan").execute({})
    world.is_killed = False
    assert "orders-1 was set back to 3.4.1 and is RUNNING on it" in bounced(run)
    assert world.runs == dict.fromkeys(NAMES, Target(OLD))
    assert all(card.done for card in run.ledger.cards(run.key))


def test_state_that_the_start_has_touched_leads_to_undo(run: Run, world: World) -> None:
    """3.4.1 may not open it: the instance stays down, and its card stays open."""
    world.touches = True
    said = bounced(run)
    assert said.startswith("orders-1 did not start on 4.3.1 with upgrade.from=3.4: ")
    assert "not set back by itself: the task directories of orders-1 are not known to be as at its stop" in said
    assert said.endswith("; undo this run")
    assert world.runs["orders-1"] is None
    assert commands(run) == (
        "GO ON: this run cannot go on, only back:",
        "GO BACK: undo this run, first as a dry run:",
        "    kstreams-runbooks trigger undo r",
    )
    assert [card.done for card in run.ledger.cards(run.key)] == [False]


def test_a_second_try_after_that_is_not_taken_for_the_first(run: Run, world: World) -> None:
    """The second start touches nothing; what counts is the stop of the old release."""
    world.touches = True
    bounced(run)
    world.touches = False
    assert bounced(run).endswith("; undo this run")


def test_a_plan_that_did_not_say_so_leads_to_undo(run: Run, world: World, plan: Plan) -> None:
    """What was approved is what is done."""
    silent = replace(plan, stages=tuple(replace(one, back=False) for one in plan.bounces))
    run.ledger.store_plan(run.key, silent.digest, encode(silent))
    at_ms = now_ms()
    run.ledger.approve(Approval(run.key, "approve_plan", silent.digest, "approver", at_ms, at_ms + 60_000, None))
    assert bounced(run).endswith(
        "not set back by itself: the plan that was approved has no way back by itself; undo this run"
    )
    assert world.runs["orders-1"] is None


def test_the_old_release_that_does_not_start_either_leads_to_undo(run: Run, world: World) -> None:
    """Its card stays: an undo starts it."""
    world.broken = {NEW, OLD}
    said = bounced(run)
    assert "it was to be set back, and that failed: orders-1 is DOWN" in said
    assert said.endswith("; undo this run")
    assert [card.done for card in run.ledger.cards(run.key)] == [False]


def test_a_client_that_dies_later_is_set_back_after_its_gate(run: Run, world: World, plan: Plan) -> None:
    """Its process lives: the old release has to open its files without a proof, as of one library."""
    world.dies_later = True
    bounce = replace(BOUNCE_1, release="3.4.1.7", library=OLD, settings=(), back=True)
    near = replace(plan, stages=(bounce,))
    run.ledger.store_plan(run.key, near.digest, encode(near))
    at_ms = now_ms()
    run.ledger.approve(Approval(run.key, "approve_plan", near.digest, "approver", at_ms, at_ms + 60_000, None))
    world.broken = {"3.4.1.7"}
    with pytest.raises(TaskDeferred) as parked:
        bounce_first(1, "approve_plan").execute({})
    event = {"outcome": "refuse", "reasons": ["orders-1: Streams is in ERROR"]}
    with pytest.raises(Refused) as refused:
        bounce_first(1, "approve_plan").resume({}, event, **(parked.value.kwargs or {}))
    assert str(refused.value).startswith(
        "orders-1 did not start on 3.4.1.7: orders-1: Streams is in ERROR; orders-1 was set"
    )
    assert world.runs["orders-1"] == Target(OLD)


@pytest.mark.parametrize("event", [{"outcome": "inconclusive"}, {"outcome": "refuse", "drifted": True}])
@pytest.mark.usefixtures("run")
def test_what_is_not_a_failed_start_sets_nothing_back(world: World, event: dict[str, Any]) -> None:
    """Drift and a missing reading keep their own sentences; so does an instance that runs and is only too late."""
    world.broken = set()
    with pytest.raises(TaskDeferred) as parked:
        bounce_first(1, "approve_plan").execute({})
    for given in (event, {"outcome": "refuse"}):
        with pytest.raises(Exception, match=r"^because$"):
            bounce_first(1, "approve_plan").resume({}, given | {"reasons": ["because"]}, **(parked.value.kwargs or {}))
    assert world.runs["orders-1"] == BOUNCE_1.target


def together(run: Run, plan: Plan) -> Bounce:
    """The same as one stop and one start of both instances."""
    start = StartAll(2, "3.9.1", (), back=True)
    both = replace(plan, stages=(StopAll(1), start), at_once=True)
    run.ledger.store_plan(run.key, both.digest, encode(both))
    return start.bounce


def test_all_go_back_together_and_the_stop_is_cleared_next(run: Run, world: World, plan: Plan) -> None:
    """None of them has committed anything."""
    world.broken = {"3.9.1"}
    bounce = together(run, plan)
    stop_all(run, bounce)
    with pytest.raises(Refused) as refused:
        start_all(run, bounce)
    said = str(refused.value)
    assert said.startswith("orders-1, orders-2 did not start on 3.9.1: orders-1: ended at once")
    assert said.endswith("correct the cause, then clear stop_application")
    assert world.runs == dict.fromkeys(NAMES, Target(OLD))
    assert all(card.done for card in run.ledger.cards(run.key))


def test_offsets_that_the_new_release_committed_lead_to_undo(
    run: Run, world: World, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also those of an earlier try: the first start after the stop is what counts."""
    world.broken = {"3.9.1"}
    bounce, start = together(run, plan), World.start

    def commits(self: World, instance: str, once: RunbookSettings = ()) -> None:
        self.offset += 1
        start(self, instance, once)

    monkeypatch.setattr(World, "start", commits)
    stop_all(run, bounce)
    for _ in range(2):
        with pytest.raises(Refused, match=r"the new release has committed offsets: .*; undo this run$"):
            start_all(run, bounce)
        monkeypatch.setattr(World, "start", start)
    assert world.runs == dict.fromkeys(NAMES)


def test_one_of_two_that_starts_leads_to_undo(
    run: Run, world: World, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both releases cannot share a group."""
    bounce, start = together(run, plan), World.start

    def second_only(self: World, instance: str, once: RunbookSettings = ()) -> None:
        self.broken = {"3.9.1"} if instance == "orders-1" else set()
        start(self, instance, once)

    monkeypatch.setattr(World, "start", second_only)
    stop_all(run, bounce)
    with pytest.raises(Refused, match=r"^orders-1 did not start .* orders-2 may run the new release.*; undo this run$"):
        start_all(run, bounce)
    assert world.runs == {"orders-1": None, "orders-2": Target("3.9.1")}


def caught_up(run: Run, gated: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The sentence with which the wait ends after the gate of an instance refused."""
    monkeypatch.setattr(f"{ROOM}.restart.reported", lambda *_: nullcontext(run))
    with pytest.raises(Refused) as refused:
        wait_caught_up().resume({}, {"outcome": "refuse", "reasons": [f"{gated}: in ERROR"]}, gated)
    return str(refused.value)


def test_all_that_die_later_go_back_together_too(
    run: Run, world: World, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the gate of the first; one that still runs leads to undo."""
    world.dies_later, world.broken = True, {"3.9.1"}
    bounce = together(run, plan)
    at_ms, digest = now_ms(), run.plan().digest
    run.ledger.approve(Approval(run.key, "approve_plan", digest, "approver", at_ms, at_ms + 60_000, None))
    stop_all(run, bounce)
    start_all(run, bounce)
    said = caught_up(run, "orders-1", monkeypatch)
    assert said.startswith("orders-1, orders-2 did not start on 3.9.1: orders-1: in ERROR; not set back by itself: ")
    assert "orders-1, orders-2 may run the new release, and both cannot share a group" in said
    assert said.endswith("; undo this run")
    world.runs = dict.fromkeys(NAMES)
    said = caught_up(run, "orders-1", monkeypatch)
    assert said.endswith(
        "orders-2 was set back to 3.4.1 and is RUNNING on it; correct the cause, then clear stop_application"
    )
    assert world.runs == dict.fromkeys(NAMES, Target(OLD))


@pytest.mark.usefixtures("world")
def test_a_dry_run_says_it(run: Run, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """For the instance, next to what it would do."""
    caplog.set_level("INFO", "kstreams_runbooks.run")
    monkeypatch.setattr(f"{ROOM}.rolling._rehearse_one", lambda *_: None)
    rehearse(run, run.plan().bounces[0], ("orders-1",))
    assert (
        "if orders-1 does not start: would set it back to 3.4.1 and start it, and the run would stop then"
        in caplog.text
    )


def test_the_cause_is_that_of_the_first_start() -> None:
    """However often the error was named again."""
    first, second, third = Refused("first"), NotStarted("second"), NotStarted("third")
    second.__cause__, third.__cause__ = first, second
    assert (third.cause, second.cause) == ("first", "first")
    assert NotStarted("alone").cause == "alone"
    assert not isinstance(Interrupted("x"), NotStarted)


KILL = AfterKill((OLD,), ("KAFKA-20685",), TaskDirectories(("1_",), ("orders-counts-changelog",)))


def killing(run: Run, world: World, **changes: Any) -> None:
    """The plan clears state after a kill, and each process that ends is killed."""
    made = replace(run.plan(), after_kill=(replace(KILL, **changes),))
    at_ms = now_ms()
    run.ledger.store_plan(run.key, made.digest, encode(made))
    run.ledger.approve(Approval(run.key, "approve_plan", made.digest, "approver", at_ms, at_ms + 60_000, None))
    world.ended_cleanly, world.broken = False, set()


def test_a_bounce_clears_what_a_kill_left_before_it_starts_the_instance(run: Run, world: World) -> None:
    """The card says it before the stop, the outcome after it."""
    killing(run, world)
    with pytest.raises(TaskDeferred):
        bounce_first(1, "approve_plan").execute({})
    assert world.done == [
        "apply orders-1 4.3.1",
        "stop orders-1",
        "clear orders-1 1_",
        "apply orders-1 4.3.1",
        "start orders-1 4.3.1",
    ]
    [card] = run.ledger.cards(run.key)
    assert card.what.endswith("; if it is killed, task directories 1_* deleted first")
    assert len(facts_of(run).cleared) == 1


@pytest.mark.parametrize("changes", [{"libraries": ("3.9.1",)}, {}], ids=["another release", "clean"])
def test_a_bounce_keeps_state_otherwise(run: Run, world: World, changes: dict[str, Any]) -> None:
    """A kill of a release without the defect, and a clean stop of one that has it."""
    killing(run, world, **changes)
    world.ended_cleanly = not changes
    with pytest.raises(TaskDeferred):
        bounce_first(1, "approve_plan").execute({})
    assert world.done == ["apply orders-1 4.3.1", "stop orders-1", "start orders-1 4.3.1"]
    assert facts_of(run).cleared == ()


def test_an_instance_whose_state_no_run_may_clear_stays_down(run: Run, world: World) -> None:
    """Inconclusive, with what a person does."""
    killing(run, world, unclear="store counts: it has no changelog")
    with pytest.raises(
        Inconclusive, match=r"store counts: it has no changelog; clear_state orders-1 1_, start orders-1"
    ):
        bounce_first(1, "approve_plan").execute({})
    assert world.runs["orders-1"] is None
    assert world.done[-1] == "stop orders-1"


def test_a_rerun_after_a_kill_of_the_task_clears_too(run: Run, world: World) -> None:
    """The instance is down with the new release set: the card has what ran."""
    killing(run, world)
    world.killed_at = "clear orders-1 1_"
    with pytest.raises(Killed):
        bounce_first(1, "approve_plan").execute({})
    world.is_killed, world.done = False, []
    with pytest.raises(TaskDeferred):
        bounce_first(1, "approve_plan").execute({})
    assert world.done == ["stop orders-1", "clear orders-1 1_", "apply orders-1 4.3.1", "start orders-1 4.3.1"]


def test_setting_back_clears_what_the_failed_start_left(run: Run, world: World) -> None:
    """The release that did not start has the defect, and how its process ended is not known to be clean."""
    killing(run, world, libraries=(NEW,))
    world.broken = {NEW}
    assert "orders-1 was set back to 3.4.1 and is RUNNING on it" in bounced(run)
    assert world.done[-3:] == ["clear orders-1 1_", "apply orders-1 3.4.1", "start orders-1 3.4.1"]


def test_a_start_of_all_clears_what_a_kill_left(run: Run, world: World) -> None:
    """On each instance, before it starts."""
    killing(run, world)
    made = replace(run.plan(), stages=(replace(run.plan().bounces[0], back=False),), at_once=True)
    at_ms = now_ms()
    run.ledger.store_plan(run.key, made.digest, encode(made))
    run.ledger.approve(Approval(run.key, "approve_plan", made.digest, "approver", at_ms, at_ms + 60_000, None))
    [bounce] = made.bounces
    stop_all(run, bounce)
    start_all(run, bounce)
    for name in NAMES:
        own = [one for one in world.done if name in one]
        assert own[-3:] == [f"clear {name} 1_", f"apply {name} 4.3.1", f"start {name} 4.3.1"]
    assert len(facts_of(run).cleared) == len(NAMES)
