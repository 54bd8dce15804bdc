"""A reset of the real application under traffic: it starts over, and each record of its inputs counts once.

The reset writes to new outputs, which the judge can compare with the inputs: in the old ones the results of before
would be duplicates. All outputs are judged: they do not depend on the order of records, but for the windowed one, whose
grace is longer than the history here.
"""

import time
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.model.readings.orphans import KeptOrphan
from kstreams_runbooks.model.readings.readings import TopicReading
from kstreams_runbooks.model.times import DAY_MS
from kstreams_runbooks.model.writes import CommittedOffset
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.kafka.saved_offsets import read_saved
from lab import kafka, started_over
from lab.afresh import afresh, empty_group
from lab.application import TO_RELEASE, Deployed
from lab.judge import judged
from lab.neighbour import is_running, neighbour
from lab.stack import Stack
from lab.started_over import LONGER
from lab.supervise import until
from world.endings import DRY_RUN, NOTHING_CHANGED, begun_other, ended, held_by
from world.given import declared_as
from world.resetting import DAG, SHORT, declared, done, write
from world.runs import approve, evidence, finished, log_of, mark_run, reached


@pytest.fixture(scope="module")
def busy(stack: Stack) -> Iterator[Stack]:
    """Two instances that have written results, under traffic."""
    afresh(stack, Deployed(release=TO_RELEASE))
    with declared(stack):
        write(stack)
        yield stack
        stack.stop_traffic()


def internal(stack: Stack, group: str = started_over.APPLICATION) -> dict[str, TopicReading]:
    """The internal topics of an application, by name."""
    return started_over.internal(stack.lab.bootstrap, group)


def committed(stack: Stack, topic: str) -> Mapping[tuple[str, int], CommittedOffset]:
    """Everything that the group has committed on a topic."""
    with ClusterReader({"bootstrap.servers": stack.lab.bootstrap}) as reader:
        saved = read_saved(reader, "orders").by_place()
    return {place: one for place, one in saved.items() if place[0] == topic}


def test_a_dry_run_shows_what_would_go_and_changes_nothing(busy: Stack) -> None:
    """Every stage, the topics by id, and the records that are read again."""
    before = internal(busy)
    trial = begun_other(busy, DAG, dry_run=True)
    document = ended(trial, state="success", outcome=DRY_RUN)
    assert document["recheck"]["different"] == []
    log = log_of(busy, trial.run_id, "plan")
    for name, topic in before.items():
        assert f"{name} (id {topic.topic_id}, 4 partitions" in log
    assert "would create topic orders-" in log_of(busy, trial.run_id, "create_topics")
    assert "would delete topic" in log_of(busy, trial.run_id, "delete_topics")
    assert "would be cleared" in log_of(busy, trial.run_id, "clear_state")
    assert internal(busy) == before


@pytest.mark.parametrize(
    ("conf", "sentence"),
    [
        ({"targets": {"rates": "earliest"}}, "target of rates: is not an input"),
        pytest.param({"targets": {"orders": "2999-01-01T00:00:00Z"}}, "is in the future", marks=pytest.mark.long),
        pytest.param({"mode": "offsets"}, "mode offsets: has no target", marks=pytest.mark.long),
        pytest.param({"mode": "state", "targets": {"orders": "latest"}}, "sets no offsets", marks=pytest.mark.long),
        pytest.param(
            {"mode": "offsets", "targets": {"orders": "earliest"}}, "are counted twice", marks=pytest.mark.long
        ),
    ],
)
def test_bad_input_is_refused_before_anything_is_changed(busy: Stack, conf: dict[str, Any], sentence: str) -> None:
    """One sentence, in a dry run too."""
    document = ended(begun_other(busy, DAG, dry_run=True, **conf), state="failed", outcome=NOTHING_CHANGED)
    assert sentence in document["run"]["outcome_sentence"]


@pytest.mark.long
@pytest.mark.parametrize(("mode", "judged_too"), [("reset", False), ("state", True)])
def test_a_reset_that_keeps_changelogs_judges_what_it_brings(busy: Stack, mode: str, *, judged_too: bool) -> None:
    """A thread more reaches every store that stays; a whole reset leaves none of before."""
    trial = begun_other(busy, DAG, dry_run=True, mode=mode, settings={"num.stream.threads": 2})
    ended(trial, state="success", outcome=DRY_RUN)
    compared = "by restarting all at once: nothing speaks against it" in log_of(busy, trial.run_id, "plan")
    assert compared is judged_too


