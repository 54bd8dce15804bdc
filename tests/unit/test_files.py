"""Files that are written whole: names and disks at their limits. Links and modes: hostile/test_planted_links.py."""

import os
from pathlib import Path

import pytest
from kstreams_runbooks.files import append_line, create_file


@pytest.mark.parametrize("name", ["x" * 255, "\u78c1" * 85, "\U0001f4be" * 63])
def test_a_name_may_be_as_long_as_the_system_takes(name: str, tmp_path: Path) -> None:
    """255 bytes, of which a character takes up to four."""
    assert create_file(tmp_path / name, b"x")
    assert [one.name for one in tmp_path.iterdir()] == [name]


def test_a_line_of_which_a_part_was_written_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that is nearly full takes what fits, and says no more than how much that was."""
    written = os.write
    monkeypatch.setattr("os.write", lambda descriptor, data: written(descriptor, data[:3]))
    with pytest.raises(OSError, match="only a part of the line was written"):
        append_line(tmp_path / "lines", b"a line\n")
