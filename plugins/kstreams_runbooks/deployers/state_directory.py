"""Clears the local state of one application: exact, confined, and never by accident.

Kafka Streams keeps the state of an application under `<state.dir>/<application.id>` (Streams developer guide,
"state.dir"). Only the content of that directory is deleted. The directory stays, empty: a second call can distinguish
it from a wrong state.dir, which has no such directory.

The path to it is opened one name after another from the root, and no name on it may be a link: any user who can write
to a directory above could redirect the deletion, before or while it runs. After that, every operation is relative to
open directories.
"""

import errno
import fcntl
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from kstreams_runbooks.errors import BadInput, RunbookError, WriteRefused
from kstreams_runbooks.model.local_state import Directories, is_in, shown
from kstreams_runbooks.wording import outside

# The lock that a Streams client keeps on its state directory while it lives (StateDirectory, since 2.8).
_LOCK = ".lock"
# Offsets of a task's stores, up to Kafka Streams 4.2.
_CHECKPOINT = ".checkpoint"
_MOUNTS = Path("/proc/self/mountinfo")
_SAFE = shutil.rmtree.avoids_symlink_attacks
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def application_directory(state_dir: Path, application_id: str) -> Path:
    """The directory that holds the application's state.

    WriteRefused if it or a directory above is a link, if another file system is mounted on or in it, and if the
    state.dir is `/`, a home or one of its parents; BadInput if it does not exist.
    """
    with _opened(state_dir, application_id):
        return state_dir / application_id


def clear(state_dir: Path, application_id: str, directories: Directories = (), aside: str = "") -> tuple[str, ...]:
    """Delete everything in the application's directory; returns the names deleted, sorted. It does not follow links.

    With `directories` only these task directories (`1_3`, or `1_` for all of subtopology 1). With `aside` directories
    are moved to `aside_directory`, and what is there already stays: it is the older copy. WriteRefused while any
    Streams client holds the directory, even one that this program did not start. No client can take it until all is
    deleted.
    """
    if not _SAFE:
        raise WriteRefused(
            f"{state_dir / application_id}: this system cannot delete without following links; clear it manually"
        )
    name = aside_directory(state_dir, application_id, aside).name if aside else ""
    with (
        _opened(state_dir, application_id) as target,
        _lock(target, state_dir / application_id),
        _kept(target, name) as kept,
    ):
        if not directories:
            return _deleted(target, _names(target), kept)
        deleted = [_some(target, topology, directories, kept) for topology in _topologies(directories)]
    return tuple(sorted(name for names in deleted for name in names))


def aside_directory(state_dir: Path, application_id: str, aside: str) -> Path:
    """The directory that takes what a deletion with `aside` takes away, next to the application's own."""
    return state_dir / aside_name(application_id, aside)


def aside_name(application_id: str, aside: str) -> str:
    """The name of that directory; empty without `aside`."""
    return f"{application_id}.{aside}" if aside else ""


def require_aside(state_dir: Path) -> None:
    """WriteRefused if this process cannot make a directory in the state.dir."""
    if not os.access(state_dir, os.W_OK | os.X_OK):
        raise WriteRefused(
            f"state.dir {state_dir}: this user may not make a directory in it, so nothing could be kept aside; grant "
            "it, or copy the directories manually and declare loss_acceptable"
        )


def paths(directories: Directories) -> tuple[str, ...]:
    """Task directories relative to the application's directory, `*` for every partition of a subtopology."""
    found = []
    for name in shown(directories):
        topology, separator, task = name.rpartition("__")
        found.append(f"__{topology}__/{task}" if separator else name)
    return tuple(found)


@contextmanager
def _kept(directory: int, name: str) -> Iterator[int | None]:
    """A descriptor of the directory of this name next to an open one, made if it is absent; None without a name."""
    if not name:
        yield None
        return
    base = os.open("..", _DIRECTORY, dir_fd=directory)
    try:
        with _made(base, name) as made:
            yield made
    finally:
        os.close(base)


@contextmanager
def _made(directory: int, name: str) -> Iterator[int]:
    with suppress(FileExistsError):
        os.mkdir(name, mode=0o750, dir_fd=directory)
    made = os.open(name, _DIRECTORY, dir_fd=directory)
    try:
        yield made
    finally:
        os.close(made)


def _moved(name: str, target: int, kept: int) -> bool:
    """Whether a directory is kept aside now; False if an older copy of it is there."""
    try:
        os.rename(name, name, src_dir_fd=target, dst_dir_fd=kept)
    except OSError as error:
        if error.errno not in {errno.EEXIST, errno.ENOTEMPTY}:
            raise
        return False
    return True


def _deleted(target: int, names: list[str], kept: int | None) -> tuple[str, ...]:
    if kept is not None:
        taken = {name for name in names if _is_directory(name, target) and _moved(name, target, kept)}
        return tuple(sorted({*taken, *_deleted(target, [name for name in names if name not in taken], None)}))
    # Checkpoints go first: an empty store next to its checkpoint, left by an interruption, would count as restored.
    for name in names:
        _remove_checkpoint(name, target)
    for name in sorted(names, key=lambda one: one == _LOCK):
        if _is_directory(name, target):
            shutil.rmtree(name, dir_fd=target)
        else:
            os.unlink(name, dir_fd=target)
    return tuple(names)


def _is_directory(name: str, directory: int) -> bool:
    return stat.S_ISDIR(os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode)


def _names(directory: int) -> list[str]:
    return sorted(entry.name for entry in os.scandir(directory))


def _topologies(directories: Directories) -> list[str]:
    """Names of the topologies of these task directories, empty for tasks of no named one."""
    return sorted({name.rpartition("__")[0] for name in directories})


