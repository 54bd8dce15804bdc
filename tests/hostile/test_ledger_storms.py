"""The ledger under races, kills, a full disk and many first openers, on SQLite and on PostgreSQL: real processes."""

import multiprocessing
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from multiprocessing.synchronize import Barrier
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner, Result
from kstreams_runbooks.cli import cli
from kstreams_runbooks.errors import BadInput, Refused, RunbookError, Unreachable
from kstreams_runbooks.ledger import Ledger, migrate
from kstreams_runbooks.ledger import postgresql as ledger_postgresql
from kstreams_runbooks.ledger.database import Database
from kstreams_runbooks.ledger.schema import HEAD, revision
from kstreams_runbooks.model.runs.ledger import Card, RunRecord
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.watch.evidence import verified
from lab.postgresql import Server, postgresql, small_disk
from sqlalchemy import event, text
from sqlalchemy.orm import Session

_RACES, _RACERS = 100, 3
_OPENERS = 10
_TURNS = 50
_WORKERS, _EACH = 20, 2
_CUT_S = 3.0
_FORK = multiprocessing.get_context("fork")

NewLedger = Callable[[str], str]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """One server for all cases of this file."""
    with postgresql() as running:
        yield running


@pytest.fixture(params=["sqlite", "postgresql"])
def empty(request: pytest.FixtureRequest, tmp_path: Path) -> NewLedger:
    """Makes an address where no ledger is yet, by a name."""
    if request.param == "sqlite":
        return lambda name: f"sqlite:///{tmp_path / name}.db"
    running: Server = request.getfixturevalue("server")
    return running.database


def ledger_at(url: str) -> Ledger:
    """A ready ledger."""
    migrate(url)
    return Ledger.open(url)


def started(ledger: Ledger, run_id: str, application: str = "orders") -> str:
    """A run in the ledger; its key."""
    record = RunRecord("", "library_bump", run_id, application, "demo", "oncall", False, "", {}, 1_000)
    return ledger.start_run(record).run_key


def is_whole(ledger: Ledger, run_key: str) -> bool:
    """Whether the chain of a run holds."""
    return verified(ledger, ledger.run(run_key), None).outcome is Outcome.PROCEED


def _race(url: str, key: str, barrier: Barrier, won: "multiprocessing.SimpleQueue[tuple[int, str]]") -> None:
    ledger = Ledger(url)
    for race in range(_RACES):
        barrier.wait()
        try:
            ledger.take_hold(key, (f"topic:demo:race-{race}",), "demo", _RACERS + 1, race, lambda _: False)
        except Refused:
            continue
        won.put((race, key))


def test_a_hundred_races_have_one_winner_each(empty: NewLedger) -> None:
    """Three processes ask for the same topic a hundred times: one gets it, two are refused, nobody fails otherwise."""
    ledger = ledger_at(url := empty("races"))
    keys = [started(ledger, f"racer-{number}") for number in range(_RACERS)]
    barrier, won = _FORK.Barrier(_RACERS), _FORK.SimpleQueue()
    processes = [_FORK.Process(target=_race, args=(url, key, barrier, won)) for key in keys]
    for process in processes:
        process.start()
    winners: list[tuple[int, str]] = []
    while any(process.is_alive() for process in processes) or not won.empty():
        while not won.empty():
            winners.append(won.get())
        time.sleep(0.01)
    assert [process.exitcode for process in processes] == [0] * _RACERS
    assert sorted(race for race, _ in winners) == [*range(_RACES)]
    assert {(hold.resource, hold.run_key) for hold in ledger.holds()} == {
        (f"topic:demo:race-{race}", key) for race, key in winners
    }
    assert all(is_whole(ledger, key) for key in keys)


def _turn(url: str, key: str, barrier: Any, won: Any) -> None:
    ledger = Ledger(url)
    for _ in range(_TURNS):
        barrier.wait()
        try:
            ledger.take_hold(key, (f"application:demo:{key}",), "demo", 1, 1, lambda _: False)
        except Refused:
            took = False
        else:
            took = True
            won.put(key)
        barrier.wait()
        if took:
            ledger.hold_waits(key, 2)


