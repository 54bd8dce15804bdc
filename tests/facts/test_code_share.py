"""The share of answers without any word of a person, on tests/apps/topologies, with digests and without.

`-s` prints the figures of docs/measured.md.
"""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from kstreams_runbooks.decide.change.reading import read_change
from kstreams_runbooks.decide.comparison.compared import Side
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.rules import topology_change_rules, upgrade_path_rules
from lab.coded import OPENS, sides_of_documents
from lab.topology_facts import SOURCES, class_path, compiled, java

pytestmark = pytest.mark.long
RELEASE = "4.3.1"
_LEAST_OF_EQUAL = 0.95


def _without_code(side: Side) -> Side:
    return Side(side.topology, replace(side.declared, code={}))


def _is_answered(before: Side, after: Side) -> bool:
    plan = read_change(before, after, topology_change_rules(), upgrade_path_rules()).plan
    return plan.verdict is not Outcome.INCONCLUSIVE


def test_digests_answer_more_changes(tmp_path: Path) -> None:
    """No answer is lost, and almost every program compared with itself is answered."""
    assert (SOURCES / "PairCode.java").is_file()
    assert class_path(RELEASE)
    classes = compiled(RELEASE, tmp_path / "classes", "PairCode.java")
    ran = java(classes, "kstreams.runbooks.facts.PairCode", str(tmp_path / "facts"), options=OPENS)
    assert ran.returncode == 0, ran.stderr[-2000:]
    found = Counter[str]()
    for folder in sorted((tmp_path / "facts").iterdir()):
        sides = sides_of_documents(folder)
        before, after = sides["before"], sides["after"]
        bare = _without_code(before), _without_code(after)
        found["changes"] += 1
        by_facts, by_code = _is_answered(*bare), _is_answered(before, after)
        assert by_code or not by_facts, folder.name
        found["by facts"] += by_facts
        found["by code"] += by_code
        found["equal, by facts"] += _is_answered(bare[0], bare[0])
        found["equal, by code"] += _is_answered(before, before)
    print(dict(found))
    assert found["by code"] > found["by facts"]
    assert found["equal, by code"] / found["changes"] > _LEAST_OF_EQUAL
