"""Offsets that an earlier run saved, as targets: on its first undo card of the group, or in its file."""

from pathlib import Path

import pytest
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.offset_targets import EARLIEST, OffsetTarget
from kstreams_runbooks.model.readings.readings import Missing, TopicReading
from kstreams_runbooks.model.runs.cards import CardFacts, OffsetsDeleted, OffsetsSet
from kstreams_runbooks.model.runs.ledger import RunRecord
from kstreams_runbooks.model.writes import CommittedOffset, SavedOffsets
from kstreams_runbooks.watch.saved_targets import saved_by_topic, saved_offsets
from world.new_ledger import new_ledger
from world.samples import card, declared

FIRST = SavedOffsets("orders", 1, (CommittedOffset("orders", 0, 90), CommittedOffset("orders", 1, 80)))
LATER = SavedOffsets("orders", 2, (CommittedOffset("orders", 0, 5),))
OTHER = SavedOffsets("billing", 1, (CommittedOffset("orders", 0, 1),))


def target(saved: str) -> OffsetTarget:
    return OffsetTarget("saved", saved, saved=saved)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A run with cards about another group, then twice about the group of the application."""
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_LEDGER", f"sqlite:///{tmp_path / 'ledger.db'}")
    ledger = new_ledger(tmp_path / "ledger.db")
    key = ledger.start_run(
        RunRecord("", "control_topic_flush", "r", "orders", "demo", "oncall", False, "flush", {}, 1)
    ).run_key
    facts: tuple[CardFacts, ...] = (
        OffsetsSet(OTHER, ()),
        OffsetsSet(FIRST, ()),
        OffsetsSet(LATER, (CommittedOffset("orders", 0, 0),), ids=(("orders", "id-orders"),)),
        OffsetsDeleted(LATER, ("orders",)),
    )
    for seq, one in enumerate(facts, start=1):
        kind = "offsets_deleted" if isinstance(one, OffsetsDeleted) else "offsets_set"
        ledger.write_card(card(run_key=key, seq=seq, facts=encode(one), kind=kind))
    return "r"


def test_the_offsets_from_before_a_run(run: str) -> None:
    """Its first card of this group counts."""
    assert saved_offsets(declared(), target(f"run:{run}")).offsets == {("orders", 0): 90, ("orders", 1): 80}
    assert saved_offsets(declared(application_id="billing"), target(f"run:{run}")).offsets == {("orders", 0): 1}


def test_a_topic_that_was_created_again_since_has_no_saved_offset(run: str) -> None:
    """They are places in another log; a topic that no card has an id of is taken as it is."""
    targets = {"orders": target(f"run:{run}"), "rates": target(f"run:{run}"), "clicks": EARLIEST}
    same = saved_by_topic(declared(), targets, [TopicReading("orders", "id-orders", 2)])
    assert same == {name: {("orders", 0): 90, ("orders", 1): 80} for name in ("orders", "rates")}
    again = saved_by_topic(declared(), targets, [TopicReading("orders", "id-new", 2)])["orders"]
    assert isinstance(again, Missing)
    assert "has offsets of an earlier topic of that name (id id-orders, now id-new)" in again.missing


def test_a_run_without_them_is_bad_input(run: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for entry in (declared(application_id="none"), declared(cluster="other")):
        with pytest.raises(BadInput, match="that run saved no offsets of group"):
            saved_offsets(entry, target(f"run:{run}"))
    with pytest.raises(BadInput, match="run never"):
        saved_offsets(declared(), target("run:never"))
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_LEDGER", f"sqlite:///{tmp_path / 'none.db'}")
    with pytest.raises(BadInput, match="the ledger was not found"):
        saved_offsets(declared(), target(f"run:{run}"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no offset"),
        ("orders,0,1\norders;1;2\n", "line 2 is orders;1;2"),
        ("orders,0,1\norders,0,2\n", "line 2 names orders-0 again"),
        ("orders,0,-1\n", "line 1 is"),
    ],
)
def test_a_file_that_is_none_of_a_run(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "saved.csv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=said):
        saved_offsets(declared(), target(f"file:{file}"))
    with pytest.raises(BadInput, match="target file:"):
        saved_offsets(declared(), target(f"file:{tmp_path}"))


def test_the_file_of_a_run(tmp_path: Path) -> None:
    file = tmp_path / "saved.csv"
    file.write_text("orders,0,1\n\nweb.clicks,12,34\n", encoding="utf-8")
    assert saved_offsets(declared(), target(f"file:{file}")).offsets == {("orders", 0): 1, ("web.clicks", 12): 34}
