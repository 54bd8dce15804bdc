"""The Java agent in real applications without a broker: their threads run before one answers."""

import subprocess
import time
from pathlib import Path

import pytest
import yaml
from kstreams_runbooks.model.readings.readings import StreamsReading
from kstreams_runbooks.model.topology.facts import FactsReading
from kstreams_runbooks.observe.application.facts import read_client_facts
from kstreams_runbooks.observe.application.metrics import read_streams
from lab.facts_agent import build_orders, orders
from lab.settings import CHECKOUT
from lab.topology_facts import SOURCES, class_path, document, jar, java


@pytest.fixture(scope="module", autouse=True)
def built(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The orders application."""
    build_orders(tmp_path_factory.mktemp("build"))


@pytest.mark.parametrize(("release", "agents"), [("3.4.1", 1), ("4.3.1", 2)])
def test_the_orders_application_shows_its_facts(release: str, agents: int, tmp_path: Path) -> None:
    """Also if the agent is attached twice: one MBean, with the windows, the suppression and the joins."""
    with orders(release, tmp_path, [f"-javaagent:{jar()}"] * agents) as jvm:
        beans = jvm.beans()
        time.sleep(1.5)  # one more look of the agent: it registers nothing twice
        assert list(jvm.beans()) == list(beans)
        assert "topology-facts:" not in jvm.log.read_text(encoding="utf-8")
        [(name, bean)] = beans.items()
        client = read_streams(f"http://127.0.0.1:{jvm.port}/jolokia", application_id="orders")
        assert isinstance(client, StreamsReading), client
        reading = read_client_facts(f"http://127.0.0.1:{jvm.port}/jolokia", client)
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
