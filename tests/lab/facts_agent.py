"""JVMs that the Java agent of topology_facts is loaded into: the orders application without a broker, and others."""

import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import environ
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from typing import Any

from kstreams_runbooks.properties import dump

from lab.application import build
from lab.settings import CHECKOUT, DEFAULT_PORT_BASE, Lab, Ports
from lab.topology_facts import document, jar

RELEASES = CHECKOUT / "tests" / "apps" / "orders" / "target" / "releases"
FACTS = "kstreams.runbooks:type=topology-facts,*"
_READY_S = 60
_STOPPED_S = 30
_ATTACH_S = 30
_ENDED_S = 60


@dataclass(frozen=True)
class Jvm:
    """A running application: the port of its metrics, its log, its process."""

    port: int
    log: Path
    pid: int

    def beans(self, pattern: str = FACTS) -> dict[str, dict[str, Any]]:
        """The MBeans of a pattern, as Jolokia shows them; those of Kafka Streams are there once its threads run."""
        deadline = time.monotonic() + _READY_S
        while time.monotonic() < deadline:
            found = self.beans_now(pattern)
            if found:
                return found
            time.sleep(0.2)
        raise AssertionError(f"no MBean {pattern} within {_READY_S} s: {self.log.read_text(encoding='utf-8')[-2000:]}")

    def beans_now(self, pattern: str = FACTS) -> dict[str, dict[str, Any]]:
        """The same at once: none before Jolokia answers."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/jolokia/read/{pattern}", timeout=5) as answer:
                found: dict[str, dict[str, Any]] = json.load(answer).get("value") or {}
                return found
        except urllib.error.URLError:
            return {}


def build_orders(run_dir: Path) -> None:
    """The releases of the orders application; a build that is there is taken."""
    if not all((RELEASES / release / "orders.jar").is_file() for release in ("3.4.1", "4.3.1")):
        build(Lab(run_dir, Ports.parse(str(DEFAULT_PORT_BASE))))


@contextmanager
def orders(release: str, directory: Path, options: Sequence[str] = (), launcher: str = "java") -> Iterator[Jvm]:
    """The orders application with Jolokia and the JVM's options. No broker answers, and its threads run."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    settings, log = directory / "orders.properties", directory / "log"
    settings.write_text(
        dump(
            {
                "application.id": "orders",
                "bootstrap.servers": "127.0.0.1:9",
                "num.stream.threads": "2",
                "state.dir": str(directory / "state"),
            }
        ),
        encoding="latin-1",
    )
    jolokia = next((RELEASES / release).glob("jolokia-agent-jvm-*-javaagent.jar"))
    command = [
        shutil.which(launcher) or launcher,
        "-Xmx192m",
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        f"-javaagent:{jolokia}=host=127.0.0.1,port={port},discoveryEnabled=false",
        *options,
        "-cp",
        f"{RELEASES / release}/*",
        "orders.OrdersApplication",
        str(settings),
    ]
    with log.open("w", encoding="utf-8") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, env=environ)
    try:
        yield Jvm(port, log, process.pid)
    finally:
        process.terminate()
        process.wait(_STOPPED_S)


def attach(pid: int, jar: Path) -> "subprocess.CompletedProcess[str]":
    """Load an agent into a running JVM, as docs/facts.md has it."""
    command = ["jcmd", str(pid), "JVMTI.agent_load", str(jar)]
    return subprocess.run(command, capture_output=True, text=True, timeout=_ATTACH_S, check=False)


def two_streams(command: Sequence[str], *, attached: bool) -> tuple[list[dict[str, Any]], str]:
    """The documents of the two applications in TwoStreams, and its stderr; with `attached` the agent comes later."""
    with Popen(command, stdin=DEVNULL, stdout=PIPE, stderr=PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        if attached:
            assert "return code: 0" in attach(process.pid, jar()).stdout
        out, err = process.communicate(timeout=_ENDED_S)
    assert process.returncode == 0, err
    *parts, left = out.split("# ")[1:]
    assert left.strip() == "left 1"
    found = [document(part.partition("\n")[2]) for part in parts]
    assert {facts["config"]["application.id"] for facts in found} == {"one", "other"}
    return found, err
