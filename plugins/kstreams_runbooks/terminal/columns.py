"""The width of the terminal that reads a command's output."""

import os
import shutil
import sys

from kstreams_runbooks.decide.runs.go_on import INDENT
from kstreams_runbooks.wording import fitted, sentence

_FEWEST = 40


def columns() -> int | None:
    """Columns of the terminal at stdout, or of COLUMNS; None for a pipe or a file, whose lines stay whole."""
    if sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdecimal():
        return max(_FEWEST, shutil.get_terminal_size().columns)
    return None


def shown(line: str, width: int | None) -> str:
    """A line broken to `width` columns; a command, which begins with four blanks, stays whole for pasting."""
    return sentence(line) if line.startswith(INDENT) else fitted(sentence(line), width)
