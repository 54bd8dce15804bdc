"""Scans of class paths by the jar of topology_facts, and what the JVM itself does with the same references."""

import json
import re
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from lab.settings import CHECKOUT
from lab.topology_facts import SOURCES, jar, java

COMMAND = "kstreams.runbooks.links.LinkCommand"
_PROJECT = CHECKOUT / "tests" / "facts" / "links"
_BUILD_S = 300
_OWN = re.compile(r"kafka-(clients|streams)-\d")
_SIMPLE = re.compile(r".*[.]")
_PRIMITIVES = {"B": "byte", "C": "char", "D": "double", "F": "float", "I": "int", "J": "long", "S": "short"}
_PRIMITIVES["Z"] = "boolean"
_TYPE = re.compile(r"(\[*)(?:L([^;]+);|([BCDFIJSZ]))")


@cache
def library(group: str, artifact: str, release: str) -> tuple[Path, ...]:
    """The jar of a public library and all that it depends on, without Kafka."""
    return tuple(path for path in _copied(group, artifact, release) if not _OWN.match(path.name))


@cache
def kafka(release: str) -> tuple[Path, ...]:
    """The two jars of a release."""
    copied = _copied("org.apache.kafka", "kafka-streams", release)
    return tuple(path for path in copied if _OWN.match(path.name))


@cache
def whole_kafka(release: str) -> tuple[Path, ...]:
    """The jars of a release and all that they depend on."""
    return tuple(_copied("org.apache.kafka", "kafka-streams", release))


def _copied(group: str, artifact: str, release: str) -> list[Path]:
    folder = _PROJECT / "target" / f"{artifact}-{release}"
    command = ["mvn", "-q", "-B", "-Dstyle.color=never", "package"]
    command += [f"-Dgroup={group}", f"-Dartifact={artifact}", f"-Drelease={release}"]
    if not folder.exists():
        built = subprocess.run(
            command,
            cwd=_PROJECT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_BUILD_S,
            check=False,
        )
        assert built.returncode == 0, built.stdout[-4000:]
    return sorted(folder.glob("*.jar"))


def command(paths: Sequence[Path | str], *options: str) -> "subprocess.CompletedProcess[str]":
    """The command as an application's CI starts it."""
    return java(str(jar()), COMMAND, "--class-path", ":".join(map(str, paths)), *options)


def scan(paths: Sequence[Path | str], *options: str) -> dict[str, Any]:
    """Its JSON; the code says whether a reference does not link."""
    ran = command(paths, "--format", "json", *options)
    assert ran.returncode in {0, 1, 3}, ran.stderr
    document: dict[str, Any] = json.loads(ran.stdout)
    return document


def found(document: dict[str, Any]) -> set[tuple[str, str, str]]:
    """The findings as class, what it refers to, and error."""
    return {(one["class"], one["to"], one["error"]) for one in document["findings"]}


def truth(own: Sequence[Path], others: Sequence[Path], package: str = "org.apache.kafka") -> set[tuple[str, str, str]]:
    """What the JVM refuses to resolve, of the classes in `own`, in the same form."""
    options = ["-Xmx512m", f"-Dpackage={package.replace('.', '/')}/"]
    ran = java(str(jar()), str(SOURCES / "LinkTruth.java"), *map(str, own), "--", *map(str, others), options=options)
    assert ran.returncode == 0, ran.stderr
    return set(map(_refused, ran.stdout.splitlines()))


def _refused(line: str) -> tuple[str, str, str]:
    source, owner, member, error, _ = line.split("\t")
    to = owner.replace("/", ".")
    name, paren, rest = member.partition("(")
    if paren:
        types = ", ".join(map(_named, _TYPE.findall(rest.partition(")")[0])))
        to += ("" if name == "<init>" else f".{name}") + f"({types})"
    elif member:
        to += "." + member.partition(" ")[0]
    return source.replace("/", "."), to, error


def _named(found: tuple[str, str, str]) -> str:
    dimensions, name, primitive = found
    plain = _SIMPLE.sub("", name.replace("/", ".")) if name else _PRIMITIVES[primitive]
    return plain + "[]" * len(dimensions)
