"""Names of the declared applications without parsing a file: all that a DAG needs while it is parsed.

No pydantic and no YAML are imported here, because every DAG file pays for it at every parse.
"""

import os
import re
from pathlib import Path

from kstreams_runbooks import CHECKOUT

_COPIER = re.compile(rb"^kind:[ \t]*[\"']?copier[\"']?[ \t]*(#.*)?\r?$", re.MULTILINE)
# The loader refuses a larger file.
_LARGEST_BYTES = 1_048_576


def fleet_dir(given: Path | None = None) -> Path:
    """Folder of the declarations: `given`, else the environment's KSTREAMS_RUNBOOKS_CONFIG, else the checkout's."""
    return given or Path(os.environ.get("KSTREAMS_RUNBOOKS_CONFIG") or CHECKOUT / "config")


def application_names(config_dir: Path | None = None) -> tuple[str, ...]:
    """File stems under `applications/`, sorted, without copiers: disabled ones too, none without such a folder."""
    folder = fleet_dir(config_dir) / "applications"
    try:
        with os.scandir(folder) as entries:
            names = [entry.name[:-5] for entry in entries if is_declaration(entry.name)]
    except OSError:
        return ()
    # A name with a line break or half a character cannot be in a form; the fleet reports its fault.
    return tuple(sorted(name for name in names if name.isprintable() and not _is_copier(f"{folder}/{name}.yaml")))


def is_copier(file: Path) -> bool:
    """Whether a declaration is that of a copier, by a line `kind: copier`; False for a file that cannot be read."""
    return _is_copier(os.fspath(file))


def _is_copier(file: str) -> bool:
    try:
        opened = os.open(file, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        text = os.read(opened, _LARGEST_BYTES)
    except OSError:
        return False
    finally:
        os.close(opened)
    # Most files have no such key: a search for the plain text is cheaper than the pattern.
    return (text.startswith(b"kind:") or b"\nkind:" in text) and _COPIER.search(text) is not None


def is_declaration(file_name: str) -> bool:
    """Whether a file is a declaration: `<name>.yaml`, not hidden, unlike the lock files and copies of editors."""
    return file_name.endswith(".yaml") and not file_name.startswith(".")
