"""The width of the terminal that reads a command's output."""

import os
import shutil
import sys

_FEWEST = 40


def columns() -> int | None:
    """Columns of the terminal at stdout, or of COLUMNS; None for a pipe or a file, whose lines stay whole."""
    if sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdecimal():
        return max(_FEWEST, shutil.get_terminal_size().columns)
    return None
