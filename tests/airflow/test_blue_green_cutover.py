"""A second side takes over from the first under traffic, and back: a reader downstream gets each record once.

The reader is a program of the test's own that writes down topic, partition, offset, key and value of each record. The
running counts of each customer are then 1, 2, 3 … without a gap and without a repetition, over all moves.
"""

import json
import os
import random
import re
from collections.abc import Iterator

import pytest
from confluent_kafka import Message, Producer
from confluent_kafka.admin import AdminClient
from kill.moments import Moment, Target, strike
from kstreams_runbooks.steps.cutover.plan import UNPROVEN
from lab import kafka
from lab.afresh import forget_group
from lab.copier import COPIES
from lab.shipped_copier import NAME as COPIER
from lab.shipped_copier import seed
from lab.stack import DEFAULT_RATE, Parts, Stack
from lab.supervise import until
from world.cutting_over import (
    BACK,
    BLUE,
    COMPARED_S,
    CUSTOMERS,
    DAG,
    DEPLOYED,
    FORTH,
    INSTANCES,
    NEW,
    OLD,
    READ_S,
    all_run,
    approved,
    begun,
    both_sides,
    cut_over,
    held_s,
    killed,
    paused,
    read_once,
)
from world.downstream import NAME, counts_of, declare, missing_and_doubled, reads, written_down
from world.endings import DRY_RUN, NOTHING_CHANGED, STOPPED, begun_other, completed, ended
from world.going_on import followed
from world.greening import DAG as START
from world.greening import GREEN, OUTPUTS
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
from world.widening import chain_of

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A stack with Spark."""
    rate = int(os.environ.get("TEST_TRAFFIC_RATE") or DEFAULT_RATE)
    # More customers: an update of one reaches fewer orders, and two sides do the work of one machine.
    parts = Parts(
        spark=True,
        traffic_rate=rate,
        customers=CUSTOMERS,
        built=bool(os.environ.get("TEST_BUILT")),
        environment={UNPROVEN: DAG},
    )
    with own_stack(tmp_path_factory, parts, STACK) as made:
        yield made


@pytest.fixture(scope="module")
def both(stack: Stack, request: pytest.FixtureRequest) -> Iterator[Stack]:
    """Both sides; with the parameter `wide` the second one reads topics with more partitions."""
    with both_sides(stack, is_wide=getattr(request, "param", "") == "wide"):
        yield stack


@pytest.fixture(scope="module")
def moved(both: Stack) -> Stack:
    """The second side has taken over, and the reader reads it."""
    cut_over(both, FORTH, NEW)
    return both


@pytest.mark.parametrize("both", ["same", "wide"], indirect=True)
def test_there_and_back_there_without_a_gap(moved: Stack) -> None:
    """From the first record to those of the second side: 0 records missing, 0 twice."""
    assert {one.topic for one in written_down(moved)} == {OLD, NEW}
    read_once(moved)


def test_there_and_back_back_without_a_gap(moved: Stack) -> None:
    """With the sides exchanged, and a seam of its own: 0 records missing, 0 twice."""
    cut_over(moved, BACK, OLD)
    read_once(moved)


def test_a_dry_run_shows_every_stage(both: Stack) -> None:
    """What would be stopped, moved and started; nothing is changed."""
    trial = begun_other(both, DAG, dry_run=True, **FORTH)
    ended(trial, state="success", outcome=DRY_RUN)
    assert "billing" in log_of(both, trial.run_id, "plan")
    assert reads(both) == OLD


def test_a_cutover_that_was_refused_goes_on(both: Stack) -> None:
    """By the command of GO ON: with the reason that it asks for, and again once an undeclared group is gone."""
    stack = both
    hasty = trigger_other(stack, DAG, application=BLUE, green=GREEN, copier=COPIER, dry_run=True)
    assert finished(stack, hasty) == "failed"
    assert "--param accept_late_loss=" in evidence(stack, hasty)["run"]["outcome_sentence"]
    code, said = followed(stack, hasty)
    assert code == 0, said
    seed(stack.lab.bootstrap, "stranger", [OLD])
    read = begun_other(stack, DAG, dry_run=True, **FORTH)
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
        ("note_point", Moment.STOPPING, INSTANCES),
        ("pause_inputs", Moment.STOPPING, INSTANCES),
        ("certify", Moment.WORKING, INSTANCES),
        ("stop_application", Moment.STOPPING, DEPLOYED.names),
        ("resume_inputs", Moment.STARTING, INSTANCES),
        ("compare_at_seam", Moment.WORKING, INSTANCES),
        ("move_downstream", Moment.STOPPING, (NAME,)),
    ],
)
def test_undo_before_a_group_has_moved_restores_everything(
    both: Stack, task: str, moment: Moment, touched: tuple[str, ...]
) -> None:
    """The run is given up in the middle of a task: all run as before, and the reader has missed nothing."""
    stack = both
    run_id = begun(stack, **FORTH)
    if task != "note_point":
        approved(stack, run_id)
    given_up(stack, run_id, task, moment, touched)
    undone(stack, run_id)
    assert reads(stack) == OLD
    all_run(stack)
    read_once(stack)


def test_undo_after_a_group_has_moved_leaves_it_and_it_goes_back(both: Stack) -> None:
    """The old side starts, the group reads on from the new outputs, and a cutover of its own takes it back."""
    stack = both
    run_id = begun(stack, **FORTH)
    approved(stack, run_id)
    given_up(stack, run_id, "start_application", Moment.WORKING, DEPLOYED.names)
    undone(stack, run_id)
    assert reads(stack) == NEW
    declare(stack, NEW)
    all_run(stack)
    cut_over(stack, BACK, OLD)
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
    run_id = begun(stack, **FORTH)
    until(lambda: states(stack, run_id)["compare_outputs"] == "success", COMPARED_S, "compared", poll_s=0.5)
    # A newer version of a drawn order would replace the wrong one.
    with paused(stack):
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
        differ = next(line for line in said.splitlines() if "↔" in line and "keys differ" in line)
        print(differ)
        assert re.search(
            r": 3 of [\d,]+ keys differ \(limit 0\): 3 changed; fields that differ: \$\.amount of 3", differ
        )
        assert [f"{_text(one)} (changed)" in differ for one in drawn] == [True] * 3
        assert reads(stack) == OLD
        for one in drawn:
            written(stack, one, one.value())
    all_run(stack)
    read_once(stack)


def _text(record: Message) -> str:
    return (record.key() or b"").decode()


def test_it_goes_on_after_a_kill_in_each_hold(both: Stack) -> None:
    """Each task of both holds, and of the move, is killed in its middle and cleared, in one run; then it goes back."""
    stack, touched = both, (*INSTANCES, *DEPLOYED.names, NAME)
    moments = {
        "pause_inputs": Moment.STOPPING,
        "certify": Moment.WORKING,
        "stop_application": Moment.STOPPING,
        "resume_inputs": Moment.WORKING,
        "move_downstream": Moment.STOPPING,
        "start_application": Moment.STARTING,
    }
    run_id = begun(stack, **FORTH)
    killed(stack, run_id, "note_point", Moment.STOPPING, touched)
    approved(stack, run_id)
    for task, moment in moments.items():
        killed(stack, run_id, task, moment, touched)
    completed(stack, run_id)
    declare(stack, NEW)
    print(f"inputs held for {held_s(evidence(stack, run_id))} s")
    read_once(stack)
    cut_over(stack, BACK, OLD)
    read_once(stack)


def test_the_old_side_is_retired(both: Stack) -> None:
    """Not before its readers have moved; then its outputs, its topics and its group go, and the reader reads on.

    The last one here: the first side is gone afterwards.
    """
    stack = both
    early = trigger_other(stack, START, application=BLUE, mode="retire")
    assert finished(stack, early) == "failed"
    assert "its readers have not moved to orders-green" in evidence(stack, early)["run"]["outcome_sentence"]
    cut_over(stack, FORTH, NEW)
    run_id = trigger_other(stack, START, application=BLUE, mode="retire")
    approve(stack, run_id, "approve_plan")
    completed(stack, run_id)
    names = set(AdminClient({"bootstrap.servers": stack.lab.bootstrap}).list_topics(timeout=10).topics)
    assert names & {*OUTPUTS, *OUTPUTS.values(), *COPIES.values()} == {*OUTPUTS.values(), *COPIES.values()}
    internal = {one for one in names if one.endswith(("-changelog", "-repartition"))}
    assert {one for one in internal if not one.startswith(f"{GREEN}-")} == set()
    assert [stack.supervisor.pid(name) for name in DEPLOYED.names] == [None] * len(DEPLOYED.names)
    before = len(written_down(stack))
    until(lambda: len(written_down(stack)) > before, READ_S, f"{NAME} reads on", poll_s=5)
    assert missing_and_doubled(counts_of(written_down(stack))) == (0, 0)


def written(stack: Stack, of: Message, value: bytes | None) -> None:
    """One record that no side has written, with the key and the partition of another one."""
    producer = Producer({"bootstrap.servers": stack.lab.bootstrap})
    producer.produce(of.topic() or "", key=of.key(), value=value, partition=of.partition() or 0)
    producer.flush(30)
