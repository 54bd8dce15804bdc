"""A ledger that the version before the rooms wrote: a completed bump under traffic, and the undo that took it back.

Made on a real broker by 4ef5ea3 with two instances of the orders application; SQLite, schema 0004, compressed.
"""

import gzip
from pathlib import Path

import pytest
from click.testing import CliRunner
from kstreams_runbooks.cli import cli
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.watch.evidence import rechecked, verified

SAMPLE = Path(__file__).parent / "samples" / "before_the_rooms.db.gz"
BUMP, UNDO = "library_bump/test-1795373233396172037", "undo/test-1795373327883967267"


@pytest.fixture
def older(tmp_path: Path) -> str:
    """The ledger as it was."""
    file = tmp_path / "ledger.db"
    file.write_bytes(gzip.decompress(SAMPLE.read_bytes()))
    return f"sqlite:///{file}"


@pytest.mark.parametrize(
    ("key", "equal", "rows", "head"),
    [
        (BUMP, 25, 111, "2321ac33f401e5477dee8943f84549bec4e7bec9ecd5fb0989ec88c55e9d303d"),
        (UNDO, 21, 94, "b47f01e2f2c63b3cefba8ac883537d93abef62cf758ff6b798ed1a4e3a6a1b4d"),
    ],
)
def test_its_decisions_are_made_again_alike(older: str, key: str, equal: int, rows: int, head: str) -> None:
    """Every verdict of then, from the readings of then, and the chain is whole up to the head that was printed."""
    ledger = Ledger(older)
    record = ledger.run(key)
    again = rechecked(ledger, record)
    assert (record.outcome, again["equal"], again["different"]) == ("completed", equal, [])
    chain = verified(ledger, record, head)
    assert (str(chain.outcome), chain.rows, chain.breaks) == ("proceed", rows, ())


@pytest.mark.parametrize("key", [BUMP, UNDO])
def test_its_evidence_is_shown(older: str, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With plan, approvals and undo cards."""
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_LEDGER", older)
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_CONFIG", "config")
    done = CliRunner().invoke(cli, ["evidence", key])
    assert done.exit_code == 0, done.output
    assert "completed" in done.output
    _, _, way_back = done.output.partition("## Way back")
    assert [line[:4] for line in way_back.splitlines() if line[2:3].isdigit()] == ["| 1 ", "| 2 ", "| 3 ", "| 4 "]
