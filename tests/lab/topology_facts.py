"""The jar of topology_facts, built once, and Java programs that run with it and a real release of Kafka Streams."""

import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from lab.settings import CHECKOUT
from lab.trial import JAVA, PROGRAM

MODULE = CHECKOUT / "topology_facts"
JAR = MODULE / "target" / "topology-facts.jar"
SOURCES = CHECKOUT / "tests" / "facts" / "java"
_BUILD_S = 300
_RUN_S = 120
# A thousand documents of 10 kB: the loader in Python alone takes 40 s.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@cache
def jar() -> Path:
    """The jar; Maven does nothing if it is up to date."""
    _maven("package", MODULE)
    return JAR


@cache
def class_path(release: str) -> str:
    """The pairs of tests/apps/topologies for a release, the jars of that release, and the jar of the facts."""
    _maven("process-classes", PROGRAM, f"-Dkafka.version={release}")
    target = PROGRAM / "target" / release
    return f"{target / 'classes'}:{target / 'libraries'}/*:{jar()}"


def java(classes: str, *arguments: str, options: Sequence[str] = ()) -> "subprocess.CompletedProcess[str]":
    """Run Java with a class path: `arguments` begin with a class or with a file of source."""
    command = [*JAVA, *options, "-cp", classes, *arguments]
    return subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_RUN_S, check=False
    )


def document(text: str) -> dict[str, Any]:
    """The facts in a document."""
    read: dict[str, Any] = yaml.load(text, Loader=_LOADER)  # noqa: S506 - one of the two safe loaders
    return read


def _maven(goal: str, module: Path, *properties: str) -> None:
    command = ["mvn", "-q", "-B", "-Dstyle.color=never", "-f", str(module / "pom.xml"), goal, *properties]
    built = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_BUILD_S, check=False
    )
    assert built.returncode == 0, built.stdout[-4000:]
