"""Control-topic flushes that are disturbed while they hold the inputs: undone, written to, started by hand.

One application under traffic for all of them, and one judgement of everything at the end.
"""

import re
import shlex
import time
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from kstreams_runbooks.properties import parse
from lab import kafka
from lab.airflow import APPROVER
from lab.application import WITH_REPARTITION, WITHOUT_REPARTITION, Deployed
from lab.follow import follow
from lab.stack import Stack
from lab.supervise import until
from world.endings import COMPLETED, NOTHING_CHANGED, STOPPED, Trial, begun_other, ended, held_by
from world.flushing import ACCEPTED, DAG, EMPTIES, SHORT, SWAP, busy
from world.given import declared_as
from world.runs import approve, command, evidence, finished, mark_run, question, reached

pytestmark = pytest.mark.long

# The certificate does not come before a test has done what it does.
_NEVER = {**SHORT, "gate_good_readings": 500}
_STEPS = ("pause_inputs", "certify", "stop_application", "resume_inputs")
_WARM_S = 5


@pytest.fixture(scope="module")
def counting(stack: Stack) -> Iterator[Stack]:
    """Two instances that count customers behind a needless repartition topic, under traffic; judged at the end."""
    with busy(stack) as made:
        yield made


def deployed(stack: Stack) -> list[dict[str, str]]:
    """What each instance is set to."""
    files = [stack.lab.instances / name / "deployment.properties" for name in Deployed().names]
    return [parse(file.read_text(encoding="latin-1")) for file in files]


def other(stack: Stack) -> str:
    """The release that does not run: a flush leads there, the next one back."""
    return WITHOUT_REPARTITION if deployed(stack)[0]["release"] == WITH_REPARTITION else WITH_REPARTITION


def begun_flush(stack: Stack) -> Trial:
    """A flush to the other release that was approved."""
    trial = begun_other(stack, DAG, release=other(stack), **SWAP)
    approve(stack, trial.run_id, "approve_plan")
    return trial


def done(stack: Stack, trial: Trial) -> None:
    """The run has completed."""
    state, run = finished(stack, trial.run_id), evidence(stack, trial.run_id)["run"]
    assert (state, run["outcome"]) == ("success", COMPLETED), run["outcome_sentence"]
    assert held_by(stack) == ()


def undone(stack: Stack, trial: Trial, before: list[dict[str, str]]) -> None:
    """An undo has brought everything back: cards, holds, release and settings, topics."""
    done(stack, begun_other(stack, "undo", run=trial.run_id))
    assert all(card["done"] for card in evidence(stack, trial.run_id)["cards"])
    assert not {*EMPTIES} & topics(stack)
    assert deployed(stack) == before


def topics(stack: Stack) -> set[str]:
    """Every topic of the cluster."""
    return set(AdminClient({"bootstrap.servers": stack.lab.bootstrap}).list_topics(timeout=10).topics)


def refused(stack: Stack, trial: Trial) -> str:
    """The sentence of a run that has stopped in its middle."""
    run: Mapping[str, Any] = ended_run(stack, trial)
    assert run["outcome"] == STOPPED
    return str(run["outcome_sentence"])


def ended_run(stack: Stack, trial: Trial) -> Mapping[str, Any]:
    """The run as the ledger has it, once it has failed."""
    assert stack.api().wait_finished(DAG, trial.run_id, 240) == "failed"
    run: Mapping[str, Any] = evidence(stack, trial.run_id)["run"]
    return run


@pytest.mark.parametrize("step", _STEPS)
def test_an_undo_after_each_step_brings_the_inputs_back(counting: Stack, step: str) -> None:
    """The run is ended by Mark failed while the inputs are held or the application is down."""
    before, trial = deployed(counting), begun_flush(counting)
    reached(counting, trial.run_id, step, "success")
    mark_run(counting, trial.run_id, "failed")
    undone(counting, trial, before)


@pytest.mark.parametrize("step", [*_STEPS, "clear_state", "start_application", "wait_caught_up"])
def test_a_broker_that_restarts_in_the_middle_of_a_step(counting: Stack, step: str) -> None:
    """The run goes on, or the failed task is cleared."""
    trial = begun_flush(counting)
    until(lambda: counting.api().tasks(DAG, trial.run_id)[step]["start_date"], 120, f"{step} has begun", poll_s=0.1)
    kafka.restart_broker(counting.lab, counting.supervisor)
    if finished(counting, trial.run_id) == "failed":
        tasks = counting.api().tasks(DAG, trial.run_id).items()
        [failed] = [name for name, one in tasks if one["state"] == "failed" and name != "conclude"]
        counting.api().clear(DAG, trial.run_id, failed)
    done(counting, trial)


