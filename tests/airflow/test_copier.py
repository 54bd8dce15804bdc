"""The shipped copier, live, under traffic: as the second side of a run, and as an application of its own.

One runbook is pretended (tests/world/pretended_copier.py): it changes nothing but the copier.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from kill.moments import Moment, Target, strike
from kstreams_runbooks.model.readings.readings import StreamsReading
from kstreams_runbooks.observe.application.metrics import read_streams
from lab import kafka
from lab.afresh import afresh
from lab.airflow import OTHER_APPROVER
from lab.application import TO_RELEASE, Deployed
from lab.copier import COPIES, TRAFFIC, members
from lab.judge import judged
from lab.shipped_copier import INSTANCES, LIBRARY, NAME, OLDER, RELEASE, metrics_url, shipped_copier
from lab.stack import Stack
from world.endings import COMPLETED, DRY_RUN, NOTHING_CHANGED, STOPPED, held_by
from world.flushing import ACCEPTED
from world.given import declared_as
from world.runs import approved_by_both, command, evidence, finished, log_of, reached, told, trigger_other
from world.two_sides import pretended_dag

pytestmark = pytest.mark.long

DAG = "pretended_copier"
_SHORT = {"bake_s": 1, "gate_interval_s": 0.5, "gate_good_readings": 2}


@pytest.fixture(scope="module")
def before(stack: Stack) -> Iterator[Stack]:
    """The orders application from nothing, behind a copier that copies traffic."""
    afresh(stack, Deployed(release=TO_RELEASE))
    fed = declared_as(stack, limits=_SHORT, control=list(COPIES.values()))
    with fed, shipped_copier(stack, release=OLDER), pretended_dag(stack, DAG):
        stack.supervisor.start(TRAFFIC)
        yield stack


def begun(stack: Stack, **conf: Any) -> str:
    """A run that both teams have approved."""
    run_id = trigger_other(stack, DAG, copier=NAME, **conf)
    approved_by_both(stack, DAG, run_id, "approve_plan")
    return run_id


def pids(stack: Stack) -> list[int | None]:
    """The processes of the copier."""
    return [stack.supervisor.pid(name) for name in INSTANCES]


def test_a_copier_is_stopped_and_started_again(before: Stack) -> None:
    """Both teams approve; the control topics stand still in between, and other processes copy afterwards."""
    stack, earlier = before, pids(before)
    run_id = begun(stack)
    assert finished(stack, run_id) == "success"
    document = evidence(stack, run_id)
    assert document["run"]["outcome"] == COMPLETED
    assert {card["object"] for card in document["cards"]} == {*INSTANCES}
    assert {card["application"] for card in document["cards"]} == {NAME}
    decided = [verdict["name"] for verdict in document["verdicts"]]
    assert "stopped_cleanly" in decided
    assert "still_stopped" in decided
    assert "no process, group orders-passing EMPTY, no open transaction" in log_of(stack, run_id, "certify")
    assert None not in pids(stack)
    assert not {*pids(stack)} & {*earlier}
    assert {message["owner"] for message in told(stack, run_id)} == {"team-orders", "team-passing"}
    assert held_by(stack) == ()


def test_a_dry_run_rehearses_it(before: Stack) -> None:
    """The same processes copy on."""
    stack, earlier = before, pids(before)
    run_id = trigger_other(stack, DAG, copier=NAME, dry_run=True)
    assert stack.api().wait_finished(DAG, run_id, 180) == "success"
    assert f"would stop {INSTANCES[0]}" in log_of(stack, run_id, "stop_application_copier")
    assert f"would start {INSTANCES[0]}" in log_of(stack, run_id, "start_application_copier")
    assert pids(stack) == earlier
    assert evidence(stack, run_id)["run"]["outcome"] == DRY_RUN


def test_an_undo_after_a_kill_starts_it(before: Stack) -> None:
    """The run is killed once the copier is down; undo brings it back."""
    stack = before
    run_id = begun(stack)
    strike(Target(stack, DAG, run_id, "start_application_copier", INSTANCES), Moment.WORKING, 0)
    assert finished(stack, run_id) == "failed"
    assert evidence(stack, run_id)["run"]["outcome"] == STOPPED
    undo = trigger_other(stack, "undo", run=run_id)
    approved_by_both(stack, "undo", undo, "approve_undo")
    assert finished(stack, undo) == "success"
    assert None not in pids(stack)
    assert evidence(stack, undo)["run"]["outcome"] == COMPLETED
    assert all(card["done"] for card in evidence(stack, run_id)["cards"])
    assert held_by(stack) == ()


def test_a_copier_is_an_application_too(before: Stack) -> None:
    """`lag`, `fleet` and `readiness` have it; a reset of it is refused in one sentence."""
    stack = before
    assert NAME in command(stack, "lag")[1]
    assert f"{NAME} @ demo, a copier, owner team-passing" in command(stack, "fleet")[1]
    code, printed = command(stack, "readiness", NAME, "--format", "json")
    assert code in {0, 1}, printed
    [ready] = json.loads(printed)["applications"]
    answers = {one["runbook"]: one for one in ready["runbooks"]}
    for runbook in ("library_bump", "rolling_bounce", "stop_and_restart", "certify_drain"):
        assert answers[runbook]["status"] == "ready", answers[runbook]
    for runbook in ("reset_and_cleanup", "control_topic_flush"):
        assert any("its offsets decide what it copies" in why for why in answers[runbook]["missing"]), answers[runbook]
    run_id = trigger_other(stack, "reset_and_cleanup", application=NAME)
    assert stack.api().wait_finished("reset_and_cleanup", run_id, 120) == "failed"
    assert "reset_and_cleanup is not for a copier" in log_of(stack, run_id, "observe")


def test_it_is_brought_to_another_library_under_traffic(before: Stack) -> None:
    """Two releases of the copier with two releases of Kafka Streams, instance by instance; the gaps are measured."""
    stack = before
    conf = {"application": NAME, "target": RELEASE, "unchanged": ["key", "value_serde", "other_code"]}
    run_id = trigger_other(stack, "library_bump", **conf)
    assert finished(stack, run_id, OTHER_APPROVER) == "success", evidence(stack, run_id)["run"]["outcome_sentence"]
    document = evidence(stack, run_id)
    assert document["run"]["outcome"] == COMPLETED
    for number in range(len(INSTANCES)):
        client = read_streams(metrics_url(stack.lab, number))
        assert isinstance(client, StreamsReading)
        assert (client.version, client.state) == (LIBRARY, "RUNNING")
    assert members(stack, NAME) == len(INSTANCES)
    assert held_by(stack) == ()


def test_an_input_that_no_copier_writes_is_refused(before: Stack) -> None:
    """Stopping the copier would not hold it."""
    stack = before
    with declared_as(stack, inputs=["orders", "customers", "sent-orders"]):
        run_id = trigger_other(stack, DAG, copier=NAME)
        assert stack.api().wait_finished(DAG, run_id, 120) == "failed"
    document = evidence(stack, run_id)
    assert document["run"]["outcome"] == NOTHING_CHANGED
    assert "sent-orders of orders would go on while it is stopped" in document["failures"][-1]["payload"]["sentence"]


def test_a_flush_holds_the_inputs_by_the_copier(before: Stack) -> None:
    """Stopped before the certificate, started once the application is down; nothing is lost behind it (below)."""
    stack, earlier = before, pids(before)
    conf = {"switch": "copier", "copier": NAME, "settings": {"num.stream.threads": 2}, **ACCEPTED}
    run_id = trigger_other(stack, "control_topic_flush", **conf)
    approved_by_both(stack, "control_topic_flush", run_id, "approve_plan")
    assert finished(stack, run_id) == "success", evidence(stack, run_id)["run"]["outcome_sentence"]
    document = evidence(stack, run_id)
    assert document["run"]["outcome"] == COMPLETED
    decided = [verdict["name"] for verdict in document["verdicts"]]
    assert decided.index("stopped_cleanly") < decided.index("certified") < decided.index("flushed")
    assert decided.count("still_stopped") >= 2
    assert not {*pids(stack)} & {*earlier}
    assert held_by(stack) == ()


def test_a_copier_that_somebody_starts_voids_the_hold(before: Stack) -> None:
    """The certificate waits; an instance of the copier is up: refused, and the undo lets the inputs flow."""
    stack = before
    conf = {"switch": "copier", "copier": NAME, "settings": {"num.stream.threads": None}, **ACCEPTED}
    with declared_as(stack, limits={**_SHORT, "gate_good_readings": 500}, control=list(COPIES.values())):
        run_id = trigger_other(stack, "control_topic_flush", **conf)
        approved_by_both(stack, "control_topic_flush", run_id, "approve_plan")
        reached(stack, run_id, "certify", "deferred")
        stack.supervisor.start(INSTANCES[0])
        assert stack.api().wait_finished("control_topic_flush", run_id, 240) == "failed"
    run = evidence(stack, run_id)["run"]
    assert run["outcome"] == STOPPED
    assert INSTANCES[0] in run["outcome_sentence"]
    undo = trigger_other(stack, "undo", run=run_id)
    approved_by_both(stack, "undo", undo, "approve_undo")
    assert finished(stack, undo) == "success", evidence(stack, undo)["run"]["outcome_sentence"]
    assert None not in pids(stack)
    assert held_by(stack) == ()


def test_nothing_is_lost_or_doubled_behind_it(before: Stack) -> None:
    """All that producers sent before, between and after is in the outputs once."""
    stack = before
    stack.supervisor.stop(TRAFFIC)
    kafka.wait_drained(stack.lab.bootstrap, NAME)
    sent = [f"{role}={topic}" for role, topic in zip(("orders", "customers"), COPIES, strict=True)]
    judgement = judged(stack, topics=sent)
    assert (judgement.code, judgement.faults()) == (0, {})
    assert judgement.document["orders_seen"] > 1_000
