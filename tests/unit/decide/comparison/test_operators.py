"""What the program sets of an operator that stays: its offsets, its partitioner, its kind of join."""

from dataclasses import replace
from typing import cast

import pytest
from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.comparison.operators import operators, partitioners
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.model.topology.change import Subject, Undeclared
from kstreams_runbooks.model.topology.declaration import (
    DEFAULT,
    Declaration,
    DeclaredOperator,
    DeclaredStore,
    DeclaredTopic,
    Join,
    Serde,
)
from kstreams_runbooks.model.topology.topology import Topology
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
        (DeclaredStore("key_value", join="left"), True),
    ],
)
def test_the_store_of_a_joined_table_does_not_show_the_join(table: DeclaredStore, changes: bool) -> None:
    """A join that keeps its records has a finding of its store; the table that it looks into may be a join's result."""
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


def _looking(operator: str, table: str = "prices", into: str = "priced") -> Side:
    text = f"""Topologies:
   Sub-topology: 0
    Source: KSTREAM-SOURCE-0000000000 (topics: [sales])
      --> {operator}
    Source: KSTREAM-SOURCE-0000000001 (topics: [prices])
      --> KTABLE-SOURCE-0000000002
    Processor: {operator} (stores: [{table}])
      --> KSTREAM-SINK-0000000005
      <-- KSTREAM-SOURCE-0000000000
    Sink: KSTREAM-SINK-0000000005 (topic: {into})
      <-- {operator}
    Processor: KTABLE-SOURCE-0000000002 (stores: [{table}])
      --> none
      <-- KSTREAM-SOURCE-0000000001
"""
    return Side(parse_topology(text), Declaration())


@pytest.mark.parametrize("number", [3, 4])
def test_the_generated_name_of_a_lookup_shows_its_kind(number: int) -> None:
    """The library names a left one otherwise: it is the same join, also under another number."""
    left = f"KSTREAM-LEFTJOIN-000000000{number}"
    was, now = _looking("KSTREAM-JOIN-0000000003"), _looking(left)
    found = {one.name: one for one in operators(Compared(was, now))}
    assert (found[left].facts["join_changed"], found[left].facts["added"]) == (True, False)
    assert (found[left].said["join_before"], found[left].said["join_after"]) == ("inner", "left")
    assert "KSTREAM-JOIN-0000000003" not in found


def test_a_lookup_between_other_topics_is_another_one() -> None:
    """The same name, and a lookup whose results go elsewhere, are no changed kind."""
    was = _looking("KSTREAM-JOIN-0000000003")
    for now in (was, _looking("KSTREAM-LEFTJOIN-0000000003", into="other"), _looking("KSTREAM-JOIN-0000000004")):
        assert not any(one.facts["join_changed"] for one in operators(Compared(was, now)))


def test_an_offset_reset_of_one_side_alone_is_not_part_of_the_change() -> None:
    """It counts for partitions without a committed offset alone, and no plan depends on it."""
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


def _joining(*, left: str = "", store: str = "joined") -> Topology:
    """Operator `enrich` of a store, behind one operator, or behind two of them."""
    return parse_topology(
        f"""Topologies:
   Sub-topology: 0
    Source: in (topics: [orders])
      --> enrich
    Source: other (topics: [customers])
      --> {left or "none"}
    Processor: enrich (stores: [{store}])
      --> out
      <-- in{left and ", other"}
    Sink: out (topic: enriched)
      <-- enrich
"""
    )


def _joins(topology: Topology, *joins: str | None, unchanged: bool = False) -> Subject:
    before, after = (
        Declaration(operators={} if join is None else {"enrich": DeclaredOperator(join=cast("Join", join))})
        for join in joins
    )
    after = replace(after, unchanged=frozenset({"join"})) if unchanged else after
    found = operators(Compared(Side(topology, before), Side(topology, after)))
    return next(one for one in found if one.name == "enrich")


def test_a_join_that_keeps_its_result_is_judged_by_its_store() -> None:
    """Not twice: its store has its result, or the records of one side. A lookup has the store of the table."""
    inner_to_left = ("inner", "left")
    assert _joins(_joining(), *inner_to_left).facts["join_changed"] is True
    assert _joins(_joining(left="enrich"), *inner_to_left).facts["join_changed"] is False
    assert _joins(_joining(store="enrich-this-join-store"), *inner_to_left).facts["join_changed"] is False
    kept = Declaration(
        operators={"enrich": DeclaredOperator(join="inner")}, stores={"joined": DeclaredStore(kind="join")}
    )
    left = replace(kept, operators={"enrich": DeclaredOperator(join="left")})
    sides = (Side(_joining(), kept), Side(_joining(), left))
    found = {one.name: one.facts["join_changed"] for one in operators(Compared(*sides))}
    assert found["enrich"] is False


