"""Settings for one start: a file that the launcher reads and deletes, next to `deployment.properties`.

supervisord starts a program with the environment of its configuration: only a file passes more to a single start.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kstreams_runbooks.errors import Refused
from kstreams_runbooks.model.target import RunbookSettings
from kstreams_runbooks.properties import dump, write_atomically

_POLL_S = 0.05


@contextmanager
def written_for_one_start(file: Path | None, instance: str, once: RunbookSettings, limit_s: float) -> Iterator[None]:
    """Write the settings, let the body start the instance, and return when its launcher has deleted the file.

    Refused if it has not after `limit_s`. No exit leaves the file behind, and one that an interruption has left is
    deleted first: another start must not read it.
    """
    if file is None:
        yield
        return
    try:
        file.unlink(missing_ok=True)
        if once:
            write_atomically(file, dump(dict(once), "written by kstreams-runbooks for one start"))
        yield
        if once:
            _wait_until_read(file, instance, limit_s)
    except OSError as error:
        raise Refused(f"{instance}: {file} cannot be written ({error.strerror}); correct its permissions") from None
    finally:
        if once:
            file.unlink(missing_ok=True)


def _wait_until_read(file: Path, instance: str, limit_s: float) -> None:
    deadline = time.monotonic() + limit_s
    while file.exists():
        if time.monotonic() >= deadline:
            raise Refused(
                f"{instance}: started, and its launcher has not read and deleted {file} after {limit_s:g} s (limit "
                "start_timeout_s), so it runs without the settings for this start; let the launcher read it"
            )
        time.sleep(_POLL_S)
