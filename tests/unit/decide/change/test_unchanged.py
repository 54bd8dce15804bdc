"""What a person names as unchanged for one comparison: it fills gaps, and never replaces what is known."""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.change.answer import CODE_NOT_READ
from kstreams_runbooks.decide.change.contradicted import CONTRADICTED
from kstreams_runbooks.decide.change.reading import ChangeReading, read_change
from kstreams_runbooks.decide.change.unchanged import (
    NAMED,
    again_with,
    unchanged_fields,
    with_same_program,
    with_unchanged,
)
from kstreams_runbooks.decide.comparison.compared import Side
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.topology.declaration import OTHER_CODE, DeclaredStore, Serde, Unchanged
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.rules import topology_change_rules, upgrade_path_rules
from world.sides import COUNTS, RENAMED, declaration

BY = "in the form by ada"
CLASS = Serde("com.acme.Orders", is_class=True)


def side(*fields: Unchanged, **store: Any) -> Side:
    """One version, with these facts of its store, and fields that the form names."""
    known = declaration()
    stores: dict[str, DeclaredStore] = {"counts": replace(known.stores["counts"], **store)}
    return Side(parse_topology(COUNTS), with_unchanged(replace(known, stores=stores), fields, BY))


def change(before: Side, after: Side) -> ChangeReading:
    return read_change(before, after, topology_change_rules(), upgrade_path_rules())


def test_an_inconclusive_plan_shows_the_fields_that_decide_it() -> None:
    """A class of the program on both sides, and no key: with both named nothing is open."""
    before, after = side(value_serde=CLASS, key=None), side(value_serde=CLASS, key=None)
    found = change(before, after)
    assert (found.plan.verdict, found.enough) == (Outcome.INCONCLUSIVE, ("key", "value_serde"))
    named = change(before, side(*found.enough, value_serde=CLASS, key=None))
    assert (named.plan.verdict, named.plan.runbooks, named.enough) == (Outcome.PROCEED, ("rolling_bounce",), ())
    [finding] = [one for one in named.findings if one.id == NAMED]
    assert finding.severity == "info"
    assert finding.message == "declared in the form by ada: key, value_serde unchanged"


def test_nothing_is_proposed_that_does_not_decide_it() -> None:
    """An unknown kind is no field of it; a part of the fields is not enough; a decided plan needs none."""
    assert change(side(kind=None, key=None), side(kind=None, key=None)).enough == ()
    part = change(side(value_serde=CLASS, key=None), side("key", value_serde=CLASS, key=None))
    assert (part.plan.verdict, part.enough) == (Outcome.INCONCLUSIVE, ("value_serde",))
    assert change(side(), side()).enough == ()


def test_the_rest_of_code_that_was_not_read_is_asked_for_by_itself() -> None:
    """Of a description alone, on either side; not of two programs that were read, of one build, or for a reset."""
    rest = replace(side(), declared=replace(declaration(), unchanged=frozenset()))
    found = change(side(), rest)
    assert (found.plan.verdict, found.enough) == (Outcome.INCONCLUSIVE, (OTHER_CODE,))
    [open_] = [one for one in found.undecided if one.id == CODE_NOT_READ]
    assert [str(one) for one in open_.asked] == ["the program.other_code (new)"]
    [stated] = found.asserted
    assert (stated.operator, stated.costs) == ("the program", (open_.data,))
    read = replace(rest, declared=replace(rest.declared, not_read={"topics.orders.partitions": "in no program"}))
    assert change(side(), read).enough == (OTHER_CODE,)
    assert change(read, read).plan.runbooks == ("rolling_bounce",)
    same = replace(rest, declared=with_same_program(rest.declared, BY))
    assert change(rest, same).plan.runbooks == ("rolling_bounce",)
    counts = replace(rest.declared.stores["counts"], key="page")
    rekeyed = replace(rest, declared=replace(rest.declared, stores={"counts": counts}))
    assert change(rest, rekeyed).plan.runbooks == ("reset_and_cleanup",)


def test_state_is_not_given_up_for_code_that_a_person_can_compare() -> None:
    """A store that only moves is migrated, and the rest of the code is asked for before."""
    moved = Side(parse_topology(RENAMED), replace(declaration("totals"), unchanged=frozenset()))
    found = change(side(), moved)
    assert (found.plan.verdict, found.at_least) == (Outcome.INCONCLUSIVE, ("store_migration",))


