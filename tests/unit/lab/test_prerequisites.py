"""What a machine lacks is one clear sentence, before anything is started."""

import os
import shutil
import socket
from pathlib import Path

import pytest
from kstreams_runbooks.errors import BadInput
from lab.prerequisites import jdk_release, jdk_troubles, maven_troubles, port_troubles, ports_of, require
from lab.settings import Ports


@pytest.mark.parametrize(
    ("said", "release"), [("javac 17.0.15\n", 17), ("javac 1.8.0_392\n", 8), ("javac 25-ea\n", 25), ("what?", None)]
)
def test_a_jdk_says_its_release(said: str, release: int | None) -> None:
    """Old ones write 1.8 for 8."""
    assert jdk_release(said) == release


def test_no_jdk_and_an_old_one_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each with where it was looked for and what is needed; a good one says nothing."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert list(jdk_troubles(lambda _: None)) == [
        "JDK: no javac at PATH; install a JDK 17 or later, or set JAVA_HOME to one"
    ]
    assert list(jdk_troubles(lambda _: "javac 11.0.2")) == [
        "JDK: PATH has release 11 (needed: 17 or later); set JAVA_HOME to a later one"
    ]
    assert list(jdk_troubles(lambda _: "javac 21")) == []


def test_java_home_is_looked_into(monkeypatch: pytest.MonkeyPatch) -> None:
    """The launchers prefer it to PATH too."""
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    asked: list[list[str]] = []
    assert "JAVA_HOME=/nowhere" in "".join(jdk_troubles(asked.append))
    assert asked == [["/nowhere/bin/javac", "-version"]]


def test_no_maven(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One sentence."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert list(maven_troubles()) == ["Maven: no mvn at PATH; install Maven 3.6 or later"]


def test_a_taken_port_names_its_process_and_the_setting() -> None:
    """The process that listens is this test's own."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        [sentence] = port_troubles({"broker": port}, 19_000)
        assert sentence.startswith(f"port {port} (broker) is taken by process {os.getpid()} (")
        assert sentence.endswith("set PORT_BASE (now 19000) to move all ports")
    assert list(port_troubles({"broker": port}, 19_000)) == []


def test_everything_that_is_missing_is_said_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One line each, exit code of bad input."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert shutil.which("javac") is None
    with pytest.raises(BadInput) as raised:
        require({}, build=True, base=19_000)
    assert [line.split(":")[0] for line in str(raised.value).splitlines()] == ["JDK", "Maven"]
    assert raised.value.exit_code == 2


def test_ports_are_those_of_the_parts_that_are_started() -> None:
    """A broker alone needs no port of Airflow's."""
    assert set(ports_of(Ports(), brokers=1, instances=0, airflow=False).values()) == {19_000, 19_001, 19_002}
    whole = ports_of(Ports(30_000), brokers=1, instances=2, airflow=True)
    assert sorted(whole.values()) == [30_000, 30_001, 30_002, 30_003, 30_011, 30_012]
    cluster = ports_of(Ports(30_000), brokers=3, instances=2, airflow=True)
    assert sorted(cluster.values()) == [*sorted(whole.values()), *range(30_016, 30_020)]
