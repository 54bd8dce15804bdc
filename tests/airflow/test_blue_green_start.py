"""A second application starts next to the first behind the shipped copier, under traffic, and goes again.

The first one runs all the time: its processes are the same at the end, and the judge finds its outputs right.
"""

import json
from collections.abc import Iterator

import pytest
from kill.moments import Moment, Target, strike
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.observe import ClusterReader
from lab import kafka
from lab.afresh import afresh, forget_group
from lab.application import TO_RELEASE, Deployed
from lab.copier import COPIES, TRAFFIC
from lab.judge import judged
from lab.shipped_copier import NAME, seed, shipped_copier
from lab.stack import Stack
from world.endings import DRY_RUN, NOTHING_CHANGED, begun_other, completed, ended
from world.given import declared_as
from world.greening import DAG, GREEN, INSTANCE, OUTPUTS, green_deployed, state_of, topics_of
from world.runs import approve, evidence, failed, finished, log_of, trigger_other

pytestmark = pytest.mark.long

_SHORT = {"bake_s": 1, "gate_interval_s": 0.5, "gate_good_readings": 2, "max_reading_age_s": 120}
_BLUE = Deployed(release=TO_RELEASE)
_COPIER = ("orders-passing-1",)
# The history of some minutes is longer than the grace of the windows, which are not compared here.
_LATE = {"accept_late_loss": "windows of the history are not compared in this test"}


@pytest.fixture(scope="module")
def behind(stack: Stack) -> Iterator[Stack]:
    """The first application from nothing, behind a copier that copies traffic; the second is deployed."""
    afresh(stack, _BLUE)
    controls = list(COPIES.values())
    with declared_as(stack, limits=_SHORT, control=controls), shipped_copier(stack, _COPIER):
        stack.supervisor.start(TRAFFIC)
        with green_deployed(stack, **_SHORT):
            yield stack


def begun(stack: Stack, **conf: object) -> str:
    """A run about the second application that its team has approved."""
    run_id = trigger_other(stack, DAG, application=GREEN, **_LATE, **conf)
    approve(stack, run_id, "approve_plan")
    return run_id


def committed(stack: Stack) -> set[str]:
    """The topics on which the second one's group has offsets."""
    with ClusterReader({"bootstrap.servers": stack.lab.bootstrap}) as reader:
        found = reader.committed([GREEN])[GREEN]
    assert not isinstance(found, Missing)
    return {topic for topic, _ in found}


def pids(stack: Stack) -> list[int | None]:
    """The processes of the first application."""
    return [stack.supervisor.pid(name) for name in _BLUE.names]


def running(stack: Stack, topic: str) -> dict[bytes | None, tuple[int, int, int]]:
    """By customer: how many records there are, and the last count and sum; which event was the last is left out."""
    found: dict[bytes | None, tuple[int, int, int]] = {}
    for one in kafka.records(stack.lab.bootstrap, topic):
        result = json.loads(one.value() or b"{}")
        found[one.key()] = (found.get(one.key(), (0,))[0] + 1, result["count"], result["sum"])
    return found


def latest(stack: Stack, topic: str) -> dict[bytes | None, bytes | None]:
    """The last value of each key."""
    return {one.key(): one.value() for one in kafka.records(stack.lab.bootstrap, topic)}


def cancelled(stack: Stack) -> None:
    """Taken away: nothing of it is left, and the first one runs."""
    before = pids(stack)
    completed(stack, begun(stack, mode="cancel"))
    assert topics_of(stack) == set()
    assert committed(stack) == set()
    assert state_of(stack) == []
    assert stack.supervisor.pid(INSTANCE) is None
    assert pids(stack) == before


def is_untouched(stack: Stack) -> bool:
    """Whether nothing of the second one runs or is committed."""
    return stack.supervisor.pid(INSTANCE) is None and committed(stack) == set()


def test_a_dry_run_shows_every_stage(behind: Stack) -> None:
    """What would be created, committed and started; nothing is changed."""
    trial = begun_other(behind, DAG, application=GREEN, dry_run=True, **_LATE)
    ended(trial, state="success", outcome=DRY_RUN)
    assert "would create topic orders-running-green" in log_of(behind, trial.run_id, "create_topics")
    assert "green-costs" in log_of(behind, trial.run_id, "plan")
    assert topics_of(behind) == set()
    assert is_untouched(behind)


def test_it_catches_up_with_equal_outputs_and_goes_again(behind: Stack) -> None:
    """A kill of the run in its wait, and a clear; at rest both sides have the same records; cancel leaves nothing."""
    stack, before = behind, pids(behind)
    run_id = begun(stack)
    strike(Target(stack, DAG, run_id, "set_offsets", (INSTANCE,)), Moment.WORKING, 0)
    failed(stack, run_id)
    stack.api().clear(DAG, run_id, "set_offsets")
    strike(Target(stack, DAG, run_id, "start_application", (INSTANCE,)), Moment.STARTING, 0)
    failed(stack, run_id)
    stack.api().clear(DAG, run_id, "start_application")
    completed(stack, run_id)
    assert pids(stack) == before
    trial = begun_other(stack, "undo", application=GREEN, run=run_id, dry_run=True)
    document = ended(trial, state="failed", outcome=NOTHING_CHANGED)
    assert "--param mode=cancel" in document["run"]["outcome_sentence"]
    stack.supervisor.stop(TRAFFIC)
    kafka.wait_drained(stack.lab.bootstrap, NAME)
    judgement = judged(stack)
    assert (judgement.code, judgement.faults()) == (0, {})
    kafka.wait_drained(stack.lab.bootstrap, GREEN)
    seen = {one: running(stack, one) for one in ("orders-running", OUTPUTS["orders-running"])}
    assert seen["orders-running"]
    assert seen["orders-running"] == seen[OUTPUTS["orders-running"]]
    for blue in ("orders-per-customer", "orders-enriched"):
        assert latest(stack, blue) == latest(stack, OUTPUTS[blue]), blue
    stack.supervisor.start(TRAFFIC)
    cancelled(stack)


@pytest.mark.parametrize(
    ("task", "moment"),
    # Killed before it has announced a change, the first one leaves nothing to take back.
    [("create_topics", Moment.WRITING), ("set_offsets", Moment.WORKING), ("clear_state", Moment.WORKING)],
)
def test_undo_before_its_start_leaves_nothing(behind: Stack, task: str, moment: Moment) -> None:
    """The run is given up: its topics and its offsets are gone, and nothing of it runs."""
    stack = behind
    run_id = begun(stack)
    strike(Target(stack, DAG, run_id, task, (INSTANCE,)), moment, 0)
    # As long as it has not ended, it holds the application.
    failed(stack, run_id)
    undo = trigger_other(stack, "undo", application=GREEN, run=run_id)
    assert finished(stack, undo) == "success", evidence(stack, undo)["run"]["outcome_sentence"]
    assert topics_of(stack) == set()
    assert is_untouched(stack)


def test_cancel_refuses_while_a_group_reads_its_outputs(behind: Stack) -> None:
    """It may serve by then; once the group is gone, it goes."""
    stack = behind
    completed(stack, begun(stack))
    seed(stack.lab.bootstrap, "billing-reads", ["orders-running-green"])
    trial = begun_other(stack, DAG, application=GREEN, mode="cancel")
    document = ended(trial, state="failed", outcome=NOTHING_CHANGED)
    assert "topic orders-running-green: group billing-reads has offsets on it" in document["run"]["outcome_sentence"]
    assert stack.supervisor.pid(INSTANCE) is not None
    forget_group(stack.lab.bootstrap, "billing-reads")
    cancelled(stack)
