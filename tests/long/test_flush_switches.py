"""Control-topic flushes under traffic: by a person, with dynamic members and threads, of a switched optimization."""

from collections.abc import Mapping
from typing import Any

import pytest
from lab.airflow import APPROVER
from lab.application import WITH_REPARTITION, WITHOUT_REPARTITION, Deployed
from lab.stack import Stack
from world.endings import COMPLETED, begun_other, held_by
from world.flushing import ACCEPTED, DAG, SWAP, busy
from world.runs import approve, evidence, finished, log_of, question

pytestmark = pytest.mark.long

_MERGE = "topology.optimization"
_MERGED = "orders-orders-audited-latest-store-repartition"


def done(stack: Stack, run_id: str) -> Mapping[str, Any]:
    """The evidence of a flush that has completed."""
    state, document = finished(stack, run_id), evidence(stack, run_id)
    assert state == "success", document["run"]["outcome_sentence"]
    assert document["run"]["outcome"] == COMPLETED
    assert held_by(stack) == ()
    return document


def flushed(stack: Stack, **conf: Any) -> Mapping[str, Any]:
    """The evidence of a flush by swapped inputs that was approved."""
    trial = begun_other(stack, DAG, **SWAP, **conf)
    approve(stack, trial.run_id, "approve_plan")
    return done(stack, trial.run_id)


def test_a_person_pauses_and_resumes_the_producers(stack: Stack) -> None:
    """The run sees the inputs rest before it certifies, and asks to resume once the application is down."""
    with busy(stack, Deployed(release=WITH_REPARTITION)):
        conf = {"switch": "manual", "longest_hold_min": 60, "without_key_check": True, **ACCEPTED}
        trial = begun_other(stack, DAG, release=WITHOUT_REPARTITION, **conf)
        approve(stack, trial.run_id, "approve_plan")
        question(stack, trial.run_id, "pause the producers of orders, customers")
        stack.stop_traffic()
        stack.api(APPROVER).answer(DAG, trial.run_id, "pause_inputs", "Stage 1 is done")
        question(stack, trial.run_id, "resume the producers of orders, customers")
        stack.start_traffic()
        stack.api(APPROVER).answer(DAG, trial.run_id, "resume_inputs", "Stage 4 is done")
        done(stack, trial.run_id)
        assert "the same ends in 2 readings" in log_of(stack, trial.run_id, "pause_inputs", 1)


def test_dynamic_members_with_two_threads_each(stack: Stack) -> None:
    """Members come back under other names."""
    with busy(stack, Deployed(release=WITH_REPARTITION, static_membership=False, threads=2), static_membership=False):
        flushed(stack, release=WITHOUT_REPARTITION)


def test_an_optimization_is_switched_on_and_off(stack: Stack) -> None:
    """Two repartition topics become one and two again, as the descriptions of what runs show."""
    settings = {"audit.counts": "true"}
    with busy(stack, Deployed(release=WITH_REPARTITION, settings=settings)):
        merged = flushed(stack, settings={_MERGE: "merge.repartition.topics"})
        assert _MERGED in read_by(merged, 0) - read_by(merged, -1)
        split = flushed(stack, settings={_MERGE: None})
        assert _MERGED in read_by(split, -1) - read_by(split, 0)


def read_by(document: Mapping[str, Any], reading: int) -> set[str]:
    """The topics that the application read at one of the readings that a run kept."""
    kept = [one["payload"] for one in document["readings"] if one["name"] == "application"]
    return {row["topic"] for row in kept[reading]["partitions"]}
