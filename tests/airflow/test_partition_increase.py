"""The topics of the orders application grow in place under traffic, behind the shipped copier.

Its owners accept that moved keys begin anew: each begins at 1, every other key goes on, and both are those of the
forecast. Before the growth an undo brings everything back; after it nothing does.
"""

from collections.abc import Iterator

import pytest
from confluent_kafka import OFFSET_END, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from kill.moments import Moment, Target, strike
from kstreams_runbooks.demo.traffic.partitioner import partition_of
from lab import kafka
from lab.application import TO_RELEASE
from lab.copier import TRAFFIC
from lab.judge import judged
from lab.shipped_copier import NAME
from lab.stack import Stack
from world.endings import DRY_RUN, NOTHING_CHANGED, begun_other, completed, ended, held_by
from world.given import declared_as
from world.going_on import followed
from world.grown import (
    AFTER,
    BEFORE,
    COPIER,
    DAG,
    DEPLOYED,
    FORM,
    accepting,
    at_rest,
    behind_its_copier,
    compared,
    partitions,
    rate,
    spark_here,
)
from world.runs import approved_by_both, evidence, failed, finished, log_of, mark_run, reached, trigger_other

pytestmark = pytest.mark.long

_SLOW_S = 300


@pytest.fixture(scope="module", autouse=True)
def spark(stack: Stack) -> Iterator[None]:
    """The forecast and the proof are jobs of Spark."""
    with spark_here(stack):
        yield


@pytest.fixture(scope="module")
def narrow(stack: Stack) -> Iterator[Stack]:
    """Under traffic, with the partitions of today."""
    with behind_its_copier(stack):
        yield stack


def begun(stack: Stack, **conf: object) -> str:
    """A run that both teams have approved."""
    run_id = trigger_other(stack, DAG, **{**FORM, **conf})
    # Spark starts for the forecast.
    reached(stack, run_id, "plan", "success", _SLOW_S)
    approved_by_both(stack, DAG, run_id, "approve_plan")
    return run_id


def deployed(stack: Stack, name: str) -> str:
    """What runbooks have set of an instance."""
    return (stack.lab.instances / name / "deployment.properties").read_text(encoding="latin-1")


def test_a_dry_run_shows_the_forecast_and_every_stage(narrow: Stack) -> None:
    """And changes nothing."""
    trial = begun_other(narrow, DAG, dry_run=True, **FORM)
    ended(trial, state="success", outcome=DRY_RUN)
    assert "would grow topic orders from 4 to 12 partitions" in log_of(narrow, trial.run_id, "grow_topics")
    assert "topic orders-orders-running-store-changelog: " in log_of(narrow, trial.run_id, "forecast_keys")
    assert partitions(narrow) == dict.fromkeys(partitions(narrow), BEFORE)


@pytest.mark.parametrize("task", ["pause_inputs", "certify", "stop_application"])
def test_undo_before_the_growth_brings_everything_back(narrow: Stack, task: str) -> None:
    """The run is given up in a task, which is killed: copier and application run as before."""
    stack = narrow
    run_id = begun(stack)
    strike(Target(stack, DAG, run_id, task, (*DEPLOYED.names, *COPIER)), Moment.WORKING, 0)
    # As long as it has not ended, it holds the application.
    failed(stack, run_id, _SLOW_S)
    undo = trigger_other(stack, "undo", run=run_id)
    approved_by_both(stack, "undo", undo, "approve_undo")
    assert finished(stack, undo) == "success", evidence(stack, undo)["run"]["outcome_sentence"]
    assert all(card["done"] for card in evidence(stack, run_id)["cards"])
    assert partitions(stack) == dict.fromkeys(partitions(stack), BEFORE)
    assert None not in [stack.supervisor.pid(name) for name in (*DEPLOYED.names, *COPIER)]
    assert "mode" not in deployed(stack, COPIER[0])
    assert held_by(stack) == ()
    assert rate(stack)


def test_what_was_undone_has_cost_no_record(narrow: Stack) -> None:
    """Every output is right, whatever was held and stopped before."""
    stack = narrow
    stack.supervisor.stop(TRAFFIC)
    kafka.wait_drained(stack.lab.bootstrap, NAME)
    judgement = judged(stack)
    assert (judgement.code, judgement.faults()) == (0, {})
    stack.supervisor.start(TRAFFIC)


def refused(stack: Stack, **conf: object) -> str:
    """A dry run that is refused before anything is changed; its id."""
    trial = begun_other(stack, DAG, dry_run=True, **{**FORM, **conf})
    ended(trial, state="failed", outcome=NOTHING_CHANGED)
    return trial.run_id


def test_another_number_goes_on(narrow: Stack) -> None:
    """A number that is not larger: the command asks for one, and the run with it completes."""
    code, said = followed(narrow, refused(narrow, partitions=BEFORE), {"N": str(AFTER)})
    assert code == 0, said