def test_a_record_in_an_empty_topic_voids_the_hold(counting: Stack) -> None:
    """Aborted, so that no instance has processed it; the ends of the topic show it all the same."""
    before = deployed(counting)
    with declared_as(counting, limits=_NEVER):
        trial = begun_flush(counting)
        reached(counting, trial.run_id, "certify", "deferred")
        producer = Producer({"bootstrap.servers": counting.lab.bootstrap, "transactional.id": "astray"})
        producer.init_transactions(10)
        producer.begin_transaction()
        producer.produce(EMPTIES[0], "astray", partition=0)
        assert producer.flush(10) == 0
        producer.abort_transaction(10)
        sentence = rf"{EMPTIES[0]}-0: [12] offsets were written to the empty topic \(limit 0\)"
        assert re.search(sentence, refused(counting, trial))
    undone(counting, trial, before)


def test_a_record_in_a_given_topic_after_the_plan(counting: Stack) -> None:
    """Nothing has been stopped yet: the run is refused before that."""
    given = {"orders": "given-orders", "customers": "given-customers"}
    kafka.create_topics(counting.lab.bootstrap, given.values())
    trial = begun_other(counting, DAG, release=other(counting), **SWAP, empty_topics=given)
    question(counting, trial.run_id)
    producer = Producer({"bootstrap.servers": counting.lab.bootstrap})
    producer.produce(given["orders"], "astray", partition=0)
    assert producer.flush(10) == 0
    approve(counting, trial.run_id, "approve_plan")
    document = ended(trial, state="failed", outcome=NOTHING_CHANGED)
    assert "given-orders" in document["run"]["outcome_sentence"]


def test_an_instance_that_dies_on_the_empty_topics_stays_on_them(counting: Stack) -> None:
    """Somebody starts it again: it reads no input; the run completes."""
    with declared_as(counting, limits={**SHORT, "gate_good_readings": 40}):
        trial = begun_flush(counting)
        reached(counting, trial.run_id, "certify", "deferred")
        counting.supervisor.stop("orders-1")
        counting.supervisor.start("orders-1")
        done(counting, trial)


def test_an_instance_that_is_started_by_hand_while_a_person_holds_the_inputs(counting: Stack) -> None:
    """It is up when the new version has to start: the certificate is void, and the undo brings the old one back."""
    conf = {"switch": "manual", "longest_hold_min": 60, "without_key_check": True, **ACCEPTED}
    before, trial = deployed(counting), begun_other(counting, DAG, release=other(counting), **conf)
    approve(counting, trial.run_id, "approve_plan")
    question(counting, trial.run_id, "pause the producers")
    counting.stop_traffic()
    counting.api(APPROVER).answer(DAG, trial.run_id, "pause_inputs", "Stage 1 is done")
    question(counting, trial.run_id, "resume the producers")
    counting.supervisor.start("orders-1")
    counting.start_traffic()
    counting.api(APPROVER).answer(DAG, trial.run_id, "resume_inputs", "Stage 4 is done")
    assert re.search("orders-1|the certificate is void", refused(counting, trial))
    undo = begun_other(counting, "undo", run=trial.run_id)
    approve(counting, undo.run_id, "approve_undo")
    asked = question(counting, undo.run_id, "resume the producers")
    counting.api(APPROVER).answer("undo", undo.run_id, "undo", asked["options"][0])
    done(counting, undo)
    assert deployed(counting) == before


def test_the_way_back_of_a_release_with_a_topic_of_its_own_is_a_flush(counting: Stack) -> None:
    """Its undo is refused with a command, which is run as it is printed: no record of the topic is lost."""
    if other(counting) == WITHOUT_REPARTITION:
        done(counting, begun_flush(counting))
    before, there = deployed(counting), begun_flush(counting)
    done(counting, there)
    time.sleep(_WARM_S)
    refusal = ended(begun_other(counting, "undo", run=there.run_id), state="failed", outcome=NOTHING_CHANGED)
    [printed] = re.findall(rf"kstreams-runbooks (trigger {DAG} .+?);", refusal["run"]["outcome_sentence"])
    code, shown = command(
        counting, *shlex.split(printed), "--param", "without_key_check=true", "--execute", "--run-id", "flush-back"
    )
    assert code == 0, shown
    assert follow(counting.api(), DAG, "flush-back", approver=counting.api(APPROVER)) == "success"
    run = evidence(counting, "flush-back")["run"]
    assert run["outcome"] == COMPLETED, run["outcome_sentence"]
    assert deployed(counting) == before
