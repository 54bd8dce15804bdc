"""Names of the declared applications and releases without a parser: all that a DAG needs while it is parsed.

No pydantic and no YAML are imported here, because every DAG file pays for it at every parse.
"""

import os
import re
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

from kstreams_runbooks import CHECKOUT

# The keys below `releases:`, one a line, indented further; other forms of YAML have no examples in the form.
_RELEASES = re.compile(rb"^([ \t]+)releases:[ \t]*(?:#.*)?\r?\n((?:\1[ \t]+.*\n|[ \t]*(?:#.*)?\r?\n)*)", re.MULTILINE)
_RELEASE = re.compile(rb"^[ \t]+[\"']?(\d{1,9}(?:\.\d{1,9}){2,3})[\"']?[ \t]*:", re.MULTILINE)
_COPIER = re.compile(rb"^kind:[ \t]*[\"']?copier[\"']?[ \t]*(#.*)?\r?$", re.MULTILINE)
# A copier with a program of ours is an application as any other; the loader judges the program's name.
_PROGRAM = re.compile(rb"^program[ \t]*:", re.MULTILINE)
_CONSUMER = re.compile(rb"^kind:[ \t]*[\"']?consumer[\"']?[ \t]*(#.*)?\r?$", re.MULTILINE)
EntryKind = Literal["", "as-deployed", "shipped", "consumer"]
# The loader refuses a larger file.
_LARGEST_BYTES = 1_048_576


def fleet_dir(given: Path | None = None) -> Path:
    """Folder of the declarations: `given`, else the environment's KSTREAMS_RUNBOOKS_CONFIG, else the checkout's."""
    return given or Path(os.environ.get("KSTREAMS_RUNBOOKS_CONFIG") or CHECKOUT / "config")


def application_names(config_dir: Path | None = None) -> tuple[str, ...]:
    """File stems under `applications/`, sorted, without copiers as deployed and consumers; disabled ones too.

    None without such a folder.
    """
    return _applications(config_dir).names


def release_names(config_dir: Path | None = None) -> tuple[str, ...]:
    """The releases that applications declare, newest first; for examples alone, since no file is parsed."""
    return _applications(config_dir).releases


class _Applications(NamedTuple):
    names: tuple[str, ...]
    releases: tuple[str, ...]


def _applications(config_dir: Path | None) -> _Applications:
    folder = fleet_dir(config_dir) / "applications"
    try:
        with os.scandir(folder) as entries:
            found = sorted((one.name[:-5], _version(one)) for one in entries if is_declaration(one.name))
    except OSError:
        return _Applications((), ())
    return _read(os.fspath(folder), tuple(found))


def _version(entry: "os.DirEntry[str]") -> tuple[int, ...]:
    """What a changed file does not keep; empty for one that cannot be read."""
    try:
        status = entry.stat()
    except OSError:
        return ()
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


# A DAG file needs them several times while it is parsed.
@lru_cache(maxsize=1)
def _read(folder: str, files: tuple[tuple[str, tuple[int, ...]], ...]) -> _Applications:
    # A name with a line break or half a character cannot be in a form; the fleet reports its fault.
    read = {name: _content(f"{folder}/{name}.yaml") for name, _ in files if name.isprintable()}
    there = {name: text for name, text in read.items() if not (_is_as_deployed(text) or _is_consumer(text))}
    blocks = {block[2] for text in there.values() for block in _RELEASES.finditer(text)}
    releases = {release.decode() for block in blocks for release in _RELEASE.findall(block)}
    newest = sorted(releases, key=lambda name: [int(part) for part in name.split(".")], reverse=True)
    return _Applications(tuple(there), tuple(newest))


def entry_kind(file: Path) -> EntryKind:
    """The kind of a declaration, by lines `kind:` and `program:`; "" of an application, or unreadable."""
    text = _content(os.fspath(file))
    if _is_consumer(text):
        return "consumer"
    return "" if not _is_copier(text) else "as-deployed" if _is_as_deployed(text) else "shipped"


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


def _is_consumer(text: bytes) -> bool:
    return (text.startswith(b"kind:") or b"\nkind:" in text) and _CONSUMER.search(text) is not None


def _is_as_deployed(text: bytes) -> bool:
    return _is_copier(text) and _PROGRAM.search(text) is None


def is_declaration(file_name: str) -> bool:
    """Whether a file is a declaration: `<name>.yaml`, not hidden, unlike the lock files and copies of editors."""
    return file_name.endswith(".yaml") and not file_name.startswith(".")
