"""A broker, a Connect server on the loopback, and the zip: each once for the session, started by who asks first."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from kstreams_runbooks.frames.bundle import write_bundle
from lab import spark
from lab.settings import CHECKOUT, Lab, Ports
from lab.stack import Parts, stack
from world.eos import CODECS, SCENARIOS, Log, logs
from world.given import Kafka
from world.ports import BROKER, CONNECT, port


@pytest.fixture(scope="session", autouse=True)
def patience() -> Iterator[None]:
    """A server that has just started takes its time for a first job on a busy machine: its count is what is tried."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("kstreams_runbooks.watch.drain.counter._SPARK_S", 180.0)
        yield


@pytest.fixture(scope="session")
def kafka(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kafka]:
    """The shared stack's broker where another test of the session has the stack, else a broker alone."""
    if any("stack" in getattr(item, "fixturenames", ()) for item in request.session.items):
        yield Kafka(request.getfixturevalue("stack").lab.bootstrap)
        return
    broker = CHECKOUT / "tests" / "apps" / "broker"
    if not (broker / "target" / "libs").is_dir():
        build = ["mvn", "-q", "-B", "-f", str(broker / "pom.xml"), "package"]
        subprocess.run(build, check=True, stdin=subprocess.DEVNULL)
    lab = Lab(tmp_path_factory.mktemp("broker"), Ports.parse(str(port(BROKER))))
    with stack(lab, Parts(deployed=None, airflow=False, built=True)):
        yield Kafka(lab.bootstrap)


@pytest.fixture(scope="session")
def made(kafka: Kafka) -> Iterator[list[Log]]:
    """A log for each scenario, and for each codec; nobody changes them."""
    with logs(kafka.bootstrap, [*SCENARIOS, *CODECS]) as found:
        yield found


@pytest.fixture(scope="session")
def jars() -> str:
    """The connector's jars, fetched by Maven."""
    spark.build_jars()
    return spark.jars()


@pytest.fixture(scope="session")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The zip that carries the frames."""
    return write_bundle(tmp_path_factory.mktemp("bundle") / "frames.zip")


@pytest.fixture(scope="session")
def remote(jars: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:  # noqa: ARG001 - they have to be there
    """Address of a Connect server."""
    log = tmp_path_factory.mktemp("connect") / "server.log"
    with spark.connect_server(port(CONNECT), log, **spark.SHORT) as address:
        yield address
