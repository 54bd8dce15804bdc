"""The plans of the cases of tests/apps/topologies from topology facts alone, next to the plans that are expected.

Each side is built by a real release of Kafka Streams with the settings that its case declares. Nothing else of the
declaration is used: what no code shows is unknown here.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from kstreams_runbooks.decide.change.reading import ChangeReading, read_change
from kstreams_runbooks.decide.comparison.compared import Side
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.fleet.topology_facts import read_facts
from kstreams_runbooks.model.topology.declaration import Declaration, TopologyFacts
from kstreams_runbooks.properties import dump
from kstreams_runbooks.rules import release_settings, topology_change_rules, upgrade_path_rules
from world.pairs import FIXTURES, HAND_WRITTEN, compared, expected

from lab.topology_facts import SOURCES, class_path, java

SIDES = ("before", "after")
# A program without them does not start if it leaves a serde out.
_DEFAULTS = {
    f"default.{what}.serde": "org.apache.kafka.common.serialization.Serdes$StringSerde" for what in ("key", "value")
}


@dataclass(frozen=True)
class CaseSide:
    """One side of a case: what it declares, and the release that builds it."""

    case: str
    side: str
    declared: Declaration
    release: str


def case_sides() -> Iterator[CaseSide]:
    """Those of all cases whose pair some release builds."""
    built = json.loads((FIXTURES / "built.json").read_text("utf-8"))
    for case in expected():
        releases = built.get(case.split("/")[0], [])
        if case == HAND_WRITTEN or not releases:
            continue
        for side, own in zip(SIDES, (compared(case).before, compared(case).after), strict=True):
            library = str(own.declared.library or releases[-1])
            yield CaseSide(case, side, own.declared, library if library in releases else releases[-1])


@cache
def sides() -> dict[tuple[str, str], Side]:
    """The facts of each side of each case, by case and side."""
    found: dict[tuple[str, str], Side] = {}
    wanted = list(case_sides())
    for release in sorted({one.release for one in wanted}):
        with TemporaryDirectory() as folder:
            of_release = [one for one in wanted if one.release == release]
            _write(Path(folder), of_release)
            ran = java(class_path(release), str(SOURCES / "CaseFacts.java"), folder)
            assert ran.returncode == 0, ran.stderr
            for one in of_release:
                file = Path(folder) / one.case / f"{one.side}.yaml"
                found[one.case, one.side] = _side(read_facts(file.read_text("utf-8"), str(file)))
    return found


@cache
def pair_facts(release: str) -> dict[tuple[str, str], TopologyFacts]:
    """The facts of each side of each pair that a release builds, all with the same settings."""
    with TemporaryDirectory() as folder:
        ran = java(class_path(release), str(SOURCES / "PairFacts.java"), folder)
        assert ran.returncode == 0, ran.stderr
        files = sorted(Path(folder).glob("*/*.yaml"))
        return {(file.parent.name, file.stem): read_facts(file.read_text("utf-8"), str(file)) for file in files}


@cache
def pair_sides(release: str) -> dict[tuple[str, str], Side]:
    """The same as sides of a plan."""
    return {name: _side(facts) for name, facts in pair_facts(release).items()}


def _side(facts: TopologyFacts) -> Side:
    assert facts.text is not None
    return Side(parse_topology(facts.text), facts.read)


def _write(folder: Path, wanted: list[CaseSide]) -> None:
    (folder / "sides.txt").write_text("".join(f"{one.case} {one.side}\n" for one in wanted), "utf-8")
    for one in wanted:
        (folder / one.case).mkdir(parents=True, exist_ok=True)
        if one.declared.config is not None:
            settings = dump({**_DEFAULTS, **one.declared.config})
            (folder / one.case / f"{one.side}.properties").write_text(settings, "latin-1")


@cache
def planned(case: str) -> ChangeReading:
    """The plan of a case from its facts."""
    return plan(*(sides()[case, side] for side in SIDES))


def plan(before: Side, after: Side) -> ChangeReading:
    """What follows from going from one side to the other, by all rules."""
    return read_change(before, after, topology_change_rules(), upgrade_path_rules(), catalogue=release_settings())
