"""One rule in full, for a person who asks why."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from kstreams_runbooks.cli import cli
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.present.change.explained import explained
from kstreams_runbooks.rules import topology_cases, topology_change_rules
from world.cases import FILE, cases
from world.pairs import expected

RULES = topology_change_rules()


@pytest.mark.parametrize("rule", sorted({rule.id for rule in RULES}))
def test_each_rule_has_all_of_its_rows_and_a_case_that_shows_it(rule: str) -> None:
    """The case is one in which it fires."""
    text = " ".join(explained(rule, RULES, topology_cases()).split())
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