def test_one_run_at_a_time_changes_something(empty: NewLedger) -> None:
    """Three processes hold an application each and begin a change at the same time, again and again: one may.

    The winner waits afterwards, and does not count in the next turn; all of them keep what they hold.
    """
    ledger = ledger_at(url := empty("turns"))
    keys = [started(ledger, f"turn-{number}", f"orders-{number}") for number in range(_RACERS)]
    for key in keys:
        ledger.take_hold(key, (f"application:demo:{key}",), "demo", 1, 1, lambda _: False, changes=False)
    barrier, won = _FORK.Barrier(_RACERS), _FORK.SimpleQueue()
    processes = [_FORK.Process(target=_turn, args=(url, key, barrier, won)) for key in keys]
    for process in processes:
        process.start()
    winners: list[str] = []
    while any(process.is_alive() for process in processes) or not won.empty():
        while not won.empty():
            winners.append(won.get())
        time.sleep(0.01)
    assert [process.exitcode for process in processes] == [0] * _RACERS
    assert len(winners) == _TURNS
    assert [(hold.run_key, hold.changing) for hold in ledger.holds()] == [(key, False) for key in sorted(keys)]
    assert all(is_whole(ledger, key) for key in keys)


def _writes(url: str, key: str, acknowledged: int) -> None:
    ledger = Ledger(url)
    for number in range(1, 100_000):
        entry = ledger.record(key, "bounce_1_first", 1, "reading", f"n{number}", {"text": "x" * 5_000}, number)
        os.write(acknowledged, f"{entry}\n".encode())
        seq = len(ledger.cards(key)) + 1
        ledger.write_card(
            Card(
                key,
                seq,
                "t",
                "bounce 1",
                f"orders-{number}",
                "w",
                "u",
                "c",
                False,
                False,
                {},
                number,
                "orders",
                "demo",
                1,
            )
        )
        ledger.mark_written(key, number)


def _killed(url: str, key: str, after_s: float) -> list[int]:
    """The entries that a writer was told are kept, before it was killed in its middle."""
    readable, writable = os.pipe()
    process = _FORK.Process(target=_writes, args=(url, key, writable))
    process.start()
    os.close(writable)
    with os.fdopen(readable) as told:
        first = told.readline()
        time.sleep(after_s)
        os.kill(process.pid or 0, signal.SIGKILL)
        process.join()
        assert process.exitcode == -signal.SIGKILL
        return [int(line) for line in (first, *told) if line.endswith("\n")]


def _kill_again_and_again(empty: NewLedger, kills: int) -> None:
    ledger = ledger_at(url := empty(f"kills{kills}"))
    key, random = started(ledger, "r"), Random(15)
    for _ in range(kills):
        told = _killed(url, key, random.uniform(0, 0.05))
        kept = {piece.id for piece in ledger.evidence(key)}
        assert {*told} <= kept
        assert is_whole(ledger, key)
    assert [card.seq for card in ledger.cards(key)] == [*range(1, len(ledger.cards(key)) + 1)]


def test_a_writer_that_is_killed_loses_nothing_that_it_was_told_is_kept(empty: NewLedger) -> None:
    """Ten times in the middle of writing: every acknowledged entry is there, and the chain goes on from the last."""
    _kill_again_and_again(empty, 10)


@pytest.mark.long
def test_fifty_kills(empty: NewLedger) -> None:
    """The same fifty times."""
    _kill_again_and_again(empty, 50)


def _fills(ledger: Ledger, key: str) -> RunbookError:
    """Write until the ledger refuses; what it said. Every entry before that is there, and the chain is whole."""
    acknowledged: list[int] = []

    def write() -> None:
        for number in range(10_000):
            payload = {"text": os.urandom(100_000).hex()}
            acknowledged.append(ledger.record(key, "observe", 1, "reading", "application", payload, number))

    with pytest.raises(RunbookError) as refused:
        write()
    assert acknowledged
    assert {*acknowledged} <= {piece.id for piece in ledger.evidence(key)}
    assert is_whole(ledger, key)
    return refused.value


def _is_one_sentence(error: RunbookError) -> bool:
    return isinstance(error, Unreachable) and len(str(error).splitlines()) == 1


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_full_disk_is_one_sentence(kind: str, request: pytest.FixtureRequest) -> None:
    """A real disk of 4 MB for the file, of 24 MB for a database."""
    with small_disk(4 if kind == "sqlite" else 24) as disk:
        if kind == "sqlite":
            url = f"sqlite:///{disk / 'ledger.db'}"
        else:
            server: Server = request.getfixturevalue("server")
            url = server.database("full_disk", on=disk)
        ledger = ledger_at(url)
        error = _fills(ledger, key := started(ledger, "r"))
        assert _is_one_sentence(error), error
        assert "full" in str(error) or "No space left on device" in str(error) or "disk I/O error" in str(error)
        assert str(error).endswith("; start or free it, or correct KSTREAMS_RUNBOOKS_LEDGER")
        shown = CliRunner().invoke(cli, ["evidence", key, "--verify"], env={"KSTREAMS_RUNBOOKS_LEDGER": url})
        assert (shown.exit_code, shown.stderr) == (0, "")


