"""The library bump of an application whose fleet entry says something else: real runs, real refusals."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml
from lab.application import Deployed, wait_running
from lab.stack import Stack
from world.endings import INCONCLUSIVE, NOTHING_CHANGED, begun, ended
from world.given import declared_as
from world.runs import DAG, log_of

_NOBODY_LISTENS = "http://127.0.0.1:9/jolokia"


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
    assert "orders-2: jolokia: connection refused; no process listens there (http://127.0.0.1:9/jolokia)" in sentence
    assert "Traceback" not in log_of(fresh, run_id, "check")


@pytest.mark.parametrize("login", ["absent", "refused"])
def test_what_does_not_heal_is_tried_once_and_noted(fresh: Stack, login: str) -> None:
    """A connection that is missing, and one whose protocol the broker refuses: one try, and the note has the cause."""
    with _cluster(fresh, f"kafka_{login}") as cluster, declared_as(fresh, cluster=cluster):
        if login == "refused":
            settings = {"bootstrap.servers": fresh.lab.bootstrap, "security.protocol": "SSL"}
            named = {"connection_id": "kafka_refused", "conn_type": "kafka", "extra": json.dumps(settings)}
            fresh.api().call("POST", "/connections", named)
        run_id, sentence = refused(fresh, INCONCLUSIVE if login == "refused" else NOTHING_CHANGED)
    said = {
        "absent": "Airflow connection kafka_absent: not found",
        "refused": "the port speaks PLAINTEXT, but security.protocol is SSL",
    }[login]
    assert said in sentence
    assert said in str(fresh.api().run(DAG, run_id)["note"]).replace("`", "")
    assert fresh.api().tasks(DAG, run_id)["observe"]["try_number"] == 1
    assert "reads again" not in log_of(fresh, run_id, "observe")


@contextmanager
def refusing() -> Iterator[str]:
    """An agent that accepts no login; its address."""

    class FakeHandler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.send_response(401)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - the library's name
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), FakeHandler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/jolokia"
        finally:
            server.shutdown()


def test_an_agent_that_refuses_the_login_is_asked_once(fresh: Stack) -> None:
    """No patience is spent on it, and the note has the cause before the run has ended."""
    entry = yaml.safe_load((fresh.lab.config / "applications" / "orders.yaml").read_text(encoding="utf-8"))
    with refusing() as url:
        entry["deployer"]["instances"][1]["metrics"] = url
        with declared_as(fresh, deployer=entry["deployer"]):
            run_id, sentence = refused(fresh, INCONCLUSIVE)
    assert "orders-2: jolokia: HTTP 401 (expected 200)" in sentence
    assert "HTTP 401 (expected 200)" in str(fresh.api().run(DAG, run_id)["note"])
    assert "reads again" not in log_of(fresh, run_id, "observe")


@contextmanager
def _cluster(stack: Stack, connection: str) -> Iterator[str]:
    """A cluster entry with this connection while the body runs: a second one of a broker has to be chosen by name."""
    clusters = stack.lab.config / "clusters"
    entry = yaml.safe_load(Path(clusters / "demo.yaml").read_text(encoding="utf-8")) | {"connection": connection}
    (clusters / "other.yaml").write_text(yaml.safe_dump(entry), encoding="utf-8")
    try:
        yield "other"
    finally:
        (clusters / "other.yaml").unlink()


@pytest.mark.long
def test_a_broker_that_does_not_answer_is_asked_again_and_then_named(fresh: Stack, elsewhere: str) -> None:
    """An unreachable cluster ends the run with its address, before anything is changed."""
    with declared_as(fresh, cluster=elsewhere):
        run_id, sentence = refused(fresh, INCONCLUSIVE)
    assert "Kafka at 127.0.0.1:9: nothing listens" in sentence
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
