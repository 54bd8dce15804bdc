"""The library bump of an application whose fleet entry says something else: real runs, real refusals."""

import re
import time
from pathlib import Path

import pytest
import yaml
from endings import COMPLETED, INCONCLUSIVE, NOTHING_CHANGED, begun, ended
from given import declared_as
from lab import kafka, report
from lab.afresh import afresh
from lab.application import FROM_RELEASE, Deployed, wait_running
from lab.judge import judged
from lab.stack import Stack
from runs import DAG, finished, log_of, states

_NOBODY_LISTENS = "http://127.0.0.1:9/jolokia"
# Well under the session timeout (45 s); how short a restart is by itself, test_dynamic_membership.py holds.
_NOBODY_WAITED_S = 30


def refused(stack: Stack, outcome: str = NOTHING_CHANGED) -> tuple[str, str]:
    """Run id and sentence of a run that ends having changed nothing."""
    trial = begun(stack)
    document = ended(trial, state="failed", outcome=outcome)
    return trial.run_id, str(document["run"]["outcome_sentence"])


def test_an_instance_that_cannot_be_read_is_inconclusive(fresh: Stack) -> None:
    """No metrics of one instance: nobody can say, so nothing is planned."""
    entry = yaml.safe_load((fresh.lab.config / "applications" / "orders.yaml").read_text(encoding="utf-8"))
    entry["deployer"]["instances"][1]["metrics"] = _NOBODY_LISTENS
    with declared_as(fresh, deployer=entry["deployer"]):
        run_id, sentence = refused(fresh, INCONCLUSIVE)
    assert "orders-2: jolokia http://127.0.0.1:9/jolokia: connection refused" in sentence
    assert "Traceback" not in log_of(fresh, run_id, "check")


def test_a_broker_that_does_not_answer_is_asked_again_and_then_named(fresh: Stack, elsewhere: str) -> None:
    """An unreachable cluster ends the run with its address, before anything is changed."""
    with declared_as(fresh, cluster=elsewhere):
        run_id, sentence = refused(fresh, INCONCLUSIVE)
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
        _, sentence = refused(fresh)
        assert "application orders: no instance runs (expected 2); start it first" in sentence
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
        trial = begun(stack)
        run_id = trial.run_id
        assert finished(stack, run_id) == "success"
        assert set(states(stack, run_id).values()) == {"success"}
        assert "nothing to ask: bounce 2 is not needed" in log_of(stack, run_id, "approve_bounce_2")
        for task_id in ("bounce_2_first", "bounce_2_rest"):
            assert "bounce 2 is not needed" in log_of(stack, run_id, task_id)
        document = ended(trial, state="success", outcome=COMPLETED, restarted=((1, "orders-1"), (1, "orders-2")))
    judgement = judged(stack)
    assert "orders-running" not in judgement.faults()
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
