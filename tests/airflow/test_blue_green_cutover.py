"""A second side takes over from the first under traffic, and back: a reader downstream gets each record once.

The reader is a program of the test's own that writes down topic, partition, offset, key and value of each record. The
running counts of each customer are then 1, 2, 3 … without a gap and without a repetition, over all moves.
"""

import json
import os
import random
import re
import time
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any

import pytest
from confluent_kafka import Message, Producer
from confluent_kafka.admin import AdminClient
from kill.moments import Moment, Target, strike
from kstreams_runbooks.steps.cutover.plan import UNPROVEN
from lab import kafka
from lab.afresh import afresh, forget_group
from lab.application import TO_RELEASE, Deployed
from lab.copier import COPIES, TRAFFIC
from lab.shipped_copier import NAME as COPIER
from lab.shipped_copier import seed, shipped_copier
from lab.stack import DEFAULT_RATE, Parts, Stack
from lab.supervise import until
from world.downstream import NAME, counts_of, declare, downstream, missing_and_doubled, reads, written_down
from world.endings import COMPLETED, DRY_RUN, NOTHING_CHANGED, STOPPED, begun_other, ended, held_by
from world.given import declared_as
from world.going_on import followed
from world.greening import DAG as START
from world.greening import GREEN, INSTANCE, OUTPUTS, green_deployed
from world.own_stack import own_stack
from world.ports import STACK
from world.runs import (
    approve,
    approved_by_both,
    evidence,
    failed,
    finished,
    log_of,
    reached,
    states,
    trigger_other,
)
from world.widening import PARTITIONS, chain_of, widening

pytestmark = pytest.mark.long

