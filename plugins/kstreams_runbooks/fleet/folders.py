"""The files in the folders of a fleet, and a signature that changes with them."""

from collections.abc import Iterator
from pathlib import Path

from kstreams_runbooks.documents.text import is_absent
from kstreams_runbooks.fleet.names import is_declaration
from kstreams_runbooks.fleet.problems import Problem

FOLDERS = ("clusters", "applications")


def declarations_in(folder: Path) -> tuple[list[Path], tuple[Problem, ...]]:
    """The declarations of a folder, sorted, none if it does not exist; and why it cannot be listed."""
    try:
        return sorted(file for file in folder.iterdir() if is_declaration(file.name)), ()
    except OSError as error:
        if is_absent(folder):
            return [], ()
        reason = f"cannot be listed ({error.strerror}), so its declarations are unknown; make it a readable folder"
        return [], (Problem(folder, "", "", reason),)


def signature(directory: Path) -> Iterator[tuple[object, ...]]:
    """Every file of both folders by inode, times and size, links followed.

    A file that cannot be inspected, such as a dangling link, is part of it as it is and hides no other.
    """
    for folder in FOLDERS:
        try:
            files = sorted(file for file in (directory / folder).iterdir() if file.suffix in {".yaml", ".yml"})
        except OSError as error:
            yield folder, error.errno
            continue
        for file in files:
            yield folder, file.name, *_seen(file)


def other_suffix(directory: Path) -> Iterator[Problem]:
    """A warning for each file that is not read because of its suffix."""
    for folder in FOLDERS:
        try:
            files = sorted((directory / folder).glob("[!.]*.yml"))
        except OSError:
            # `declarations_in` reports that the folder cannot be listed.
            continue
        for file in files:
            yield Problem(file, "", "", "is not read: only .yaml files are declarations; rename it")


def _seen(file: Path) -> tuple[int | None, ...]:
    try:
        status = file.stat()
    except OSError as error:
        return (error.errno,)
    return status.st_ino, status.st_mtime_ns, status.st_ctime_ns, status.st_size
