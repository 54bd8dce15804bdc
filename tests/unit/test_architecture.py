"""docs/architecture.md: its drawing is that of the real imports, and the files that it names exist."""

import re

from world.imports import CHECKOUT, PACKAGE, drawing

PAGE = (CHECKOUT / "docs" / "architecture.md").read_text(encoding="utf-8")
FOURTEEN, SIX = 14, 6


def test_the_drawing_is_that_of_the_imports() -> None:
    """`make docs` prints it."""
    assert f"```mermaid\n{drawing()}\n```" in PAGE, "docs/architecture.md is out of date: run `make docs`"


def test_every_file_that_is_named_exists() -> None:
    """A table that leads nowhere is worse than none."""
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and "`" in line]
    assert len(rows) == FOURTEEN + SIX
    for row in rows:
        paths = [path for path in re.findall(r"`([\w./-]+)`", row.split("|")[2]) if "/" in path or path == "dags"]
        assert paths or "`spark_jobs`" in row, row
        for path in paths:
            assert (CHECKOUT / path).exists(), path


def test_every_floor_and_room_is_described() -> None:
    """By its name; floors of one file are plain tools."""
    for floor in (path for path in PACKAGE.iterdir() if (path / "__init__.py").exists()):
        assert f"**{floor.name}**" in PAGE, floor.name
        for room in (path for path in floor.iterdir() if (path / "__init__.py").exists() and path.name != "migrations"):
            assert f"`{room.name}`" in PAGE or room.name in {"deployers", "judge", "traffic"}, (
                f"{floor.name}/{room.name}"
            )
