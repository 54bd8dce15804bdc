"""docs/change_rules.md is printed from the rows; a runbook is a DAG or a procedure, never both and never neither."""

from pathlib import Path
from typing import get_args

from kstreams_runbooks.model.topology.change import ChangeRunbook
from kstreams_runbooks.present.rules_page import rules_page
from kstreams_runbooks.rules import procedures, release_settings, topology_change_rules

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "change_rules.md"


def test_the_page_is_up_to_date() -> None:
    """`make docs` prints it again."""
    page = rules_page(topology_change_rules(), procedures(), release_settings().refusals)
    assert PAGE.read_text(encoding="utf-8") == page, "docs/change_rules.md is out of date: make docs"


def test_every_row_stands_in_the_page_with_its_source() -> None:
    """Nothing that decides is hidden."""
    page = PAGE.read_text(encoding="utf-8")
    for rule in topology_change_rules():
        assert f"## {rule.id}\n" in page
        assert f"- source: {rule.source}\n" in page


def test_every_runbook_is_a_dag_or_a_procedure() -> None:
    """A plan names it either way: the one is triggered, the other is printed."""
    dags = {file.stem for file in (ROOT / "dags").glob("*.py")}
    by_hand = [one.runbook for one in procedures()]
    assert len(by_hand) == len(set(by_hand))
    for runbook in get_args(ChangeRunbook):
        assert (runbook in dags) is not (runbook in by_hand), runbook
    assert all(len(one.steps) > 1 for one in procedures())


def test_every_source_that_is_one_of_our_tests_is_there() -> None:
    """A rule that rests on a test names a file that exists."""
    for rule in topology_change_rules():
        for part in rule.source.replace(",", " ").replace(";", " ").split():
            if part.startswith("tests/"):
                assert (ROOT / part).exists(), rule.source
