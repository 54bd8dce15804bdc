"""`make mutate-digests`: every rule of the digests taken away in turn; prints rule → failing test.

Each row of digests.yaml is one change of a file in topology_facts and the case that fails with it; ONLY=words runs the
rows whose rule has them, FIND=1 runs every case of a row whose own case does not fail. Exit codes: 0 every mutant fails
its case, 1 at least one survives.
"""

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml
from kstreams_runbooks.decide.comparison.code import CodeChange
from kstreams_runbooks.decide.comparison.compared import Side
from lab.coded import (
    BASE,
    LIBRARIES,
    OPENS,
    RELEASES,
    changes,
    edits,
    pairs,
    read_sides,
    write_builds,
    write_libraries,
    write_pairs,
)
from lab.topology_facts import MODULE, SOURCES

ROWS = Path(__file__).with_name("digests.yaml")
CODE = MODULE / "src" / "main" / "java"
ASM = Path.home() / ".m2" / "repository" / "org" / "ow2" / "asm" / "asm" / "9.11.1" / "asm-9.11.1.jar"
_RUN_S = 3_000
_TESTS = {
    "changed": "test_changed_code_is_never_called_the_same",
    "hidden": "test_code_that_reads_more_than_code_is_not_provable",
    "rebuild": "test_a_rebuild_without_a_change_is_the_same",
    "pair": "test_code_that_differs_in_what_is_hard_to_see_is_never_the_same",
    "methods": "test_each_method_of_a_rebuild_has_the_digest_that_it_had",
    "library": "test_a_library_counts_with_the_contents_of_its_classes",
    "provable": "test_every_part_of_the_program_has_a_digest",
}

Sides = Mapping[str, Side]


@dataclass(frozen=True)
class Mutant:
    """One rule less: `old` of a file becomes `new`, and the case `fails`."""

    rule: str
    file: str
    old: str
    new: str
    fails: str

    def write(self, folder: Path) -> None:
        """The source without the rule; AssertionError if the file has other code."""
        [source] = CODE.rglob(f"{self.file}.java")
        text = source.read_text("utf-8")
        assert text.count(self.old) == 1, f"{self.rule}: {text.count(self.old)} places in {source.name} (expected: 1)"
        folder.mkdir(parents=True)
        (folder / source.name).write_text(text.replace(self.old, self.new), "utf-8")


@cache
def mutants() -> tuple[Mutant, ...]:
    """Those of the rows."""
    sections = yaml.safe_load(ROWS.read_text("utf-8"))
    return tuple(Mutant(**row) for rows in sections.values() for row in rows)


def programs_of(case: str) -> tuple[str, ...]:
    """The programs that a case compares."""
    kind, _, name = case.partition(" ")
    if kind == "pair":
        return f"one {name.replace('-', '_')}", f"other {name.replace('-', '_')}"
    if kind == "library":
        return _LIBRARY[name]
    if name.endswith("-moved"):
        return name.removesuffix("-moved"), name
    return (BASE, name) if name else (BASE,)


def holds(case: str, sides: Sides) -> bool:
    """Whether a case comes out as it is true; False for programs that were not read."""
    kind, _, name = case.partition(" ")
    both = [sides[one] for one in programs_of(case) if one in sides]
    if len(both) < len(programs_of(case)):
        return False
    if kind == "provable":
        return not [code for code in both[0].declared.code.values() if code.not_provable]
    if kind == "pair":
        [pair] = [one for one in pairs() if one.name == name]
        return pair.holds(both[0], both[1])
    found = changes(both[0], both[1])
    if kind == "rebuild":
        return len(found) > 1 and all(one.state == "same" for one in found.values())
    if kind == "methods":
        code = both[1].declared.code
        return all(one.methods == code[where].methods for where, one in both[0].declared.code.items())
    if kind == "library":
        return _of_libraries(name, found)
    [edit] = [one for part in ("operators", "reached", "hidden") for one in edits(part) if one.name == name]
    if kind == "hidden":
        code = both[1].declared.code
        return all(edit.reason in code[where].not_provable for where in edit.wherever)
    states = {where: found[where].state if where in found else "" for where in edit.wherever}
    return set(states.values()) == {"other"} and (not edit.as_is or found[edit.as_is].state == "same")


_LIBRARY = {
    "class": (BASE, "library-class"),
    "below": (BASE, "library-refers"),
    "resource": (BASE, "library-resource"),
    "parameters": ("library-asks", "library-parameters"),
    "service": ("service-first", "service-second"),
    "kafka": (BASE, "kafka-inside"),
    "records": ("records", "library-records"),
}


