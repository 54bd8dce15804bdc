"""The task directories that a stop and restart has to delete, and what restores once they are gone."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.comparison.directories import directories_to_delete, directories_to_undo
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.model.local_state import NO_DIRECTORIES, TaskDirectories
from kstreams_runbooks.model.times import MINUTE_MS
from kstreams_runbooks.model.topology.declaration import StoreKind, Window
from world.pairs import compared
from world.sides import AUDITED, COUNTS, declaration


def kept_as(kind: StoreKind, text: str = COUNTS) -> Side:
    """The application that counts, with this kind of store."""
    declared = declaration(*(("counts", "audit-repartition") if text == AUDITED else ("counts",)))
    stores = {"counts": replace(declared.stores["counts"], kind=kind)}
    return Side(parse_topology(text), replace(declared, stores=stores, config={"application.id": "orders"}))


def _windowed(window: Window) -> Side:
    """The application that counts, in windows of so many minutes."""
    window = replace(window, size_ms=window.size_ms * MINUTE_MS, grace_ms=window.grace_ms * MINUTE_MS)
    side = kept_as("window")
    stores = {"counts": replace(side.declared.stores["counts"], window=window)}
    return Side(side.topology, replace(side.declared, stores=stores))


def test_a_number_that_goes_leaves_directories() -> None:
    """The first of two subtopologies goes, and the second takes its number: on the way back the store moves again."""
    change = compared("first-subtopology-removed")
    forward = directories_to_delete(change)
    back = directories_to_undo(change, set(forward.names))
    assert forward.names
    assert all(name.endswith("_") for name in forward.names)
    assert back.names == ()
    assert back.changelogs


def test_a_global_table_that_takes_the_number_of_a_stream() -> None:
    """Subtopology 0 is no task any more; on the way back the last number is none."""
    change = compared("global-table-added-before-stream")
    forward = directories_to_delete(change)
    assert forward.names == ("0_",)
    [moved] = forward.changelogs
    back = directories_to_undo(change, {"0_"})
    assert back == TaskDirectories(("1_",), (moved,))


def test_a_global_table_behind_the_stream_moves_nothing() -> None:
    """The closest change: every task keeps its directory."""
    change = compared("global-table-added-behind-stream")
    assert directories_to_delete(change) == NO_DIRECTORIES
    assert directories_to_undo(change, set()) == NO_DIRECTORIES


@pytest.mark.parametrize(
    ("pair", "read"), [("global-table-store-renamed", "rates"), ("global-table-topic-changed", "rates-v2")]
)
def test_files_of_a_global_store_that_is_another_one_go(pair: str, read: str) -> None:
    """Both ways, and the topic of the store that is there then is read in full; the tasks keep their directories."""
    change = compared(pair)
    assert directories_to_delete(change) == TaskDirectories(("global",), (read,))
    assert directories_to_undo(change, {"global"}) == TaskDirectories(("global",), ("rates",))


def test_a_global_store_that_goes_leaves_files_and_comes_back_without() -> None:
    """A second one that is added finds no files: nothing has to go on the way back."""
    change = compared("one-of-two-global-tables-removed")
    assert directories_to_delete(change) == TaskDirectories(("global",), ("rates",))
    assert directories_to_undo(change, {"global"}) == NO_DIRECTORIES


def test_the_undo_of_an_added_global_store_deletes_its_files() -> None:
    """The old version does not have the new store: 3.4.1 dies of its position. The roll itself deletes nothing."""
    change = compared("second-global-table-added")
    assert directories_to_delete(change) == NO_DIRECTORIES
    assert directories_to_undo(change, set()) == TaskDirectories(("global",), ("rates",))


@pytest.mark.parametrize("pair", ["second-global-table-in-memory-added", "global-table-added-behind-stream"])
def test_the_undo_of_a_global_store_without_files_deletes_nothing(pair: str) -> None:
    """The closest changes: a second one in memory, and a first one, whose directory the old version does not open."""
    assert directories_to_undo(compared(pair), set()) == NO_DIRECTORIES


@pytest.mark.parametrize("pair", ["only-global-table-removed", "global-store-in-memory-renamed"])
def test_files_of_global_stores_that_nobody_opens_stay(pair: str) -> None:
    """The closest changes: no global store is left, or it never had files."""
    assert directories_to_delete(compared(pair)) == NO_DIRECTORIES


def test_a_store_that_becomes_versioned_reads_no_plain_files() -> None:
    """The whole task directory goes, since its offsets say that the store is restored; undo does the same."""
    change = Compared(kept_as("key_value"), kept_as("versioned"))
    deleted = TaskDirectories(("1_",), ("orders-counts-changelog",))
    assert directories_to_delete(change) == deleted
    assert directories_to_undo(change, {"1_"}) == deleted


def test_a_store_that_stays_versioned_keeps_its_files() -> None:
    """The closest change: an operator next to it, and undo leaves no directory that fits no task."""
    change = Compared(kept_as("versioned"), kept_as("versioned", AUDITED))
    assert directories_to_delete(change) == NO_DIRECTORIES
    assert directories_to_undo(change, set()).names == ("2_",)


def test_a_store_that_is_cut_into_other_segments_restores_in_full() -> None:
    """Its changelog has all that the old directories have. Size and grace decide together."""
    hourly, longer, moved = (
        _windowed(Window("tumbling", size, grace)) for size, grace in ((60, 5), (120, 5), (55, 10))
    )
    deleted = TaskDirectories(("1_",), ("orders-counts-changelog",))
    assert directories_to_delete(Compared(hourly, longer)) == deleted
    assert directories_to_undo(Compared(hourly, longer), {"1_"}) == deleted
    assert directories_to_delete(Compared(hourly, moved)) == NO_DIRECTORIES
