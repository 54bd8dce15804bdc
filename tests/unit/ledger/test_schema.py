"""Creating, migrating and reaching the ledger."""

import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from alembic import command, op
from alembic.script import ScriptDirectory
from kstreams_runbooks.errors import BadInput, Unreachable
from kstreams_runbooks.ledger import Ledger, ledger_url, migrate, one_machine
from kstreams_runbooks.ledger.database import Database
from kstreams_runbooks.ledger.schema import HEAD, alembic_config, revision
from kstreams_runbooks.ledger.tables import Base
from sqlalchemy.engine import make_url
from sqlalchemy.schema import CreateTable


def file_of(url: str) -> Path:
    """The file behind an SQLite address."""
    return Path(url.removeprefix("sqlite:///"))


def set_schema(url: str, schema: str) -> None:
    """Let the file be of another version."""
    with sqlite3.connect(file_of(url)) as raw:
        raw.execute("UPDATE alembic_version SET version_num = ?", (schema,))


def tables_of(url: str) -> list[str]:
    """The tables in the file."""
    with sqlite3.connect(file_of(url)) as raw:
        return [name for (name,) in raw.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]


def test_head_is_the_newest_migration() -> None:
    """The constant that saves importing Alembic in every task; the migrations are v1, v2, … in their order."""
    found = [one.revision for one in ScriptDirectory.from_config(alembic_config()).walk_revisions()][::-1]
    assert found == [f"v{number}" for number in range(1, len(found) + 1)]
    assert found[-1] == HEAD


def test_an_empty_file_is_brought_to_head_and_equals_the_tables(url: str) -> None:
    """`alembic check` finds no difference between the migrated file and the declared tables."""
    Ledger.open(url)
    database = Database(url)
    assert revision(database) == HEAD
    with database.begin() as connection:
        config = alembic_config()
        config.attributes["connection"] = connection
        command.check(config)


def test_the_migration_goes_back(url: str) -> None:
    """Downgrade to nothing leaves only Alembic's own table."""
    Ledger.open(url)
    with Database(url).begin() as connection:
        config = alembic_config()
        config.attributes["connection"] = connection
        command.downgrade(config, "base")
    assert tables_of(url) == ["alembic_version"]


def test_the_file_lets_readers_read_while_somebody_writes(url: str) -> None:
    """WAL is set in the file, foreign keys on every connection."""
    ledger = Ledger.open(url)
    with ledger.database.engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2


def test_processes_that_open_at_once_migrate_once(url: str) -> None:
    """Airflow's tasks may be the first together."""
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=Ledger.open, args=(url,)) for _ in range(8)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 8
    assert revision(Database(url)) == HEAD


def _dies_while_migrating(url: str) -> None:
    create_index = op.create_index

    def die(*arguments: object, **_: object) -> None:
        if arguments[0] == "ix_hold_cluster":
            os.kill(os.getpid(), signal.SIGKILL)
        create_index(*arguments)  # type: ignore[arg-type]  # passed through

    op.create_index = die
    Ledger.open(url)


def test_a_migration_that_is_killed_leaves_nothing(url: str) -> None:
    """Tables are rolled back with the rest, so that the next opening starts from nothing."""
    process = multiprocessing.get_context("fork").Process(target=_dies_while_migrating, args=(url,))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    with sqlite3.connect(file_of(url)) as raw:
        assert raw.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
    Ledger.open(url)


@pytest.mark.parametrize("schema", ["0001", "0004", "0007"])
def test_an_unreleased_schema_is_left_alone_with_what_to_remove(url: str, schema: str) -> None:
    """No migration leads from it. Opened and migrated, the file keeps its tables and its schema."""
    with sqlite3.connect(file_of(url)) as raw:
        raw.execute("CREATE TABLE alembic_version (version_num VARCHAR(32))")
        raw.execute("INSERT INTO alembic_version VALUES (?)", (schema,))
    for opened in (Ledger.open, Ledger.existing, migrate):
        with pytest.raises(BadInput) as refused:
            opened(url)
        assert str(refused.value) == (
            f"ledger {url}: its schema is {schema} (expected {HEAD}): an unreleased version wrote it, and no migration "
            "leads from it; once none of its runs goes on, remove the run folder or the volume that it is in, or "
            f"{file_of(url)} with its -wal and -shm"
        )
    assert tables_of(url) == ["alembic_version"]
    file_of(url).unlink()
    assert Ledger.open(url).runs() == ()


@pytest.mark.parametrize("schema", ["v2", "v10"])
def test_a_newer_schema_is_left_alone(url: str, schema: str) -> None:
    """A program does not touch what a newer one has written."""
    Ledger.open(url)
    set_schema(url, schema)
    for opened in (Ledger.open, Ledger.existing, migrate):
        with pytest.raises(BadInput) as refused:
            opened(url)
        assert str(refused.value) == (
            f"ledger {url}: its schema is {schema} (expected {HEAD}): a newer release wrote it; update "
            "kstreams-runbooks on this machine"
        )


@pytest.mark.parametrize("schema", ["29ce7909c52b", "0008", "v0", "v1.1", "V1"])
def test_the_database_of_another_program_is_left_alone(url: str, schema: str) -> None:
    """Such as Airflow's own, which Alembic migrates too: it is never to be removed."""
    Ledger.open(url)
    set_schema(url, schema)
    with pytest.raises(BadInput) as refused:
        Ledger.open(url)
    assert str(refused.value) == (
        f"ledger {url}: its schema is {schema} (expected {HEAD}): it belongs to another program; give the ledger its "
        "own database (KSTREAMS_RUNBOOKS_LEDGER)"
    )


