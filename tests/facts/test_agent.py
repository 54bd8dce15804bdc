"""The Java agent in real applications without a broker: their threads run before one answers."""

import subprocess
import time
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen

import pytest
import yaml
from kstreams_runbooks.model.readings.readings import StreamsReading
from kstreams_runbooks.model.topology.facts import FactsReading
from kstreams_runbooks.observe.application.facts import read_client_facts
from kstreams_runbooks.observe.application.metrics import read_streams
from lab.facts_agent import attach, build_orders, orders
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


@pytest.fixture(scope="module")
def two_streams(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The class path of TwoStreams, without the jar of the agent."""
    classes, folder = class_path("3.4.1").removesuffix(f":{jar()}"), tmp_path_factory.mktemp("classes")
    command = ["javac", "-nowarn", "-d", str(folder), "-cp", classes, str(SOURCES / "TwoStreams.java")]
    subprocess.run(command, capture_output=True, timeout=60, check=True)
    return f"{folder}:{classes}"


def policy(two_streams: str, directory: Path, granted: str) -> list[str]:
    """Options of a security manager: everything is granted to the application, this to all other code."""
    places = (two_streams.partition(":")[0], class_folder(two_streams))
    lines = [f'grant codeBase "file:{place}/-" {{ permission java.security.AllPermission; }};' for place in places]
    file = directory / "policy"
    file.write_text("\n".join([*lines, f"grant {{ {granted} }};\n"]), encoding="ascii")
    return ["-Djava.security.manager", f"-Djava.security.policy=={file}"]


_THREADS = "".join(
    f'permission java.lang.RuntimePermission "{name}"; ' for name in ("modifyThreadGroup", "modifyThread")
)


@pytest.mark.long
@pytest.mark.parametrize("is_attached", [False, True], ids=["at its start", "attached"])
@pytest.mark.parametrize("granted", ["", _THREADS], ids=["nothing", "its thread alone"])
def test_an_application_goes_on_if_a_security_manager_refuses(
    granted: str, is_attached: bool, two_streams: str, tmp_path: Path
) -> None:
    """One sentence, and no MBean; `jcmd` reports that the agent was loaded."""
    options = policy(two_streams, tmp_path, granted)
    agent = [] if is_attached else [f"-javaagent:{jar()}"]
    command = ["java", *options, *agent, "-cp", two_streams, "TwoStreams", str(tmp_path), "6000"]
    with Popen(command, stdin=DEVNULL, stdout=PIPE, stderr=PIPE, text=True) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        if is_attached and first:
            assert "return code: 0" in attach(process.pid, jar()).stdout
        out, err = process.communicate(timeout=60)
    if "Security Manager" in first + out + err and process.returncode == 1:
        pytest.skip("this JDK has no security manager (24 and later)")
    assert (process.returncode, first, out) == (0, "started\n", "")
    [line] = [line for line in err.splitlines() if line.startswith("topology-facts:")]
    assert line.endswith("and the application goes on without it; declare its facts manually")


def class_folder(classes: str) -> Path:
    """Where the jars of a class path are."""
    return Path(next(entry for entry in classes.split(":") if entry.endswith("/*")).removesuffix("/*"))
