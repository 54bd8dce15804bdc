"""The folder on this machine that is one of a container: declared, or the source of its mount; and that it is the same.

A path of the engine's machine may be another folder here: a worker may run in a container, or on another machine.
"""

import os
import re
import time
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any

from kstreams_runbooks.deployers.docker.engine import Engine
from kstreams_runbooks.deployers.docker.inspected import Container
from kstreams_runbooks.errors import WriteRefused
from kstreams_runbooks.wording import outside

_FRACTION = re.compile(r"\.(\d{1,9})")
_LOOKS, _PAUSE_S = 4, 0.05


def place(found: Container, path: PurePosixPath, declared: Path | None) -> Path:
    """The folder on this machine that is `path` in the container; WriteRefused if that is in no volume."""
    mount = found.mount_of(path)
    if mount is None:
        raise WriteRefused(
            f"{found.name}: {path} is in no volume and no bind mount of the container; mount a volume or a folder there"
        )
    return declared or Path(mount.source) / path.relative_to(mount.destination)


def require_same(engine: Engine, found: Container, path: PurePosixPath, here: Path) -> None:
    """WriteRefused if `here` is not `path` of the container, by the time of its last change to the nanosecond."""
    for look in range(_LOOKS):
        try:
            ours = here.stat().st_mtime_ns
        except FileNotFoundError:
            ours = None
        except OSError as error:
            raise WriteRefused(
                f"{found.name}: {here} cannot be read on this machine ({error.strerror}); declare where this process "
                "sees that folder"
            ) from None
        status = engine.status_of(found, str(path))
        theirs = None if status is None else _changed_ns(status)
        if ours == theirs:
            return
        # A running application may change it between both looks.
        if look < _LOOKS - 1:
            time.sleep(_PAUSE_S)
    raise WriteRefused(
        f"{found.name}: {here} on this machine is not {path} of the container (last changed {_shown(ours)} here, "
        f"{_shown(theirs)} there); declare where this process sees that folder"
    )


def _changed_ns(status: Mapping[str, Any]) -> int:
    text = str(status.get("mtime"))
    fraction = _FRACTION.search(text)
    try:
        whole_s = int(datetime.fromisoformat(_FRACTION.sub("", text)).timestamp())
    except (ValueError, OverflowError):
        raise WriteRefused(f"the engine's time of a folder is not a time: {outside(text, 60)}; look at it") from None
    return whole_s * 1_000_000_000 + int(fraction[1].ljust(9, "0") if fraction else 0)


def _shown(changed_ns: int | None) -> str:
    return "absent" if changed_ns is None else f"{changed_ns / 1e9:.3f}"


def writable(folder: Path) -> bool:
    """Whether this process can replace a file in it."""
    return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)