def test_somebody_elses_topic_leads_to_a_copier(narrow: Stack) -> None:
    """An input that is not declared as a control topic: the command is that of the runbook that makes it one."""
    with declared_as(narrow, control=[]):
        run_id = refused(narrow)
        assert "written by orders-passing" in evidence(narrow, run_id)["run"]["outcome_sentence"]
        _, said = followed(narrow, run_id, {"COPIER": NAME})
    assert "orders-passing" in said
    assert "hashes by the old number" not in said


def test_a_store_that_keeps_its_content_is_accepted_in_its_declaration(narrow: Stack) -> None:
    """The refusal names it and the way that keeps it; once the loss is accepted, the command of GO ON completes."""
    with accepting(narrow, but=("orders-running-store",)):
        run_id = refused(narrow)
    sentence = evidence(narrow, run_id)["run"]["outcome_sentence"]
    assert "store orders-running-store: keeps content by key" in sentence
    assert "blue/green on wider control topics" in sentence
    code, said = followed(narrow, run_id)
    assert code == 0, said


def test_a_key_in_another_partition_is_refused_until_it_is_gone(narrow: Stack) -> None:
    """One record of one key that murmur2 puts elsewhere; once retention has deleted it, the command completes."""
    stack, key = narrow, b"c-nobody"
    elsewhere = (partition_of(key, BEFORE) + 1) % BEFORE
    producer = Producer({"bootstrap.servers": stack.lab.bootstrap})
    # Without a value: no table keeps anything of it.
    producer.produce("customers", key=key, value=None, partition=elsewhere)
    assert producer.flush(10) == 0
    run_id = refused(stack)
    sentence = evidence(stack, run_id)["run"]["outcome_sentence"]
    assert f"key c-nobody is in partition {elsewhere}" in sentence
    place = TopicPartition("customers", elsewhere, OFFSET_END)
    admin = AdminClient({"bootstrap.servers": stack.lab.bootstrap})
    [deleted] = admin.delete_records([place]).values()
    deleted.result(10)
    code, said = followed(stack, run_id)
    assert code == 0, said


def test_each_moved_key_begins_at_one_and_each_other_goes_on(narrow: Stack) -> None:
    """After the growth an undo is refused, and the run goes on from its growth when that is cleared."""
    stack = narrow
    before = rate(stack)
    run_id = begun(stack)
    reached(stack, run_id, "grow_topics", "success", _SLOW_S)
    mark_run(stack, run_id, "failed")
    trial = begun_other(stack, "undo", run=run_id, dry_run=True)
    sentence = ended(trial, state="failed", outcome=NOTHING_CHANGED, holds=(run_id,))["run"]["outcome_sentence"]
    assert "topic orders has 12 partitions (4 before the run)" in sentence
    assert "Kafka cannot remove partitions" in sentence
    stack.api().clear(DAG, run_id, "grow_topics")
    completed(stack, run_id)
    assert partitions(stack) == dict.fromkeys(partitions(stack), AFTER)
    assert "mode=by-key" in deployed(stack, COPIER[0])
    assert deployed(stack, DEPLOYED.names[0]).split() == [f"release={TO_RELEASE}"]
    after = rate(stack)
    at_rest(stack)
    events, wrong = compared(stack, run_id)
    print(f"{before:,.0f} and {after:,.0f} records a second, {events:,} events counted")
    assert wrong == []


def test_it_grows_once_after_a_kill_of_each_task(stack: Stack) -> None:
    """Each task is killed in its middle and cleared, in one run; the counts are those of a run without a kill.

    The broker is restarted after both calls that change what it has: the growth, and the first offsets.
    """
    moments = {
        "pause_inputs": Moment.STOPPING,
        "stop_application": Moment.STOPPING,
        "grow_topics": Moment.WRITING,
        "set_offsets": Moment.WORKING,
        "resume_inputs": Moment.STARTING,
        "start_application": Moment.STARTING,
        "prove_growth": Moment.WORKING,
    }
    with behind_its_copier(stack):
        run_id = begun(stack)
        for task, moment in moments.items():
            touched = COPIER if task.endswith("_inputs") else DEPLOYED.names
            strike(Target(stack, DAG, run_id, task, touched), moment, 0)
            failed(stack, run_id)
            if task in {"grow_topics", "set_offsets"}:
                kafka.restart_broker(stack.lab, stack.supervisor)
            stack.api().clear(DAG, run_id, task)
        completed(stack, run_id)
        assert partitions(stack) == dict.fromkeys(partitions(stack), AFTER)
        assert rate(stack)
        at_rest(stack)
        _, wrong = compared(stack, run_id)
        assert wrong == []
