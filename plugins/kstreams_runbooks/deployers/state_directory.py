"""Clearing the local state of one application: exact, confined, and never by accident.

Kafka Streams keeps the state of an application under `<state.dir>/<application.id>` (Streams developer guide,
"state.dir"). Only what is inside that directory is deleted; the directory stays, empty, so that clearing twice is told
from a wrong state.dir, which has no such directory.
"""

import fcntl
import shutil
from pathlib import Path

from kstreams_runbooks.errors import BadInput, WriteRefused

# The lock that a Streams client keeps on its state directory while it lives (StateDirectory, since 2.8).
_LOCK = ".lock"
# Offsets of a task's stores, up to Kafka Streams 4.2.
_CHECKPOINT = ".checkpoint"


def application_directory(state_dir: Path, application_id: str) -> Path:
    """The directory that holds the application's state, resolved.

    WriteRefused where it is not a plain directory directly under the declared state.dir, or where that is `/`, a home
    or one of its parents; BadInput where it is not there at all.
    """
    if not application_id or application_id in {".", ".."} or "/" in application_id:
        raise BadInput(f"application.id {application_id!r} is no directory name")
    if not state_dir.is_absolute():
        raise BadInput(f"state.dir {state_dir} is not absolute; declare the whole path")
    if not state_dir.is_dir():
        raise BadInput(f"state.dir {state_dir} does not exist; is it the one that the instance uses?")
    base = state_dir.resolve()
    home = Path.home().resolve()
    if base == home or base in home.parents:
        raise WriteRefused(f"state.dir {state_dir} is {base}, which is / or holds the home {home}: not cleared")
    target = base / application_id
    if target.is_symlink():
        raise WriteRefused(f"{target} is a link to {target.resolve()}: not cleared, it lies outside of the state.dir")
    if not target.is_dir():
        raise BadInput(
            f"state.dir {state_dir} has no directory {application_id}; is it the one that the instance uses? "
            "(an instance that never ran has none either)"
        )
    return target


def clear(state_dir: Path, application_id: str) -> tuple[str, ...]:
    """Delete everything in the application's directory; returns the names deleted, sorted. Links are not followed.

    WriteRefused while a Streams client holds the directory, whoever started it.
    """
    target = application_directory(state_dir, application_id)
    if _held(target / _LOCK):
        raise WriteRefused(f"{target} is in use: a Kafka Streams client holds {_LOCK}; stop it first")
    # Half deleted, a store beside its checkpoint would open empty and count as restored: the checkpoints go first.
    for task in target.iterdir():
        if task.is_dir() and not task.is_symlink():
            (task / _CHECKPOINT).unlink(missing_ok=True)
    names = []
    for entry in sorted(target.iterdir()):
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()
        names.append(entry.name)
    return tuple(names)


def _held(lock: Path) -> bool:
    """Whether another process holds the file's lock; Java's FileLock is a POSIX record lock on Linux and macOS."""
    try:
        with lock.open("rb+") as file:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.lockf(file, fcntl.LOCK_UN)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False
