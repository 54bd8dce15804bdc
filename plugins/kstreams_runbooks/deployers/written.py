"""Whether a process was started after a file was written, by times that are exact only to a limit."""

import time
from pathlib import Path

from kstreams_runbooks.model.readings.readings import Missing


def read_since_written(path: Path, started_ms: int, close_ms: int) -> bool | Missing:
    """Whether a process that was started then has read the file as it is; a doubt is Missing, never True."""
    try:
        written = path.stat().st_mtime_ns // 1_000_000
    except OSError as error:
        return Missing(f"{path}: {error.strerror}")
    if abs(started_ms - written) <= close_ms:
        return Missing(
            f"started {started_ms - written} ms after {path} was written (distinguishable only above {close_ms} ms); "
            "restart the instance"
        )
    return started_ms > written


def wait_until_apart(path: Path, apart_s: float) -> None:
    """Wait until a start can be distinguished from the last write of the file."""
    try:
        written = path.stat().st_mtime
    except OSError:
        return
    time.sleep(min(apart_s, max(0.0, written + apart_s - time.time())))
