"""The way back from a change that may be rolled: doors that open one way, the reverse plan, and what it loses."""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.change.reading import ChangeReading, read_change
from kstreams_runbooks.decide.change.way_back import NOTHING_IN_THE_WAY
from kstreams_runbooks.decide.comparison.compared import Side
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.topology.declaration import DeclaredStore
from kstreams_runbooks.present.change.document import document, exit_code
from kstreams_runbooks.present.change.headline import headline
from kstreams_runbooks.rules import topology_change_rules, upgrade_path_rules
from world.pairs import compared
from world.sides import COUNTS, declaration

SETTINGS = {"application.id": "orders", "bootstrap.servers": "kafka:9092"}


def side(text: str = COUNTS, *, library: str = "", config: Any = None, **store: Any) -> Side:
    """One version, with these facts of its store."""
    known = declaration(config=config)
    stores: dict[str, DeclaredStore] = {"counts": replace(known.stores["counts"], **store)}
    release = Release.parse(library) if library else None
    return Side(parse_topology(text), replace(known, stores=stores, library=release))


def change(before: Side, after: Side) -> ChangeReading:
    return read_change(before, after, topology_change_rules(), upgrade_path_rules())


@pytest.mark.parametrize(
    ("old", "new", "gets"),
    [
        ({"timestamped": False}, {"timestamped": True}, "timestamps"),
        ({"headers": False}, {"headers": True}, "headers"),
    ],
)
def test_files_that_get_a_column_family_open_one_way(old: dict[str, Any], new: dict[str, Any], gets: str) -> None:
    """Right to roll, and an undo clears what the old version does not open; proven by tests/long/test_store_formats."""
    found = change(side(**old), side(**new))
    assert headline(document(found)) == "SAFE: rolling_bounce, as far as described; no way back in place"
    assert found.back.sentences[0] == (
        f"no way back in place: the files of store counts get {gets}, which the old version does not open"
    )
    assert found.back.sentences[1].startswith("way back: stop_and_restart (store-")
    assert found.back.sentences[1].endswith("; an undo clears and restores 1_*")
    assert (found.back.loses, exit_code(found)) == (False, 0)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"timestamped": True}, {"timestamped": True}),
        ({"timestamped": False, "in_memory": True}, {"timestamped": True, "in_memory": True}),
        ({"headers": True}, {"headers": True}),
        ({"loss_acceptable": False}, {"loss_acceptable": True}),
    ],
)
def test_a_door_that_opens_both_ways_is_not_named(old: dict[str, Any], new: dict[str, Any]) -> None:
    """The same format, a store in memory, and what is no fact of the files."""
    found = change(side(**old), side(**new))
    assert found.back == NOTHING_IN_THE_WAY
    assert headline(document(found)) == "SAFE: rolling_bounce, as far as described"


def test_a_changelog_that_gets_no_more_records_is_a_loss() -> None:
    """A store that restores from a topic which is read, as of `addReadOnlyStateStore`: never SAFE."""
    own, shared = side(config=SETTINGS), side(config=SETTINGS, changelog="orders")
    found = change(own, shared)
    assert found.plan.runbooks == ("stop_and_restart",)
    assert headline(document(found)) == (
        "RUNBOOK NEEDED: stop_and_restart (danger: topic-becomes-changelog); no way back in place"
    )
    assert found.back.sentences[0].startswith(
        "no way back in place: store counts restores from orders from now on, and orders-counts-changelog gets no more"
    )
    assert found.back.sentences[1].endswith("; what came since the change is lost")
    assert (found.back.loses, exit_code(found)) == (True, 1)
    assert change(shared, shared).back == NOTHING_IN_THE_WAY


def test_the_topic_of_a_table_that_becomes_its_changelog_is_a_loss_on_the_way_back() -> None:
    """The same by the optimization, of which the text alone and its settings are known."""
    versions = compared("reuse-added-to-merge-repartition-topics")
    found = change(versions.before, versions.after)
    assert found.back.loses
    assert "restores from" in found.back.doors[0]


