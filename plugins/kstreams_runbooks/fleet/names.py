"""Names of the declared applications and releases without a parser: all that a DAG needs while it is parsed.

No pydantic and no YAML are imported here, because every DAG file pays for it at every parse.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from kstreams_runbooks import CHECKOUT

# The keys below `releases:`, one a line, indented further; other forms of YAML have no examples in the form.
_RELEASES = re.compile(rb"^([ \t]+)releases:[ \t]*(?:#.*)?\r?\n((?:\1[ \t]+.*\n|[ \t]*(?:#.*)?\r?\n)*)", re.MULTILINE)
_RELEASE = re.compile(rb"^[ \t]+[\"']?(\d{1,9}(?:\.\d{1,9}){2,3})[\"']?[ \t]*:", re.MULTILINE)
_COPIER = re.compile(rb"^kind:[ \t]*[\"']?copier[\"']?[ \t]*(#.*)?\r?$", re.MULTILINE)
# The loader refuses a larger file.
_LARGEST_BYTES = 1_048_576


def fleet_dir(given: Path | None = None) -> Path:
    """Folder of the declarations: `given`, else the environment's KSTREAMS_RUNBOOKS_CONFIG, else the checkout's."""
    return given or Path(os.environ.get("KSTREAMS_RUNBOOKS_CONFIG") or CHECKOUT / "config")


def application_names(config_dir: Path | None = None) -> tuple[str, ...]:
    """File stems under `applications/`, sorted, without copiers: disabled ones too, none without such a folder."""
    return tuple(name for name, _ in _applications(config_dir))


def release_names(config_dir: Path | None = None) -> tuple[str, ...]:
    """The releases that applications declare, newest first; for examples alone, since no file is parsed."""
    found = {
        release
        for _, text in _applications(config_dir)
        for block in _RELEASES.finditer(text)
        for release in _RELEASE.findall(block[2])
    }
    names = (release.decode() for release in found)
    return tuple(sorted(names, key=lambda name: [int(part) for part in name.split(".")], reverse=True))


def _applications(config_dir: Path | None) -> Iterator[tuple[str, bytes]]:
    """File stem and content of each declaration of an application, by name."""
    folder = fleet_dir(config_dir) / "applications"
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name[:-5] for entry in entries if is_declaration(entry.name))
    except OSError:
        return
    for name in names:
        # A name with a line break or half a character cannot be in a form; the fleet reports its fault.
        if name.isprintable() and not _is_copier(text := _content(f"{folder}/{name}.yaml")):
            yield name, text


def is_copier(file: Path) -> bool:
    """Whether a declaration is that of a copier, by a line `kind: copier`; False for a file that cannot be read."""
    return _is_copier(_content(os.fspath(file)))


def _content(file: str) -> bytes:
    """The content of a file, empty if it cannot be read."""
    try:
        opened = os.open(file, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return b""
    try:
        return os.read(opened, _LARGEST_BYTES)
    except OSError:
        return b""
    finally:
        os.close(opened)


def _is_copier(text: bytes) -> bool:
    # Most files have no such key: a search for the plain text is cheaper than the pattern.
    return (text.startswith(b"kind:") or b"\nkind:" in text) and _COPIER.search(text) is not None


def is_declaration(file_name: str) -> bool:
    """Whether a file is a declaration: `<name>.yaml`, not hidden, unlike the lock files and copies of editors."""
    return file_name.endswith(".yaml") and not file_name.startswith(".")
