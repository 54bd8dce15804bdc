"""The text of a file from outside: a regular file, of bounded size, in UTF-8."""

import errno
import os
import stat
from pathlib import Path
from typing import IO

from kstreams_runbooks.errors import BadInput

# A declaration of a thousand instances takes a fifth of it; so does a topology of a thousand operators.
LARGEST_BYTES = 1024 * 1024

_KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class Absent(BadInput):
    """The name does not exist: not even as a link."""


def is_absent(path: Path) -> bool:
    """Whether the name does not exist; a dangling link, a pipe and an unreadable path do exist."""
    try:
        path.lstat()
    except FileNotFoundError:
        return True
    except (OSError, ValueError):
        return False
    return False


def read_text(path: Path, *, encoding: str = "utf-8", limit: int = LARGEST_BYTES) -> str:
    """The whole text of a regular file, links followed; a byte order mark is left out.

    Absent if the name does not exist; BadInput for anything but a regular file, for one that cannot be read, for more
    than `limit` bytes, for bytes that are invalid in `encoding` and for NUL bytes. Never waits for a writer.
    """
    data = read_bytes(path, limit=limit)
    return decoded(data, encoding)


def read_bytes(path: Path, *, limit: int = LARGEST_BYTES) -> bytes:
    """The same without checking the bytes."""
    try:
        # Checked first: opening a device may already have an effect.
        _require_regular(path.stat().st_mode)
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
        with os.fdopen(descriptor, "rb") as file:
            # Checked again after opening: the name may be another file's by now.
            status = os.fstat(descriptor)
            _require_regular(status.st_mode)
            _require_size(status.st_size, limit)
            return _read(file, limit)
    except OSError as error:
        raise _why(path, error) from None
    except ValueError:
        raise BadInput("is not a possible path (it has a NUL byte or half a character); correct it") from None


def read_stream(file: IO[bytes], *, limit: int = LARGEST_BYTES) -> str:
    """The bytes of a pipe such as stdin until its end, as UTF-8; BadInput as `read_text`."""
    return decoded(_read(file, limit), "utf-8")


def decoded(data: bytes, encoding: str = "utf-8") -> str:
    """The text of some bytes; BadInput if they are not text in `encoding`."""
    try:
        text = data.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadInput(f"line {line} has bytes that are not UTF-8; save the file as UTF-8") from None
    if "\x00" in text:
        line = text.count("\n", 0, text.index("\x00")) + 1
        raise BadInput(f"line {line} has NUL bytes (expected text); give the text file that is meant")
    return text


def require_length(text: str, *, limit: int = LARGEST_BYTES) -> str:
    """Text that was pasted or sent, unchanged; BadInput if it has more than `limit` characters."""
    if len(text) > limit:
        raise BadInput(f"has {len(text):,} characters (limit {limit:,}); shorten it")
    return text


def _read(file: IO[bytes], limit: int) -> bytes:
    # A file in /proc reports a size of 0 bytes, and another may grow meanwhile.
    data = file.read(limit + 1) or b""
    if len(data) > limit:
        raise BadInput(f"has more than {limit:,} bytes (the limit); give a smaller file")
    return data


def _require_regular(mode: int) -> None:
    if not stat.S_ISREG(mode):
        kind = _KINDS.get(stat.S_IFMT(mode), "not a file")
        raise BadInput(f"is {kind} (expected a regular file); give a file")


def _require_size(size: int, limit: int) -> None:
    if size > limit:
        raise BadInput(f"has {size:,} bytes (limit {limit:,}); give a smaller file")


def _why(path: Path, error: OSError) -> BadInput:
    if error.errno == errno.ELOOP:
        return BadInput("is a link that leads back to itself; correct or remove the link")
    if error.errno == errno.ENOENT:
        if is_absent(path):
            return Absent("does not exist; give the path of a file")
        if path.is_symlink():
            return BadInput("is a link to a file that does not exist; correct or remove the link")
    return BadInput(f"cannot be read ({error.strerror or error}); give this user access to the file")