def test_a_group_changes_its_protocol_only_while_it_is_empty() -> None:
    """Both ways; equal protocols and the default written out are no door."""
    streams, classic = ({**SETTINGS, "group.protocol": one} for one in ("streams", "CLASSIC"))
    there = change(side(config=SETTINGS), side(config=streams)).back
    assert there.doors == ("the group has group.protocol streams, which changes back only while it is empty",)
    assert change(side(config=SETTINGS), side(config=classic)).back.doors == ()
    assert change(side(config=streams), side(config=streams)).back.doors == ()


@pytest.mark.parametrize(
    ("running", "target", "door"),
    [
        ("4.2.1", "4.3.1", "4.3.1 to 4.2.1: "),
        ("3.9.1", "4.2.1", "4.2.1 to 3.9.1: all instances down at once, clear state"),
        ("3.9.1", "3.9.2", ""),
    ],
)
def test_a_release_whose_files_an_older_one_does_not_open(running: str, target: str, door: str) -> None:
    """By the rules of a downgrade (KIP-1035, RocksDB of 4.0)."""
    found = change(side(library=running, config=SETTINGS), side(library=target, config=SETTINGS)).back
    assert [one.startswith(door) for one in found.doors] == ([True] if door else [])


def test_a_release_that_does_not_have_the_new_protocol_is_refused_on_the_way_back() -> None:
    """One sentence in place of bad input: the change itself is not wrong."""
    streams = {**SETTINGS, "group.protocol": "streams"}
    found = change(side(library="3.9.1", config=SETTINGS), side(library="4.2.1", config=streams)).back
    assert any("does not have it" in one or "classic" in one for one in found.doors)


def test_records_of_a_new_input_are_lost_by_the_way_back() -> None:
    """The reverse of an added topic is a topic that goes with unread records; that of a removed one is none."""
    added, removed = (compared(case) for case in ("source-topic-added", "source-topic-removed"))
    back = change(added.before, added.after).back
    assert (back.loses, back.because) == (True, ("source-topic-removed: payments-eu",))
    assert back.sentences == (
        "way back: stop_and_restart (source-topic-removed: payments-eu); what came since the change is lost",
    )
    assert change(removed.before, removed.after).back == NOTHING_IN_THE_WAY


def test_a_plan_that_gives_up_state_has_a_way_back_of_its_own() -> None:
    """No line is computed for it."""
    renamed = compared("count-store-renamed")
    found = change(renamed.before, renamed.after)
    assert found.plan.runbooks == ("store_migration",)
    assert found.back == NOTHING_IN_THE_WAY


def test_the_document_has_the_sentences() -> None:
    """Text and Markdown print them below the answer."""
    found = document(change(side(timestamped=False), side(timestamped=True)))
    assert found["way_back"]["clears"] == ("1_*",)
    assert found["way_back"]["runbooks"] == ("stop_and_restart",)
    assert len(found["way_back"]["sentences"]) == 2


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"logging": True}, {"logging": False}),
        ({"aggregate": "count"}, {"aggregate": "sum"}),
        ({"logging": False}, {"logging": True}),
    ],
)
def test_a_plan_that_gives_up_state_says_so_and_how_to_go_back(old: dict[str, Any], new: dict[str, Any]) -> None:
    """What the old version would start with is deleted: it is built again, as far as the inputs go."""
    found = change(side(**old), side(**new))
    assert found.plan.runbooks == ("reset_and_cleanup",)
    assert headline(document(found)).endswith("; no way back in place")
    assert found.back.sentences == (
        "no way back in place: reset_and_cleanup deletes the state and the internal topics of the old version",
        "way back: reset_and_cleanup; it builds what the inputs still have, and the rest is lost",
    )


def test_a_store_that_may_begin_empty_does_not_come_back() -> None:
    """Its loss is declared, and the plan rolls; a store that keeps its files says nothing."""
    accepted: Any = {"logging": False, "loss_acceptable": True}
    elsewhere = {**SETTINGS, "state.dir": "/b"}
    found = change(side(config=SETTINGS, **accepted), side(config=elsewhere, **accepted))
    assert found.plan.runbooks == ("rolling_bounce",)
    assert found.back.sentences[0] == (
        "no way back in place: store counts begins empty, and no undo brings back what it held"
    )
    assert change(side(config=SETTINGS, **accepted), side(config=SETTINGS, **accepted)).back == NOTHING_IN_THE_WAY
    logged = change(side(config=SETTINGS), side(config=elsewhere))
    assert not any("begins empty" in one for one in logged.back.doors)
