"""Stores that keep their names and get the records of another, in texts like those that the library prints."""

import re

from kstreams_runbooks.decide.comparison.boundary import sources
from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.comparison.state.crossing import crossed_sides, in_exchanged_places, moved_suppressions
from kstreams_runbooks.decide.comparison.state.feeding import exchanged_tables
from kstreams_runbooks.decide.comparison.state.persistent import stores
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.model.topology.declaration import Declaration, DeclaredSuppression, DeclaredTopic

# A stream joined with a filtered one, both from one topic.
JOIN = """Topologies:
   Sub-topology: 0
    Source: in (topics: [clicks])
      --> {filter}, {plain}-windowed
    Processor: {filter} (stores: [])
      --> {filtered}-windowed
      <-- in
    Processor: {filtered}-windowed (stores: [{filtered}-store])
      --> {filtered}-join
      <-- {filter}
    Processor: {plain}-windowed (stores: [{plain}-store])
      --> {plain}-join
      <-- in
    Processor: {filtered}-join (stores: [{plain}-store])
      --> merge
      <-- {filtered}-windowed
    Processor: {plain}-join (stores: [{filtered}-store])
      --> merge
      <-- {plain}-windowed
    Processor: merge (stores: [])
      --> none
      <-- {filtered}-join, {plain}-join
"""
# The table of a topic, and a count of it: the suppression is behind one of them.
HELD = """Topologies:
   Sub-topology: 0
    Source: in (topics: [users])
      --> table
    Processor: table (stores: [rows])
      --> by-sink{first}
      <-- in
    Sink: by-sink (topic: by-repartition)
      <-- table
{behind_table}
  Sub-topology: 1
    Source: by-source (topics: [by-repartition])
      --> count
    Processor: count (stores: [counts])
      --> {second}
      <-- by-source
{behind_count}"""
# Left and right table of a foreign-key join, both from one topic.
FOREIGN = """Topologies:
   Sub-topology: 0
    Source: in (topics: [users])
      --> one, other
    Source: response (topics: [by-subscription-response-topic])
      --> resolve
    Source: registration (topics: [by-subscription-registration-topic])
      --> subscribe
    Processor: one (stores: [ones])
      --> {one}
      <-- in
    Processor: other (stores: [others])
      --> {other}
      <-- in
    Processor: ask (stores: [])
      --> asked
      <-- {asks}
    Processor: subscribe (stores: [asked-store])
      --> answered
      <-- registration
    Processor: resolve (stores: [{asks}s])
      --> none
      <-- response
    Sink: asked (topic: by-subscription-registration-topic)
      <-- ask
    Sink: answered (topic: by-subscription-response-topic)
      <-- subscribe
"""
OF_ONE_TABLE = """Topologies:
   Sub-topology: 0
    Source: in (topics: [users])
      --> users
    Source: registration (topics: [by-subscription-registration-topic])
      --> subscribe
    Processor: users (stores: [users-store])
      --> {users}
      <-- in
    Processor: MAPPED (stores: [])
      --> {MAPPED}
      <-- users
    Processor: ASK (stores: [])
      --> asked
      <-- {asks}
    Processor: CHANGED (stores: [asked-store])
      --> answered
      <-- {answers}
    Processor: subscribe (stores: [asked-store])
      --> answered
      <-- registration
    Sink: asked (topic: by-subscription-registration-topic)
      <-- ASK
    Sink: answered (topic: by-subscription-response-topic)
      <-- subscribe, CHANGED
    Source: response (topics: [by-subscription-response-topic])
      --> none
"""
GENERATED = {
    "MAPPED": "KTABLE-MAPVALUES-0000000003",
    "ASK": "KTABLE-FK-JOIN-SUBSCRIPTION-REGISTRATION-0000000005",
    "CHANGED": "KTABLE-FK-JOIN-SUBSCRIPTION-PROCESSOR-0000000011",
}
TWO_TABLES = """Topologies:
   Sub-topology: 0
    Source: in2-source (topics: [in2])
      --> one
    Source: in4-source (topics: [in4])
      --> other
    Processor: one (stores: [ones])
      --> {one}
      <-- in2-source
    Processor: other (stores: [others])
      --> {other}
      <-- in4-source
"""
APART = TWO_TABLES.format(one="none", other="none")
JOINED = (
    TWO_TABLES.format(one="this", other="that")
    + """    Processor: that (stores: [ones])
      --> none
      <-- other
    Processor: this (stores: [others])
      --> none
      <-- one
"""
)


def join(filtered: str, plain: str, called: str = "only-new") -> str:
    return JOIN.format(filter=called, filtered=filtered, plain=plain)


