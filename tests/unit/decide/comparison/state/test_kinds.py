"""What no description shows of a store, and what the two sides of a join of tables show of it."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.comparison.state.kinds import hidden_facts, hidden_words, is_join_buffer
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.model.topology.change import Fact
from kstreams_runbooks.model.topology.declaration import (
    Aggregation,
    Declaration,
    DeclaredStore,
    Join,
    MadeBy,
    Unchanged,
)
from kstreams_runbooks.model.topology.topology import Topology
from world.pairs import PAIRS

STORE = "joined"
SIDES = ("before", "after")
# A join of tables whose result is kept, and the operators of its two sides.
NAMED = ("kept-table-join-becomes-left-join", "account-owner-join-this", "account-owner-join-other")


def topology(*, exchanged: bool) -> Topology:
    """The program with its tables as they are, or with each on the other side of the join."""
    pair, this, other = NAMED
    text = (PAIRS / pair / "before.txt").read_text("utf-8")
    if exchanged:
        text = text.replace(this, "LEFT").replace(other, this).replace("LEFT", other)
    return parse_topology(text)


def judged(
    before: Join | None, after: Join | None, *, exchanged: bool, unchanged: tuple[Unchanged, ...] = ()
) -> tuple[Fact, str]:
    """Whether the join changes, and what a sentence calls the new one."""
    old, new = DeclaredStore("key_value", join=before), DeclaredStore("key_value", join=after)
    compared = Compared(
        Side(topology(exchanged=False), Declaration()),
        Side(topology(exchanged=exchanged), replace(Declaration(), unchanged=frozenset(unchanged))),
    )
    facts, _ = hidden_facts(compared, STORE, STORE, old, new)
    return facts["join_changed"], hidden_words(compared, STORE, STORE, old, new)["join_after"]


def test_a_left_join_whose_tables_change_sides_is_another_join() -> None:
    """The other table is the one whose every record has a result."""
    assert judged("left", "left", exchanged=True) == (True, "left, with the two tables exchanged")
    assert judged("left", "left", exchanged=False) == (False, "left")


@pytest.mark.parametrize("join", ["inner", "outer"])
def test_a_join_that_treats_both_tables_alike_stays(join: Join) -> None:
    """It has the same results whichever table is named first."""
    assert judged(join, join, exchanged=True)[0] is False


def test_which_join_it_is_has_to_be_declared_if_its_tables_change_sides() -> None:
    """`unchanged: [join]` does not show whether it is a left join."""
    assert judged(None, None, exchanged=True, unchanged=("join",))[0] is None
    assert judged(None, None, exchanged=False, unchanged=("join",))[0] is False
    assert judged(None, "left", exchanged=True, unchanged=("join",))[0] is True
    assert judged("left", "inner", exchanged=True)[0] is True


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        ("count", "count", False),
        ("none", "none", False),
        ("count", "reduce", True),
        ("none", "aggregate", True),
        ("count", "aggregate", None),
        ("reduce", "aggregate", None),
        ("reduce", "reduce", None),
        ("aggregate", "aggregate", None),
        ("count", None, None),
    ],
)
def test_the_kind_of_an_aggregation_is_proof_if_its_function_is_the_librarys(
    before: Aggregation, after: Aggregation | None, changes: bool | None
) -> None:
    """A reduce or an aggregate may be any function, and so may be what replaces another kind by an aggregate."""
    topologies = (parse_topology((PAIRS / "count-becomes-sum" / f"{side}.txt").read_text("utf-8")) for side in SIDES)
    compared = Compared(*(Side(topology, Declaration()) for topology in topologies))
    stores = [DeclaredStore("key_value", aggregation=kind) for kind in (before, after)]
    facts, _ = hidden_facts(compared, "totals", "totals", *stores)
    assert facts["aggregate_changed"] is changes


def test_the_buffer_of_a_join_is_found_by_its_name_or_its_kind() -> None:
    """The library names it after the operator; a declared kind counts first."""
    text = (PAIRS / "grace-of-join-with-table-removed" / "before.txt").read_text("utf-8")
    found = Side(parse_topology(text), Declaration())
    assert [name for name in sorted(found.store_places) if is_join_buffer(found, name)] == ["with-price-Buffer"]
    declared = Side(parse_topology(text), Declaration(stores={"with-price-Buffer": DeclaredStore("key_value")}))
    assert not is_join_buffer(declared, "with-price-Buffer")


def test_a_builder_of_the_program_proves_no_changelog() -> None:
    """That its logging is on is not what the class of its store does: `unchanged` does not answer it."""
    unread = {f"stores.{STORE}.logging": "only its code shows it"}
    library = DeclaredStore("key_value", logging=True, supplier="default")
    own = DeclaredStore("key_value", supplier="org.example.Fast")

    def logging(old: DeclaredStore, new: DeclaredStore) -> tuple[Fact, bool]:
        declared = Declaration(unchanged=frozenset({"logging"}), not_read=unread)
        compared = Compared(Side(topology(exchanged=False)), Side(topology(exchanged=False), declared))
        facts, asked = hidden_facts(compared, STORE, STORE, old, new)
        return facts["logging_changed"], asked["logging_changed"][0].value

    assert logging(library, own) == (None, True)
    assert logging(library, replace(own, logging=True)) == (False, True)
    assert logging(library, replace(own, logging=False)) == (True, True)
    # one class in both versions, and a builder of the library
    assert logging(own, own) == (False, False)
    assert logging(library, replace(library, logging=None)) == (False, False)


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        (("reduce", None), ("aggregate", None), True),
        (("count", "count"), ("aggregate", "count"), False),
        (("count", "count"), ("aggregate", "sum of amounts"), False),
        (("table", "none"), ("filter", "none"), True),
        (("table", "none"), ("to_table", "none"), True),
        (("table", "none"), ("table", "none"), False),
        ((None, None), ("aggregate", None), False),
        (("reduce", None), (None, None), False),
    ],
)
def test_another_kind_of_operator_that_both_versions_show_is_another_one(
    old: tuple[MadeBy | None, str | None], new: tuple[MadeBy | None, str | None], found: bool
) -> None:
    """One version alone proves nothing. Words that differ have a finding of their own; of a table they prove none."""
    side = Side(topology(exchanged=False), Declaration())
    stores = [DeclaredStore("key_value", made_by=made_by, aggregate=words) for made_by, words in (old, new)]
    facts, _ = hidden_facts(Compared(side, side), STORE, STORE, *stores)
    assert facts["written_otherwise"] is found


def test_what_code_shows_nobody_has_to_declare() -> None:
    """Nor does `unchanged` override it."""
    side = Side(topology(exchanged=False), replace(Declaration(), unchanged=frozenset({"aggregate"})))
    old, new = DeclaredStore("key_value", made_by="reduce"), DeclaredStore("key_value", made_by="aggregate")
    facts, _ = hidden_facts(Compared(side, side), STORE, STORE, old, new)
    assert (facts["written_otherwise"], facts["aggregate_changed"]) == (True, False)
