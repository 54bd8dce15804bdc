"""A broker and an agent that do not answer for a moment: a step reads again, and goes on."""

import logging
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from kstreams_runbooks import patience
from kstreams_runbooks.decide.instances.missed import missed
from kstreams_runbooks.deployers import make_deployer
from kstreams_runbooks.model.readings.readings import Missing, StreamsReading
from kstreams_runbooks.model.runs.ledger import RunRecord
from kstreams_runbooks.model.web_address import web_address
from kstreams_runbooks.steps.run.run import Run, now_ms
from lab.fakes import FakeAgent
from lab.forward import Forward
from world.given import Orders
from world.new_ledger import new_ledger
from world.supervised import free_port

# A client tries to connect for 8 s by itself.
AWAY_S = 10.0


@pytest.fixture
def run(orders: Orders, tmp_path: Path) -> Run:
    """A run at a step, with a ledger of its own."""
    ledger = new_ledger(tmp_path / "ledger.db")
    record = ledger.start_run(RunRecord("", "rolling_bounce", "r", "orders", "demo", "oncall", True, "", {}, now_ms()))
    made = Run(record, "observe", 1, ledger, patient=True)
    vars(made)["application"] = orders.application
    vars(made)["kafka"] = {"bootstrap.servers": orders.stack.lab.bootstrap}
    vars(made)["deployer"] = make_deployer(orders.application, dry_run=True)
    return made


@pytest.fixture
def slow_agent(orders: Orders) -> Iterator[FakeAgent]:
    """The agent of the first instance, silent for the first two requests."""
    real = web_address(orders.application.deployer.instances[0].metrics)
    missed_requests = 2

    def reply(connection: socket.socket) -> None:
        nonlocal missed_requests
        if missed_requests:
            missed_requests -= 1
            return
        with socket.create_connection((real.host, real.port)) as there:
            there.sendall(fake.requests[-1])
            while chunk := there.recv(65_536):
                connection.sendall(chunk)

    with FakeAgent(reply) as fake:
        yield fake


def test_an_agent_that_is_silent_for_a_moment_is_read_again(
    run: Run, slow_agent: FakeAgent, caplog: pytest.LogCaptureFixture
) -> None:
    """Only a step does so; the log shows the reason."""
    application = run.application
    first, *others = application.deployer.instances
    instances = [first.model_copy(update={"metrics": slow_agent.url}), *others]
    changed = application.deployer.model_copy(update={"instances": tuple(instances)})
    vars(run)["application"] = application.model_copy(update={"deployer": changed})
    once = replace(run, patient=False)
    vars(once).update({name: vars(run)[name] for name in ("application", "kafka", "deployer")})
    assert isinstance(once.read().instances[0].streams, Missing)
    with caplog.at_level(logging.INFO):
        reading = run.read()
    assert isinstance(reading.instances[0].streams, StreamsReading)
    assert missed(reading) == ()
    [line] = [one.getMessage() for one in caplog.records if "reads again" in one.getMessage()]
    assert line.startswith("[orders @ demo] DRY RUN reads again (")
    assert "of 30 s): orders-1: " in line


def test_a_broker_that_comes_back_is_read_again(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    """It is away when the step begins to read."""
    host, _, number = str(run.kafka["bootstrap.servers"]).rpartition(":")
    assert host
    port, opened = free_port(), list[Forward]()
    vars(run)["kafka"] = {"bootstrap.servers": f"127.0.0.1:{port}"}

    def comes_back() -> None:
        time.sleep(AWAY_S)
        opened.append(Forward(int(number), port))

    waiting = threading.Thread(target=comes_back)
    waiting.start()
    try:
        with caplog.at_level(logging.INFO):
            reading = run.read()
    finally:
        waiting.join()
        opened[0].cut()
    assert missed(reading) == ()
    assert patience.READ_AGAIN_S > AWAY_S
    assert any("reads again" in one.getMessage() for one in caplog.records)
