"""Names of the declared applications and releases: all that a DAG needs while it is parsed.

No pydantic is imported here, because every DAG file pays for it at every parse. A file is parsed as YAML if its lines
leave its kind open: for all of 500 applications that would take half a second.
"""

import os
import re
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from kstreams_runbooks import CHECKOUT
from kstreams_runbooks.errors import BadInput

# The keys below `releases:`, one a line, indented further; other forms of YAML have no examples in the form.
_RELEASES = re.compile(rb"^([ \t]+)releases:[ \t]*(?:#.*)?\r?\n((?:\1[ \t]+.*\n|[ \t]*(?:#.*)?\r?\n)*)", re.MULTILINE)
_RELEASE = re.compile(rb"^[ \t]+[\"']?(\d{1,9}(?:\.\d{1,9}){2,3})[\"']?[ \t]*:", re.MULTILINE)
# A mapping in block style begins with its first key, at the left edge; then every key of it is there, and nothing else
# but comments and the items of its lists. Any other line there may have a key in quotes, with an anchor, or in braces.
_BLANK = rb"(?:[ \t]*(?:#[^\n]*)?\r?\n)*"
_FIRST_KEY = re.compile(rb"%b(?:---[ \t]*(?:#[^\n]*)?\r?\n%b)?(?!kind:)[a-z_]+:(?=\s|\Z)" % (_BLANK, _BLANK))
_KIND_OR_OTHER = re.compile(rb"\n(?![ \t\r\n#]|-\s|(?!kind:)[a-z_]+:(?:\s|\Z)|\Z)")
# YAML ends lines with these too (YAML 1.1, b-char).
_OTHER_BREAK = re.compile(rb"\r(?!\n)|\xc2\x85|\xe2\x80[\xa8\xa9]")
VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
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
    there = {name: text for name, text in read.items() if _kind(text) in {"", "shipped"}}
    blocks = {block[2] for text in there.values() for block in _RELEASES.finditer(text)}
    releases = {release.decode() for block in blocks for release in _RELEASE.findall(block)}
    newest = sorted(releases, key=lambda name: [int(part) for part in name.split(".")], reverse=True)
    return _Applications(tuple(there), tuple(newest))


def entry_kind(document: Any) -> EntryKind:
    """The kind of a declaration by its values, variables replaced; "" of an application, or without a mapping.

    A copier with a program of ours is an application as any other; the loader judges the program's name.
    """
    kind = document.get("kind") if isinstance(document, dict) else None
    if kind == "copier":
        return "shipped" if "program" in document else "as-deployed"
    return "consumer" if kind == "consumer" else ""


def _kind(text: bytes) -> EntryKind:
    """The kind of a declaration, "" for one that the loader cannot read either."""
    first = _FIRST_KEY.match(text)
    # Most files have neither, which is cheaper to see than to search.
    only_newlines = (text.isascii() and b"\r" not in text) or not _OTHER_BREAK.search(text)
    if first and only_newlines and not _KIND_OR_OTHER.search(text, first.end()):
        return ""
    from kstreams_runbooks.documents.text import decoded
    from kstreams_runbooks.documents.yaml_document import yaml_document

    try:
        document = yaml_document(decoded(text))
    except BadInput:
        return ""
    if isinstance(document, dict) and isinstance(kind := document.get("kind"), str):
        document["kind"] = VARIABLE.sub(lambda name: os.environ.get(name[1], ""), kind)
    return entry_kind(document)


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


def is_declaration(file_name: str) -> bool:
    """Whether a file is a declaration: `<name>.yaml`, not hidden, unlike the lock files and copies of editors."""
    return file_name.endswith(".yaml") and not file_name.startswith(".")
