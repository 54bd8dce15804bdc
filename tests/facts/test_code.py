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
        libraries = f"{jar()}:{LIBRARIES}/*"
        classes.mkdir()
        source = str(SOURCES / "CodeFacts.java")
        subprocess.run(["javac", "-nowarn", "-d", str(classes), "-cp", libraries, source], check=True, timeout=_BUILD_S)
        command = ["java", *OPENS, "-cp", f"{libraries}:{classes}", "kstreams.runbooks.facts.CodeFacts", str(folder)]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=_BUILD_S, check=False)
        assert ran.returncode == 0, ran.stderr[-2000:]
        return dict(_read(folder))


def _read(folder: Path) -> Iterator[tuple[str, Side]]:
    for file in sorted(folder.glob("*/facts.yaml")):
        facts = read_facts(file.read_text("utf-8"), file.parent.name)
        assert facts.text is not None
        yield file.parent.name, Side(parse_topology(facts.text), facts.read)


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


@pytest.mark.parametrize("name", ["again", "class-beside", "without-debug", *REBUILDS])
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
