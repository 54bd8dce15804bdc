"""Makes the project itself usable in its environment: a path file for the package, and the terminal command.

It builds nothing, so nothing has to be fetched: `make setup` runs this with the environment's own Python.
"""

import sys
import sysconfig
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]

# sh runs the second line, Python takes it for a string: a path may then have blanks, and any length.
_COMMAND = """#!/bin/sh
'''exec' "{python}" "$0" "$@"
' '''
from kstreams_runbooks.cli import main

main()
"""


def link() -> Path:
    """Write both files; returns the command's path."""
    package = Path(sysconfig.get_path("purelib"), "kstreams_runbooks.pth")
    package.write_text(f"{CHECKOUT / 'plugins'}\n", encoding="utf-8")
    command = Path(sysconfig.get_path("scripts"), "kstreams-runbooks")
    command.write_text(_COMMAND.format(python=sys.executable), encoding="utf-8")
    command.chmod(0o755)
    return command


if __name__ == "__main__":
    link()
