"""An older ledger in the journal: everything is there, in the order in which it counted, and said to be from before."""

import json
import sqlite3
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from kstreams_runbooks.decide.instances.gate import gate
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.ledger.codec import encode_call
from kstreams_runbooks.ledger.database import Database
from kstreams_runbooks.ledger.schema import alembic_config, revision
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.watch.evidence import rechecked, verified
from world.samples import expectation, reading

KEY = "library_bump/r"


def packed(value: Any) -> bytes:
    return zlib.compress(json.dumps(value).encode())


def brought_to(url: str, version: str, *, back: bool = False) -> None:
    with Database(url).begin() as connection:
        config = alembic_config()
        config.attributes["connection"] = connection
        (command.downgrade if back else command.upgrade)(config, version)


@pytest.fixture
def older(url: str) -> str:
    """A ledger of the release before, with one run that waits and one that has ended."""
    brought_to(url, "0003")
    run = "INSERT INTO run VALUES (?, 'library_bump', ?, 'orders', 'demo', 'oncall', 0, '', '{}', 1, ?, ?, ?, ?, ?)"
    samples, expected = (reading(),), expectation()
    decided = encode_call(gate, {"samples": samples, "expected": expected}, gate(samples, expected))
    with sqlite3.connect(Path(url.removeprefix("sqlite:///"))) as raw:
        raw.execute(run, (KEY, "r", "p1", None, None, None, 4_000))
        raw.execute(run, ("library_bump/old", "old", None, "completed", "well", 900, 800))
        for at_ms, kind, name, payload in (
            (1_000, "note", "begun", {}),
            (3_000, "verdict", "gate", decided),
            (2_500, "note", "earlier approval void", {"by": "asked again"}),
        ):
            row = (KEY, "approve_plan", 1, kind, name, at_ms, packed(payload))
            raw.execute("INSERT INTO evidence VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)", row)
        raw.execute("INSERT INTO approval VALUES (7, ?, 'approve_plan', 'p1', 'approver', 3500, 9000, NULL)", (KEY,))
        card = "INSERT INTO card VALUES (?, ?, 't', 'bounce 1', ?, 'w', 'u', 'c', 0, 1, '{\"bounce\": 1}', ?, ?)"
        raw.execute(card, (KEY, 1, "orders-1", 3_000, 0))
        raw.execute(card, (KEY, 2, "orders-2", 4_000, 1))
        raw.execute("INSERT INTO plan VALUES (?, 'p1', ?)", (KEY, packed({"bounces": []})))
        raw.execute("INSERT INTO remembered VALUES (?, 'digest_shown', '\"p1\"')", (KEY,))
        raw.execute("INSERT INTO hold VALUES ('application:demo:orders', 'demo', 'library_bump/old', 1, 950)")
    return url


def test_an_older_ledger_keeps_everything(older: str) -> None:
    """A verdict held for a card of its time: it comes after it; an approval after the question that it answers."""
    ledger = Ledger.open(older)
    assert [(one.kind, one.name) for one in ledger.entries(KEY)] == [
        ("note", "begun"),
        ("card", "orders-1"),
        ("verdict", "gate"),
        ("note", "earlier approval void"),
        ("approval", "approve_plan"),
        ("card", "orders-2"),
        ("card_done", "2"),
        ("run", "chain begun"),
    ]
    [approval] = ledger.approvals(KEY)
    assert (approval.by, approval.digest, approval.expires_at_ms) == ("approver", "p1", 9_000)
    cards = [(card.object, card.done, card.misreads, dict(card.facts)) for card in ledger.cards(KEY)]
    assert cards == [("orders-1", False, True, {"bounce": 1}), ("orders-2", True, True, {"bounce": 1})]
    of = {(card.kind, card.point_of_no_return, card.stage, card.application) for card in ledger.cards(KEY)}
    assert of == {("instance", False, 1, "orders")}
    assert rechecked(ledger, ledger.run(KEY)) == {"equal": 1, "different": []}


def test_what_is_from_before_the_chain_is_said(older: str) -> None:
    """Nobody can say what it was until then; what is changed afterwards shows."""
    ledger = Ledger.open(older)
    found = verified(ledger, ledger.run(KEY), None)
    assert (found.outcome, found.before, found.breaks) == (Outcome.INCONCLUSIVE, 7, ())
    assert "entries 1 to 7 are from before the chain" in found.sentence
    with sqlite3.connect(Path(older.removeprefix("sqlite:///"))) as raw:
        raw.execute("UPDATE journal SET payload = ? WHERE kind = 'approval'", (packed({"by": "mallory"}),))
    assert "entry 5 (approval approve_plan by mallory" in verified(ledger, ledger.run(KEY), None).sentence


@pytest.mark.parametrize("key", [KEY, "library_bump/old"])
def test_a_plan_that_is_changed_after_the_migration_shows(older: str, key: str) -> None:
    """The chain begins with its digest; a run that ended before is compared with how it ended."""
    ledger = Ledger.open(older)
    assert verified(ledger, ledger.run(key), None).breaks == ()
    with sqlite3.connect(Path(older.removeprefix("sqlite:///"))) as raw:
        raw.execute("UPDATE plan SET plan = ?", (packed({"bounces": [1]}),))
        raw.execute("UPDATE run SET ended_entry = 99 WHERE run_key = 'library_bump/old'")
    found = verified(ledger, ledger.run(key), None)
    what = "the stored plan p1 was changed" if key == KEY else "ended_entry in the run's record is 99"
    assert [one for one in found.breaks if what in one.sentence], found


def test_a_run_that_renewed_its_hold_after_its_end_still_has_it(older: str) -> None:
    """It was cleared and is at work again."""
    ledger = Ledger.open(older)
    (hold,) = ledger.holds()
    asked: list[str] = []

    def is_finished(key: str) -> bool:
        asked.append(key)
        return True

    ledger.take_hold(KEY, (hold.resource,), "demo", 1, 5_000, is_finished)
    assert asked == ["library_bump/old"]


def test_the_migration_goes_back_with_what_the_older_release_knows(older: str) -> None:
    """Evidence, approvals and cards; forth again it is the same."""
    before = _told(Ledger.open(older))
    brought_to(older, "0003", back=True)
    assert revision(Database(older)) == "0003"
    assert _told(Ledger.open(older)) == before


def _told(ledger: Ledger) -> list[Any]:
    read: tuple[Callable[[str], Any], ...] = (ledger.approvals, ledger.cards)
    return [*(one(KEY) for one in read), [(one.name, one.payload) for one in ledger.evidence(KEY)]]