@pytest.mark.long
def test_an_undo_before_the_deletion_is_whole(busy: Stack) -> None:
    """The run ends once local state is gone: every instance restores it, the topics are those of before."""
    before = internal(busy)
    with declared_as(busy, limits={**SHORT, "gate_good_readings": 100}):
        trial = begun_other(busy, DAG)
        approve(busy, trial.run_id, "approve_plan")
        reached(busy, trial.run_id, "delete_topics", "running")
        mark_run(busy, trial.run_id, "failed")
    undone(busy, trial.run_id)
    assert {name: one.topic_id for name, one in internal(busy).items()} == {
        name: one.topic_id for name, one in before.items()
    }


def undone(stack: Stack, run_id: str) -> None:
    """Take a run back, with all its cards."""
    back = begun_other(stack, "undo", run=run_id)
    approve(stack, back.run_id, "approve_undo")
    assert finished(stack, back.run_id) == "success", evidence(stack, back.run_id)["run"]["outcome_sentence"]
    assert all(card["done"] for card in evidence(stack, run_id)["cards"])
    assert held_by(stack) == ()


def test_only_state_goes_and_nothing_is_processed_twice(busy: Stack) -> None:
    """Under traffic; every output is right, duplicates counted."""
    run_id = done(busy, mode="state")
    assert "local state is gone on orders-1, orders-2" in log_of(busy, run_id, "clear_state")
    assert "local state is gone on orders-1, orders-2" in log_of(busy, run_id, "start_application")
    judgement = judged(busy)
    assert (judgement.code, judgement.faults()) == (0, {})


@pytest.mark.long
def test_offsets_alone_and_back_with_their_metadata(busy: Stack) -> None:
    """A table is read again; the undo brings each offset back as it was, byte by byte."""
    busy.stop_traffic()
    kafka.wait_drained(busy.lab.bootstrap, "orders")
    before = committed(busy, "customers")
    run_id = done(busy, mode="offsets", targets={"customers": "earliest"})
    [facts] = [card["facts"] for card in evidence(busy, run_id)["cards"] if card["kind"] == "offsets_set"]
    assert {one["topic"] for one in facts["after"]} == {"customers"}
    assert {(one["offset"], one["metadata"]) for one in facts["after"]} == {(0, "")}
    undone(busy, run_id)
    assert committed(busy, "customers") == before


@pytest.mark.long
def test_a_changelog_that_a_run_left_behind_is_retired(busy: Stack) -> None:
    """By name and id, watched for five minutes; the topics that the application uses stay, and nothing is stopped."""
    left = "orders-left-behind-changelog"
    kafka.create_topics(busy.lab.bootstrap, [left])
    until(lambda: left in internal(busy), 20, f"{left} is there")
    before = internal(busy)
    week_ago = time.time_ns() // 1_000_000 - 8 * DAY_MS
    ledger = Ledger.open(busy.environment()["KSTREAMS_RUNBOOKS_LEDGER"])
    earlier = begun_other(busy, DAG, dry_run=True)
    ended(earlier, state="success", outcome=DRY_RUN)
    ledger.keep_orphans(
        [KeptOrphan(f"{DAG}/{earlier.run_id}", left, before[left].topic_id, "demo", "orders", week_ago)]
    )
    done(busy, mode="retire")
    assert internal(busy) == {name: topic for name, topic in before.items() if name != left}


@pytest.mark.long
def test_an_application_out_of_use_is_retired(stack: Stack) -> None:
    """Its instances are down: its group and its internal topics go, and stay gone; everything else is as before."""
    afresh(stack, Deployed(release=TO_RELEASE))
    with declared(stack), neighbour(stack):
        write(stack)
        stack.stop_traffic()
        stack.supervisor.stop(*Deployed().names)
        empty_group(stack.lab.bootstrap, started_over.APPLICATION)
        before, others = internal(stack), internal(stack, LONGER)
        assert before
        run_id = done(stack, mode="retire", retire="application")
        assert "a client may create one again" in log_of(stack, run_id, "verify")
        assert (internal(stack), internal(stack, LONGER)) == ({}, others)
        assert is_running(stack)
        assert all(kafka.exists(stack.lab.bootstrap, topic) for topic in (*kafka.INPUTS, *kafka.OUTPUTS))
        assert committed(stack, "orders") == {}


