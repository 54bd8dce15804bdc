"""One program in many builds whose truth is known: edits of its source, rebuilds, and pairs of small programs.

`tests/facts/java/coded` has an operator of each kind, and `tests/facts/java/pairs` the template of the pairs.
"""

import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from zipfile import ZipFile, ZipInfo

import yaml
from kstreams_runbooks.decide.comparison.code import CodeChange, code_changes
from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.fleet.topology_facts import read_facts

from lab.settings import CHECKOUT
from lab.topology_facts import SOURCES, jar

PROGRAM = SOURCES / "coded"
PAIRS = SOURCES / "pairs"
# With Kafka, Jackson and a logger.
LIBRARIES = CHECKOUT / "tests" / "apps" / "orders" / "target" / "releases" / "4.3.1"
OPENED = (
    "java.lang",
    "jdk.internal.reflect",
    "java.util",
    "java.util.concurrent",
    "java.util.function",
    "java.time.format",
)
OPENS = [f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in OPENED]
BASE = "base"
BESIDE = (
    "package shop;\n\nclass Beside {\n    @Override\n    public String toString() {\n        return null;\n    }\n}\n"
)
# Builds for other releases of Java, each with one that differs in the order of its source alone.
RELEASES = (8, 11)
_RUN_S = 600


@dataclass(frozen=True)
class Edit:
    """One edit: text of a file that becomes another; the facts `wherever` it changes code, and one that is `as_is`."""

    name: str
    file: str
    old: str
    new: str
    wherever: tuple[str, ...]
    as_is: str = ""
    more: tuple[tuple[str, str], ...] = ()
    reason: str = ""


@cache
def edits(kind: str) -> tuple[Edit, ...]:
    """`operators`: one body of each kind; `reached`: what an operator calls or keeps; `rebuilds`: no code of any."""
    rows = yaml.safe_load((PROGRAM / "edits.yaml").read_text("utf-8"))[kind]
    return tuple(
        Edit(
            row["name"],
            row["file"],
            row["old"],
            row["new"],
            tuple(row.get("changes", ())),
            row.get("stays", ""),
            tuple((old, new) for old, new in (row[one] for one in ("with", "and") if one in row)),
            row.get("reason", ""),
        )
        for row in rows
    )


@dataclass(frozen=True)
class Pair:
    """Two small programs: the text of one, with `one` or with `other` in it; what their code is behind one fact."""

    name: str
    texts: Mapping[str, str]
    files: Mapping[str, str]
    values: tuple[str, str]
    expected: str
    at: str
    reason: str

    @property
    def package(self) -> str:
        """Each program is in a package of its own."""
        return self.name.replace("-", "_")

    def write(self, folder: Path, value: str) -> None:
        """The sources with one of the values."""
        text = (PAIRS / "App.java.txt").read_text("utf-8")
        for mark, part in self.texts.items():
            text = text.replace(mark, part)
        sources = {"App.java": text} | {f"beside/{place}": part for place, part in self.files.items()}
        for place, part in sources.items():
            file = folder / self.package / place
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(part.replace("@@", value).replace("PACKAGE", self.package), "utf-8")

    def holds(self, one: Side, other: Side) -> bool:
        """Whether the digests of both say what is true of them."""
        found = [change for change in code_changes(Compared(one, other)) if f"{change.where}.{change.field}" == self.at]
        return len(found) == 1 and found[0].state == self.expected and self.reason in found[0].reason


@cache
def pairs() -> tuple[Pair, ...]:
    """Those of `pairs.yaml`."""
    found = []
    for row in yaml.safe_load((PAIRS / "pairs.yaml").read_text("utf-8"))["pairs"]:
        mapped = f's.mapValues(v -> {row.get("mapper")}, Named.as("mapped")).to("out");'
        texts = {
            "MEMBERS": row.get("members", ""),
            "BUILDER": row.get("builder", "new StreamsBuilder()"),
            "BEFORE": row.get("before", ""),
            "BODY": row.get("body", mapped),
            "BESIDE": row.get("beside", ""),
        }
        values = row["one"], row["other"]
        at = row.get("at", "operators.mapped.code")
        found.append(Pair(row["name"], texts, row.get("files", {}), values, row["expected"], at, row.get("reason", "")))
    return tuple(found)


