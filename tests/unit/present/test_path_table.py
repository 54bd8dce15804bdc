"""docs/version_paths.md is printed from the rows, never written by hand."""

from pathlib import Path
from typing import Any

from kstreams_runbooks.present.path_table import whole_table
from kstreams_runbooks.rules import upgrade_path_rules

PAGE = Path(__file__).resolve().parents[3] / "docs" / "version_paths.md"
RULES = upgrade_path_rules()


def test_the_page_is_up_to_date() -> None:
    """`make docs` prints it again."""
    assert PAGE.read_text(encoding="utf-8") == whole_table(RULES), "docs/version_paths.md is out of date: make docs"


def test_every_row_stands_in_the_page_with_its_source() -> None:
    """Nothing that decides is hidden."""
    page = PAGE.read_text(encoding="utf-8")
    rows: tuple[Any, ...] = (
        *RULES.upgrades,
        *RULES.downgrades,
        *RULES.guarantee_changes,
        *RULES.protocol_changes,
        *RULES.brokers,
    )
    for row in rows:
        assert f"`{row.id}`: {row.source}" in page
    assert all(change.message in page for change in RULES.changes)


def test_every_table_has_as_many_cells_in_each_row_as_in_its_head() -> None:
    """A cell with a bar in it would break the table."""
    width = 0
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = line.replace("\\|", "").count("|") if line.startswith("|") else 0
        assert not (width and cells) or cells == width, line
        width = cells
