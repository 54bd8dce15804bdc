"""A control-topic flush on a real cluster under traffic: a repartition topic goes, and no record with it.

The inputs are swapped: producers go on all the time. The judge looks at five outputs at the end.
"""

from collections.abc import Iterator

import pytest
from confluent_kafka.admin import AdminClient
from kstreams_runbooks.present.evidence.page import next_lines
from lab.application import WITH_REPARTITION, WITHOUT_REPARTITION
from lab.stack import Stack
from world.endings import COMPLETED, DRY_RUN, NOTHING_CHANGED, begun_other, ended, held_by
from world.flushing import DAG, EMPTIES, SHORT, SWAP, busy
from world.given import declared_as
from world.runs import approve, command, evidence, finished, log_of, mark_run, reached

_REPARTITION = "orders-customers-counted-repartition"


@pytest.fixture(scope="module")
def counting(stack: Stack) -> Iterator[Stack]:
    """Two instances that count customers behind a needless repartition topic, under traffic; judged at the end."""
    with busy(stack) as made:
        yield made


def topics(stack: Stack) -> set[str]:
    """Every topic of the cluster."""
    return set(AdminClient({"bootstrap.servers": stack.lab.bootstrap}).list_topics(timeout=10).topics)


def flushed(stack: Stack, release: str) -> str:
    """A run that has brought a release; its id."""
    trial = begun_other(stack, DAG, release=release, **SWAP)
    approve(stack, trial.run_id, "approve_plan")
    state = finished(stack, trial.run_id)
    document = evidence(stack, trial.run_id)
    assert state == "success", document["run"]["outcome_sentence"]
    assert document["run"]["outcome"] == COMPLETED
    assert document["recheck"]["different"] == []
    assert held_by(stack) == ()
    assert not {*EMPTIES} & topics(stack)
    return trial.run_id


@pytest.mark.long
def test_a_dry_run_shows_every_stage(counting: Stack) -> None:
    """What would be done; nothing is changed, no topic is created."""
    trial = begun_other(counting, DAG, release=WITHOUT_REPARTITION, dry_run=True, **SWAP)
    ended(trial, state="success", outcome=DRY_RUN)
    pause = log_of(counting, trial.run_id, "pause_inputs")
    assert "would create topic empty-of-orders-for-orders with 4 partitions" in pause
    assert "would prove that nothing is left to read" in log_of(counting, trial.run_id, "certify")
    assert "inputs held: " in log_of(counting, trial.run_id, "plan")
    assert not {*EMPTIES} & topics(counting)


@pytest.mark.parametrize(
    ("conf", "sentence"),
    [
        ({"empty_topics": {"orders": "customers"}}, "offsets in its log (expected 0): the application would process"),
        pytest.param(
            {"empty_topics": {"rates": "r"}}, "empty_topics: rates is not an input of orders", marks=pytest.mark.long
        ),
        pytest.param({"switch": "manual"}, "longest_hold_min: nothing (expected minutes", marks=pytest.mark.long),
        pytest.param({"switch": "copier"}, "copier: nothing (expected another application)", marks=pytest.mark.long),
    ],
)
def test_bad_input_is_refused_before_anything_is_changed(
    counting: Stack, conf: dict[str, object], sentence: str
) -> None:
    """One sentence, in a dry run too."""
    trial = begun_other(counting, DAG, release=WITHOUT_REPARTITION, dry_run=True, **{**SWAP, **conf})
    document = ended(trial, state="failed", outcome=NOTHING_CHANGED)
    assert sentence in document["run"]["outcome_sentence"]


@pytest.mark.long
def test_undo_brings_held_inputs_back(counting: Stack) -> None:
    """The run is ended while the application reads empty topics: it reads its inputs again, from where they were."""
    with declared_as(counting, limits={**SHORT, "gate_good_readings": 100}):
        trial = begun_other(counting, DAG, release=WITHOUT_REPARTITION, **SWAP)
        approve(counting, trial.run_id, "approve_plan")
        reached(counting, trial.run_id, "certify", "deferred")
        mark_run(counting, trial.run_id, "failed")
    assert topics(counting) >= {*EMPTIES}
    back = begun_other(counting, "undo", run=trial.run_id)
    approve(counting, back.run_id, "approve_undo")
    assert finished(counting, back.run_id) == "success", evidence(counting, back.run_id)["run"]["outcome_sentence"]
    assert all(card["done"] for card in evidence(counting, trial.run_id)["cards"])
    assert held_by(counting) == ()
    assert not {*EMPTIES} & topics(counting)


def test_a_repartition_topic_goes_and_no_record_with_it(counting: Stack) -> None:
    """It is emptied, and listed; its way back is the flush back, and an undo is refused with that command."""
    there = flushed(counting, WITHOUT_REPARTITION)
    code, shown = command(counting, "orphans", "orders")
    assert code == 1
    assert _REPARTITION in shown
    undo = begun_other(counting, "undo", run=there, dry_run=True)
    document = ended(undo, state="failed", outcome=NOTHING_CHANGED)
    again = f"kstreams-runbooks trigger {DAG} --application orders --param release={WITH_REPARTITION}"
    assert again in document["run"]["outcome_sentence"]
    assert next_lines(evidence(counting, there))[1].strip().startswith(again)


@pytest.mark.long
def test_a_flush_back_reads_nothing_again(counting: Stack) -> None:
    """There, and the way back over the topic that was emptied."""
    flushed(counting, WITHOUT_REPARTITION)
    flushed(counting, WITH_REPARTITION)