def write_builds(folder: Path) -> None:
    """The sources of every build of the program, a folder each; `base` is the one that others are compared with."""
    _write(folder / BASE)
    for edit in (one for kind in ("operators", "reached", "hidden", "rebuilds") for one in edits(kind)):
        _write(folder / edit.name, (edit,))
    _write(folder / "again")
    _write(folder / "class-beside", beside=BESIDE)
    _write(folder / "without-debug", options="-g:none")
    _write(folder / "with-debug", options="-g")
    _write(folder / "parameters", options="-parameters")
    for release in RELEASES:
        _write(folder / f"release-{release}", options=f"--release {release}")
        moved = tuple(edits("moved"))
        _write(folder / f"release-{release}-moved", moved, options=f"--release {release}")


_DATABIND = "jackson-databind"
_ASKS = """\
package com.fasterxml.jackson.databind;

class Asks {
    String name(java.lang.reflect.Parameter parameter) {
        return parameter.getName();
    }
}
"""
_REFERS = """\
package com.fasterxml.jackson.databind;

class Refers {
    void close(org.rocksdb.RocksDB store) {
        store.close();
    }
}
"""
_FOUND = """\
package shop;

public class Beside extends com.fasterxml.jackson.databind.module.SimpleModule {
    @Override
    public String getModuleName() {
        return "@@";
    }
}
"""
_SERVICE = "META-INF/services/com.fasterxml.jackson.databind.Module"


def write_libraries(folder: Path, builds: Path) -> None:
    """Builds with changed libraries in front of those of the class path; `folder` has their jars."""
    folder.mkdir()
    made = folder / "made"
    made.mkdir()
    added = {}
    for name, text in (("Asks", _ASKS), ("Refers", _REFERS)):
        (made / f"{name}.java").write_text(text, "utf-8")
        command = ["javac", "-d", str(made), "-cp", f"{LIBRARIES}/*", str(made / f"{name}.java")]
        subprocess.run(command, check=True, timeout=_RUN_S)
        place = f"com/fasterxml/jackson/databind/{name}.class"
        added[name] = {place: (made / place).read_bytes()}
    jars = {
        "class": _jar(folder / "class", _DATABIND, other="databind/AbstractTypeResolver.class"),
        "resource": _jar(folder / "resource", _DATABIND, more={"beside.txt": b"1"}),
        "asks": _jar(folder / "asks", _DATABIND, more=added["Asks"]),
        "refers": _jar(folder / "refers", _DATABIND, more=added["Refers"]),
    }
    for name, changed in jars.items():
        _write(builds / f"library-{name}")
        (builds / f"library-{name}" / "libraries").write_text(str(changed), "utf-8")
    for name in ("records", "library-records"):
        _write(builds / name, edits("records"))
    (builds / "library-records" / "libraries").write_text(str(jars["class"]), "utf-8")
    _write(builds / "library-parameters", options="-parameters")
    (builds / "library-parameters" / "libraries").write_text(str(jars["asks"]), "utf-8")
    for name in ("first", "second"):
        _write(builds / f"service-{name}", beside=_FOUND.replace("@@", name))
        _resource(builds / f"service-{name}", _SERVICE, b"shop.Beside")
    _write(builds / "kafka-inside")
    [kafka] = LIBRARIES.glob("kafka-streams-4*.jar")
    inside = "org/apache/kafka/streams/KafkaStreams.class"
    _resource(builds / "kafka-inside", inside, ZipFile(kafka).read(inside))