def held(*, behind_count: bool) -> Side:
    table = "count" if behind_count else "table"
    behind = f"    Processor: held (stores: [held-store])\n      --> none\n      <-- {table}\n"
    text = HELD.format(
        first="" if behind_count else ", held",
        second="held" if behind_count else "none",
        behind_table="" if behind_count else behind,
        behind_count=behind if behind_count else "",
    )
    return Side(parse_topology(text), Declaration(suppressions={"held": DeclaredSuppression("until_time_limit", 1)}))


def foreign(asks: str) -> Side:
    leads = {"one": "none", "other": "none", asks: "ask"}
    return Side(parse_topology(FOREIGN.format(asks=asks, **leads)))


def compared(before: str, after: str) -> Compared:
    return Compared(Side(parse_topology(before)), Side(parse_topology(after)))


def test_sides_of_one_topic_are_swapped() -> None:
    """Each store gets what the other had; the names of operators show it, and without names their kinds."""
    both = {"this-store": "other-store", "other-store": "this-store"}
    assert crossed_sides(compared(join("this", "other"), join("other", "this"))) == both
    unnamed = [join(*sides, called="KSTREAM-FILTER-0000000001") for sides in (("this", "other"), ("other", "this"))]
    assert crossed_sides(compared(*unnamed)) == both
    assert crossed_sides(compared(join("this", "other"), join("this", "other", called="newest"))) == {}
    # With another name for the operator its place alone shows the side.
    assert crossed_sides(compared(join("this", "other"), join("other", "this", called="newest"))) == both


def test_sides_are_swapped_behind_a_new_operator() -> None:
    """What leads to both sides says nothing of either."""

    def behind_a_peek(text: str) -> str:
        source, leads, rest = text.replace("<-- in\n", "<-- peek\n").partition("      --> ")
        first, rest = rest.split("\n", 1)
        return f"{source}{leads}peek\n    Processor: peek (stores: [])\n{leads}{first}\n      <-- in\n{rest}"

    both = {"this-store": "other-store", "other-store": "this-store"}
    unnamed = "KSTREAM-FILTER-0000000001"
    before = join("this", "other", called=unnamed)
    assert crossed_sides(compared(before, behind_a_peek(join("other", "this", called=unnamed)))) == both
    assert crossed_sides(compared(before, behind_a_peek(before))) == {}


# A join of one topic with itself behind two repartition topics.
_REPARTITIONED = """Topologies:
   Sub-topology: 0
    Source: in (topics: [clicks])
      --> a-repartition-filter, b-repartition-filter
    Processor: a-repartition-filter (stores: [])
      --> a-repartition-sink
      <-- in
    Processor: b-repartition-filter (stores: [])
      --> b-repartition-sink
      <-- in
    Sink: a-repartition-sink (topic: a-repartition)
      <-- a-repartition-filter
    Sink: b-repartition-sink (topic: b-repartition)
      <-- b-repartition-filter

  Sub-topology: 1
    Source: a-repartition-source (topics: [a-repartition])
      --> {of_a}-windowed
    Source: b-repartition-source (topics: [b-repartition])
      --> {of_b}-windowed
    Processor: {of_a}-windowed (stores: [{of_a}-store])
      --> {of_a}-join
      <-- a-repartition-source
    Processor: {of_b}-windowed (stores: [{of_b}-store])
      --> {of_b}-join
      <-- b-repartition-source
    Processor: {of_a}-join (stores: [{of_b}-store])
      --> none
      <-- {of_a}-windowed
    Processor: {of_b}-join (stores: [{of_a}-store])
      --> none
      <-- {of_b}-windowed
"""


def test_repartition_topics_show_the_sides() -> None:
    """Nothing else does: both have records of one topic."""
    before, after = (
        _REPARTITIONED.format(of_a=one, of_b=other) for one, other in (("this", "other"), ("other", "this"))
    )
    assert crossed_sides(compared(before, after)) == {"this-store": "other-store", "other-store": "this-store"}
    assert crossed_sides(compared(before, before)) == {}


def test_a_suppression_moves_to_another_table() -> None:
    """Its buffer stays under its name; one that stays behind its table does not count."""
    count, table = held(behind_count=True), held(behind_count=False)
    assert moved_suppressions(Compared(count, table)) == {"held-store"}
    assert moved_suppressions(Compared(table, count)) == {"held-store"}
    assert moved_suppressions(Compared(count, count)) == frozenset()


def test_tables_of_one_topic_are_exchanged() -> None:
    """The left table of a foreign-key join is the one that asks."""
    assert exchanged_tables(Compared(foreign("one"), foreign("other"))) >= {"asked-store"}
    assert exchanged_tables(Compared(foreign("one"), foreign("one"))) == frozenset()


def of_one_table(asks: str, answers: str) -> Side:
    leads = {"users": ["MAPPED"], "MAPPED": []}
    leads[asks].append("ASK")
    leads[answers].append("CHANGED")
    text = OF_ONE_TABLE.format(asks=asks, answers=answers, **{key: ", ".join(names) for key, names in leads.items()})
    return Side(parse_topology(re.sub("|".join(GENERATED), lambda found: GENERATED[found[0]], text)))


