"""Evidence of a long run, read in pages on a real SQLite file."""

from collections.abc import Callable

import pytest
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.ledger import evidence as records
from kstreams_runbooks.ledger.tables import JournalRow
from kstreams_runbooks.model.runs.ledger import Evidence

Start = Callable[..., str]


def fill(ledger: Ledger, key: str, count: int) -> list[int]:
    """Readings, and a verdict after every third; returns the ids of the readings."""
    ids = []
    for number in range(count):
        ids.append(ledger.record(key, "certify", 1, "reading", "drain", {"left": number}, number))
        if number % 3 == 2:
            ledger.record(key, "certify", 1, "verdict", "drained", {"result": {"outcome": "wait"}}, number)
    return ids


def test_pages_are_all_of_it_in_order(ledger: Ledger, start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the last page is full, and where another run of the application writes in between."""
    monkeypatch.setattr(records, "_PAGE", 4)
    one, two = start("one"), start("two")
    ids = fill(ledger, one, 7)
    fill(ledger, two, 2)
    ids += fill(ledger, one, 1)
    assert [piece.id for piece in ledger.pieces(one, "reading")] == ids
    assert [*ledger.pieces(one)] == ledger.evidence(one)
    assert len(ledger.evidence(one)) == 10
    assert [*ledger.pieces(start("three"))] == []


def test_only_the_pages_that_are_asked_for_are_read(
    ledger: Ledger, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first piece of a run of thousands costs one page."""
    monkeypatch.setattr(records, "_PAGE", 2)
    key, read = start("one"), list[int]()
    fill(ledger, key, 9)
    whole = records._piece

    def piece(row: JournalRow) -> Evidence:
        read.append(row.seq)
        return whole(row)

    monkeypatch.setattr(records, "_piece", piece)
    assert next(ledger.pieces(key, "reading")).payload == {"left": 0}
    assert len(read) == 2
    assert [one.payload["left"] for one in ledger.evidence(key, kind="reading", newest=3)] == [6, 7, 8]
    assert len(read) == 5


def test_one_piece_by_its_id(ledger: Ledger, start: Start) -> None:
    """Of this run alone."""
    one, two = start("one"), start("two")
    [entry] = fill(ledger, one, 1)
    assert ledger.piece(one, entry).payload == {"left": 0}
    with pytest.raises(BadInput, match=f"run library_bump/two: has no evidence {entry}"):
        ledger.piece(two, entry)
