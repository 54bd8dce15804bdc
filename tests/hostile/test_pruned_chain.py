"""Readings that were pruned leave a gap that the chain knows; a gap hides nothing else."""

import hashlib
import json
import sqlite3
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from kstreams_runbooks.cli import cli
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.ledger.tables import JournalRow
from kstreams_runbooks.model.runs.journal import entry_hash, pack
from world.finished_run import KEY, verify, write_run


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A ledger with one run that went all the way, as the commands find it."""
    path = tmp_path / "ledger.db"
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_LEDGER", f"sqlite:///{path}")
    write_run(Ledger.open())
    return path


def prune(*words: str) -> Result:
    return CliRunner().invoke(cli, ["prune-ledger", "--older-than", "1", "--format", "json", *words])


def test_pruning_leaves_a_gap_that_the_chain_knows(file: Path, pieces: Callable[[], int]) -> None:
    """Shown first, deleted only with --execute, once; the chain is whole, and says what is gone."""
    head = Ledger.open().run(KEY).head
    assert json.loads(prune().stdout)["runs"][0] | {"bytes": 0} == {"run": KEY, "readings": 3, "bytes": 0}
    assert pieces() == 4
    assert json.loads(prune("--execute").stdout)["executed"] is True
    assert pieces() == 1
    assert json.loads(prune("--execute").stdout)["runs"] == []
    code, verdict = verify("--head", head)
    assert (code, verdict["after_head"]) == (0, 1)
    assert [(gap["first"], gap["last"]) for gap in verdict["gaps"]] == [(2, 3), (10, 10)]
    with sqlite3.connect(file) as raw:
        raw.execute("DELETE FROM journal WHERE place = 11")
    assert "entries 10 to 11 are missing" not in (sentences := verify()[1]["sentence"])
    assert "entry 11 is missing" in sentences


@pytest.mark.parametrize("place", [6, 7])
def test_a_gap_hides_nothing_but_readings(file: Path, place: int) -> None:
    """An entry deleted, and a gap entry for it appended behind the head that was kept: whatever it says it was."""
    ledger = Ledger.open()
    head, gone = ledger.run(KEY).head, ledger.entries(KEY)[place - 1]
    digest = hashlib.sha256(gone.payload).hexdigest()
    said = [gone.seq, gone.task_id, gone.try_number, gone.name, gone.at_ms, digest]
    stretch = {"from": place, "before": gone.previous, "last": gone.hash, "readings": [said]}
    last = ledger.entries(KEY)[-1]
    with sqlite3.connect(file) as raw:
        raw.execute("DELETE FROM journal WHERE place = ?", (place,))
    gap = replace(last, seq=last.seq + 1, place=last.place + 1, kind="gap", name="pruned", previous=last.hash)
    gap = replace(gap, payload=pack({"by": "mallory", "count": 1, "stretches": [stretch]}))
    gap = replace(gap, hash=entry_hash(gap))
    ledger.database.write(lambda session: session.add(JournalRow(**asdict(gap))))
    with sqlite3.connect(file) as raw:
        raw.execute("UPDATE run SET rows = rows + 1, head = ?", (gap.hash,))
    code, verdict = verify("--head", head)
    assert (code, verdict["gaps"]) == (1, [])
    assert f"entry {place} is missing without having been pruned" in verdict["sentence"]


def test_what_is_broken_or_still_held_is_not_pruned(file: Path, pieces: Callable[[], int]) -> None:
    """A gap would hide what was done to it."""
    Ledger.open().take_hold(KEY, ("application:demo:orders",), "demo", 1, 2_000, lambda _: False)
    assert json.loads(prune("--execute").stdout)["runs"] == []
    Ledger.open().release_holds(KEY)
    with sqlite3.connect(file) as raw:
        raw.execute("UPDATE journal SET at_ms = 7 WHERE place = 2")
    result = prune("--execute")
    assert result.exit_code == 1
    assert "run library_bump/r is not pruned, its chain is BROKEN" in result.stderr
    assert pieces() == 4


@pytest.fixture
def pieces(file: Path) -> Callable[[], int]:
    """How many pieces of evidence the ledger has."""
    return lambda: len(Ledger.open(f"sqlite:///{file}").evidence(KEY))
