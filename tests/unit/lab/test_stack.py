"""What a person reads while a stack starts: each wait has an address, and its seconds are counted."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from kstreams_runbooks.errors import Unreachable
from kstreams_runbooks.model.readings.readings import Missing
from lab import airflow, application, kafka, spark, supervise
from lab.settings import Lab, Ports
from lab.stack import Parts, Stack
from lab.supervise import exit_of

Say = Callable[[str], None]
SUPERVISOR: Any = SimpleNamespace(require_running=lambda *_: None, start=lambda *_: None)


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path, Ports(23_400))


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is said, if each look of a wait is counted."""
    monkeypatch.setattr(supervise, "_COUNT_EVERY_S", 0)
    return []


def test_each_wait_of_a_start_has_its_address(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """At once, and it can say more."""
    counts: list[str] = []

    def counted(what: str) -> Callable[..., None]:
        return lambda *given, **named: (named.get("say") or given[-1])(what)

    monkeypatch.setattr(kafka, "create_topics", lambda *_: None)
    for module, name in (
        (kafka, "wait_for_broker"),
        (application, "wait_running"),
        (airflow, "wait_healthy"),
        (spark, "wait_connect"),
    ):
        monkeypatch.setattr(module, name, counted(name))
    made = Stack(lab, Parts(spark=True), counts.append)
    made.supervisor = SUPERVISOR
    made._wait()
    assert counts == [
        f"start the broker: {lab.bootstrap}",
        "wait_for_broker",
        f"start the application: {lab.metrics_url(1)}, {lab.metrics_url(2)}",
        "wait_running",
        f"wait for Airflow: {lab.airflow_url}",
        "wait_healthy",
        f"wait for Spark Connect: {lab.spark_remote}",
        "wait_connect",
    ]


def test_the_wait_for_the_broker_is_counted(lab: Lab, said: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """With its bootstrap servers."""
    answers = iter(([], [1]))
    client = SimpleNamespace(list_topics=lambda **_: SimpleNamespace(brokers=next(answers)))
    monkeypatch.setattr(kafka, "AdminClient", lambda _: client)
    kafka.wait_for_broker(lab, SUPERVISOR, said.append)
    assert said[0] == f"0 of 180 s: the broker does not answer yet: {lab.bootstrap}"


def test_the_wait_for_the_application_is_counted(lab: Lab, said: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """With the state of each instance, and where it reports it."""
    seen = ("REBALANCING", "RUNNING", "RUNNING", "RUNNING", "RUNNING")
    states = iter((Missing("no"), *(SimpleNamespace(state=one) for one in seen)))
    monkeypatch.setattr(application, "streams", lambda *_: next(states))
    application.wait_running(lab, SUPERVISOR, ("orders-1", "orders-2"), say=said.append)
    at = f"{lab.metrics_url(1)}, {lab.metrics_url(2)}"
    assert said[:2] == [
        f"0 of 240 s: orders-1 does not answer, orders-2 does not answer: {at}",
        f"0 of 240 s: orders-1 does not answer, orders-2 REBALANCING: {at}",
    ]


def test_the_wait_for_spark_is_counted(said: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """With the address of its clients."""
    listens = iter((False, True))
    monkeypatch.setattr(spark, "listens", lambda _: next(listens))
    spark.wait_connect(23_409, SUPERVISOR, said.append)
    assert said[0] == "0 of 120 s: Spark Connect does not listen yet: sc://127.0.0.1:23409"


def test_a_build_is_counted_and_does_not_outlive_its_wait(said: list[str]) -> None:
    """Maven may load for minutes; its log is where it says what."""
    build = subprocess.Popen([sys.executable, "-c", "import sys; sys.exit(3)"])
    assert exit_of(build, 60, said.append, "Maven builds: build.log") == 3
    assert said[0] == "0 of 60 s: Maven builds: build.log"
    late = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    with pytest.raises(Unreachable, match="not within 0 s: Maven builds"):
        exit_of(late, 0, said.append, "Maven builds")
    assert late.poll() is not None


def test_work_in_the_background_is_counted(lab: Lab, said: list[str]) -> None:
    """From the end of what it ran beside."""
    made = Stack(lab, Parts(), said.append)
    with made._in_background("airflow-db", lambda: time.sleep(0.05), 300):
        pass
    assert said[0] == f"0 of 300 s: airflow-db has not ended: {lab.logs}/airflow-db.log"
