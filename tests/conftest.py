"""What the tests share: one real stack for the whole session, started when the first test asks for it."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from kstreams_runbooks.fleet import load_fleet
from lab.afresh import afresh
from lab.application import Deployed
from lab.engine import OwnEngine, own_engine
from lab.settings import Lab, Ports
from lab.stack import DEFAULT_RATE, Parts, Stack
from lab.stack import stack as a_stack
from lab.trial import Begin, Trial, class_path
from world.given import Kafka, Orders
from world.own_stack import own_stack
from world.ports import STACK, port

_WITHOUT_AIRFLOW = "integration"

# An example that takes long on a loaded machine has not failed.
settings.register_profile("any-machine", deadline=None)
settings.load_profile("any-machine")

# Airflow reads it when it is first imported, by whichever test is collected first: never the person's own.
os.environ.setdefault("AIRFLOW_HOME", tempfile.mkdtemp(prefix="airflow-home-"))


@pytest.fixture(scope="session")
def stack(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """Broker, two instances of the application, Airflow; a test starts traffic (TEST_TRAFFIC_RATE orders a second).

    Without Airflow if tests/integration alone uses it. TEST_BUILT: Maven has run already.
    """
    users = (item for item in request.session.items if "stack" in getattr(item, "fixturenames", ()))
    parts = Parts(
        airflow=any(_WITHOUT_AIRFLOW not in item.path.parts for item in users),
        traffic_rate=int(os.environ.get("TEST_TRAFFIC_RATE") or DEFAULT_RATE),
        built=bool(os.environ.get("TEST_BUILT")),
    )
    with own_stack(tmp_path_factory, parts, STACK) as made:
        yield made


@pytest.fixture(scope="session")
def kafka(stack: Stack) -> Kafka:
    """The stack's broker."""
    return Kafka(stack.lab.bootstrap)


@pytest.fixture(scope="module")
def orders(stack: Stack) -> Orders:
    """The application from nothing, two instances on 3.4.1 with static membership."""
    afresh(stack, Deployed())
    return Orders(load_fleet().application("orders"), stack)


@pytest.fixture(scope="session")
def broker(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Bootstrap servers of the shared stack if another test of the session has it, else of a broker alone."""
    if any("stack" in getattr(item, "fixturenames", ()) for item in request.session.items):
        yield request.getfixturevalue("stack").lab.bootstrap
        return
    lab = Lab(tmp_path_factory.mktemp("broker"), Ports(port(STACK)))
    with a_stack(lab, Parts.broker_only()):
        yield lab.bootstrap


@pytest.fixture(scope="session")
def docker_engine() -> Iterator[OwnEngine]:
    """A Docker Engine of the tests' own, with an image of two releases."""
    with own_engine() as engine:
        for release in ("3.4.1", "4.3.1"):
            engine.image(release)
        yield engine


@pytest.fixture
def engine(docker_engine: OwnEngine) -> Iterator[OwnEngine]:
    """That engine, with no container before the test and none after it."""
    docker_engine.clean()
    yield docker_engine
    docker_engine.clean()


@pytest.fixture
def begin(request: pytest.FixtureRequest, broker: str, tmp_path: Path) -> Iterator[Begin]:
    """Makes trials: pair, topics with their partitions, release, settings with `_` for `.`; they are cleaned up."""
    made: list[Trial] = []

    def one(pair: str, topics: dict[str, int], release: str, **settings: str) -> Trial:
        number = len(made) + 1
        directory = tmp_path / f"trial-{number}"
        directory.mkdir()
        given = {name.replace("_", "."): value for name, value in settings.items()}
        # Each update is sent, and none is dropped because a later one follows it.
        uncached = {"statestore.cache.max.bytes": "0", "cache.max.bytes.buffering": "0"}
        name = f"{pair}-{release}-{number}-{abs(hash(request.node.nodeid)) % 10_000}"
        made.append(Trial(pair, topics, broker, class_path(release), directory, name, {**uncached, **given}))
        return made[-1]

    yield one
    for trial in made:
        trial.clean()