def _of_libraries(name: str, found: Mapping[str, CodeChange]) -> bool:
    states = {one.state for one in found.values()}
    if name == "records":
        return found["operators.unnoded.code"].state == "other"
    if name in {"parameters", "service"}:
        return "other" in states
    if name in {"kafka", "below"}:
        came = "kafka-inside none" if name == "kafka" else "rocksdbjni none"
        return any(came in one.reason for one in found.values())
    below = {"class": {"jackson-databind"}, "resource": set[str]()}[name]
    return states == {"same"} and {library for one in found.values() for library, _, _ in one.libraries} == below


def every_case() -> Iterator[str]:
    """Each test of the digests that a mutant may fail."""
    yield "provable"
    for kind, parts in (("changed", ("operators", "reached")), ("hidden", ("hidden",)), ("rebuild", ("rebuilds",))):
        yield from (f"{kind} {one.name}" for part in parts for one in edits(part))
    yield from (f"rebuild {name}" for name in ("again", "class-beside", "without-debug", "with-debug", "parameters"))
    yield from (f"rebuild release-{release}-moved" for release in RELEASES)
    yield from (f"pair {one.name}" for one in pairs())
    yield from (f"library {name}" for name in _LIBRARY)
    yield from (f"methods {one.name}" for one in edits("rebuilds"))


def failing(folder: Path, wanted: Mapping[Mutant, Iterable[str]]) -> dict[Mutant, list[str]]:
    """The cases that fail with each mutant, of those that are `wanted` of it; `folder` has the built programs."""
    lines = []
    places: dict[Mutant, Path] = {}
    for mutant, cases in wanted.items():
        places[mutant] = folder / "mutants" / str(len(list((folder / "mutants").glob("*"))))
        mutant.write(places[mutant])
        programs = dict.fromkeys(program for case in cases for program in programs_of(case))
        lines.append("\t".join((str(places[mutant]), *programs)))
    (folder / "jobs").write_text("\n".join(lines), "utf-8")
    command = ["java", *OPENS, "-cp", f"{ASM}:{LIBRARIES}/*:{folder / 'driver'}", "CodeMutants"]
    command += [str(folder / name) for name in ("plain", "builds", "pairs", "jobs")]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=_RUN_S, check=False)
    assert ran.returncode == 0, ran.stderr[-2000:]
    print("\n".join(line for line in ran.stderr.splitlines() if not line.startswith("Note: ")), file=sys.stderr)
    found: dict[Mutant, list[str]] = {}
    for mutant, cases in wanted.items():
        assert any((places[mutant] / "classes").iterdir()), f"{mutant.rule}: does not compile"
        sides = dict(read_sides(places[mutant] / "facts"))
        found[mutant] = [case for case in cases if not holds(case, sides)]
    return found


def build(folder: Path) -> None:
    """Compile the reader of code without its own jar, and the programs' sources."""
    for name in ("plain", "driver", "mutants"):
        (folder / name).mkdir()
    libraries = f"{ASM}:{LIBRARIES}/*"
    sources = [str(one) for one in CODE.rglob("*.java")]
    for to, of in (
        ("plain", [*sources, str(SOURCES / "CodeFacts.java")]),
        ("driver", [str(SOURCES / "CodeMutants.java")]),
    ):
        command = ["javac", "-nowarn", "-proc:none", "-d", str(folder / to), "-cp", libraries, *of]
        subprocess.run(command, check=True, capture_output=True, timeout=_RUN_S)
    write_builds(folder / "builds")
    write_libraries(folder / "jars", folder / "builds")
    write_pairs(folder / "pairs")


def shown(case: str) -> str:
    """The test of a case."""
    kind, _, name = case.partition(" ")
    return f"tests/facts/test_code.py::{_TESTS[kind]}[{name}]" if name else f"tests/facts/test_code.py::{_TESTS[kind]}"


def main() -> int:
    """Every mutant, one line each; the survivors again at the end."""
    chosen = [one for one in mutants() if os.environ.get("ONLY", "") in one.rule]
    known = list(every_case())
    with TemporaryDirectory() as place:
        folder = Path(place)
        build(folder)
        first = {one: [one.fails] for one in chosen if one.fails in known}
        found = failing(folder, first) if first else {}
        left = [one for one in chosen if not found.get(one)]
        if left and os.environ.get("FIND"):
            for mutant in left:
                found |= failing(folder, {mutant: known})
                print(f"{mutant.rule}: {found[mutant]}", flush=True)
        for mutant in chosen:
            print(f"{mutant.rule} ({mutant.file}) -> {shown(found[mutant][0]) if found.get(mutant) else 'SURVIVES'}")
    survivors = [one for one in chosen if not found.get(one)]
    print(f"{len(chosen)} rules, {len(survivors)} survive", file=sys.stderr)
    for mutant in survivors:
        print(f"  {mutant.rule}", file=sys.stderr)
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
