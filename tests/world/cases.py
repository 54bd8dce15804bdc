"""Writes rules/topology_cases.yaml: of each change rule the plainest of the cases that show it."""

from pathlib import Path

import yaml
from kstreams_runbooks.rules import topology_change_rules

from world.pairs import expected

FILE = Path(__file__).parents[2] / "plugins/kstreams_runbooks/rules/topology_cases.yaml"
_HEAD = "# One case of tests/apps/topologies for each rule of topology_changes.yaml: written by `make docs`.\n"


def cases() -> dict[str, str]:
    """What each rule is shown by: the case with the fewest other findings."""
    found: dict[str, tuple[bool, int, str]] = {}
    known = {rule.id for rule in topology_change_rules()}
    for case, row in expected().items():
        for rule in row["rules"]:
            size = (not row["about"], len(row["rules"]) + len(row.get("undecided", [])), case)
            if rule in known and rule not in row.get("covered", []):
                found[rule] = min(size, found.get(rule, size))
    return {
        rule: f"{expected()[case]['about']} (tests/apps/topologies, {case})".lstrip()
        for rule, (_, _, case) in sorted(found.items())
    }


if __name__ == "__main__":
    FILE.write_text(_HEAD + yaml.safe_dump({"topology_cases": cases()}, width=110), encoding="utf-8")