DAG = "blue_green_cutover"
BLUE = "orders"
_OLD, _NEW = "orders-running", OUTPUTS["orders-running"]
_WINDOWS = ("orders-windowed", OUTPUTS["orders-windowed"])
_SHORT = {"bake_s": 1, "gate_interval_s": 0.5, "gate_good_readings": 2, "max_reading_age_s": 240, "max_lag": 50_000}
# The application dates its records itself: the old side may be behind by half of the grace (docs/blue_green.md), and a
# cutover on a busy machine takes a minute.
_GRACE_MS = 180_000
_GRACE = {"window.grace.ms": str(_GRACE_MS)}
_DEPLOYED = Deployed(release=TO_RELEASE, settings=_GRACE)
_COPIES = ("orders-passing-1",)
_LATE = {"accept_late_loss": "the holds of a test are shorter than the grace"}
_FORTH = {"application": BLUE, "green": GREEN, "copier": COPIER, **_LATE}
_BACK = {"application": GREEN, "green": BLUE, "copier": COPIER, **_LATE}
_COMPARED_S, _READ_S, _HISTORY_S = 300, 120, 15
# Until the first windows close.
_CLOSED_S = 300
_CUSTOMERS = 10_000


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A stack with Spark."""
    rate = int(os.environ.get("TEST_TRAFFIC_RATE") or DEFAULT_RATE)
    # More customers: an update of one reaches fewer orders, and two sides do the work of one machine.
    parts = Parts(
        spark=True,
        traffic_rate=rate,
        customers=_CUSTOMERS,
        built=bool(os.environ.get("TEST_BUILT")),
        environment={UNPROVEN: DAG},
    )
    with own_stack(tmp_path_factory, parts, STACK) as made:
        yield made


@pytest.fixture(scope="module")
def both(stack: Stack, request: pytest.FixtureRequest) -> Iterator[Stack]:
    """Both sides behind a copier that copies traffic, the second one caught up; a group reads the first one.

    With the parameter `wide` the second one reads topics with three times the partitions, which a second copier fills.
    """
    is_wide = getattr(request, "param", "") == "wide"
    declaration = stack.lab.config / "applications" / BLUE / f"{TO_RELEASE}.yaml"
    before = declaration.read_text(encoding="utf-8")
    declaration.write_text(before.replace("grace_ms: 120000", f"grace_ms: {_GRACE_MS}"), encoding="utf-8")
    afresh(stack, _DEPLOYED)
    controls = list(COPIES.values())
    with declared_as(stack, limits=_SHORT, control=controls), shipped_copier(stack, _COPIES):
        # A history that is shorter than the grace of the windows: caught up unpaced, it drops nothing.
        stack.supervisor.start(TRAFFIC)
        time.sleep(_HISTORY_S)
        stack.supervisor.stop(TRAFFIC)
        form = {"partitions": PARTITIONS} if is_wide else {}
        with ExitStack() as deployed:
            wide = deployed.enter_context(widening(stack)) if is_wide else {}
            deployed.enter_context(green_deployed(stack, {**_GRACE, **wide}, **_SHORT))
            run_id = trigger_other(stack, START, application=GREEN, **form, **_LATE)
            approve(stack, run_id, "approve_plan")
            assert finished(stack, run_id) == "success", evidence(stack, run_id)["run"]["outcome_sentence"]
            stack.supervisor.start(TRAFFIC)
            with downstream(stack, _OLD):
                until(lambda: all(map(partial(closed, stack), _WINDOWS)), _CLOSED_S, "windows are closed", poll_s=5)
                yield stack


def closed(stack: Stack, topic: str) -> bool:
    """Whether a window has closed: without one there is nothing to compare."""
    return next(iter(kafka.records(stack.lab.bootstrap, topic)), None) is not None


def begun(stack: Stack, **conf: Any) -> str:
    """A run whose plan both teams have approved."""
    run_id = trigger_other(stack, DAG, **conf)
    approved_by_both(stack, DAG, run_id, "approve_plan")
    return run_id


def approved(stack: Stack, run_id: str) -> None:
    """The comparison at the point is approved by both."""

    def compared() -> bool:
        now = states(stack, run_id)
        assert "failed" not in now.values(), evidence(stack, run_id)["run"]["outcome_sentence"]
        return now["compare_outputs"] == "success"

    until(compared, _COMPARED_S, "the outputs are compared", poll_s=0.5)
    approved_by_both(stack, DAG, run_id, "approve_cutover")


def completed(stack: Stack, run_id: str) -> dict[str, Any]:
    """The run ends well, and holds nothing."""
    state = finished(stack, run_id)
    document = evidence(stack, run_id)
    assert state == "success", document["run"]["outcome_sentence"]
    assert document["run"]["outcome"] == COMPLETED
    assert document["recheck"]["different"] == []
    assert held_by(stack) == ()
    return document


def cut_over(stack: Stack, form: dict[str, Any], now_reads: str) -> None:
    """One cutover to its end; then its team has changed the entry of the group."""
    run_id = begun(stack, **form)
    approved(stack, run_id)
    completed(stack, run_id)
    assert reads(stack) == now_reads
    declare(stack, now_reads)
    print(f"{run_id}: the group reads {now_reads}")
    for task, what in (
        ("compare_at_seam", "↔"),
        ("compare_at_seam", "closed"),
        ("verify", "apart"),
        ("verify", "down"),
    ):
        print(*(line[:400] for line in log_of(stack, run_id, task).splitlines() if what in line), sep="\n")


def read_once(stack: Stack) -> None:
    """At rest: the group has read each result of each record that was sent exactly once, in whichever topic."""
    stack.supervisor.stop(TRAFFIC)
    for group in (COPIER, *chain_of(stack), BLUE, GREEN):
        kafka.wait_drained(stack.lab.bootstrap, group)
    sent = sum(1 for _ in kafka.records(stack.lab.bootstrap, "sent-orders"))
    # By records: its offsets stay before the marker at the end of each partition, which no consumer gets.
    until(lambda: len(written_down(stack)) >= sent, _READ_S, f"{NAME} has read {sent:,} records", poll_s=5)
    seen = written_down(stack)
    counts = counts_of(seen)
    print(f"{len(seen):,} records read by {NAME} of {sent:,} sent, {len(counts):,} customers")
    assert missing_and_doubled(counts) == (0, 0)
    assert sum(len(one) for one in counts.values()) == sent
    stack.supervisor.start(TRAFFIC)


def all_run(stack: Stack) -> None:
    """Both sides, the copier and the group run, and nothing is held."""
    names = (*_DEPLOYED.names, INSTANCE, *_COPIES, NAME)
    assert None not in [stack.supervisor.pid(name) for name in names]
    assert held_by(stack) == ()


@pytest.fixture(scope="module")
def moved(both: Stack) -> Stack:
    """The second side has taken over, and the reader reads it."""
    cut_over(both, _FORTH, _NEW)
    return both


@pytest.mark.parametrize("both", ["same", "wide"], indirect=True)
def test_there_and_back_there_without_a_gap(moved: Stack) -> None:
    """From the first record to those of the second side: 0 records missing, 0 twice."""
    assert {one.topic for one in written_down(moved)} == {_OLD, _NEW}
    read_once(moved)


def test_there_and_back_back_without_a_gap(moved: Stack) -> None:
    """With the sides exchanged, and a seam of its own: 0 records missing, 0 twice."""
    cut_over(moved, _BACK, _OLD)
    read_once(moved)


def test_a_dry_run_shows_every_stage(both: Stack) -> None:
    """What would be stopped, moved and started; nothing is changed."""
    trial = begun_other(both, DAG, dry_run=True, **_FORTH)
    ended(trial, state="success", outcome=DRY_RUN)
    assert "billing" in log_of(both, trial.run_id, "plan")
    assert reads(both) == _OLD


def test_a_cutover_that_was_refused_goes_on(both: Stack) -> None:
    """By the command of GO ON: with the reason that it asks for, and again once an undeclared group is gone."""
    stack = both
    hasty = trigger_other(stack, DAG, application=BLUE, green=GREEN, copier=COPIER, dry_run=True)
    assert finished(stack, hasty) == "failed"
    assert "--param accept_late_loss=" in evidence(stack, hasty)["run"]["outcome_sentence"]
    code, said = followed(stack, hasty)
    assert code == 0, said
    seed(stack.lab.bootstrap, "stranger", [_OLD])
    read = begun_other(stack, DAG, dry_run=True, **_FORTH)
    document = ended(read, state="failed", outcome=NOTHING_CHANGED)
    assert (
        "group stranger: it reads orders-running, and no fleet entry declares it"
        in (document["run"]["outcome_sentence"])
    )
    forget_group(stack.lab.bootstrap, "stranger")
    code, said = followed(stack, read.run_id)
    assert code == 0, said


@pytest.mark.parametrize(
    ("task", "moment", "touched"),
    [
        ("note_point", Moment.STOPPING, _COPIES),
        ("pause_inputs", Moment.STOPPING, _COPIES),
        ("certify", Moment.WORKING, _COPIES),
        ("stop_application", Moment.STOPPING, _DEPLOYED.names),
        ("resume_inputs", Moment.STARTING, _COPIES),
        ("compare_at_seam", Moment.WORKING, _COPIES),
        ("move_downstream", Moment.STOPPING, (NAME,)),
    ],
)
def test_undo_before_a_group_has_moved_restores_everything(
    both: Stack, task: str, moment: Moment, touched: tuple[str, ...]
) -> None:
    """The run is given up in the middle of a task: all run as before, and the reader has missed nothing."""
    stack = both
    run_id = begun(stack, **_FORTH)
    if task != "note_point":
        approved(stack, run_id)
    given_up(stack, run_id, task, moment, touched)
    undone(stack, run_id)
    assert reads(stack) == _OLD
    all_run(stack)
    read_once(stack)


def test_undo_after_a_group_has_moved_leaves_it_and_it_goes_back(both: Stack) -> None:
    """The old side starts, the group reads on from the new outputs, and a cutover of its own takes it back."""
    stack = both
    run_id = begun(stack, **_FORTH)
    approved(stack, run_id)
    given_up(stack, run_id, "start_application", Moment.WORKING, _DEPLOYED.names)
    undone(stack, run_id)
    assert reads(stack) == _NEW
    declare(stack, _NEW)
    all_run(stack)
    cut_over(stack, _BACK, _OLD)
    read_once(stack)


def given_up(stack: Stack, run_id: str, task: str, moment: Moment, touched: tuple[str, ...]) -> None:
    """The process of a task is killed in its middle, and the run ends."""
    strike(Target(stack, DAG, run_id, task, touched), moment, 0)
    reached(stack, run_id, task, "failed")
    failed(stack, run_id)


def undone(stack: Stack, run_id: str) -> None:
    """A run is taken back by `undo`, which both teams approve."""
    undo = trigger_other(stack, "undo", application=BLUE, run=run_id)
    approved_by_both(stack, "undo", undo, "approve_undo")
    assert finished(stack, undo) == "success", evidence(stack, undo)["run"]["outcome_sentence"]
    assert all(card["done"] for card in evidence(stack, run_id)["cards"])


def test_three_keys_that_are_wrong_at_the_seam_are_named_and_nothing_moves(both: Stack) -> None:
    """Drawn after the comparison at the point: exactly these are named, and the old side runs again."""
    stack, topic = both, OUTPUTS["orders-enriched"]
    run_id = begun(stack, **_FORTH)
    until(lambda: states(stack, run_id)["compare_outputs"] == "success", _COMPARED_S, "compared", poll_s=0.5)
    # A newer version of a drawn order would replace the wrong one.
    stack.supervisor.stop(TRAFFIC)
    for group in (COPIER, *chain_of(stack), GREEN):
        kafka.wait_drained(stack.lab.bootstrap, group)
    last = {one.key(): one for one in kafka.records(stack.lab.bootstrap, topic) if one.key()}
    drawn = random.sample([one for one in last.values() if one.value() is not None], 3)
    for one in drawn:
        written(stack, one, json.dumps({**json.loads(one.value() or b"{}"), "amount": -1}).encode())
    print(f"{[one.key() for one in drawn]} of {len(last):,} keys of {topic} are wrong")
    approved_by_both(stack, DAG, run_id, "approve_cutover")
    assert finished(stack, run_id) == "failed"
    document = evidence(stack, run_id)
    assert document["run"]["outcome"].startswith(STOPPED), document["run"]["outcome_sentence"]
    said = log_of(stack, run_id, "compare_at_seam")
    assert "orders is started again, and no group is moved" in said
    [differ] = [line for line in said.splitlines() if "↔" in line and "keys differ" in line]
    print(differ)
    assert re.search(r": 3 of [\d,]+ keys differ \(limit 0\): 3 changed; fields that differ: \$\.amount of 3", differ)
    assert [f"{_text(one)} (changed)" in differ for one in drawn] == [True] * 3
    assert reads(stack) == _OLD
    for one in drawn:
        written(stack, one, one.value())
    stack.supervisor.start(TRAFFIC)
    all_run(stack)
    read_once(stack)


def _text(record: Message) -> str:
    return (record.key() or b"").decode()


def test_it_goes_on_after_a_kill_in_each_hold(both: Stack) -> None:
    """Each task of both holds, and of the move, is killed in its middle and cleared, in one run; then it goes back."""
    stack, touched = both, (*_COPIES, *_DEPLOYED.names, NAME)
    moments = {
        "pause_inputs": Moment.STOPPING,
        "certify": Moment.WORKING,
        "stop_application": Moment.STOPPING,
        "resume_inputs": Moment.WORKING,
        "move_downstream": Moment.STOPPING,
        "start_application": Moment.STARTING,
    }
    run_id = begun(stack, **_FORTH)
    killed(stack, run_id, "note_point", Moment.STOPPING, touched)
    approved(stack, run_id)
    for task, moment in moments.items():
        killed(stack, run_id, task, moment, touched)
    completed(stack, run_id)
    declare(stack, _NEW)
    cut_over(stack, _BACK, _OLD)
    read_once(stack)


def test_the_old_side_is_retired(both: Stack) -> None:
    """Not before its readers have moved; then its outputs, its topics and its group go, and the reader reads on.

    The last one here: the first side is gone afterwards.
    """
    stack = both
    early = trigger_other(stack, START, application=BLUE, mode="retire")
    assert finished(stack, early) == "failed"
    assert "its readers have not moved to orders-green" in evidence(stack, early)["run"]["outcome_sentence"]
    cut_over(stack, _FORTH, _NEW)
    run_id = trigger_other(stack, START, application=BLUE, mode="retire")
    approve(stack, run_id, "approve_plan")
    completed(stack, run_id)
    names = set(AdminClient({"bootstrap.servers": stack.lab.bootstrap}).list_topics(timeout=10).topics)
    assert names & {*OUTPUTS, *OUTPUTS.values(), *COPIES.values()} == {*OUTPUTS.values(), *COPIES.values()}
    internal = {one for one in names if one.endswith(("-changelog", "-repartition"))}
    assert {one for one in internal if not one.startswith(f"{GREEN}-")} == set()
    assert [stack.supervisor.pid(name) for name in _DEPLOYED.names] == [None] * len(_DEPLOYED.names)
    before = len(written_down(stack))
    until(lambda: len(written_down(stack)) > before, _READ_S, f"{NAME} reads on", poll_s=5)
    assert missing_and_doubled(counts_of(written_down(stack))) == (0, 0)


def killed(stack: Stack, run_id: str, task: str, moment: Moment, touched: tuple[str, ...]) -> None:
    """The process of a task is killed in its middle; the task is cleared."""
    strike(Target(stack, DAG, run_id, task, touched), moment, 0)
    reached(stack, run_id, task, "failed")
    stack.api().clear(DAG, run_id, task)


def written(stack: Stack, of: Message, value: bytes | None) -> None:
    """One record that no side has written, with the key and the partition of another one."""
    producer = Producer({"bootstrap.servers": stack.lab.bootstrap})
    producer.produce(of.topic() or "", key=of.key(), value=value, partition=of.partition() or 0)
    producer.flush(30)
