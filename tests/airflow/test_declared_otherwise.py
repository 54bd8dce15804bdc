"""The library bump of an application whose fleet entry says something else: real runs, real refusals."""

import re
import time
from pathlib import Path

import pytest
import yaml
from given import declared_as
from lab import kafka, report
from lab.afresh import afresh
from lab.airflow import APPROVER
from lab.application import FROM_RELEASE, Deployed, wait_running
from lab.judge import judged
from lab.stack import Stack
from runs import DAG, evidence, finished, log_of, question, states, trigger

_NOBODY_LISTENS = "http://127.0.0.1:9/jolokia"
_CHANGED_NOTHING = {"refused or rejected, nothing changed", "inconclusive"}
# Well under the session timeout (45 s); how short a restart is by itself, test_dynamic_membership.py holds.
_NOBODY_WAITED_S = 30


@pytest.fixture(scope="module")
def fresh(stack: Stack) -> Stack:
    """Two instances on the old release that nobody has touched."""
    afresh(stack, Deployed())
    return stack


def refused(stack: Stack, run_id: str) -> str:
    """The sentence with which a run ended that changed nothing."""
    assert stack.api().wait_finished(DAG, run_id, 240) == "failed"
    document = evidence(stack, run_id)
    assert document["run"]["outcome"] in _CHANGED_NOTHING
    assert document["cards"] == document["writes"] == []
    return str(document["run"]["outcome_sentence"])


def test_nobody_answers_in_time(fresh: Stack) -> None:
    """An approval that nobody gives ends the run; it is never taken for a yes."""
    with declared_as(fresh, limits={"approval_timeout_h": 0.003}):
        run_id = trigger(fresh)
        assert "approve_plan: no answer within 0.003 h" in refused(fresh, run_id)


def test_an_approval_that_has_expired_opens_nothing(fresh: Stack) -> None:
    """A yes holds for its time only: a run that is cleared weeks later asks again."""
    with declared_as(fresh, limits={"approval_expiry_h": 0.00001}):
        run_id = trigger(fresh)
        question(fresh, run_id)
        fresh.api(APPROVER).answer(DAG, run_id, "approve_plan")
        sentence = refused(fresh, run_id)
    assert f"the approval by {APPROVER} expired" in sentence
    assert "clear approve_plan and what follows it" in sentence


def test_an_instance_that_cannot_be_read_is_inconclusive(fresh: Stack) -> None:
    """No metrics of one instance: nobody can say, so nothing is planned."""
    entry = yaml.safe_load((fresh.lab.config / "applications" / "orders.yaml").read_text(encoding="utf-8"))
    entry["deployer"]["instances"][1]["metrics"] = _NOBODY_LISTENS
    with declared_as(fresh, deployer=entry["deployer"]):
        run_id = trigger(fresh)
        sentence = refused(fresh, run_id)
    assert "orders-2: jolokia http://127.0.0.1:9/jolokia: connection refused" in sentence
    assert evidence(fresh, run_id)["run"]["outcome"] == "inconclusive"
    assert "Traceback" not in log_of(fresh, run_id, "check")


def test_a_broker_that_does_not_answer_is_asked_again_and_then_named(fresh: Stack, elsewhere: str) -> None:
    """An unreachable cluster ends the run with its address, before anything is changed."""
    with declared_as(fresh, cluster=elsewhere):
        run_id = trigger(fresh)
        sentence = refused(fresh, run_id)
    assert "Kafka at 127.0.0.1:9: no answer" in sentence
    tasks = fresh.api().tasks(DAG, run_id)
    assert tasks["observe"]["try_number"] == 3
    assert {task["queue"] for task in tasks.values()} == {"near-kafka"}
    assert "Traceback" not in log_of(fresh, run_id, "observe")


@pytest.fixture
def elsewhere(fresh: Stack) -> str:
    """A cluster whose brokers do not answer, with a worker queue of its own."""
    connection = {
        "connection_id": "kafka_away",
        "conn_type": "kafka",
        "extra": '{"bootstrap.servers": "127.0.0.1:9"}',
    }
    fresh.api().call("POST", "/connections", connection)
    clusters = fresh.lab.config / "clusters"
    entry = yaml.safe_load(Path(clusters / "demo.yaml").read_text(encoding="utf-8"))
    entry |= {"connection": "kafka_away", "queue": "near-kafka"}
    (clusters / "away.yaml").write_text(yaml.safe_dump(entry), encoding="utf-8")
    return "away"


def test_an_application_that_does_not_run_is_not_bumped(fresh: Stack) -> None:
    """Down is not a state to start an upgrade from."""
    names = Deployed().names
    fresh.supervisor.stop(*names)
    try:
        assert "application orders: no instance runs (expected 2); start it first" in refused(fresh, trigger(fresh))
    finally:
        fresh.supervisor.start(*names)
        wait_running(fresh.lab, fresh.supervisor, names)


def test_one_bounce_and_no_static_membership(stack: Stack) -> None:
    """Declared without formats that changed, one bounce suffices; the second half of the run says so and succeeds.

    Without static membership each stopped instance's members are removed from the group: nobody waits for a session
    timeout, which is Kafka's default here, and no task of the other instance is closed dirty for it. What is declared
    decides: this application does aggregate a table, so its table counts are not looked at.
    """
    afresh(stack, Deployed(static_membership=False))
    with declared_as(stack, static_membership=False, table_aggregations="no", foreign_key_joins="no"):
        stack.start_traffic()
        time.sleep(10)
        run_id = trigger(stack)
        assert finished(stack, run_id) == "success"
        assert set(states(stack, run_id).values()) == {"success"}
        assert "nothing to ask: bounce 2 is not needed" in log_of(stack, run_id, "approve_bounce_2")
        for task_id in ("bounce_2_first", "bounce_2_rest"):
            assert "bounce 2 is not needed" in log_of(stack, run_id, task_id)
        document = evidence(stack, run_id)
    judgement = judged(stack)
    assert "orders-running" not in judgement.faults()
    assert [write["payload"]["bounce"] for write in document["writes"]] == [1, 1]
    assert "members of the stopped instance removed" in log_of(stack, run_id, "bounce_1_first")
    outputs = kafka.appended(stack.lab.bootstrap, "orders-running")
    for rolled in report.rolled_in(document):
        gap = report.gap(outputs, rolled)
        assert gap is not None
        assert gap <= _NOBODY_WAITED_S, rolled
    for name in Deployed().names:
        log = (stack.lab.logs / f"{name}.log").read_text(encoding="utf-8")
        assert [start.version for start in report.starts_in(log)] == [FROM_RELEASE, "4.3.1"]
        assert [start.upgrade_from for start in report.starts_in(log)] == [None, None]
        assert closed_dirty(log) <= without_offsets(log)


def closed_dirty(log: str) -> set[str]:
    """Tasks that an instance closed without a commit."""
    return set(re.findall(r"task \[(\d+_\d+)\] Closed dirty", log))


def without_offsets(log: str) -> set[str]:
    """Tasks that an instance found on its disk from an earlier assignment, without the offsets of their stores.

    4.3 closes them dirty and restores them before it takes them over: nothing that was processed is lost with them.
    """
    return set(re.findall(r"stream-task \[(\d+_\d+)\] State store \S+ did not find checkpoint offsets while", log))
