"""The tests mirror the rooms: where a module is, its test is found by name."""

import ast
from functools import cache
from pathlib import Path

import pytest
from world.imports import PACKAGE

TESTS = Path(__file__).resolve().parents[1]
UNIT = TESTS / "unit"
# Tests of what only the tests have.
OF_TESTS = {"fuzz", "kill", "lab", "soak"}
DECISIONS = sorted(path for path in (PACKAGE / "decide").rglob("*.py") if path.name != "__init__.py")


@cache
def _docstrings() -> str:
    """What the tests say that they cover; they are read once for all modules."""
    files = [*UNIT.rglob("test_*.py"), *(TESTS / "hostile").glob("test_*.py")]
    return "\n".join(ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "" for file in files) + "\n"


@pytest.mark.parametrize("path", DECISIONS, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_every_decision_has_its_test(path: Path) -> None:
    """By its name, or named in the docstring of the test that covers it."""
    module = path.relative_to(PACKAGE).with_suffix("")
    folder = UNIT / module.parent
    named = [*folder.glob(f"test_{module.name}.py"), *folder.glob(f"test_{module.name}_*.py")]
    assert named or f"{module}\n" in _docstrings() or f"{module}," in _docstrings(), module


def test_every_folder_of_tests_is_a_room() -> None:
    """A test of a room that is gone would never be found."""
    for file in UNIT.rglob("test_*.py"):
        room = file.parent.relative_to(UNIT)
        assert room.parts[:1] == () or room.parts[0] in OF_TESTS or (PACKAGE / room).is_dir(), file
