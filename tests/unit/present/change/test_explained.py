"""One finding in full, for a person who asks why."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from kstreams_runbooks.cli import cli
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.present.change.explained import explainable, explained
from kstreams_runbooks.rules import finding_kinds, topology_cases, topology_change_rules, upgrade_path_rules
from world.cases import FILE, cases
from world.imports import PACKAGE
from world.pairs import expected

RULES = topology_change_rules()
# The code that makes the findings of plans, and the calls that make them, with the place of the id.
MAKERS = ("change", "fitting", "growth", "instances", "internal_topics", "outputs", "plans", "releases", "reset")
MADE_BY = {"ChangeFinding": 0, "Finding": 0, "PathFinding": 0, "SettingFinding": 0, "Undecided": 0, "refusal": 1}
# Ids that are not text in the code: those of rows, and `missing-` with the input of a path.
OF_ROWS = {"id", "row_id"}
MISSING = {"missing-broker", "missing-guarantee", "missing-group-protocol"}


@pytest.mark.parametrize("rule", sorted({rule.id for rule in RULES}))
def test_each_rule_has_all_of_its_rows_and_a_case_that_shows_it(rule: str) -> None:
    """The case is one in which it fires."""
    text = " ".join(explained(rule).split())
    for row in (row for row in RULES if row.id == rule):
        assert " ".join(row.why.split()) in text
        assert " ".join(row.source.split()) in text
        assert row.data in text
    case = topology_cases()[rule].rpartition("(tests/apps/topologies, ")[2].rstrip(")")
    assert rule in expected()[case]["rules"]
    assert case in text


def test_the_cases_are_up_to_date() -> None:
    """`make docs` writes them again."""
    assert topology_cases() == cases(), f"{Path(FILE).name} is out of date: make docs"


def test_a_rule_is_explained_without_a_topology() -> None:
    """With what covers it, and both values in place of a placeholder."""
    result = CliRunner().invoke(cli, ["plan", "--explain", "window-size-changed"])
    assert result.exit_code == 0
    assert "covered by" in result.stdout
    assert "store-type-changed" in result.stdout
    assert "changes (old → new)" in result.stdout


def test_an_unknown_rule_is_bad_input_with_those_near_it() -> None:
    """A misprint is common on call."""
    result = CliRunner().invoke(cli, ["plan", "--explain", "store-renamd"])
    assert isinstance(result.exception, BadInput)
    assert "near: store-renamed" in str(result.exception)


def ids_in_code() -> Iterator[str]:
    """The first argument of every finding that a plan may have: its text, or that of the constant that it names."""
    trees = [ast.parse(file.read_text("utf-8")) for room in MAKERS for file in (PACKAGE / "decide" / room).glob("*.py")]
    trees.append(ast.parse((PACKAGE / "decide" / "topology" / "threads.py").read_text("utf-8")))
    constants = {
        target.id: node.value.value
        for tree in trees
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for tree in trees:
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
            place = MADE_BY.get(ast.unparse(call.func))
            if place is None:
                continue
            given = call.args[place]
            if isinstance(given, ast.Constant):
                yield str(given.value)
            elif isinstance(given, ast.JoinedStr):
                assert ast.unparse(given).startswith("f'missing-") or ast.unparse(given).startswith('f"missing-')
                yield from MISSING
            elif isinstance(given, ast.Name) and given.id not in OF_ROWS:
                yield str(constants[given.id])
            else:
                assert ast.unparse(given).rpartition(".")[2] in OF_ROWS, ast.unparse(given)


def test_every_finding_that_a_plan_can_print_is_explained() -> None:
    """Those that code makes, every row about topologies, and every row about releases; no entry is left over."""
    made = set(ids_in_code())
    assert {"library-changed", "setting-refused", "declaration-contradicted", "named-unchanged", "no-rule"} <= made
    assert len(made) >= 30
    assert made - explainable() == set()
    assert {one.id for one in finding_kinds()} <= made
    for one in sorted(made | explainable()):
        first, empty, *text = explained(one).splitlines()
        assert (first, empty) == (one, "")
        assert text[-1].strip()


def test_a_finding_that_is_no_rule_says_what_it_means_and_what_to_do() -> None:
    """It has no row, and a plan prints it."""
    result = CliRunner().invoke(cli, ["plan", "--explain", "declaration-contradicted"])
    assert result.exit_code == 0
    assert "The plan uses what was read" in " ".join(result.stdout.split())
    assert "then        Correct the declaration" in result.stdout


def test_a_row_about_releases_is_explained_with_its_releases() -> None:
    """A change of one release, and what holds between two."""
    assert "the change crosses release 4.3.0" in explained("store-offsets-kip-1035")
    row = upgrade_path_rules().upgrades[0]
    text = " ".join(explained(row.id).split())
    assert " ".join(row.reason.split()) in text
    assert f"running {', '.join(row.running)}; target {', '.join(row.target)}" in text


def test_a_known_defect_has_its_needs_and_what_is_done_differently() -> None:
    """What a person needs who reads its name in a plan."""
    text = " ".join(explained("KAFKA-16017").split())
    assert "needs guarantee: exactly_once or exactly_once_beta or exactly_once_v2; stores: persistent" in text
    assert "then Stop an instance only while none of its tasks restores, as a run does. Fixed in 3.6.2, 3.7.0." in text
    assert "needs" not in " ".join(explained("iterator-leak-4.1.0").split())