def test_migrate_says_what_it_did(url: str) -> None:
    """The command's sentence, the first and the second time."""
    assert migrate(url).endswith(f"schema migrated from empty to {HEAD}")
    assert migrate(url).endswith(f"schema {HEAD} is up to date")


@pytest.mark.parametrize(
    ("url", "error", "sentence"),
    [
        ("sqlite:////nowhere/at/all/ledger.db", Unreachable, "folder /nowhere/at/all does not exist; create it"),
        ("sqlite:////proc/ledger.db", Unreachable, "/proc/ledger.db"),
        ("sqlite://", BadInput, "needs a file"),
        ("sqlite://relative/ledger.db", BadInput, "needs a file"),
        ("ledger.db", BadInput, "is not a database address"),
        ("nosuch://host/db", BadInput, "no driver for nosuch is installed"),
    ],
)
def test_what_cannot_be_opened_is_one_sentence(url: str, error: type[Exception], sentence: str) -> None:
    """With the address and what to do."""
    with pytest.raises(error, match=sentence):
        Ledger.open(url)


def test_a_file_that_is_no_ledger_is_unreachable(tmp_path: Path) -> None:
    """It is not overwritten."""
    file = tmp_path / "notes.txt"
    file.write_text("these are notes, not a database, and long enough to look like a header of one\n" * 20)
    with pytest.raises(Unreachable, match="not a database"):
        Ledger.open(f"sqlite:///{file}")
    assert file.read_text().startswith("these are notes")


def test_the_address_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Given, then the environment's, then a file in Airflow's home."""
    monkeypatch.delenv("KSTREAMS_RUNBOOKS_LEDGER", raising=False)
    monkeypatch.setenv("AIRFLOW_HOME", str(tmp_path))
    assert ledger_url() == f"sqlite:///{tmp_path}/kstreams_runbooks.db"
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_LEDGER", "postgresql://ledger/db")
    assert ledger_url() == "postgresql://ledger/db"
    assert ledger_url("sqlite:////x/y.db") == "sqlite:////x/y.db"


def test_a_password_is_not_shown() -> None:
    """Sentences carry no secret of the address."""
    with pytest.raises(BadInput) as caught:
        Database("nosuch://user:secret@host/db")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("?password=secret", ""),
        ("?sslpassword=secret&sslkey=/k", ""),
        ("?host=a:1&host=b:2&password=secret", "?host=a%3A1&host=b%3A2"),
    ],
)
def test_options_of_an_address_are_not_shown(query: str, shown: str) -> None:
    """Each option of a client may be in the query, and some are secrets; the hosts are shown."""
    url = f"postgresql+psycopg://ledger@db/ledger{query}"
    assert Database(url).name == f"postgresql+psycopg://ledger@db/ledger{shown}"
    assert "secret" not in one_machine("sqlite:////var/ledger.db?password=secret")


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        (
            "postgresql+psycopg://ledger:sec@ret:secret@h/d",
            "its port is not a number (expected 1 to 65535); correct it",
        ),
        ("postgresql+psycopg://ledger@h:secret/d", "its port is not a number (expected 1 to 65535); correct it"),
        ("postgresql+psycopg://ledger:sec@secret@h/d", "its host or its database has an @"),
        ("postgresql+psycopg://ledger:sec@re/secret@h/d", "its host or its database has an @"),
    ],
)
def test_an_address_that_cannot_be_read_is_bad_input_without_its_password(url: str, sentence: str) -> None:
    """A password with an @ or a colon ends up in the host, the port or the database."""
    with pytest.raises(BadInput) as caught:
        Database(url)
    assert sentence in str(caught.value)
    assert "secret" not in str(caught.value)
    cause = None if caught.value.__suppress_context__ else caught.value.__context__
    assert cause is None, "a log would show the cause, which repeats the address"


def test_the_tables_are_plain_sql() -> None:
    """Everything compiles for PostgreSQL too: no type of SQLite's own."""
    dialect = make_url("postgresql://host/db").get_dialect()()
    for table in Base.metadata.sorted_tables:
        assert "CREATE TABLE" in str(CreateTable(table).compile(dialect=dialect))


def test_opening_a_ready_ledger_does_not_import_alembic(url: str) -> None:
    """Every task opens it."""
    Ledger.open(url)
    code = (
        "import sys; from kstreams_runbooks.ledger import Ledger; "
        f"Ledger.open({url!r}); sys.exit('alembic' in sys.modules)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    assert subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode == 0


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("sqlite:////var/ledger.db", "SQLite is for one machine: workers on several machines, or two schedulers, need"),
        ("postgresql+psycopg://ledger@db/ledger", ""),
    ],
)
def test_a_ledger_of_one_machine_is_named_with_the_remedy(url: str, said: str) -> None:
    """As `readiness` shows it, whose ledger may be a server."""
    assert said in one_machine(url)
    assert bool(one_machine(url)) is bool(said)
    assert not said or "set KSTREAMS_RUNBOOKS_LEDGER (docs/ledger.md)" in one_machine(url)
