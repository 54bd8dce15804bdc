"""Checks what a machine must have before anything is started: one sentence for each missing thing."""

import re
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator, Mapping
from os import environ
from pathlib import Path

import psutil
from kstreams_runbooks.errors import BadInput

from lab.settings import Ports

OLDEST_JDK = 17
_TIMEOUT_S = 30

Run = Callable[[list[str]], str | None]


def require(ports: Mapping[str, int], *, build: bool, base: int) -> None:
    """BadInput with one line for each missing thing; starts and writes nothing.

    `ports` is name and number of every port to listen on, `build` whether Maven will be needed.
    """
    troubles = [*jdk_troubles(_output), *(maven_troubles() if build else ()), *port_troubles(ports, base)]
    if troubles:
        raise BadInput(*troubles)


def ports_of(ports: Ports, *, brokers: int, instances: int, airflow: bool) -> dict[str, int]:
    """Names and numbers of the ports that these parts of a stack listen on."""
    wanted = {"supervisord": ports.supervisor}
    for node in range(1, brokers + 1):
        wanted |= {f"broker {node}": ports.broker_of(node), f"controller {node}": ports.controller_of(node)}
    if airflow:
        wanted |= {"Airflow": ports.api}
    return wanted | {f"metrics of instance {one}": ports.metrics(one) for one in range(1, instances + 1)}


def jdk_troubles(output: Run) -> Iterator[str]:
    """The problem of a missing or old JDK; `output` runs a command, None if it cannot."""
    home = environ.get("JAVA_HOME")
    where = f"JAVA_HOME={home}" if home else "PATH"
    javac = f"{home}/bin/javac" if home else "javac"
    said = output([javac, "-version"])
    if said is None:
        yield f"JDK: no javac at {where}; install a JDK {OLDEST_JDK} or later, or set JAVA_HOME to one"
        return
    version = jdk_release(said)
    if version is None:
        yield f"JDK: {where} answers {said.strip()!r} to javac -version; set JAVA_HOME to a JDK {OLDEST_JDK} or later"
    elif version < OLDEST_JDK:
        yield f"JDK: {where} has release {version} (needed: {OLDEST_JDK} or later); set JAVA_HOME to a later one"


def jdk_release(said: str) -> int | None:
    """Feature release in `javac 17.0.15` or `javac 1.8.0_392`; None if there is none."""
    found = re.search(r"javac (?:1\.)?(\d+)", said)
    return int(found[1]) if found else None


def maven_troubles() -> Iterator[str]:
    """The problem of a missing Maven."""
    if shutil.which("mvn") is None:
        yield "Maven: no mvn at PATH; install Maven 3.6 or later"


def port_troubles(ports: Mapping[str, int], base: int) -> Iterator[str]:
    """Every taken port: its process, and the setting that moves it."""
    for name, port in ports.items():
        if _free(port):
            continue
        yield (
            f"port {port} ({name}) is taken by {holder(port)}; stop it, or set PORT_BASE (now {base}) to move all ports"
        )


def _free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # The servers set this too: a connection in TIME_WAIT does not occupy a port.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def holder(port: int) -> str:
    """The process that listens on `port`, as far as this user may see it."""
    try:
        found = [one for one in psutil.net_connections("tcp") if one.laddr and one.laddr.port == port]
    except psutil.Error:
        return "a process that this user may not see"
    listening = [one for one in found if one.status == psutil.CONN_LISTEN] or found
    pid = next((one.pid for one in listening if one.pid), None)
    if pid is None:
        return "a process of another user"
    try:
        command = " ".join(psutil.Process(pid).cmdline()).strip()
    except psutil.Error:
        return f"process {pid}"
    return f"process {pid} ({command[:80]}{'…' if len(command) > 80 else ''})"


def _output(command: list[str]) -> str | None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout + done.stderr if done.returncode == 0 else None


def executable(path: Path, mend: str) -> None:
    """BadInput if a program of the stack does not exist."""
    if not path.exists():
        raise BadInput(f"{path} does not exist; {mend}")
