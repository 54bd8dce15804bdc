"""The connection: one transaction per call, retried where the database is busy, one sentence where it is away."""

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, NoSuchModuleError, OperationalError
from sqlalchemy.orm import Session
from sqlalchemy.pool import NullPool
from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_random_exponential

from kstreams_runbooks.errors import BadInput, Unreachable

_T = TypeVar("_T")

ENVIRONMENT = "KSTREAMS_RUNBOOKS_LEDGER"
# Longer than any queue of writers that a scheduler's tasks can form; a write takes some milliseconds.
_BUSY_TIMEOUT_MS = 15_000
_ATTEMPTS = 6
# What another try does not mend.
_LASTING = ("unable to open", "no such table", "no such column", "readonly", "not a database", "disk is full")


def ledger_url(given: str | None = None) -> str:
    """Address of the ledger: `given`, else the environment's, else an SQLite file in Airflow's home."""
    if url := given or os.environ.get(ENVIRONMENT):
        return url
    home = Path(os.environ.get("AIRFLOW_HOME") or Path.home() / "airflow")
    return f"sqlite:///{home.absolute() / 'kstreams_runbooks.db'}"


class Database:
    """One database. Every call opens its own connection, so that a fork (Airflow forks its tasks) shares none."""

    def __init__(self, url: str) -> None:
        self.url = _parsed(url)
        self.engine = _engine(self.url)
        # On SQLite a write transaction takes the write lock at its beginning: one that reads first and then finds
        # somebody else has written could only give up.
        self._writing = self.engine.execution_options(ledger_writes=True)

    @property
    def name(self) -> str:
        """The address without a password."""
        return self.url.render_as_string(hide_password=True)

    @property
    def file(self) -> Path | None:
        """The file of an SQLite ledger, None for any other."""
        if self.url.get_backend_name() != "sqlite" or not self.url.database:
            return None
        return Path(self.url.database)

    def read(self, work: Callable[[Session], _T]) -> _T:
        """What `work` answers in one transaction; it may be called again where the database is busy."""
        return self._attempt(lambda: self._once(self.engine, work))

    def write(self, work: Callable[[Session], _T]) -> _T:
        """The same for a transaction that writes: all or nothing, one after another."""
        return self._attempt(lambda: self._once(self._writing, work))

    def begin(self) -> Any:
        """A context manager with the connection of one write transaction, for migrations."""
        return self._writing.begin()

    @staticmethod
    def _once(engine: Engine, work: Callable[[Session], _T]) -> _T:
        with Session(engine, expire_on_commit=False) as session, session.begin():
            return work(session)

    def _attempt(self, call: Callable[[], _T]) -> _T:
        retrying = Retrying(
            retry=retry_if_exception(self._passing),
            stop=stop_after_attempt(_ATTEMPTS),
            wait=wait_random_exponential(multiplier=0.05, max=2),
            reraise=True,
        )
        try:
            return retrying(call)
        except IntegrityError as error:
            raise BadInput(
                f"ledger {self.name}: {_first_line(error)} (a run has to be started before it is used)"
            ) from error
        except DBAPIError as error:
            raise Unreachable(
                f"ledger {self.name}: {_first_line(error)}; start or free it, or correct {ENVIRONMENT}"
            ) from error

    def _passing(self, error: BaseException) -> bool:
        if isinstance(error, OperationalError):
            return not any(word in str(error.orig) for word in _LASTING)
        # Two first writers of one row; SQLite's write lock lets it happen nowhere else.
        return isinstance(error, IntegrityError) and self.file is None


def _first_line(error: DBAPIError) -> str:
    return str(error.orig).strip().splitlines()[0]


def _parsed(url: str) -> URL:
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise BadInput(f"{ENVIRONMENT} is no database address; give one such as sqlite:////var/lib/ledger.db") from None
    if parsed.get_backend_name() == "sqlite" and (parsed.host or parsed.database in {None, "", ":memory:"}):
        raise BadInput(f"{ENVIRONMENT}: an SQLite ledger needs a file; give one such as sqlite:////var/lib/ledger.db")
    return parsed


def _engine(url: URL) -> Engine:
    try:
        if url.get_backend_name() == "sqlite":
            engine = create_engine(url, poolclass=NullPool)
            event.listen(engine, "connect", _on_sqlite_connect)
            event.listen(engine, "begin", _on_sqlite_begin)
            return engine
        # What SQLite's write lock gives, said in SQL: a lost race is an error that is tried again.
        return create_engine(url, poolclass=NullPool, isolation_level="SERIALIZABLE")
    except (ModuleNotFoundError, NoSuchModuleError) as error:
        raise BadInput(f"{ENVIRONMENT}: no driver for {url.drivername} is installed ({error}); install it") from None


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
