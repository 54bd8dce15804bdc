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
COMMAND = "kstreams.runbooks.facts.FactsCommand"
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


@cache
def compiled(release: str, folder: Path, source: str, *options: str) -> str:
    """The class path of a file of SOURCES, compiled into `folder` with a release; the classes come first."""
    classes = class_path(release)
    command = ["javac", "-nowarn", *options, "-d", str(folder), "-cp", classes, str(SOURCES / source)]
    built = subprocess.run(command, capture_output=True, text=True, timeout=_RUN_S, check=False)
    assert built.returncode == 0, built.stderr
    return f"{folder}:{classes}"


def facts_of(classes: str, factory: str, *options: str) -> dict[str, Any]:
    """The facts that the command prints of what CLASS::METHOD returns."""
    ran = java(classes, COMMAND, "--factory", factory, *options)
    assert ran.returncode == 0, ran.stderr
    return document(ran.stdout)


def reasons(facts: dict[str, Any]) -> dict[tuple[str, ...], str]:
    """Why each fact that was not read was not."""
    return {tuple(entry["fact"]): entry["reason"] for entry in facts["not_read"]}


def java(
    classes: str, *arguments: str, options: Sequence[str] = (), launcher: str = JAVA[0]
) -> "subprocess.CompletedProcess[str]":
    """Run Java with a class path: `arguments` begin with a class or with a file of source."""
    command = [launcher, *JAVA[1:], *options, "-cp", classes, *arguments]
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
