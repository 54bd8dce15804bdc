"""Sessions on a Connect server; checks first that it listens, because pyspark's client retries for minutes."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from kstreams_runbooks.errors import BadInput, Unreachable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PORT = 15_002
_TIMEOUT_S = 5.0
# 50 ms, four times as long each time: five seconds in all.
_RETRIES = 4
# Its presence alone marks a process of Connect, also without a value.
MODE = "SPARK_CONNECT_MODE_ENABLED"


def require_listening(remote: str) -> None:
    """Unreachable if no server listens at `sc://host:port`; BadInput for any other address."""
    host, port = address(remote)
    try:
        socket.create_connection((host, port), timeout=_TIMEOUT_S).close()
    except OSError as error:
        raise Unreachable(
            f"Spark Connect at {host}:{port}: no answer ({error.strerror or error}); start it, or submit the job"
        ) from None


def address(remote: str) -> tuple[str, int]:
    """Host and port of `sc://host:port`, port 15002 by default."""
    try:
        parts = urlsplit(remote)
        host, port = parts.hostname, parts.port or _PORT
    except ValueError:
        host, port = None, _PORT
    if host is None or not remote.startswith("sc://"):
        # The part after the first `;` may be a secret.
        raise BadInput(f"--remote {remote.partition(';')[0]}: not an address of Spark Connect; give sc://host:port")
    return host, port


def configure(session: "SparkSession", tasks: int = 1) -> None:
    """Set what every session of a job needs; once for each session, because over Connect it is a call.

    `tasks` merge what the first aggregation leaves: of a count that is one row per partition, which one task merges
    faster than Spark's 200.
    """
    session.conf.set("spark.sql.shuffle.partitions", tasks)


def connected(remote: str, tasks: int = 1) -> "SparkSession":
    """A separate session on a Connect server, inside `connect_mode`. Unreachable if no server listens.

    It retries for some seconds if the server stops: pyspark's own policy does it for ten minutes, also at the end of
    the process.
    """
    from pyspark.sql import SparkSession
    from pyspark.sql.connect.client.retries import DefaultPolicy

    require_listening(remote)
    session = SparkSession.builder.remote(remote).create()
    session.client.set_retry_policies([DefaultPolicy(max_retries=_RETRIES)])
    configure(session, tasks)
    return session


def disconnect(session: "SparkSession", remote: str) -> None:
    """End a session: a server keeps an open one for an hour; a server that is gone keeps none."""
    try:
        require_listening(remote)
    except Unreachable:
        session.release_session_on_close = False  # type: ignore[attr-defined] # of Connect's sessions alone
    session.stop()


class _Users:
    """The threads that are in the mode: the first sets the mark, the last restores what was there before."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._number = 0
        self._before: str | None = None

    def enter(self) -> None:
        with self._lock:
            if not self._number:
                self._before = os.environ.get(MODE)
                os.environ[MODE] = "1"
            self._number += 1

    def leave(self) -> None:
        with self._lock:
            self._number -= 1
            if self._number:
                return
            if self._before is None:
                os.environ.pop(MODE, None)
            else:
                os.environ[MODE] = self._before


_USERS = _Users()


@contextmanager
def connect_mode() -> Iterator[None]:
    """Mark the process as one of Connect, which pyspark does for good; several threads may be in it at once.

    A job that is submitted meanwhile inherits the mark, and drops it itself (`job.opened`).
    """
    _USERS.enter()
    try:
        yield
    finally:
        _USERS.leave()