def test_a_table_that_is_joined_with_its_own_values_by_another_key() -> None:
    """Both tables have the same names before them: only the operator without a name shows which one asks."""
    asks, answers = of_one_table("MAPPED", "users"), of_one_table("users", "MAPPED")
    for change in (Compared(asks, answers), Compared(answers, asks)):
        assert "asked-store" in exchanged_tables(change)
    assert exchanged_tables(Compared(asks, asks)) == frozenset()


def test_topics_that_are_joined_from_now_on_may_be_uneven() -> None:
    """Their partitions differed before, and nothing joined them; a declaration decides it."""
    counted = Declaration(topics={"in2": DeclaredTopic(2), "in4": DeclaredTopic(4)})
    apart, joined = (Side(parse_topology(text), counted) for text in (APART, JOINED))
    assert [one.facts["uneven"] for one in sources(Compared(apart, joined))] == [None, None]
    assert [one.facts["uneven"] for one in sources(Compared(joined, joined))] == [False, False]


def _two_tables(first: str, second: str, *, kind: str = "PEEK", out: str = "") -> Side:
    """Two tables of one stream, the second behind another operator; `out` is a topic behind the second."""
    other = f"KSTREAM-{kind}-0000000002"
    return Side(
        parse_topology(
            f"""Topologies:
   Sub-topology: 0
    Source: in (topics: [clicks])
      --> KSTREAM-TOTABLE-0000000001, {other}
    Processor: KSTREAM-TOTABLE-0000000001 (stores: [{first}])
      --> none
      <-- in
    Processor: {other} (stores: [])
      --> KSTREAM-TOTABLE-0000000003
      <-- in
    Processor: KSTREAM-TOTABLE-0000000003 (stores: [{second}])
      --> {"out" if out else "none"}
      <-- {other}
"""
            + (f"    Sink: out (topic: {out})\n      <-- KSTREAM-TOTABLE-0000000003\n" if out else "")
        )
    )


def test_stores_that_change_places_behind_operators_without_names_are_crossed() -> None:
    """What is in front of each is what was in front of the other; names show nothing else."""
    found = in_exchanged_places(Compared(_two_tables("a", "b"), _two_tables("b", "a")), ())
    assert found == {"a": "b", "b": "a"}
    assert in_exchanged_places(Compared(_two_tables("a", "b"), _two_tables("b", "a")), {"a"}) == {}


def test_stores_that_stay_or_move_alone_are_not_crossed() -> None:
    """Another operator in front of one of them moves nothing, and an output shows which table it is."""
    before = _two_tables("a", "b")
    assert in_exchanged_places(Compared(before, before), ()) == {}
    assert in_exchanged_places(Compared(before, _two_tables("a", "b", kind="FILTER")), ()) == {}
    assert in_exchanged_places(Compared(before, _two_tables("b", "a", out="table")), ()) == {}


def _joined_tables(this: str, other: str) -> Side:
    """Two tables with stores of their own; `this` is the one that joins, `other` the one that it is joined with."""
    sides = {this: "this", other: "other"}
    return Side(
        parse_topology(f"""Topologies:
   Sub-topology: 0
    Source: KSTREAM-SOURCE-0000000000 (topics: [pupils])
      --> KTABLE-SOURCE-0000000001
    Source: KSTREAM-SOURCE-0000000002 (topics: [classes])
      --> KTABLE-SOURCE-0000000003
    Processor: KTABLE-SOURCE-0000000001 (stores: [pupils-store])
      --> j-join-{sides["pupils"]}
      <-- KSTREAM-SOURCE-0000000000
    Processor: KTABLE-SOURCE-0000000003 (stores: [classes-store])
      --> j-join-{sides["classes"]}
      <-- KSTREAM-SOURCE-0000000002
    Processor: j-join-{sides["classes"]} (stores: [pupils-store])
      --> j
      <-- KTABLE-SOURCE-0000000003
    Processor: j-join-{sides["pupils"]} (stores: [classes-store])
      --> j
      <-- KTABLE-SOURCE-0000000001
    Processor: j (stores: [joined])
      --> none
      <-- j-join-this, j-join-other
"""),
        Declaration(),
    )


def test_tables_that_change_sides_of_a_join_keep_their_stores() -> None:
    """Each is filled from its own topic; only the result of a left join is another one."""
    compared = Compared(_joined_tables("pupils", "classes"), _joined_tables("classes", "pupils"))
    assert compared.kept_tables == {"pupils-store", "classes-store"}
    assert dict(compared.stores.pairs) == {name: name for name in ("classes-store", "joined", "pupils-store")}
    assert not [one for one in stores(compared) if one.facts["swapped"] or one.facts["renamed"]]