def test_a_join_of_one_version_alone_is_asked_for() -> None:
    """Records without a match may be in its results or not; one line of `unchanged` answers it."""
    assert _joins(_joining(), "inner", None).asked["join_changed"] == (Undeclared("operators.enrich", "join", "new"),)
    assert _joins(_joining(), None, "left").asked["join_changed"] == (Undeclared("operators.enrich", "join", "old"),)
    assert _joins(_joining(), None, "left").facts["join_changed"] is None
    assert _joins(_joining(), None, None).facts["join_changed"] is False
    assert _joins(_joining(), None, "left", unchanged=True).facts["join_changed"] is False


def test_a_reader_shows_that_an_operator_joins_nothing() -> None:
    """It reads each join; a join next to it is another operator, and nothing known next to it is no change."""
    read = Declaration(not_read={"topics.orders.partitions": "those of the cluster"})
    joining = replace(read, operators={"enrich": DeclaredOperator(join="left")})
    topology = _joining()

    def found(before: Declaration, after: Declaration) -> Subject:
        every = operators(Compared(Side(topology, before), Side(topology, after)))
        return next(one for one in every if one.name == "enrich")

    gone = found(joining, read)
    assert gone.facts["join_changed"] is True
    assert gone.said["join_after"] == "no join"
    assert found(read, read).facts["join_changed"] is False
    assert found(read, Declaration()).facts["join_changed"] is False
    unread = replace(read, not_read={"operators.enrich.join": "a class that is not known"})
    assert found(joining, unread).facts["join_changed"] is None


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


TIMES, SESSIONS, CLASS = "TimeWindowed(inner=string)", "SessionWindowed(inner=string)", "org.example.Hours"


def _writes(serde: str, partitioner: str = DEFAULT) -> Declaration:
    """A program that was read, whose sink has a serde of keys."""
    return Declaration(
        topics={"out": DeclaredTopic(key_serde=Serde(serde))},
        operators={"sink": DeclaredOperator(partitioner=partitioner)},
        not_read={"topics.orders.partitions": "a program does not show them"},
    )


def _partitioned(before: Declaration, after: Declaration, topic: str = "out") -> bool | None:
    topology = parse_topology(
        f"""Topologies:
   Sub-topology: 0
    Source: in (topics: [orders])
      --> sink
    Sink: sink (topic: {topic})
      <-- in
"""
    )
    return partitioners(Compared(Side(topology, before), Side(topology, after)), topic, topic)[0]


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        (TIMES, CLASS, True),
        (CLASS, SESSIONS, True),
        (TIMES, SESSIONS, False),
        ("string", CLASS, False),
    ],
)
def test_windowed_keys_have_a_partitioner_of_their_own(before: str, after: str, changes: bool) -> None:
    """It is that of the library, if the program gives the serde to the sink."""
    assert _partitioned(_writes(before), _writes(after)) is changes


def test_a_partitioner_of_the_program_counts_for_windowed_keys_too() -> None:
    """Then their serde decides nothing."""
    assert _partitioned(_writes(TIMES, OWN), _writes(CLASS, OWN)) is False
    assert _partitioned(_writes(TIMES, OWN), _writes(CLASS)) is True


def test_windowed_keys_of_the_settings_are_partitioned_by_the_producer() -> None:
    """The library looks at the serializer that the program gives to the sink."""
    of_settings = {"operators.sink.key_serde": frozenset({"default.key.serde"})}
    assert _partitioned(replace(_writes(TIMES), of_settings=of_settings), _writes(CLASS)) is False
    assert _partitioned(_writes(TIMES), replace(_writes(TIMES), of_settings=of_settings)) is True


def test_words_of_a_serde_show_no_partitioner() -> None:
    """Only the code of both versions does."""
    assert _partitioned(_writes(TIMES), replace(_writes(CLASS), not_read={})) is False
    assert _partitioned(replace(_writes(TIMES), topics={}), _writes(CLASS)) is False