def _some(target: int, topology: str, directories: Directories, kept: int | None) -> tuple[str, ...]:
    """Delete the task directories of one topology; those of a named one are in a directory `__name__` of their own."""
    if not topology:
        return _deleted(target, [name for name in _names(target) if is_in(name, directories)], kept)
    try:
        below = os.open(f"__{topology}__", _DIRECTORY, dir_fd=target)
    except FileNotFoundError:
        return ()
    try:
        names = [name for name in _names(below) if is_in(f"{topology}__{name}", directories)]
        if kept is None:
            return _deleted(below, names, None)
        with _made(kept, f"__{topology}__") as own:
            return _deleted(below, names, own)
    finally:
        os.close(below)


@contextmanager
def _opened(state_dir: Path, application_id: str) -> Iterator[int]:
    """A descriptor of the application's directory, which may be cleared."""
    if not application_id or application_id in {".", ".."} or "/" in application_id or "\0" in application_id:
        raise BadInput(f"application.id {application_id!r} is not a directory name")
    if not state_dir.is_absolute() or ".." in state_dir.parts:
        raise BadInput(f"state.dir {state_dir} is not an absolute path without '..'; declare the whole path")
    _refuse_homes(state_dir)
    base = _descend(state_dir)
    try:
        target = _open_in(base, application_id, state_dir / application_id, _no_application(state_dir, application_id))
        try:
            _refuse_mounts(state_dir / application_id, base, target)
            yield target
        finally:
            os.close(target)
    finally:
        os.close(base)


def _refuse_homes(state_dir: Path) -> None:
    home = Path.home()
    for one in {home, home.resolve()}:
        if state_dir == one or state_dir in one.parents:
            raise WriteRefused(f"state.dir {state_dir} is / or holds the home {one}: not cleared")


def _descend(state_dir: Path) -> int:
    """A descriptor of the state.dir, reached without a link."""
    gone = BadInput(f"state.dir {state_dir} does not exist; check that the instance uses it")
    descriptor = os.open("/", _DIRECTORY)
    reached = Path("/")
    for name in state_dir.parts[1:]:
        reached /= name
        try:
            below = _open_in(descriptor, name, reached, gone)
        finally:
            os.close(descriptor)
        descriptor = below
    return descriptor


def _open_in(directory: int, name: str, path: Path, gone: RunbookError) -> int:
    try:
        return os.open(name, _DIRECTORY, dir_fd=directory)
    except FileNotFoundError:
        raise gone from None
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.ENOTDIR} and _is_link(name, directory):
            raise WriteRefused(
                f"{path} is a link to {outside(os.path.realpath(path), 300)}: not cleared; declare the state.dir "
                "without a link in its path, if that is the right place"
            ) from None
        if error.errno == errno.ENOTDIR:
            raise BadInput(f"{path} is not a directory; check that the instance uses it") from None
        raise WriteRefused(
            f"{path} cannot be opened ({error.strerror}): not cleared; correct its permissions"
        ) from None


def _is_link(name: str, directory: int) -> bool:
    return stat.S_ISLNK(os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode)


def _no_application(state_dir: Path, application_id: str) -> BadInput:
    return BadInput(
        f"state.dir {state_dir} has no directory {application_id}; check that the instance uses it "
        "(an instance that never ran has none either: create it empty)"
    )


def _refuse_mounts(path: Path, base: int, target: int) -> None:
    """WriteRefused if a file system is mounted on the directory or in it: this application may not delete that."""
    mounted = [point for point in _mount_points() if point == path or path in point.parents]
    if mounted or os.fstat(base).st_dev != os.fstat(target).st_dev:
        raise WriteRefused(
            f"{path}: another file system is mounted at {outside(mounted[0] if mounted else path, 300)}: not cleared; "
            "unmount it, or clear the state manually"
        )


def _mount_points() -> list[Path]:
    """Mount points, as Linux lists them; none on a system without that list."""
    try:
        lines = _MOUNTS.read_bytes().splitlines()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise WriteRefused(
            f"{_MOUNTS} cannot be read ({error.strerror}), so whether another file system is mounted in the state is "
            "not known: not cleared; clear it again, or manually"
        ) from None
    # proc(5): the fifth field, with blanks and the like as three octal digits.
    points = [line.split(b" ")[4] for line in lines if line.count(b" ") > 4]  # noqa: PLR2004 - the fifth field
    return [Path(os.fsdecode(point.decode("unicode_escape").encode("latin-1"))) for point in points]


def _remove_checkpoint(name: str, target: int) -> None:
    try:
        task = os.open(name, _DIRECTORY, dir_fd=target)
    except OSError:
        # A file or a link has no checkpoint.
        return
    try:
        with suppress(FileNotFoundError):
            os.unlink(_CHECKPOINT, dir_fd=task)
    finally:
        os.close(task)


@contextmanager
def _lock(target: int, path: Path) -> Iterator[None]:
    """Hold the directory's lock as a Streams client would: Java's FileLock is a POSIX record lock."""
    lock = path / _LOCK
    try:
        descriptor = os.open(_LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=target)
    except FileNotFoundError:
        yield
        return
    except OSError as error:
        raise WriteRefused(
            f"{lock} cannot be opened ({error.strerror}), so whether a Kafka Streams client holds it is not known: "
            "not cleared; look at it"
        ) from None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise WriteRefused(f"{lock} is not a regular file, so nothing can hold it: not cleared; look at it")
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            raise WriteRefused(f"{path} is in use: a Kafka Streams client holds {_LOCK}; stop it first") from None
        except OSError as error:
            raise WriteRefused(
                f"{lock} cannot be locked ({error.strerror}), so whether a Kafka Streams client holds it is not known: "
                "not cleared"
            ) from None
        yield
    finally:
        os.close(descriptor)
