"""A cure is applied to the topology and planned again: it is proposed only if the plan gives up less."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.change.cures import Cure
from kstreams_runbooks.decide.change.reading import ChangeReading, read_change
from kstreams_runbooks.decide.comparison.compared import Side
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.model.topology.declaration import Aggregation, Declaration, DeclaredStore
from kstreams_runbooks.model.topology.topology import Processor, Source, Subtopology, Topology
from kstreams_runbooks.rules import topology_change_rules, upgrade_path_rules
from world.pairs import compared


def reading(before: Side, after: Side) -> ChangeReading:
    """The change, read by the rules that are shipped."""
    return read_change(before, after, topology_change_rules(), upgrade_path_rules())


def of(pair: str) -> ChangeReading:
    """What follows from a pair, with its declarations."""
    return reading(compared(pair).before, compared(pair).after)


def with_table(topology: Topology) -> Topology:
    """The same with a table at its end whose generated name is the same in both versions."""
    nodes = (
        Source("users-source", frozenset({"users"}), None, frozenset({"users"})),
        Processor("users", frozenset({"users-STATE-STORE-0000000050"}), frozenset()),
    )
    return Topology((*topology.subtopologies, Subtopology(9, nodes)))


def test_parts_in_another_order_are_named_by_what_they_read() -> None:
    """No part is new: the cure names the old order, and never an empty name."""
    versions = compared("named-subtopologies-swapped")
    [cure] = [one for one in reading(versions.before, versions.after).cures if one.what.startswith("build")]
    assert cure.what.startswith("build first what reads ")
    assert ", then " in cure.what
    assert "  " not in cure.what


@pytest.mark.parametrize(
    ("pair", "call", "runbook"),
    [
        (
            "filter-before-unnamed-count",
            'Materialized.as("KSTREAM-AGGREGATE-STATE-STORE-0000000001")',
            "rolling_bounce",
        ),
        ("filter-before-unnamed-group-by", 'Grouped.as("KSTREAM-AGGREGATE-STATE-STORE-0000000002")', "rolling_bounce"),
        ("store-renamed-and-source-topic-added", 'Materialized.as("clicks-store")', "stop_and_restart"),
        ("foreign-key-join-renamed", 'TableJoined.as("trade-trader")', "rolling_bounce"),
        ("join-stores-renamed", 'StreamJoined.withStoreName("view-purchase-store")', "rolling_bounce"),
        ("repartition-renamed", ': Repartitioned.as("spread")', "rolling_bounce"),
        ("grouping-renamed", ': Grouped.as("by-page")', "rolling_bounce"),
        ("grouping-names-passed-on", 'Grouped.as("first") or Repartitioned.as("first")', "rolling_bounce"),
        (
            "store-renamed-by-hand",
            'Materialized.as("invoices-seen") or that name in its builder (Stores)',
            "rolling_bounce",
        ),
        ("suppress-renamed", 'Suppressed.withName("final-only")', "rolling_bounce"),
    ],
)
def test_the_old_names_make_the_plan_milder(pair: str, call: str, runbook: str) -> None:
    """As the program gives each name, with what is enough then."""
    [cure] = of(pair).cures
    assert call in cure.what
    assert cure.runbooks == (runbook,)
    assert cure.cost


def test_a_new_suppression_may_get_a_name() -> None:
    """Without one it takes two numbers, and everything behind it moves."""
    found = of("unnamed-suppress-added-before-unnamed-count")
    assert found.plan.runbooks == ("reset_and_cleanup",)
    assert (
        "name KTABLE-SUPPRESS-0000000003 with Suppressed.withName, which takes no number",
        ("stop_and_restart",),
    ) in [(cure.what, cure.runbooks) for cure in found.cures]


def test_a_name_comes_before_the_names_of_all_that_moves() -> None:
    """Of two cures that leave as much to do, the one call is the cheaper one; each says what it costs later."""
    first, second = of("unnamed-suppress-added-before-unnamed-count").cures
    assert first.what.startswith("name KTABLE-SUPPRESS-")
    assert second.what.startswith("keep the old names")
    assert second.cost.endswith("plan the new program again")


def test_what_an_old_operator_follows_cannot_be_the_last() -> None:
    """The suppression is before operators that were there already, which would have to move with it."""
    [cure] = of("unnamed-suppress-added-behind-earlier-table").cures
    assert cure.what.startswith("name KTABLE-SUPPRESS-")


def test_a_name_that_would_shift_what_stays_is_no_cure() -> None:
    """The store of the count would take no number, and the table behind it, whose number stays, would move."""
    pair = compared("filter-before-unnamed-count")
    texts = [side.topology for side in (pair.before, pair.after)]
    assert reading(*(Side(one) for one in texts)).cures
    assert not reading(*(Side(with_table(one)) for one in texts)).cures


def test_an_operator_of_another_branch_may_move_to_the_end() -> None:
    """The new branch shifts the count, and the count does not hang on it."""
    [cure] = of("unnamed-count-added-before-unnamed-count").cures
    assert cure.what.startswith("move KSTREAM-")
    assert cure.runbooks == ("stop_and_restart",)


def test_a_new_part_may_be_built_at_the_end() -> None:
    """The global table takes the number of the stream; behind it no task and no store moves."""
    found = of("global-table-added-before-stream")
    assert found.plan.runbooks == ("stop_and_restart",)
    assert [(cure.what, cure.runbooks, cure.cost) for cure in found.cures] == [
        (
            "build what reads rates at the end of the program: no other subtopology gets another number",
            ("rolling_bounce",),
            "nothing",
        )
    ]
    assert of("global-table-added-behind-stream").cures == ()


@pytest.mark.parametrize(
    "pair",
    [
        "filter-before-named-count",
        "group-by-key-to-group-by-currency",
        "count-becomes-sum",
        "inner-join-to-left-join",
        "filter-before-unnamed-foreign-key-join",
        "repartition-removed",
    ],
)
def test_no_cure_where_a_name_changes_nothing(pair: str) -> None:
    """Names that stay, another key, another aggregate, another kind of join, names that a program cannot give."""
    assert of(pair).cures == ()


def test_a_cure_that_leaves_as_much_to_do_is_none() -> None:
    """The name is kept, and the application gets another id: everything is read again in either case."""
    before, after = compared("count-store-renamed").before, compared("count-store-renamed").after
    other = replace(after.declared, config={"application.id": "other"})
    assert reading(before, Side(after.topology, other)).cures == ()


def test_what_nobody_declares_hinders_no_cure() -> None:
    """It is left aside in the plan with the cure and in the one without."""
    pair = compared("filter-before-unnamed-count")
    sides = (Side(side.topology, Declaration()) for side in (pair.before, pair.after))
    [cure] = reading(*sides).cures
    assert isinstance(cure, Cure)
    assert cure.runbooks == ("rolling_bounce",)


@pytest.mark.parametrize(
    ("operator", "aggregation", "call"),
    [
        ("KSTREAM-PROCESSOR-0000000001", None, 'keep the old names: "seen" as the name in its builder (Stores)'),
        ("KSTREAM-AGGREGATE-0000000001", None, 'keep the old names: Materialized.as("seen")'),
        ("once", "count", 'keep the old names: Materialized.as("seen")'),
        (
            "once",
            "none",
            'keep the old names: Materialized.as("seen") or that name in its builder (Stores)',
        ),
    ],
)
def test_a_store_of_a_processor_has_the_name_of_its_builder(
    operator: str, aggregation: Aggregation | None, call: str
) -> None:
    """A chosen name of its operator hides what it is, unless the program was read."""
    old, new = (
        Side(
            parse_topology(
                f"Topologies:\n   Sub-topology: 0\n    Source: in (topics: [invoices])\n      --> {operator}\n"
                f"    Processor: {operator} (stores: [{store}])\n      --> none\n      <-- in\n"
            ),
            Declaration(stores={store: DeclaredStore(kind="key_value", aggregation=aggregation)}),
        )
        for store in ("seen", "seen-invoices")
    )
    [cure] = reading(old, new).cures
    assert cure.what == call
