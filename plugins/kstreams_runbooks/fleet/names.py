"""Names of the declared applications without reading a file: all that a DAG needs while it is parsed.

No pydantic and no YAML are imported here, because every DAG file pays for it at every parse.
"""

import os
from pathlib import Path

from kstreams_runbooks import CHECKOUT


def fleet_dir(given: Path | None = None) -> Path:
    """Folder of the declarations: `given`, else the environment's KSTREAMS_RUNBOOKS_CONFIG, else the checkout's."""
    return given or Path(os.environ.get("KSTREAMS_RUNBOOKS_CONFIG") or CHECKOUT / "config")


def application_names(config_dir: Path | None = None) -> tuple[str, ...]:
    """File stems under `applications/`, sorted: disabled ones too, none without such a folder."""
    try:
        with os.scandir(fleet_dir(config_dir) / "applications") as entries:
            names = (entry.name[:-5] for entry in entries if is_declaration(entry.name))
            # A name with a line break or half a character cannot be in a form; the fleet reports its fault.
            return tuple(sorted(name for name in names if name.isprintable()))
    except OSError:
        return ()


def is_declaration(file_name: str) -> bool:
    """Whether a file is a declaration: `<name>.yaml`, not hidden, unlike the lock files and copies of editors."""
    return file_name.endswith(".yaml") and not file_name.startswith(".")
