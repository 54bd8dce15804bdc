"""What the program sets of an operator that stays: its offsets, its partitioner, its kind of join."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.comparison.operators import operators, partitioners
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.model.topology.change import Subject, Undeclared
from kstreams_runbooks.model.topology.declaration import DEFAULT, Declaration, DeclaredOperator, DeclaredStore, Join
from world.pairs import PAIRS
from world.sides import COUNTS

OWN = "org.example.ByRegion"
KINDS: tuple[Join, ...] = ("inner", "left")


def _compared(before: Declaration, after: Declaration) -> Compared:
    topology = parse_topology(COUNTS)
    return Compared(Side(topology, before), Side(topology, after))


def _declares(*, offset_reset: str) -> Declaration:
    return Declaration(operators={"in": DeclaredOperator(offset_reset=offset_reset)})


def _subject(before: Declaration, after: Declaration, name: str = "in") -> Subject:
    return next(one for one in operators(_compared(before, after)) if one.name == name)


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [(DEFAULT, "latest", True), ("latest", DEFAULT, True), ("latest", "latest", False), (DEFAULT, DEFAULT, False)],
)
def test_a_default_is_a_value(before: str, after: str, changes: bool) -> None:
    """A program that sets none may set one from now on."""
    found = _subject(_declares(offset_reset=before), _declares(offset_reset=after))
    assert found.facts["offset_reset_changed"] is changes
    assert found.facts["join_changed"] is False
    assert (found.said["offset_reset_before"], found.said["offset_reset_after"]) == (before, after)


@pytest.mark.parametrize(
    ("table", "changes"),
    [
        (DeclaredStore("versioned"), True),
        (DeclaredStore(), True),
        (DeclaredStore("join"), False),
        (DeclaredStore("key_value", join="left"), False),
    ],
)
def test_the_store_of_a_joined_table_does_not_show_the_join(table: DeclaredStore, changes: bool) -> None:
    """A join that keeps its result, or its records, has a finding of its store."""
    text = (PAIRS / "grace-of-join-with-table-removed" / "after.txt").read_text("utf-8")
    both = (
        Side(
            parse_topology(text),
            Declaration(stores={"prices-table": table}, operators={"with-price": DeclaredOperator(join=kind)}),
        )
        for kind in KINDS
    )
    [found] = [one for one in operators(Compared(*both)) if one.name == "with-price"]
    assert found.facts["join_changed"] is changes


def test_what_one_side_declares_alone_is_not_part_of_the_change() -> None:
    """A description lacks it, and most programs set none."""
    found = _subject(Declaration(), _declares(offset_reset="latest"))
    assert not found.facts["offset_reset_changed"]


def test_what_the_program_sets_and_was_not_read_is_unknown() -> None:
    """It is asked for on the side that lacks it."""
    unread = replace(Declaration(), not_read={"operators.in.offset_reset": "two resets"})
    found = _subject(_declares(offset_reset="latest"), unread)
    assert found.facts["offset_reset_changed"] is None
    assert found.asked["offset_reset_changed"] == (Undeclared("operators.in", "offset_reset", "new"),)


def test_a_declaration_answers_what_was_not_read() -> None:
    """The plan does not ask for it, although the reader gave a reason."""
    unread = replace(_declares(offset_reset="latest"), not_read={"operators.in.offset_reset": "two resets"})
    found = _subject(_declares(offset_reset="earliest"), unread)
    assert found.facts["offset_reset_changed"] is True
    assert _subject(_declares(offset_reset="latest"), unread).facts["offset_reset_changed"] is False


def test_a_join_that_keeps_its_result_is_judged_by_its_store() -> None:
    """Not twice."""
    before, after = (
        Declaration(operators={name: DeclaredOperator(join=join) for name in ("in", "count")})
        for join in ("inner", "left")
    )
    kept = {one.name: one.facts["join_changed"] for one in operators(_compared(before, after))}
    assert (kept["in"], kept["count"]) == (True, False)


def test_a_topic_has_the_partitioner_of_its_sinks() -> None:
    """In words too."""
    before, after = (
        Declaration(operators={"by-customer-sink": DeclaredOperator(partitioner=one)}) for one in (DEFAULT, OWN)
    )
    topic = "by-customer-repartition"
    changes, asked, said = partitioners(_compared(before, after), topic, topic)
    assert (changes, asked) == (True, ())
    assert said == {"partitioner_before": DEFAULT, "partitioner_after": OWN}
    assert partitioners(_compared(before, before), topic, topic)[0] is False


def test_a_partitioner_of_one_version_alone_is_asked_for() -> None:
    """Its keys may move; the default of one version next to nothing known of the other is no change."""
    topic, none = "by-customer-repartition", Declaration()
    own, usual = (
        Declaration(operators={"by-customer-sink": DeclaredOperator(partitioner=one)}) for one in (OWN, DEFAULT)
    )
    asked = (Undeclared("operators.by-customer-sink", "partitioner", "new"),)
    assert partitioners(_compared(own, none), topic, topic)[:2] == (None, asked)
    assert partitioners(_compared(none, own), topic, topic)[0] is None
    assert partitioners(_compared(usual, none), topic, topic)[0] is False
