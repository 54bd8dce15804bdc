"""The Java agent in real applications without a broker: their threads run before one answers."""

import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from os import environ
from pathlib import Path
from typing import Any

import pytest
import yaml
from kstreams_runbooks.model.readings.readings import StreamsReading
from kstreams_runbooks.model.topology.facts import FactsReading
from kstreams_runbooks.observe.application.facts import read_client_facts
from kstreams_runbooks.observe.application.metrics import read_streams
from kstreams_runbooks.properties import dump
from lab.application import build
from lab.settings import CHECKOUT, DEFAULT_PORT_BASE, Lab, Ports
from lab.topology_facts import SOURCES, class_path, document, jar, java

_RELEASES = CHECKOUT / "tests" / "apps" / "orders" / "target" / "releases"
_BEAN = "kstreams.runbooks:type=topology-facts,*"
_READY_S = 60
_STOPPED_S = 30


@pytest.fixture(scope="module", autouse=True)
def built(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The releases of the orders application; a build that is there is taken."""
    lab = Lab(tmp_path_factory.mktemp("build"), Ports.parse(str(DEFAULT_PORT_BASE)))
    if not all((lab.releases / release / "orders.jar").is_file() for release in ("3.4.1", "4.3.1")):
        build(lab)


@contextmanager
def _running(release: str, directory: Path, agents: int) -> Iterator[tuple[int, Path]]:
    """The application with Jolokia and the agent, attached so often; its metrics port and its log."""
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
    jolokia = next((_RELEASES / release).glob("jolokia-agent-jvm-*-javaagent.jar"))
    command = [
        shutil.which("java") or "java",
        "-Xmx192m",
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        f"-javaagent:{jolokia}=host=127.0.0.1,port={port},discoveryEnabled=false",
        *([f"-javaagent:{jar()}"] * agents),
        "-cp",
        f"{_RELEASES / release}/*",
        "orders.OrdersApplication",
        str(settings),
    ]
    with log.open("w", encoding="utf-8") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, env=environ)
    try:
        yield port, log
    finally:
        process.terminate()
        process.wait(_STOPPED_S)


def _beans(port: int) -> dict[str, dict[str, Any]]:
    """The MBeans of the agent, as Jolokia shows them: no one until the threads of Kafka Streams run."""
    deadline = time.monotonic() + _READY_S
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/jolokia/read/{_BEAN}", timeout=5) as answer:
                found: dict[str, dict[str, Any]] = json.load(answer).get("value") or {}
        except urllib.error.URLError:
            found = {}
        if found:
            return found
        time.sleep(0.2)
    raise AssertionError(f"no MBean {_BEAN} within {_READY_S} s")


@pytest.mark.parametrize(("release", "agents"), [("3.4.1", 1), ("4.3.1", 2)])
def test_the_orders_application_shows_its_facts(release: str, agents: int, tmp_path: Path) -> None:
    """Also if the agent is attached twice: one MBean, with the windows, the suppression and the joins."""
    with _running(release, tmp_path, agents) as (port, log):
        beans = _beans(port)
        time.sleep(1.5)  # one more look of the agent: it registers nothing twice
        assert list(_beans(port)) == list(beans)
        assert "topology-facts:" not in log.read_text(encoding="utf-8")
        [(name, bean)] = beans.items()
        client = read_streams(f"http://127.0.0.1:{port}/jolokia", application_id="orders")
        assert isinstance(client, StreamsReading), client
        reading = read_client_facts(f"http://127.0.0.1:{port}/jolokia", client)
    assert name.startswith("kstreams.runbooks:type=topology-facts,client-id=orders-")
    facts = document(bean["Facts"])
    assert facts["library"] == release
    assert facts["config"]["num.stream.threads"] == "2"
    assert bean["NotRead"] == len(facts["not_read"])
    assert isinstance(reading, FactsReading), reading
    assert reading.client_id == name.partition("client-id=")[2]
    assert str(reading.read.library) == release
    declared = yaml.safe_load((CHECKOUT / "config" / "applications" / "orders" / f"{release}.yaml").read_text("utf-8"))
    for store, entry in declared["stores"].items():
        read = facts["stores"][store]
        for field in ("kind", "join", "logging"):
            assert field not in entry or read[field] == entry[field], (store, field)
        for field, value in entry.get("window", {}).items():
            assert read["window"][field] == value, (store, field)
    for operator, entry in declared["suppressions"].items():
        assert facts["suppressions"][operator]["mode"] == entry["mode"]


@pytest.mark.parametrize(
    "release", ["2.4.1", *(pytest.param(one, marks=pytest.mark.long) for one in ("2.7.0", "2.8.2", "3.9.1"))]
)
def test_two_applications_in_one_process(release: str, tmp_path: Path) -> None:
    """Each KafkaStreams has an MBean of its own, also with one client.id; that of a closed one goes with its object."""
    classes = class_path(release)
    ran = java(classes, str(SOURCES / "TwoStreams.java"), str(tmp_path), "30000", options=[f"-javaagent:{jar()}"])
    assert ran.returncode == 0, ran.stderr
    *parts, left = ran.stdout.split("# ")[1:]
    assert left.strip() == "left 1"
    names = [part.partition("\n")[0] for part in parts]
    assert {name.partition("client-id=")[2] for name in names} == {"shared", "shared,instance=2"}
    read = [document(part.partition("\n")[2]) for part in parts]
    assert {facts["config"]["application.id"] for facts in read} == {"one", "other"}
    assert all(
        set(facts["topics"]) == {f"{facts['config']['application.id']}-{end}" for end in ("in", "out")}
        for facts in read
    )


@pytest.mark.long
def test_an_application_goes_on_if_a_security_manager_refuses(tmp_path: Path) -> None:
    """Everything is granted to the application and nothing to the agent: one sentence, and no MBean."""
    classes = class_path("3.4.1").removesuffix(f":{jar()}")
    folder = tmp_path / "classes"
    command = ["javac", "-nowarn", "-d", str(folder), "-cp", classes, str(SOURCES / "TwoStreams.java")]
    assert subprocess.run(command, capture_output=True, timeout=60, check=False).returncode == 0
    granted = "".join(
        f'grant codeBase "file:{place}/-" {{ permission java.security.AllPermission; }};\n'
        for place in (folder, class_folder(classes))
    )
    (tmp_path / "policy").write_text(granted, encoding="ascii")
    options = ["-Djava.security.manager", f"-Djava.security.policy=={tmp_path / 'policy'}", f"-javaagent:{jar()}"]
    ran = java(f"{folder}:{classes}", "TwoStreams", str(tmp_path), "3000", options=options)
    if "Security Manager" in ran.stdout + ran.stderr and ran.returncode == 1:
        pytest.skip("this JDK has no security manager (24 and later)")
    assert (ran.returncode, ran.stdout) == (0, "")
    [line] = [line for line in ran.stderr.splitlines() if line.startswith("topology-facts:")]
    assert line.endswith("and the application goes on without it; declare its facts manually")


def class_folder(classes: str) -> Path:
    """Where the jars of a class path are."""
    return Path(next(entry for entry in classes.split(":") if entry.endswith("/*")).removesuffix("/*"))
