"""Whether a Spark Connect server is there, before a client that would ask again for minutes is made."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from kstreams_runbooks.errors import BadInput, Unreachable

_PORT = 15_002
_TIMEOUT_S = 5.0
_MODE = "SPARK_CONNECT_MODE_ENABLED"


def require_listening(remote: str) -> None:
    """Unreachable where nothing listens at `sc://host:port`; BadInput for something else."""
    host, port = address(remote)
    try:
        socket.create_connection((host, port), timeout=_TIMEOUT_S).close()
    except OSError as error:
        raise Unreachable(
            f"Spark Connect at {host}:{port}: no answer ({error.strerror or error}); start it, or submit the job"
        ) from None


def address(remote: str) -> tuple[str, int]:
    """Host and port of `sc://host:port`, the port 15002 where none is given."""
    try:
        parts = urlsplit(remote)
        host, port = parts.hostname, parts.port or _PORT
    except ValueError:
        host, port = None, _PORT
    if host is None or not remote.startswith("sc://"):
        # What follows the first `;` may be a secret.
        raise BadInput(f"--remote {remote.partition(';')[0]}: not an address of Spark Connect; give sc://host:port")
    return host, port


@contextmanager
def connect_mode() -> Iterator[None]:
    """Pyspark marks the process as one of Connect's, and a job that the process submits later would inherit that."""
    before = os.environ.get(_MODE)
    os.environ[_MODE] = "1"
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(_MODE, None)
        else:
            os.environ[_MODE] = before
