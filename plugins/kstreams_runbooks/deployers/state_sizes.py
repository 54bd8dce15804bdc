"""Sizes and times of an application's local state on this machine's disk; it changes nothing and follows no link."""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from kstreams_runbooks.model.local_state import FileTimes
from kstreams_runbooks.model.readings.readings import Missing

_NS = 1_000_000


def directory_sizes(root: Path) -> Mapping[str, int] | Missing:
    """Bytes of the files in each task directory under `root`, by its name as `TaskDirectories` has it.

    A file that goes meanwhile counts nothing: RocksDB deletes files while it compacts.
    """
    try:
        return {name: _bytes_in(path) for name, path in _task_directories(root)}
    except OSError as error:
        return Missing(f"{error.filename or root}: its size cannot be read on this machine ({error.strerror})")


def directory_times(root: Path) -> Mapping[str, FileTimes] | Missing:
    """When each task directory under `root` and what is in it last changed; one that goes meanwhile is left out."""
    try:
        return {name: times for name, path in _task_directories(root) if (times := _times_in(path)) is not None}
    except OSError as error:
        return Missing(f"{error.filename or root}: its times cannot be read on this machine ({error.strerror})")


def _task_directories(root: Path) -> Iterator[tuple[str, Path]]:
    """`0_1` and `global`, and for a topology with a name `name__0_1`, which is in a directory `__name__`."""
    for entry in _directories(root):
        if entry.name.startswith("__") and entry.name.endswith("__"):
            topology = entry.name.strip("_")
            yield from ((f"{topology}__{task.name}", Path(task.path)) for task in _directories(Path(entry.path)))
        else:
            yield entry.name, Path(entry.path)


def _directories(path: Path) -> list["os.DirEntry[str]"]:
    with os.scandir(path) as entries:
        return sorted((one for one in entries if one.is_dir(follow_symlinks=False)), key=lambda one: one.name)


def _bytes_in(path: Path) -> int:
    found = 0
    for folder, _, files in os.walk(path, onerror=_unless_gone):
        for name in files:
            with suppress(FileNotFoundError):
                found += os.lstat(os.path.join(folder, name)).st_size  # noqa: PTH118 - a path for each file costs more
    return found


def _times_in(path: Path) -> FileTimes | None:
    found = []
    for folder, _, files in os.walk(path, onerror=_unless_gone):
        for name in ("", *files):
            with suppress(FileNotFoundError):
                found.append(os.lstat(os.path.join(folder, name)).st_mtime_ns)  # noqa: PTH118 - as above
    return FileTimes(min(found) // _NS, max(found) // _NS) if found else None


def _unless_gone(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise error
