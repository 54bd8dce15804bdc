"""The schema's version: checked cheaply at every opening, raised by Alembic if it is behind.

Versions are v1, v2, … in their order; a ledger of any other schema is left as it is.
"""

import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, inspect, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from kstreams_runbooks.errors import BadInput, Unreachable
from kstreams_runbooks.files import open_regular
from kstreams_runbooks.ledger.database import ENVIRONMENT, Database

if TYPE_CHECKING:
    from alembic.config import Config

# Newest migration. It is here because opening the ledger must not import Alembic (0.2 s in every task).
HEAD = "v1"
_VERSION = re.compile(r"v([1-9]\d*)")
# Ledgers with these schemas were written before there was a release; no migration leads from them.
_UNRELEASED = frozenset(f"000{number}" for number in range(1, 8))
# Any number that nothing else in the database locks.
_MIGRATING = 0x6B737472
_MIGRATIONS = Path(__file__).parent / "migrations"


def ensure_schema(database: Database) -> None:
    """Bring an SQLite ledger to `HEAD`; for any other only check it (BadInput names the command to migrate).

    BadInput for a schema that no migration leads from, of any database.
    """
    if database.file is not None and not database.file.parent.is_dir():
        raise Unreachable(
            f"ledger {database.name}: folder {database.file.parent} does not exist; create it, or set {ENVIRONMENT}"
        )
    found = revision(database)
    if found == HEAD:
        return
    _require_migratable(database, found)
    if database.file is None:
        raise BadInput(
            f"ledger {database.name}: its schema is {found or 'empty'} (expected {HEAD}); "
            "run: kstreams-runbooks migrate-ledger"
        )
    upgrade(database)


def revision(database: Database) -> str | None:
    """The schema's version, None for an empty database."""

    def work(session: Session) -> str | None:
        if not inspect(session.connection()).has_table("alembic_version"):
            return None
        return session.execute(text("SELECT version_num FROM alembic_version")).scalar()

    return database.read(work)


def upgrade(database: Database) -> str | None:
    """Run the missing migrations in one transaction, one process at a time; returns the version that was found.

    BadInput if no migration leads from that version.
    """
    from alembic import command

    with _alone(database.file):
        found = revision(database)
        if found == HEAD:
            return found
        _require_migratable(database, found)
        try:
            if database.file is not None:
                _use_wal(database)
            with database.begin() as connection:
                if database.file is None:
                    _wait_for_others(connection)
                config = alembic_config()
                config.attributes["connection"] = connection
                command.upgrade(config, "head")
        except DBAPIError as error:
            said = " ".join(str(error.orig).split())
            raise Unreachable(
                f"ledger {database.name}: cannot be migrated: {said}; its schema stays {found}"
            ) from error
        return found


def _require_migratable(database: Database, found: str | None) -> None:
    """BadInput unless the database is empty, or has an earlier version of the schema."""
    if found is None:
        return
    schema = f"ledger {database.name}: its schema is {found} (expected {HEAD})"
    if found in _UNRELEASED:
        remedy = (
            "remove its volume, or drop that database and create it again, then run: kstreams-runbooks migrate-ledger"
            if database.file is None
            else f"remove the run folder or the volume that it is in, or {database.file} with its -wal and -shm"
        )
        raise BadInput(
            f"{schema}: an unreleased version wrote it, and no migration leads from it; once none of its runs goes on, "
            f"{remedy}"
        )
    if (version := _VERSION.fullmatch(found)) is None:
        raise BadInput(f"{schema}: it belongs to another program; give the ledger its own database ({ENVIRONMENT})")
    if int(version[1]) > int(HEAD[1:]):
        raise BadInput(f"{schema}: a newer release wrote it; update kstreams-runbooks on this machine")


def _wait_for_others(connection: Connection) -> None:
    """Serialise two processes that migrate a server's database: the second waits, and has nothing left to do."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MIGRATING})


def alembic_config() -> "Config":
    """Alembic's configuration: without an ini file, the migrations are inside the package."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    return config


def _use_wal(database: Database) -> None:
    # Readers do not wait for a writer. The setting stays in the file, and cannot be set inside a transaction.
    with database.engine.connect() as connection:
        raw = connection.connection.driver_connection
        if raw is not None:
            raw.execute("PRAGMA journal_mode = WAL")


@contextmanager
def _alone(file: Path | None) -> Iterator[None]:
    """One process at a time; a database server has its own locks, and a person migrates it."""
    if file is None:
        yield
        return
    lock = file.with_name(f"{file.name}.lock")
    with ExitStack() as opened:
        try:
            descriptor = opened.enter_context(open_regular(lock, os.O_RDWR | os.O_CREAT))
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except OSError as error:
            raise Unreachable(f"ledger lock {lock}: cannot be taken ({error.strerror}); look at that file") from None
        yield