def _resource(build: Path, name: str, content: bytes) -> None:
    """A file next to the classes of a build."""
    file = build / "resources" / name
    file.parent.mkdir(parents=True)
    file.write_bytes(content)


def _jar(folder: Path, library: str, other: str = "", more: Mapping[str, bytes] | None = None) -> Path:
    """The jar of a library in another order and of another time, with other code of one class, or with more files."""
    [original] = LIBRARIES.glob(f"{library}-*.jar")
    folder.mkdir(exist_ok=True)
    with ZipFile(original) as old, ZipFile(folder / original.name, "w") as new:
        names = sorted(name for name in old.namelist() if not name.endswith("/"))
        for name in names:
            of = names[names.index(name) + 1] if other and name.endswith(other) else name
            new.writestr(ZipInfo(name, (2026, 1, 1, 0, 0, 0)), old.read(of))
        for name, content in (more or {}).items():
            new.writestr(name, content)
    return folder / original.name


def write_build(folder: Path, release: int) -> None:
    """The sources of one build for a release of Java."""
    _write(folder, options=f"--release {release}")


def read_code(place: Path) -> None:
    """Compile what is in `builds` and `pairs` of a folder, and write the facts of each program there, in one JVM."""
    libraries, classes = f"{jar()}:{LIBRARIES}/*", place / "driver"
    for name in ("driver", "builds", "pairs"):
        (place / name).mkdir(exist_ok=True)
    source = str(SOURCES / "CodeFacts.java")
    subprocess.run(["javac", "-nowarn", "-d", str(classes), "-cp", libraries, source], check=True, timeout=_RUN_S)
    command = ["java", *OPENS, "-cp", f"{libraries}:{classes}", "kstreams.runbooks.facts.CodeFacts"]
    command += [str(place / "builds"), str(place / "pairs")]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=_RUN_S, check=False)
    assert ran.returncode == 0, ran.stderr[-2000:]


def _write(folder: Path, changes: tuple[Edit, ...] = (), options: str = "", beside: str = "") -> None:
    shutil.copytree(PROGRAM, folder, ignore=shutil.ignore_patterns("*.yaml"))
    for edit in changes:
        file = folder / f"{edit.file}.java"
        text = file.read_text("utf-8")
        for old, new in ((edit.old, edit.new), *edit.more):
            assert old in text, edit.name
            text = text.replace(old, new)
        file.write_text(text, "utf-8")
    if beside:
        (folder / "Beside.java").write_text(beside, "utf-8")
    if options:
        (folder / "options").write_text(options.replace(" ", "\n"), "utf-8")


def write_pairs(folder: Path) -> None:
    """The sources of both programs of each pair, in `one` and `other`."""
    for pair in pairs():
        for each, value in zip(("one", "other"), pair.values, strict=True):
            pair.write(folder / each, value)


def read_sides(folder: Path, prefix: str = "") -> Iterator[tuple[str, Side]]:
    """The facts of each program in a folder, by its name."""
    for file in sorted(folder.glob("*/facts.yaml")):
        yield f"{prefix}{file.parent.name}", _side(file)


def sides_of_documents(folder: Path) -> dict[str, Side]:
    """The documents in a folder, by their names."""
    return {file.stem: _side(file) for file in folder.glob("*.yaml")}


def lasting(document: Path) -> str:
    """A document without the hash of an object that the description of the library has: another one in each run."""
    lines = document.read_text("utf-8").splitlines()
    return "\n".join(line for line in lines if "(extractor class: " not in line)


def _side(file: Path) -> Side:
    facts = read_facts(file.read_text("utf-8"), file.parent.name)
    assert facts.text is not None
    return Side(parse_topology(facts.text), facts.read)


def changes(one: Side, other: Side) -> dict[str, CodeChange]:
    """What became of each part of the code between two builds."""
    return {f"{change.where}.{change.field}": change for change in code_changes(Compared(one, other))}
