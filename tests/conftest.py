"""What the tests share: one real stack for the whole session, started when the first test asks for it."""

import os
import shutil
import tempfile
from collections.abc import Iterator

import pytest
from hypothesis import settings
from kstreams_runbooks.fleet import load_fleet
from lab.afresh import afresh
from lab.application import Deployed
from lab.settings import CHECKOUT, Lab, Ports
from lab.stack import Parts, Stack
from world.given import Kafka, Orders

_PORT_BASE = 27_000

# An example that takes long on a loaded machine has not failed.
settings.register_profile("any-machine", deadline=None)
settings.load_profile("any-machine")

# Airflow reads it when it is first imported, by whichever test is collected first: never the person's own.
os.environ.setdefault("AIRFLOW_HOME", tempfile.mkdtemp(prefix="airflow-home-"))


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """Broker, two instances of the application, Airflow. Traffic is started by the test that wants it."""
    base = Ports.parse(os.environ.get("TEST_PORT_BASE") or str(_PORT_BASE))
    run_dir, config = tmp_path_factory.mktemp("stack"), tmp_path_factory.mktemp("fleet") / "config"
    # A copy, so that a test may declare the application otherwise (given.declared_as).
    shutil.copytree(CHECKOUT / "config", config)
    # Scheduled, the check would read in the middle of every other test; its own test triggers it.
    (config / "fleet_check.yaml").write_text("every_minutes: 0\n", encoding="utf-8")
    lab = Lab(run_dir, base, config=config)
    made = Stack(lab, Parts())
    environ = {**os.environ}
    os.environ.update(lab.fleet_environment())
    try:
        made.up()
        made.api().wait_for_dag("library_bump")
        yield made
    finally:
        made.down()
        os.environ.clear()
        os.environ.update(environ)


@pytest.fixture(scope="session")
def kafka(stack: Stack) -> Kafka:
    """The stack's broker."""
    return Kafka(stack.lab.bootstrap)


@pytest.fixture(scope="module")
def orders(stack: Stack) -> Orders:
    """The application from nothing, two instances on 3.4.1 with static membership."""
    afresh(stack, Deployed())
    return Orders(load_fleet().application("orders"), stack)
