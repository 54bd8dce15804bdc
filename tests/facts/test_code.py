"""Digests of code against changes whose truth is known by construction: each is one edit of one program's source.

`tests/facts/java/coded` has an operator of each kind. Each build of it is compiled and read in one JVM.
"""

import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
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
_BUILD_S = 600


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


CHANGES = [*edits("operators"), *edits("reached")]
HIDDEN = edits("hidden")
REBUILDS = [one.name for one in edits("rebuilds")]
BESIDE = (
    "package shop;\n\nclass Beside {\n    @Override\n    public String toString() {\n        return null;\n    }\n}\n"
)


def _write(folder: Path, edit: Edit | None, options: str = "", beside: str = "") -> None:
    shutil.copytree(PROGRAM, folder, ignore=shutil.ignore_patterns("*.yaml"))
    if edit is not None:
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


@cache
def sides() -> Mapping[str, Side]:
    """Each build by its name; `base` is the one that the others are compared with."""
    with TemporaryDirectory() as place:
        folder, classes = Path(place) / "builds", Path(place) / "driver"
        _write(folder / "base", None)
        for edit in (*CHANGES, *HIDDEN, *edits("rebuilds")):
            _write(folder / edit.name, edit)
        _write(folder / "again", None)
        _write(folder / "class-beside", None, beside=BESIDE)
        _write(folder / "without-debug", None, options="-g:none")
        for release in (8, 11):
            _write(folder / f"release-{release}", None, options=f"--release {release}")
        _write(folder / "parameters", None, options="-parameters")
        both = Path(place) / "pairs"
        for pair in pairs():
            for each, value in zip(("one", "other"), pair.values, strict=True):
                pair.write(both / each, value)
        libraries = f"{jar()}:{LIBRARIES}/*"
        classes.mkdir()
        source = str(SOURCES / "CodeFacts.java")
        subprocess.run(["javac", "-nowarn", "-d", str(classes), "-cp", libraries, source], check=True, timeout=_BUILD_S)
        command = ["java", *OPENS, "-cp", f"{libraries}:{classes}", "kstreams.runbooks.facts.CodeFacts"]
        command += [str(folder), str(both)]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=_BUILD_S, check=False)
        assert ran.returncode == 0, ran.stderr[-2000:]
        found = dict(_read(folder, ""))
        for each in ("one", "other"):
            found |= _read(both / each / "built", f"{each} ")
        return found


def _read(folder: Path, prefix: str) -> Iterator[tuple[str, Side]]:
    for file in sorted(folder.glob("*/facts.yaml")):
        facts = read_facts(file.read_text("utf-8"), file.parent.name)
        assert facts.text is not None
        yield f"{prefix}{file.parent.name}", Side(parse_topology(facts.text), facts.read)


def changes(name: str) -> dict[str, CodeChange]:
    """What became of each part of the code between the first build and another one."""
    compared = Compared(sides()["base"], sides()[name])
    return {f"{one.where}.{one.field}": one for one in code_changes(compared)}


def test_every_part_of_the_program_has_a_digest() -> None:
    """Nothing of it is not provable: the cases below compare digests."""
    found = sides()["base"].declared.code
    assert [where for where, one in found.items() if one.not_provable] == []
    assert len(found) > 45


@pytest.mark.parametrize("edit", CHANGES, ids=lambda edit: edit.name)
def test_changed_code_is_never_called_the_same(edit: Edit) -> None:
    """Each place that the edit reaches has other code, by the names of methods; one that it does not reach stays."""
    found = changes(edit.name)
    states = {where: found[where].state for where in edit.wherever}
    assert states == dict.fromkeys(edit.wherever, "other")
    assert not edit.as_is or found[edit.as_is].state == "same"


@pytest.mark.parametrize("edit", HIDDEN, ids=lambda edit: edit.name)
def test_code_that_reads_more_than_code_is_not_provable(edit: Edit) -> None:
    """With the method and what it reads; never the same as any other code, nor as itself."""
    code = sides()[edit.name].declared.code
    assert edit.wherever
    for where in edit.wherever:
        assert code[where].digest == ""
        assert edit.reason in code[where].not_provable
    itself = code_changes(Compared(sides()[edit.name], sides()[edit.name]))
    states = {f"{one.where}.{one.field}": one.state for one in itself}
    assert {states[where] for where in edit.wherever} == {"unknown"}


@pytest.mark.parametrize("pair", pairs(), ids=lambda pair: pair.name)
def test_code_that_differs_in_what_is_hard_to_see_is_never_the_same(pair: Pair) -> None:
    """Values of objects, whether two are one, what runs before, what others change: other code, or a reason."""
    both = Compared(*(sides()[f"{each} {pair.package}"] for each in ("one", "other")))
    [change] = [one for one in code_changes(both) if f"{one.where}.{one.field}" == pair.at]
    assert (change.state, pair.reason in change.reason) == (pair.expected, True), change


@pytest.mark.parametrize("name", ["again", "class-beside", "without-debug", "parameters", *REBUILDS])
def test_a_rebuild_without_a_change_is_the_same(name: str) -> None:
    """In every part of the program."""
    found = changes(name)
    assert {where: one.state for where, one in found.items() if one.state != "same"} == {}


@pytest.mark.parametrize("release", [8, 11])
def test_a_build_for_another_release_of_java_is_never_other_code(release: int) -> None:
    """The compiler writes other instructions of some methods: those are not known, and the rest is the same."""
    states = [one.state for one in changes(f"release-{release}").values()]
    assert "other" not in states
    assert states.count("same") > 5