def test_a_file_that_may_not_grow_is_one_sentence(tmp_path: Path) -> None:
    """The same where SQLite itself is told how many pages there are."""
    ledger = ledger_at(f"sqlite:///{tmp_path / 'ledger.db'}")
    event.listen(
        ledger.database.engine, "connect", lambda raw, _: raw.execute("PRAGMA max_page_count = 300").fetchone()
    )
    error = _fills(ledger, started(ledger, "r"))
    assert _is_one_sentence(error)
    assert "database or disk is full" in str(error)


def _opens(url: str, number: int, barrier: Barrier) -> None:
    barrier.wait()
    if not url.startswith("sqlite"):
        migrate(url)
    ledger = Ledger.open(url)
    ledger.record(started(ledger, f"first-{number}"), "observe", 1, "note", "begun", {}, number)


def test_ten_first_openers_migrate_once_and_all_of_them_work(empty: NewLedger) -> None:
    """Each starts a run of one application and writes: ten runs, one order."""
    url, barrier = empty("openers"), _FORK.Barrier(_OPENERS)
    processes = [_FORK.Process(target=_opens, args=(url, number, barrier)) for number in range(_OPENERS)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * _OPENERS
    assert revision(Database(url)) == HEAD
    ledger = Ledger.open(url)
    runs = ledger.runs()
    assert len(runs) == _OPENERS
    assert all(is_whole(ledger, run.run_key) for run in runs)
    numbers = sorted(entry.seq for run in runs for entry in ledger.entries(run.run_key))
    assert numbers == [*range(1, 2 * _OPENERS + 1)]


def _works(url: str, key: str, barrier: Barrier, won: "multiprocessing.SimpleQueue[str]") -> None:
    """Holds, evidence, cards and readings of one run, while the others do the same."""
    ledger = Ledger(url)
    barrier.wait()
    ledger.take_hold(key, (f"application:demo:{key}",), "demo", _WORKERS + 1, 1, lambda _: False)
    for number in range(_EACH):
        ledger.record(key, "observe", 1, "reading", f"n{number}", {"text": "x" * 500}, number)
        ledger.write_card(
            Card(
                key,
                number + 1,
                "t",
                "bounce 1",
                f"orders-{number}",
                "w",
                "u",
                "c",
                False,
                False,
                {},
                number,
                "orders",
                "demo",
                1,
            )
        )
        assert len(ledger.evidence(key)) == len(ledger.cards(key)) == number + 1
        assert len(ledger.runs()) == _WORKERS
        try:
            ledger.take_hold(key, (f"topic:demo:{number}",), "demo", _WORKERS + 1, number, lambda _: False)
        except Refused:
            continue
        won.put(f"topic:demo:{number}")


def test_twenty_processes_hold_write_and_read_at_once(server: Server) -> None:
    """No write is lost, each topic has one holder, no chain breaks, and the server saw no deadlock."""
    ledger = ledger_at(url := server.database("twenty"))
    keys = [started(ledger, f"worker-{number}", f"orders-{number}") for number in range(_WORKERS)]
    barrier, won = _FORK.Barrier(_WORKERS), _FORK.SimpleQueue()
    processes = [_FORK.Process(target=_works, args=(url, key, barrier, won)) for key in keys]
    for process in processes:
        process.start()
    held: list[str] = []
    while any(process.is_alive() for process in processes) or not won.empty():
        while not won.empty():
            held.append(won.get())
        time.sleep(0.01)
    assert [process.exitcode for process in processes] == [0] * _WORKERS
    assert sorted(held) == sorted(f"topic:demo:{number}" for number in range(_EACH))
    assert {hold.resource for hold in ledger.holds()} == {*held, *(f"application:demo:{key}" for key in keys)}
    for key in keys:
        assert [piece.name for piece in ledger.evidence(key)] == [f"n{number}" for number in range(_EACH)]
        assert [card.seq for card in ledger.cards(key)] == [*range(1, _EACH + 1)]
        assert is_whole(ledger, key)
    with ledger.database.engine.connect() as connection:
        asked = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
        assert connection.exec_driver_sql(asked).scalar_one() == 0


def _goes_on(url: str, key: str, acknowledged: int) -> None:
    ledger, until = Ledger(url), time.monotonic() + _CUT_S
    number = 0
    while time.monotonic() < until:
        number += 1
        entry = ledger.record(key, "bounce_1_first", 1, "reading", f"n{number}", {"text": "x" * 5_000}, number)
        os.write(acknowledged, f"{entry}\n".encode())


def test_a_step_whose_connection_is_lost_goes_on_with_another_one(server: Server) -> None:
    """Every connection is cut again and again while a step writes: what it was told is kept is there, once."""
    ledger = ledger_at(url := server.database("cut"))
    key = started(ledger, "r")
    readable, writable = os.pipe()
    process = _FORK.Process(target=_goes_on, args=(url, key, writable))
    process.start()
    os.close(writable)
    cut = 0
    others = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    with ledger.database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        while process.is_alive():
            cut += len(connection.exec_driver_sql(f"SELECT pg_terminate_backend(pid) {others}").all())
            time.sleep(0.4)
    process.join()
    with os.fdopen(readable) as told:
        acknowledged = [int(line) for line in told]
    assert process.exitcode == 0
    assert cut > 0
    kept = ledger.evidence(key)
    assert {*acknowledged} == {piece.id for piece in kept}
    assert [piece.name for piece in kept] == [f"n{number}" for number in range(1, len(acknowledged) + 1)]
    assert is_whole(ledger, key)


def test_migrate_ledger_makes_a_server_ready(server: Server) -> None:
    """A database on a server is not migrated by whoever opens it; the command does, and says so."""
    url = server.database("commanded")

    def command(*words: str) -> Result:
        return CliRunner().invoke(cli, words, env={"KSTREAMS_RUNBOOKS_LEDGER": url})

    before = command("evidence", "r")
    assert isinstance(before.exception, BadInput)
    assert str(before.exception).endswith(f"schema is empty (expected {HEAD}); run: kstreams-runbooks migrate-ledger")
    assert f"schema migrated from empty to {HEAD}" in command("migrate-ledger").stderr
    assert f"schema {HEAD} is up to date" in command("migrate-ledger").stderr
    assert "the ledger has no runs" in str(command("evidence", "r").exception)


def test_a_server_that_is_away_is_one_sentence() -> None:
    """Nothing listens there, or what listens never answers: said within one attempt, with what to do."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        for port, cause in ((9, "Connection refused"), (silent.getsockname()[1], "timeout expired")):
            with pytest.raises(Unreachable) as away:
                Ledger.open(f"postgresql+psycopg://ledger@127.0.0.1:{port}/none")
            assert _is_one_sentence(away.value)
            assert cause in str(away.value)
            assert str(away.value).endswith("; start or free it, or correct KSTREAMS_RUNBOOKS_LEDGER")


def test_a_server_that_freezes_between_two_statements_is_one_sentence(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its kernel goes on to acknowledge. The step's next connection works; a migration waits for its statements."""
    ledger = ledger_at(server.database("frozen"))
    monkeypatch.setattr(ledger_postgresql, "_SILENCE_S", 1.0)

    def frozen(session: Session) -> None:
        process = session.execute(text("SELECT pg_backend_pid()")).scalar_one()
        os.kill(process, signal.SIGSTOP)
        try:
            session.execute(text("SELECT 1"))
        finally:
            os.kill(process, signal.SIGCONT)

    with pytest.raises(Unreachable, match="no answer to a statement within 1 s; start or free it") as away:
        ledger.database.write(frozen)
    assert _is_one_sentence(away.value)
    assert ledger.runs() == ()
    with ledger.database.begin() as connection:
        assert connection.exec_driver_sql("SHOW statement_timeout").scalar_one() == "0"
        connection.exec_driver_sql("SELECT pg_sleep(1.5)")


@pytest.mark.parametrize(
    ("schema", "sentence"),
    [
        (
            "0007",
            "an unreleased version wrote it, and no migration leads from it; once none of its runs goes on, remove",
        ),
        ("v2", "a newer release wrote it; update kstreams-runbooks on this machine"),
        ("29ce7909c52b", "it belongs to another program; give the ledger its own database (KSTREAMS_RUNBOOKS_LEDGER)"),
    ],
)
def test_a_ledger_of_another_schema_is_left_as_it_is(empty: NewLedger, schema: str, sentence: str) -> None:
    """Opened or migrated: one sentence with address, schema and remedy; not a row of it changes."""
    url = empty(f"schema_{schema}")
    ledger = ledger_at(url)
    key = started(ledger, "r")
    with ledger.database.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = :schema"), {"schema": schema})
    for opens in (Ledger.open, migrate):
        with pytest.raises(BadInput) as refused:
            opens(url)
        assert str(refused.value).startswith(
            f"ledger {ledger.database.name}: its schema is {schema} (expected {HEAD}): {sentence}"
        )
    assert revision(ledger.database) == schema
    with ledger.database.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = :schema"), {"schema": HEAD})
    assert is_whole(ledger_at(url), key)
