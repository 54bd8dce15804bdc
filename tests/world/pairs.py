"""The topologies of tests/apps/topologies: before and after a change, as the real library describes them.

A case is a pair (`count-store-renamed`), or a pair with other declarations (`count-store-renamed/to-another-release`).
`before.facts.yaml` and `after.facts.yaml` next to the declarations have what code shows, if a case needs it.
"""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.topology.code_facts import merged
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.fleet.topology_declaration import read_topology_declaration
from kstreams_runbooks.fleet.topology_facts import read_facts
from kstreams_runbooks.model.releases.settings import SettingCatalogue
from kstreams_runbooks.model.topology.declaration import OTHER_CODE, Declaration
from kstreams_runbooks.model.topology.topology import Topology
from kstreams_runbooks.rules import release_settings

FIXTURES = Path(__file__).parents[1] / "apps" / "topologies"
PAIRS = FIXTURES / "pairs"
DECLARED = FIXTURES / "declared"
# Topologies that no release builds.
HAND_WRITTEN = "hand-written"


@cache
def expected() -> dict[str, dict[str, Any]]:
    """The expected result of each case: the exact rules, the verdict, the runbooks, and the case that it resembles."""
    found: dict[str, dict[str, Any]] = json.loads((FIXTURES / "expected.json").read_text("utf-8"))
    return found


def catalogue(case: str) -> SettingCatalogue:
    """All settings of all releases for a case about what is known of them (`catalogue` in its row), else none."""
    return release_settings() if expected()[case].get("catalogue") else SettingCatalogue()


@cache
def described(pair: str) -> tuple[Topology, Topology]:
    """The old and the new topology of a pair."""
    folder = FIXTURES / pair if pair == HAND_WRITTEN else PAIRS / pair
    before, after = (parse_topology((folder / f"{side}.txt").read_text("utf-8")) for side in ("before", "after"))
    return before, after


@cache
def compared(case: str) -> Compared:
    """The two versions of a case with their declarations."""
    before, after = (
        Side(topology, _declared(DECLARED / case, side))
        for topology, side in zip(described(case.split("/", 1)[0]), ("before", "after"), strict=True)
    )
    return Compared(before, after)


def _declared(folder: Path, side: str) -> Declaration:
    """The declaration of a side, with the facts of its code if the case has them.

    A case declares all that its change touches, and its author answers for the rest of the code.
    """
    declared, facts = read_topology_declaration(folder / f"{side}.yaml"), folder / f"{side}.facts.yaml"
    if side == "after":
        declared = replace(declared, unchanged=declared.unchanged | {OTHER_CODE})
    return merged(read_facts(facts.read_text("utf-8"), str(facts)).read, declared) if facts.exists() else declared
