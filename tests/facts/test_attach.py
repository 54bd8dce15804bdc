"""The agent is loaded into a JVM that runs already, and into JVMs that do not let it read: the application goes on."""

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import copy, which
from subprocess import PIPE, Popen

import pytest
from lab.facts_agent import attach, build_orders, orders
from lab.topology_facts import SOURCES, document, jar

_ONE_MORE_LOOK_S = 1.5
_ENDED_S = 30
_JLINK_S = 120


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where Quiet.class is."""
    folder = tmp_path_factory.mktemp("quiet")
    subprocess.run(["javac", "-d", str(folder), str(SOURCES / "Quiet.java")], check=True, timeout=_JLINK_S)
    return folder


@contextmanager
def _running(quiet: Path, *options: str, launcher: str = "java") -> Iterator["Popen[str]"]:
    """The application Quiet, which has started and at the end goes on until its main returns."""
    command = [which(launcher) or launcher, *options, "-cp", str(quiet), "Quiet"]
    with Popen(command, stdin=PIPE, stdout=PIPE, stderr=PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        yield process
        out, _ = process.communicate(timeout=_ENDED_S)
        assert (process.returncode, out) == (0, "went on\n")


def test_the_agent_is_attached_to_a_running_application(tmp_path: Path) -> None:
    """It finds the KafkaStreams that runs, and a second time it changes nothing, also as another copy of the jar."""
    build_orders(tmp_path)
    with orders("4.3.1", tmp_path) as jvm:
        jvm.beans("kafka.streams:type=stream-metrics,*")
        assert jvm.beans_now() == {}
        first = attach(jvm.pid, jar())
        assert "return code: 0" in first.stdout, first
        beans = jvm.beans()
        copied = Path(copy(jar(), tmp_path / "copy.jar"))
        assert ["return code: 0" in attach(jvm.pid, one).stdout for one in (jar(), copied)] == [True, True]
        time.sleep(_ONE_MORE_LOOK_S)
        assert list(jvm.beans_now()) == list(beans)
        log = jvm.log.read_text(encoding="utf-8")
    [bean] = beans.values()
    assert document(bean["Facts"])["stores"]["orders-windowed-store"]["kind"] == "window"
    assert "topology-facts:" not in log


def test_an_agent_of_the_start_may_be_attached_too(tmp_path: Path) -> None:
    """One MBean, read once."""
    build_orders(tmp_path)
    with orders("3.4.1", tmp_path, [f"-javaagent:{jar()}"]) as jvm:
        beans = jvm.beans()
        assert "return code: 0" in attach(jvm.pid, jar()).stdout
        time.sleep(_ONE_MORE_LOOK_S)
        assert jvm.beans_now() == beans
        assert len(beans) == 1


def test_a_jvm_that_refuses_an_attachment_goes_on(quiet: Path) -> None:
    """A switch of the JVM; jcmd shows it."""
    with _running(quiet, "-XX:+DisableAttachMechanism") as process:
        refused = attach(process.pid, jar())
        assert refused.returncode != 0
        assert "does not support the attach mechanism" in refused.stderr


def test_a_jar_that_cannot_be_read_is_not_attached(quiet: Path, tmp_path: Path) -> None:
    """The answer of jcmd has a code that is not 0, and the application goes on."""
    broken = tmp_path / "broken.jar"
    broken.write_bytes(b"PK\x03\x04")
    with _running(quiet) as process:
        for jar_file in (tmp_path / "absent.jar", broken):
            answer = attach(process.pid, jar_file).stdout
            assert "return code: 100" in answer, answer


def test_a_jvm_does_not_start_with_a_jar_that_cannot_be_read(quiet: Path, tmp_path: Path) -> None:
    """The JVM decides it before any code runs: docs/facts.md has the check before a restart."""
    command = ["java", f"-javaagent:{tmp_path / 'absent.jar'}", "-cp", str(quiet), "Quiet"]
    ran = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
    assert (ran.returncode, "started" in ran.stdout) == (1, False)
    assert "agent library failed" in ran.stdout + ran.stderr
    checked = subprocess.run(
        ["java", f"-javaagent:{jar()}", "-version"], capture_output=True, text=True, timeout=60, check=False
    )
    assert checked.returncode == 0


@pytest.mark.long
def test_a_jvm_without_management_goes_on(quiet: Path, tmp_path: Path) -> None:
    """Kafka itself needs the module: such a JVM has no KafkaStreams to find."""
    image = _image(tmp_path, "java.base,java.instrument")
    with _running(quiet, f"-javaagent:{jar()}", launcher=str(image)) as process:
        time.sleep(_ONE_MORE_LOOK_S)
        assert process.poll() is None


@pytest.mark.long
def test_a_jvm_without_instrumentation_does_not_start_with_an_agent(quiet: Path, tmp_path: Path) -> None:
    """The same JVM runs without the option."""
    image = str(_image(tmp_path, "java.base,java.management"))
    with _running(quiet, launcher=image):
        pass
    command = [image, f"-javaagent:{jar()}", "-cp", str(quiet), "Quiet"]
    ran = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 1
    assert "java.instrument may be missing" in ran.stdout + ran.stderr


def _image(folder: Path, modules: str) -> Path:
    """The launcher of a JVM that has these modules alone."""
    command = ["jlink", "--add-modules", modules, "--output", str(folder / "image")]
    subprocess.run(command, check=True, capture_output=True, timeout=_JLINK_S)
    return folder / "image" / "bin" / "java"
