"""`run-copier`: what supervisors run. After a failure it waits before it ends, so that restarts have a pause."""

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from lab.shipped_copier import LAUNCHER, RELEASE
from lab.supervise import until
from lab.topic_copier import REFUSED, TERMINATED, jar

_LINE_S = 60
_PAUSE_S = 3
Launch = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def launch(tmp_path: Path) -> Launch:
    """Starts an instance whose settings are refused; options of the JVM."""
    release = tmp_path / "releases" / RELEASE
    release.mkdir(parents=True)
    (release / jar().name).symlink_to(jar())
    instance = tmp_path / "instance"
    instance.mkdir()
    (instance / "base.properties").write_text("routes=a b\n", encoding="latin-1")
    (instance / "deployment.properties").write_text(f"release={RELEASE}\n", encoding="latin-1")

    def one(*jvm: str) -> "subprocess.Popen[bytes]":
        with (tmp_path / "log").open("wb") as log:
            process = subprocess.Popen([str(LAUNCHER), str(instance), str(tmp_path / "releases"), *jvm], stdout=log)
        until(lambda: "REFUSED" in (tmp_path / "log").read_text(encoding="utf-8"), _LINE_S, "it is refused")
        return process

    return one


def test_a_refusal_waits_before_it_ends(launch: Launch) -> None:
    """For the time that is set; the exit code stays."""
    process = launch(f"-Dtopic.copier.pause.s={_PAUSE_S}")
    began = time.monotonic()
    assert process.wait(_LINE_S) == REFUSED
    assert time.monotonic() - began >= _PAUSE_S - 1


def test_a_stop_ends_the_pause(launch: Launch) -> None:
    """By default it lasts for half a minute; the process is the JVM itself, and SIGTERM ends it."""
    process = launch()
    time.sleep(_PAUSE_S)
    assert process.poll() is None
    assert "topic.copier.pause.s=30" in Path(f"/proc/{process.pid}/cmdline").read_text(encoding="utf-8")
    os.kill(process.pid, signal.SIGTERM)
    assert process.wait(_PAUSE_S * 5) == TERMINATED