@pytest.mark.long
def test_cleaned_outputs_have_each_result_once(stack: Stack) -> None:
    """Nothing is sent meanwhile: what the plan has shown is all that the outputs had."""
    afresh(stack, Deployed(release=TO_RELEASE))
    with declared(stack):
        write(stack)
        stack.stop_traffic()
        kafka.wait_drained(stack.lab.bootstrap, started_over.APPLICATION)
        run_id = done(stack, clean_outputs=[*kafka.OUTPUTS])
        cards = [card["facts"] for card in evidence(stack, run_id)["cards"] if card["kind"] == "records_deleted"]
        assert [facts["name"] for facts in cards] == [*kafka.OUTPUTS]
        assert all(offset > 0 for _, offset in cards[0]["first_left"])
        judgement = judged(stack)
        assert judgement.faults() == {}
        outputs = [one for one in judgement.document["outputs"] if one["output"] != "windowed"]
        assert all(one["seen"] == one["expected"] > 0 for one in outputs)
        # That is all that the judge doubts.
        assert all("earlier records were deleted" in reason for one in outputs for reason in one["reasons"])


@pytest.mark.long
def test_a_reset_builds_everything_again(stack: Stack) -> None:
    """New topics, empty state, every record of the inputs once in new outputs; the neighbour is untouched."""
    afresh(stack, Deployed(release=TO_RELEASE))
    kafka.create_topics(stack.lab.bootstrap, started_over.outputs("again-").values())
    with declared(stack), neighbour(stack):
        write(stack)
        before, others = internal(stack), internal(stack, LONGER)
        run_id = done(stack, settings=started_over.outputs("again-"))
        now = internal(stack)
        assert now.keys() == before.keys()
        assert not {one.topic_id for one in now.values()} & {one.topic_id for one in before.values()}
        assert {name: (one.partitions, one.configs) for name, one in now.items()} == {
            name: (one.partitions, one.configs) for name, one in before.items()
        }
        _began_at_zero(stack, run_id, [name for name in now if not name.endswith("-changelog")])
        for task in ("clear_state", "start_application"):
            assert "local state is gone on orders-1, orders-2" in log_of(stack, run_id, task)
        assert internal(stack, LONGER) == others
        assert is_running(stack)
        judgement = judged(stack, topics=started_over.judged_outputs("again-"))
        assert judgement.only_late_windows, judgement.faults()


@pytest.mark.long
def test_a_streams_group_is_reset_on_its_topology(stack: Stack) -> None:
    """KIP-1071: its members leave by themselves, and the broker takes the new topics for those of its topology."""
    deployed = Deployed(release=TO_RELEASE, static_membership=False, settings={"group.protocol": "streams"})
    afresh(stack, deployed)
    kafka.create_topics(stack.lab.bootstrap, started_over.outputs("streams-").values())
    with declared_as(stack, limits=SHORT, static_membership=False, **started_over.fields(stack.lab)):
        write(stack)
        before = internal(stack)
        run_id = done(stack, settings=started_over.outputs("streams-"))
        assert "is a streams group: its members leave" in log_of(stack, run_id, "stop_application")
        now = internal(stack)
        assert now.keys() == before.keys()
        assert not {one.topic_id for one in now.values()} & {one.topic_id for one in before.values()}
        judgement = judged(stack, topics=started_over.judged_outputs("streams-"))
        assert judgement.only_late_windows, judgement.faults()


def _began_at_zero(stack: Stack, run_id: str, topics: list[str]) -> None:
    """Each partition of the new repartition topics, and of the inputs, has its first offset."""
    cards = [card["facts"] for card in evidence(stack, run_id)["cards"] if card["kind"] == "offsets_set"]
    first, inputs = ({(one["topic"], one["partition"]): one["offset"] for one in facts["after"]} for facts in cards)
    assert first == {(name, number): 0 for name in topics for number in range(kafka.PARTITIONS)}
    assert inputs == {(name, number): 0 for name in kafka.INPUTS for number in range(kafka.PARTITIONS)}
