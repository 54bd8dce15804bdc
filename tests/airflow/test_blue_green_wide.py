"""A second application starts next to the first on topics with three times the partitions, and goes again.

A second shipped copier fills these topics by key from the control topics. The first application runs all the time.
"""

import json
from collections import defaultdict
from collections.abc import Iterator

import pytest
from kill.moments import Moment, Target, strike
from kstreams_runbooks.observe import ClusterReader
from lab import kafka
from lab.afresh import afresh
from lab.application import TO_RELEASE, Deployed
from lab.copier import COPIES, TRAFFIC
from lab.judge import judged
from lab.shipped_copier import NAME, shipped_copier
from lab.stack import Stack
from world.endings import DRY_RUN, begun_other, completed, ended
from world.given import declared_as
from world.greening import DAG, GREEN, INSTANCE, OUTPUTS, green_deployed, topics_of
from world.runs import approve, evidence, failed, finished, log_of, trigger_other
from world.widening import COPIER, PARTITIONS, WIDE, widening
from world.widening import INSTANCE as COPIES_BY_KEY

pytestmark = pytest.mark.long

_SHORT = {"bake_s": 1, "gate_interval_s": 0.5, "gate_good_readings": 2, "max_reading_age_s": 120}
_BLUE = Deployed(release=TO_RELEASE)
_PASSING = ("orders-passing-1",)
# The history of some minutes is longer than the grace of the windows, which are not compared here.
_LATE = {"accept_late_loss": "windows of the history are not compared in this test"}


@pytest.fixture(scope="module")
def behind(stack: Stack) -> Iterator[Stack]:
    """The first application behind a copier; the second, and the copier of its inputs, are deployed and down."""
    afresh(stack, _BLUE)
    controls = list(COPIES.values())
    with (
        declared_as(stack, limits=_SHORT, control=controls),
        shipped_copier(stack, _PASSING),
        widening(stack) as wide,
    ):
        stack.supervisor.start(TRAFFIC)
        with green_deployed(stack, wide, **_SHORT):
            yield stack


def begun(stack: Stack, **conf: object) -> str:
    """A run that its team has approved, to which the copier belongs too."""
    form = {"partitions": PARTITIONS, **_LATE, **conf}
    run_id = trigger_other(stack, DAG, application=GREEN, **form)
    approve(stack, run_id, "approve_plan")
    return run_id


def by_key(stack: Stack, topic: str) -> dict[bytes | None, list[bytes | None]]:
    """The values of each key, in their order."""
    found = defaultdict(list)
    for one in sorted(kafka.records(stack.lab.bootstrap, topic), key=lambda one: (one.partition(), one.offset())):
        found[one.key()].append(one.value())
    return dict(found)


def sums(stack: Stack, topic: str) -> dict[bytes | None, tuple[int, int, int]]:
    """By key: how many results there are, and the last count and sum."""
    last = {key: (len(values), json.loads(values[-1] or b"{}")) for key, values in by_key(stack, topic).items()}
    return {key: (results, value["count"], value["sum"]) for key, (results, value) in last.items()}


def left(stack: Stack) -> set[str]:
    """Topics of the second application and of its copier."""
    with ClusterReader({"bootstrap.servers": stack.lab.bootstrap}) as reader:
        return topics_of(stack) | (reader.topic_names() & {*WIDE.values()})


def is_gone(stack: Stack) -> bool:
    """Whether nothing of either runs, is committed or is left."""
    with ClusterReader({"bootstrap.servers": stack.lab.bootstrap}) as reader:
        committed = reader.committed([GREEN, COPIER])
    return not (
        left(stack) or any(committed.values()) or stack.supervisor.pid(INSTANCE) or stack.supervisor.pid(COPIES_BY_KEY)
    )


def test_a_dry_run_shows_every_stage(behind: Stack) -> None:
    """What would be created, committed and started; nothing is changed."""
    trial = begun_other(behind, DAG, application=GREEN, dry_run=True, partitions=PARTITIONS, **_LATE)
    ended(trial, state="success", outcome=DRY_RUN)
    assert f"would create topic {WIDE['orders']}" in log_of(behind, trial.run_id, "create_topics")
    assert "the copy takes" in log_of(behind, trial.run_id, "plan")
    assert is_gone(behind)


@pytest.mark.parametrize(
    ("task", "struck", "moment"),
    [
        ("set_offsets", INSTANCE, Moment.WORKING),
        ("start_application", COPIES_BY_KEY, Moment.STARTING),
    ],
)
def test_undo_before_its_start_leaves_nothing(behind: Stack, task: str, struck: str, moment: Moment) -> None:
    """The run is given up: the topics and offsets of both are gone, and nothing of them runs."""
    stack = behind
    run_id = begun(stack)
    strike(Target(stack, DAG, run_id, task, (struck,)), moment, 0)
    # As long as it has not ended, it holds the application.
    failed(stack, run_id)
    undo = trigger_other(stack, "undo", application=GREEN, run=run_id)
    assert finished(stack, undo) == "success", evidence(stack, undo)["run"]["outcome_sentence"]
    assert is_gone(stack)


def test_each_key_keeps_its_order_and_its_state(behind: Stack) -> None:
    """At rest each key has its records in their order, and both sides have the same results; then it goes again."""
    stack = behind
    before = [stack.supervisor.pid(name) for name in _BLUE.names]
    run_id = begun(stack)
    strike(Target(stack, DAG, run_id, "start_application", (INSTANCE,)), Moment.STARTING, 0)
    failed(stack, run_id)
    stack.api().clear(DAG, run_id, "start_application")
    completed(stack, run_id)
    assert [stack.supervisor.pid(name) for name in _BLUE.names] == before
    stack.supervisor.stop(TRAFFIC)
    for group in (NAME, COPIER, GREEN):
        kafka.wait_drained(stack.lab.bootstrap, group)
    judgement = judged(stack)
    assert (judgement.code, judgement.faults()) == (0, {})
    with ClusterReader({"bootstrap.servers": stack.lab.bootstrap}) as reader:
        assert {one.partitions for one in reader.topics(WIDE.values())} == {PARTITIONS}
    for control, wide in WIDE.items():
        keys = by_key(stack, control)
        assert keys == by_key(stack, wide)
        print(f"{wide}: {sum(map(len, keys.values())):,} records of {len(keys):,} keys in their order")
    assert sums(stack, "orders-running") == sums(stack, OUTPUTS["orders-running"])
    last = [by_key(stack, one) for one in ("orders-per-customer", OUTPUTS["orders-per-customer"])]
    assert len({json.dumps({str(key): str(one[key][-1]) for key in sorted(one, key=str)}) for one in last}) == 1
    stack.supervisor.start(TRAFFIC)
    completed(stack, begun(stack, mode="cancel", partitions=None))
    assert is_gone(stack)
    assert [stack.supervisor.pid(name) for name in _BLUE.names] == before
