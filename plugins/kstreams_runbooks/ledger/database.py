"""The connection: one transaction per call, retried if the database is busy, one sentence if it is unreachable."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import (
    ArgumentError,
    DataError,
    DBAPIError,
    IntegrityError,
    NoSuchModuleError,
    OperationalError,
    StatementError,
)
from sqlalchemy.orm import Session
from sqlalchemy.pool import NullPool
from tenacity import RetryCallState, Retrying, stop_after_attempt, wait_random_exponential

from kstreams_runbooks.errors import BadInput, Inconclusive, Unreachable

_T = TypeVar("_T")

ENVIRONMENT = "KSTREAMS_RUNBOOKS_LEDGER"
# Longer than any queue of writers that a scheduler's tasks can form; a write takes some milliseconds.
_BUSY_TIMEOUT_MS = 15_000
# A statement takes milliseconds, unless it waits for locks.
_STATEMENT_TIMEOUT_MS = 60_000
# To connect; and until a connection ends whose other side acknowledges nothing: its machine or the network is gone.
_CONNECT_TIMEOUT_S = 10
_KEPT_ALIVE = {"keepalives_idle": 5, "keepalives_interval": 5, "keepalives_count": 3, "tcp_user_timeout": 20_000}
_ATTEMPTS = 6
# What a sentence shows of an address's query: any other option may be a secret, such as password and sslpassword.
_SHOWN_OPTIONS = frozenset({"host", "port", "dbname", "service"})
# Errors that a retry does not fix.
_LASTING = (
    *("unable to open", "no such table", "no such column", "readonly", "not a database", "disk is full"),
    *("No space left on device", "password authentication failed", "does not exist"),
    # Each has taken long, and a statement that found no lock or no answer would do so again.
    *("no answer to a statement", "statement timeout"),
)
# A server that does not accept a connection: once more, if it has answered before.
_NO_CONNECTION = "timeout expired"
_ESCAPE = "write the @ of a password as %40, and a colon as %3A"
_TWICE = "23505"  # SQLSTATE unique_violation


def ledger_url(given: str | None = None) -> str:
    """Address of the ledger: `given`, else the environment's, else an SQLite file in Airflow's home."""
    if url := given or os.environ.get(ENVIRONMENT):
        return url
    home = Path(os.environ.get("AIRFLOW_HOME") or Path.home() / "airflow")
    return f"sqlite:///{home.absolute() / 'kstreams_runbooks.db'}"


def one_machine(given: str | None = None) -> str:
    """Why workers of several machines cannot share the ledger, with the remedy; empty if they can."""
    url = _parsed(ledger_url(given))
    if url.get_backend_name() != "sqlite":
        return ""
    return (
        f"ledger {_shown(url)}: SQLite is for one machine: workers on several machines, or two schedulers, "
        f"need PostgreSQL; set {ENVIRONMENT} (docs/ledger.md)"
    )


class Database:
    """One database. Every call opens its own connection: Airflow forks its tasks, and forks must not share one."""

    def __init__(self, url: str) -> None:
        self.url = _parsed(url)
        self._answered = False
        self.engine = self._made()
        # On SQLite a write transaction takes the write lock at its beginning: a transaction that reads first could only
        # give up if another one has written since. On any other database it locks the rows that it depends on
        # (ledger/journal.py), and has to see the commits made while it waited for them.
        self._writing = self._writes(self.engine)

    @property
    def name(self) -> str:
        """The address without a password."""
        return _shown(self.url)

    @property
    def file(self) -> Path | None:
        """The file of an SQLite ledger, None for any other."""
        if self.url.get_backend_name() != "sqlite" or not self.url.database:
            return None
        return Path(self.url.database)

    def read(self, work: Callable[[Session], _T]) -> _T:
        """The result of `work` in one transaction; `work` may be called again if the database is busy."""
        return self._attempt(lambda: self._once(self.engine, work))

    def write(self, work: Callable[[Session], _T]) -> _T:
        """The same for a transaction that writes: all or nothing, one after another."""
        return self._attempt(lambda: self._once(self._writing, work))

    def begin(self) -> AbstractContextManager[Connection]:
        """The connection of one write transaction, for migrations: a statement of it may take as long as it needs."""
        return self._writes(self._made(migrates=True)).begin()

    def _made(self, *, migrates: bool = False) -> Engine:
        return _engine(self.url, lambda: self._answered, migrates=migrates)

    def _writes(self, engine: Engine) -> Engine:
        level = {} if self.file is not None else {"isolation_level": "READ COMMITTED"}
        return engine.execution_options(ledger_writes=True, **level)

    @staticmethod
    def _once(engine: Engine, work: Callable[[Session], _T]) -> _T:
        with Session(engine, expire_on_commit=False) as session, session.begin():
            return work(session)

    def _attempt(self, call: Callable[[], _T]) -> _T:
        retrying = Retrying(
            retry=self._may_pass,
            stop=stop_after_attempt(_ATTEMPTS),
            wait=wait_random_exponential(multiplier=0.05, max=2),
            reraise=True,
        )
        try:
            result = retrying(call)
        except IntegrityError as error:
            raise BadInput(
                f"ledger {self.name}: {_first_line(error)}; a row is missing, or is there twice: "
                "check the run with `kstreams-runbooks evidence RUN --verify`"
            ) from error
        except DataError as error:
            raise BadInput(
                f"ledger {self.name}: the database rejects a value ({_first_line(error)}); shorten it, or leave "
                "out characters that are not text"
            ) from error
        except DBAPIError as error:
            raise Unreachable(
                f"ledger {self.name}: {_first_line(error)}; start or free it, or correct {ENVIRONMENT}"
            ) from error
        except (UnicodeEncodeError, StatementError) as error:
            cause = getattr(error, "orig", None) or error
            raise BadInput(f"ledger {self.name}: a value cannot be stored ({cause}); correct it") from error
        except (ValueError, RecursionError) as error:
            raise Inconclusive(
                f"ledger {self.name}: a row is damaged ({error}), and its content is unknown; find the row with "
                "`kstreams-runbooks evidence RUN --verify`, and restore the ledger from a backup"
            ) from error
        self._answered = True
        return result

    def _may_pass(self, state: RetryCallState) -> bool:
        error = state.outcome.exception() if state.outcome is not None else None
        if isinstance(error, OperationalError):
            cause = str(error.orig)
            # A server that never answered is not about to: a minute of attempts would hide that it is away.
            if _NO_CONNECTION in cause and (not self._answered or state.attempt_number > 1):
                return False
            return not any(word in cause for word in _LASTING)
        # Two first writers of one row; SQLite's write lock prevents that.
        return isinstance(error, IntegrityError) and getattr(error.orig, "sqlstate", None) == _TWICE


def _first_line(error: DBAPIError) -> str:
    return next(iter(str(error.orig).strip().splitlines()), type(error.orig).__name__)


def _shown(url: URL) -> str:
    known = {name: value for name, value in url.query.items() if name in _SHOWN_OPTIONS}
    return url.set(query=known).render_as_string(hide_password=True)


def _parsed(url: str) -> URL:
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise BadInput(
            f"{ENVIRONMENT} is not a database address; give one such as sqlite:////var/lib/ledger.db"
        ) from None
    except ValueError:
        # Python's sentence repeats the port, which is the end of a password that has an @ and a colon.
        raise BadInput(
            f"{ENVIRONMENT}: its port is not a number (expected 1 to 65535); correct it, or {_ESCAPE}"
        ) from None
    if parsed.get_backend_name() == "sqlite":
        if parsed.host or parsed.database in {None, "", ":memory:"}:
            raise BadInput(
                f"{ENVIRONMENT}: an SQLite ledger needs a file; give one such as sqlite:////var/lib/ledger.db"
            )
    elif "@" in f"{parsed.host}{parsed.database}":
        raise BadInput(
            f"{ENVIRONMENT}: its host or its database has an @ (expected: one @, before the host); {_ESCAPE}"
        )
    return parsed


def _engine(url: URL, answered: Callable[[], bool], *, migrates: bool) -> Engine:
    try:
        if url.get_backend_name() == "sqlite":
            engine = create_engine(url, poolclass=NullPool)
            event.listen(engine, "connect", _on_sqlite_connect)
            event.listen(engine, "begin", _on_sqlite_begin)
            return engine
        return _server_engine(url, answered, migrates=migrates)
    except (ModuleNotFoundError, NoSuchModuleError) as error:
        raise BadInput(f"{ENVIRONMENT}: no driver for {url.drivername} is installed ({error}); install it") from None


def _server_engine(url: URL, answered: Callable[[], bool], *, migrates: bool) -> Engine:
    # A reader sees one moment of the ledger across all its statements.
    engine = create_engine(url, poolclass=NullPool, isolation_level="REPEATABLE READ")
    if url.get_backend_name() == "postgresql":
        limits = f"-c lock_timeout={_BUSY_TIMEOUT_MS}"
        if not migrates:
            limits += f" -c statement_timeout={_STATEMENT_TIMEOUT_MS}"
        event.listen(engine, "do_connect", lambda *given: _limit_postgresql(given[3], limits))
        if not migrates and engine.dialect.driver == "psycopg":
            from kstreams_runbooks.ledger.postgresql import limit_silence

            limit_silence(engine, answered)
    return engine


def _limit_postgresql(options: dict[str, Any], limits: str) -> None:
    for name, value in {"connect_timeout": _CONNECT_TIMEOUT_S, **_KEPT_ALIVE}.items():
        options.setdefault(name, value)
    # A lock that is not granted in this time is an error that is retried, as on SQLite. What the address sets counts.
    options["options"] = f"{limits} {options.get('options', '')}".strip()


def _on_sqlite_connect(connection: sqlite3.Connection, _record: object) -> None:
    # Python's driver begins transactions by its own rules; here SQLAlchemy does.
    connection.isolation_level = None
    connection.execute(f"PRAGMA busy_timeout = {_BUSY_TIMEOUT_MS}")
    connection.execute("PRAGMA foreign_keys = ON")
    # An undo card has to be on the disk before the write that it undoes.
    connection.execute("PRAGMA synchronous = FULL")


def _on_sqlite_begin(connection: Connection) -> None:
    writes = connection.get_execution_options().get("ledger_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
