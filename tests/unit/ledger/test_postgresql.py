"""A PostgreSQL server that accepts a login and then is silent: one sentence in bounded time."""

import socket
import struct
import threading
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from kstreams_runbooks.errors import Unreachable
from kstreams_runbooks.ledger import Ledger, migrate, postgresql
from kstreams_runbooks.ledger.database import Database
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

_PARAMETERS = {"server_version": "15.0", "client_encoding": "UTF8", "standard_conforming_strings": "on"}
# AuthenticationOk, the parameters, the key of the process, and ReadyForQuery.
_LOGGED_IN = b"".join(
    kind + struct.pack("!i", 4 + len(body)) + body
    for kind, body in (
        (b"R", struct.pack("!i", 0)),
        *((b"S", f"{name}\0{value}\0".encode()) for name, value in _PARAMETERS.items()),
        (b"K", struct.pack("!ii", 1, 1)),
        (b"Z", b"I"),
    )
)


def _serve(connection: socket.socket) -> None:
    """Accept the login, then read and answer nothing, as a frozen server whose kernel acknowledges for it."""
    with connection:
        connection.recv(1_000)
        connection.sendall(_LOGGED_IN)
        while connection.recv(1_000):
            pass


@pytest.fixture
def silent() -> Iterator[str]:
    """The address of a server that is silent after the login."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                threading.Thread(target=_serve, args=(connection,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield f"postgresql+psycopg://ledger@127.0.0.1:{server.getsockname()[1]}/none?sslmode=disable&gssencmode=disable"
        server.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize("opened", [Ledger.open, migrate])
def test_a_server_that_is_silent_after_the_login_is_one_sentence(
    silent: str, opened: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a step nor the command that migrates waits for it, and neither tries again."""
    monkeypatch.setattr(postgresql, "_FIRST_SILENCE_S", 0.3)
    with pytest.raises(Unreachable) as error:
        opened(silent)
    assert ": no answer to a statement within 0.3 s; start or free it" in str(error.value)


def test_a_server_that_has_answered_before_has_longer(silent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A statement may wait for a lock; after the limit it is not tried again."""
    monkeypatch.setattr(postgresql, "_SILENCE_S", 0.4)
    database = Database(silent)
    database._answered = True
    with pytest.raises(Unreachable, match=r"no answer to a statement within 0\.4 s"):
        database.read(lambda session: session.execute(text("SELECT 1")))


@pytest.mark.parametrize(
    ("query", "migrates", "expected"),
    [
        ("", False, {"options": "-c lock_timeout=15000 -c statement_timeout=60000", "tcp_user_timeout": 20_000}),
        ("", True, {"options": "-c lock_timeout=15000", "keepalives_idle": 5}),
        (
            "?options=-c%20statement_timeout%3D5min&tcp_user_timeout=7",
            False,
            {
                "options": "-c lock_timeout=15000 -c statement_timeout=60000 -c statement_timeout=5min",
                "tcp_user_timeout": "7",
            },
        ),
    ],
)
def test_each_connection_has_limits_on_the_server_and_in_the_kernel(
    query: str, migrates: bool, expected: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A migration has none for a statement; what the address sets comes last, and counts."""
    given: dict[str, Any] = {}

    def connect(*_: Any, **options: Any) -> Any:
        given.update(options)
        raise psycopg.OperationalError("away")

    monkeypatch.setattr(psycopg.Connection, "connect", connect)
    monkeypatch.setattr(psycopg, "connect", connect)
    database = Database(f"postgresql+psycopg://ledger@h/d{query}")
    with pytest.raises(OperationalError, match="away"), database.begin() if migrates else database.engine.connect():
        pass
    assert expected.items() <= given.items()
    assert given["connect_timeout"] == 10


@pytest.mark.parametrize(
    ("cause", "answered", "tries"),
    [
        ("connection timeout expired", False, 1),
        ("connection timeout expired", True, 2),
        ("canceling statement due to statement timeout", True, 1),
        ("no answer to a statement within 70 s", True, 1),
        ("canceling statement due to lock timeout", True, 6),
    ],
)
def test_a_wait_that_was_long_is_not_repeated_for_minutes(
    url: str, cause: str, answered: bool, tries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lock is free sooner or later; a server that is away is not."""
    monkeypatch.setattr("kstreams_runbooks.ledger.database.wait_random_exponential", lambda **_: lambda _: 0)
    database = Database(url)
    database._answered = answered
    tried: list[int] = []

    def work(_: Any) -> None:
        tried.append(1)
        raise OperationalError("SELECT 1", {}, psycopg.OperationalError(cause))

    with pytest.raises(Unreachable, match=cause):
        database.read(work)
    assert len(tried) == tries
