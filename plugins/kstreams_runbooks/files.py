"""Files that appear whole or not at all, made by exclusive creation in their directory, never through a link.

The directory is opened once and every step happens in it: a name planted there meanwhile is neither followed nor
written to. The temporary name is random, and cannot be planted beforehand.
"""

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_READABLE = 0o644
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
# A name may have 255 bytes; the random part needs 22 of them, and a character takes up to four.
_LONGEST_STEM = 50


def replace_file(path: Path, data: bytes, mode: int | None = None) -> None:
    """Replace the file of this name in one rename; the data is on the disk before the name shows it.

    A link of that name is replaced, its target stays. `mode` None: the mode of the regular file of that name, or 0644.
    OSError if it cannot be written; then nothing is changed.
    """
    with _directory(path) as directory:
        if mode is None:
            mode = _mode_of(path.name, directory)
        with _written(path, data, mode, directory) as temporary:
            os.rename(temporary, path.name, src_dir_fd=directory, dst_dir_fd=directory)
        os.fsync(directory)


def create_file(path: Path, data: bytes, mode: int = _READABLE) -> bool:
    """Write a new file; False, with nothing changed, if the name is taken, also by a dangling link."""
    with _directory(path) as directory:
        with _written(path, data, mode, directory) as temporary:
            # Unlike a rename, this refuses a name that is taken.
            try:
                os.link(temporary, path.name, src_dir_fd=directory, dst_dir_fd=directory, follow_symlinks=False)
            except FileExistsError:
                return False
        os.fsync(directory)
    return True


def append_line(path: Path, line: bytes, mode: int = 0o600) -> None:
    """Append to a file in one write, or create it; OSError if the name is a link or not a regular file.

    OSError also if only a part was written, as on a disk that is nearly full.
    """
    with open_regular(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, mode) as descriptor:
        if os.write(descriptor, line) < len(line):
            raise OSError(errno.ENOSPC, "only a part of the line was written", str(path))


@contextmanager
def open_regular(path: Path, flags: int, mode: int = 0o600) -> Iterator[int]:
    """A descriptor of a file; OSError if the name is a link or not a regular file, such as a FIFO."""
    with _directory(path) as directory:
        # Non-blocking: opening a FIFO for writing would wait for its reader.
        descriptor = os.open(path.name, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, mode, dir_fd=directory)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(0, "not a regular file", str(path))
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def _directory(path: Path) -> Iterator[int]:
    descriptor = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _mode_of(name: str, directory: int) -> int:
    try:
        found = os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return _READABLE
    return stat.S_IMODE(found.st_mode) if stat.S_ISREG(found.st_mode) else _READABLE


@contextmanager
def _written(path: Path, data: bytes, mode: int, directory: int) -> Iterator[str]:
    """The name of a temporary file next to `path` that holds the data, synced to the disk; removed afterwards."""
    temporary = f".{path.name[:_LONGEST_STEM]}.{secrets.token_hex(8)}.new"
    descriptor = os.open(temporary, _NEW, 0o600, dir_fd=directory)
    try:
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(file.fileno(), mode)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        yield temporary
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=directory)
