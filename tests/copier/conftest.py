"""A broker for the session, and copies on it whose topics and processes are cleaned up after each test."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from lab.second_listener import SecondListener
from lab.settings import Ports
from lab.stack import Parts
from world.copied import Begin, Copy, OwnBroker
from world.own_stack import own_stack
from world.ports import COPIERS, port


@pytest.fixture
def begin(broker: str, tmp_path: Path) -> Iterator[Begin]:
    """Makes copies; arguments are the routes."""
    made: list[Copy] = []

    def one(*routes: str) -> Copy:
        made.append(Copy(broker, tmp_path, routes or ("a",)))
        return made[-1]

    yield one
    for copy in made:
        copy.close()


@pytest.fixture(scope="session")
def own_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnBroker]:
    """Of these tests alone."""
    logins = SecondListener(tmp_path_factory.mktemp("logins"), Ports(port(COPIERS)))
    forgetful = {"offsets.retention.minutes": "1", "offsets.retention.check.interval.ms": "2000"}
    parts = Parts(
        deployed=None, airflow=False, built=bool(os.environ.get("TEST_BUILT")), broker=logins.broker() | forgetful
    )
    with own_stack(tmp_path_factory, parts, COPIERS) as stack:
        logins.connect()
        yield OwnBroker(stack, logins)


@pytest.fixture
def begin_there(own_broker: OwnBroker, tmp_path: Path) -> Iterator[Begin]:
    """Makes copies on that broker."""
    made: list[Copy] = []

    def one(*routes: str) -> Copy:
        made.append(Copy(own_broker.stack.lab.bootstrap, tmp_path, routes or ("a",)))
        return made[-1]

    yield one
    for copy in made:
        copy.close()
