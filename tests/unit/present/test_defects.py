"""docs/defects.md is printed from the rows, never written by hand."""

from pathlib import Path

from kstreams_runbooks.model.releases.path import PathFinding
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.present.defects import as_text, exit_code, whole_page
from kstreams_runbooks.rules import upgrade_path_rules

PAGE = Path(__file__).resolve().parents[3] / "docs" / "defects.md"
RULES = upgrade_path_rules()
CERTAIN = PathFinding("A", "danger", "3.6.1", "It loses.", "KAFKA-1")
MAYBE = PathFinding("B", "warning", "3.6.1", "May apply, not known: the kind of its stores. It stops.", "KAFKA-2")
LEFT = PathFinding("C", "info", "3.6.1", "Leaves a known defect: it leaks.", "KAFKA-3")


def test_the_page_is_up_to_date() -> None:
    """`make docs` prints it again."""
    assert PAGE.read_text(encoding="utf-8") == whole_page(RULES), "docs/defects.md is out of date: make docs"


def test_every_row_is_in_the_page_with_its_source() -> None:
    """Nothing that is shown, or refused, is hidden."""
    lines = {line.split("`")[1]: line for line in whole_page(RULES).splitlines() if line.startswith("| `")}
    assert lines.keys() == {row.id for row in RULES.defects}
    for row in RULES.defects:
        assert row.source in lines[row.id]
        assert row.reason in lines[row.id]
        assert lines[row.id].replace("\\|", "").count("|") == 9


def test_the_exit_code() -> None:
    """What may apply is not known; what is left behind does not count."""
    assert exit_code([CERTAIN, MAYBE, LEFT]) == 1
    assert exit_code([MAYBE, LEFT]) == 3
    assert exit_code([LEFT]) == 0
    assert exit_code([]) == 0


def test_the_text_has_the_worst_first() -> None:
    """The number of those that bite, and of those that may."""
    text = as_text(Release("3.6.1"), None, [LEFT, MAYBE, CERTAIN], None)
    assert text.startswith("3.6.1: known defects that bite: 1, that may: 1 (docs/defects.md)\n\ndanger\n")
    assert "\n  A: 3.6.1\n    It loses." in text
    assert text.index("  A:") < text.index("  B:") < text.index("  C:")
    narrow = as_text(Release("3.6.1"), Release("4.4.0"), [MAYBE], 60)
    assert all(len(line) <= 60 for line in narrow.splitlines()[1:])