def test_what_is_known_to_differ_wins_and_is_named() -> None:
    """The changelog goes, the format is another: both are findings as without the form, and contradict it."""
    after = side("logging", "value_serde", "key", logging=False, value_serde=Serde("json"))
    found, without = change(side(), after), change(side(), side(logging=False, value_serde=Serde("json")))
    wrong = [one for one in found.findings if one.id == CONTRADICTED]
    assert [(one.severity, one.object) for one in wrong] == [("info", "stores.counts")] * 2
    assert [one.message.partition(",")[0] for one in wrong] == [
        "stores.counts: unchanged names value_serde",
        "stores.counts: unchanged names logging",
    ]
    assert found.plan == without.plan
    others = {one.id for one in found.findings} - {CONTRADICTED, NAMED}
    assert others == {one.id for one in without.findings}


def test_what_it_states_is_listed_by_operator_with_the_cost_of_an_error() -> None:
    """Proposed or named by a person; nothing without either. A reader may name another operator."""
    open_ = {"value_serde": CLASS, "key": None}
    proposed = change(side(**open_), side(**open_)).asserted
    assert [(one.operator, one.what) for one in proposed[:1]] == [
        ("count", ("key of store counts", "value_serde of store counts"))
    ]
    assert proposed[0].costs[0].startswith("Nothing fails; every new key starts from nothing")
    assert change(side(**open_), side("key", "value_serde", **open_)).asserted == proposed
    assert [one.operator for one in change(side(), side()).asserted] == ["the program"]
    unread = side(**open_)
    reason = {"stores.counts.key_of": "operator by-page may give each record another key; declare it"}
    unread = replace(unread, declared=replace(unread.declared, not_read=reason))
    assert ("by-page", ("key of store counts",)) in [
        (one.operator, one.what) for one in change(unread, unread).asserted
    ]


def test_formats_that_the_code_of_both_shows_are_not_left_to_a_person() -> None:
    """A library's on one side, a lambda of a class on the other: known to differ, with the word and without it."""
    lambdas = Serde("com.acme.JsonSerde (lambda)", is_class=True)
    found = change(side(value_serde=lambdas, key=None), side(key=None))
    assert (found.enough, found.plan.runbooks) == ((), ("reset_and_cleanup",))
    named = change(side(value_serde=lambdas, key=None), side("key", "value_serde", key=None))
    assert named.plan.runbooks == ("reset_and_cleanup",)
    assert {one.id for one in named.findings} >= {"serde-changed", CONTRADICTED}
    declared = Serde("json", 3)
    assert change(side(value_serde=declared), side(value_serde=declared)).plan.runbooks == ("rolling_bounce",)


def test_a_declaration_that_contradicts_itself_is_named_too() -> None:
    """The same line in a file names nobody."""
    after = side(logging=False)
    declared = replace(after, declared=replace(after.declared, unchanged=frozenset({"logging"})))
    assert [one.object for one in change(side(), declared).findings if one.id == CONTRADICTED] == ["stores.counts"]
    assert NAMED not in {one.id for one in change(side(), declared).findings}


def test_what_a_file_declares_stays() -> None:
    """Both count, and only what the form adds has a name."""
    declared = replace(declaration(), unchanged=frozenset({"key"}))
    both = with_unchanged(declared, ("logging",), BY)
    assert both.unchanged == {"key", "logging"}
    assert both.named is not None
    assert both.named.fields == ("logging",)
    assert with_unchanged(declared, (), BY) is declared


@pytest.mark.parametrize(
    ("given", "fields"),
    [("value_serde, key", ("key", "value_serde")), (["key", "key"], ("key",)), ("", ()), ([], ())],
)
def test_fields_are_a_list_or_a_text_with_commas(given: object, fields: tuple[str, ...]) -> None:
    """In one order, each once."""
    assert unchanged_fields(given, "unchanged") == fields


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            ["key", "values"],
            "unchanged: 'values' is not a field that it can name (expected key, key_serde, value_serde",
        ),
        ("window", "unchanged: 'window' is not a field"),
        ({"key": True}, "unchanged: {'key': True} is not a list of fields (expected key, "),
        ([1], "unchanged: [1] is not a list of fields"),
    ],
)
def test_another_word_is_one_sentence(given: object, sentence: str) -> None:
    """With the object, what was found and all words that it may be."""
    with pytest.raises(BadInput) as raised:
        unchanged_fields(given, "unchanged")
    assert str(raised.value).startswith(sentence)
    assert "\n" not in str(raised.value)


def test_the_sentence_has_the_words_to_give() -> None:
    """Nothing without fields."""
    assert again_with("plan_change", ("key", "join")) == (
        "; trigger a new run of plan_change with --param unchanged=key,join if the code of these did not change"
    )
    assert again_with("plan_change", ()) == ""
