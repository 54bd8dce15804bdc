"""Spark next to a stack: the connector's jars, the zip with the frames, and a Connect server on the loopback."""

import os
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.frames.job import REMOTE
from kstreams_runbooks.frames.source import STARTED_WITH

from lab import maven
from lab.prerequisites import holder
from lab.settings import CHECKOUT
from lab.supervise import Program, Supervisor, Waiting, unheard, until

JOBS = CHECKOUT / "spark_jobs"
LAG_CHECK = JOBS / "lag_check.py"
CONNECT = "spark-connect"

_JARS = JOBS / "target" / "libs"
_READY_S = 120
# Together with everything else of a demo on two cores.
_SMALL = "-XX:+UseSerialGC"
_SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"
# A driver that only its own machine can reach, and no web page, which no test reads.
LOOPBACK = {
    "spark.ui.enabled": "false",
    "spark.log.level": "WARN",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}

# A JVM that lives for a minute: the compiler's optimizations of hot code come too late for it.
SHORT = {"spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"}


def build_jars(log: Path | None = None, say: Callable[[str], None] = unheard) -> None:
    """Fetch the connector's jars with Maven if the pom is newer; BadInput with its last lines if it fails.

    `log` has what Maven prints, by default next to the jars.
    """
    if _JARS.is_dir() and _JARS.stat().st_mtime > (JOBS / "pom.xml").stat().st_mtime:
        return
    log = log or JOBS / "target" / "build.log"
    maven.package(JOBS / "pom.xml", log, say, does="fetches Spark's jars", do="fetch Spark's jars")


def jars() -> str:
    """The connector's jars in the format of `spark.jars`; BadInput if they do not exist."""
    found = sorted(str(path) for path in _JARS.glob("*.jar"))
    if not found:
        raise BadInput(f"no jars in {_JARS}; fetch them with: mvn -q -f {JOBS / 'pom.xml'} package")
    return ",".join(found)


def spark_home() -> Path:
    """The folder of pyspark: the whole of Spark, with its launchers."""
    spec = find_spec("pyspark")
    assert spec is not None, "pyspark is in the locks"
    assert spec.origin is not None, "pyspark is a package with a file"
    return Path(spec.origin).parent


def connect_command(port: int, master: str = "local[2]", memory: str = "1g", **settings: str) -> tuple[str, ...]:
    """A Connect server in the foreground; its shell becomes the JVM, which then receives signals."""
    given = {
        **LOOPBACK,
        **STARTED_WITH,
        **settings,
        "spark.jars": jars(),
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
    }
    submit = str(spark_home() / "bin" / "spark-submit")
    words = [word for name, value in given.items() for word in ("--conf", f"{name}={value}")]
    return (submit, "--master", master, "--driver-memory", memory, *words, "--class", _SERVER, "spark-internal")


@contextmanager
def connect_server(port: int, log: Path, memory: str = "1g", **settings: str) -> Iterator[str]:
    """A separate server that listens, as `sc://…`, until the body ends."""
    # Another server would answer in its place, with other jars.
    assert not listens(port), f"port {port} (Spark Connect) is taken by {holder(port)}; stop it"
    with log.open("wb") as out:
        server = subprocess.Popen(
            connect_command(port, memory=memory, **settings),
            stdout=out,
            stderr=out,
            stdin=subprocess.DEVNULL,
            env=environment(),
        )
        try:
            until(lambda: server.poll() is not None or listens(port), _READY_S, f"Connect listens; {log}")
            assert server.poll() is None, log.read_text(encoding="utf-8")[-3000:]
            yield f"sc://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait(30)


def connect_program(port: int) -> Program:
    """The same under supervisord, without the address in the environment, which is for clients."""
    return Program(CONNECT, ("env", "-u", REMOTE, *connect_command(port, **{"spark.driver.extraJavaOptions": _SMALL})))


def wait_connect(port: int, supervisor: Supervisor, say: Callable[[str], None] = unheard) -> None:
    """Return when the server listens; Unreachable if it ended or takes too long."""
    waiting = Waiting(_READY_S, say)

    def ready() -> bool:
        waiting.count(lambda: f"Spark Connect does not listen yet: sc://127.0.0.1:{port}")
        supervisor.require_running(CONNECT)
        return listens(port)

    until(ready, _READY_S, f"Spark Connect listens at {port}")


def listens(port: int) -> bool:
    """Whether something listens on a port of the loopback."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def environment() -> dict[str, str]:
    """This process's environment without variables that would lead a Spark program to another Spark."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK_"))}
