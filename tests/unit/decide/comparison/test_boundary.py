"""Joined topics with different partition counts, as far as descriptions show what is joined.

Covers decide/comparison/beginning
"""

import pytest
from kstreams_runbooks.decide.comparison.boundary import sinks, sources
from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.model.topology.change import Fact
from kstreams_runbooks.model.topology.declaration import Declaration, DeclaredTopic
from kstreams_runbooks.model.topology.topology import Topology

_CUSTOMERS = """
    Source: customers (topics: [customers])
      --> customers-table
    Processor: customers-table (stores: [customers-store])
      --> none
      <-- customers
    Processor: with-customer (stores: [customers-store])
      --> none
      <-- {}
"""
# Orders are joined with returns under a new key, and the returns with customers.
_THROUGH_ANOTHER = f"""Topologies:
   Sub-topology: 0
    Source: orders (topics: [orders])
      --> order-or-return, key
    Source: returns (topics: [returns-repartition])
      --> return-table, with-customer
    Processor: return-table (stores: [returns-store])
      --> none
      <-- returns
    Processor: order-or-return (stores: [returns-store])
      --> none
      <-- orders
    Processor: key (stores: [])
      --> returns-sink
      <-- orders
    Sink: returns-sink (topic: returns-repartition)
      <-- key
{_CUSTOMERS.format("returns")}"""
# Orders are joined with customers.
_DIRECTLY = f"""Topologies:
   Sub-topology: 0
    Source: orders (topics: [orders])
      --> with-customer
{_CUSTOMERS.format("orders")}"""


def _uneven(before: str, after: str, customers: int) -> dict[str, Fact]:
    counts = {"orders": DeclaredTopic(partitions=2), "customers": DeclaredTopic(partitions=customers)}
    old, new = (Side(parse_topology(text), Declaration(topics=counts)) for text in (before, after))
    return {one.name: one.facts["uneven"] for one in sources(Compared(old, new))}


def test_topics_that_were_joined_through_a_third_are_joined_anew() -> None:
    """The library checks each join alone: the repartition topic between them took the number of either."""
    assert _uneven(_THROUGH_ANOTHER, _DIRECTLY, customers=4) == {"orders": None, "customers": None}


def test_equal_partitions_leave_no_question() -> None:
    assert _uneven(_THROUGH_ANOTHER, _DIRECTLY, customers=2) == {"orders": False, "customers": False}


def test_a_join_that_stays_is_no_question() -> None:
    """It works with different numbers: operators that share a store need not be a join."""
    assert _uneven(_DIRECTLY, _DIRECTLY, customers=4) == {"orders": False, "customers": False}


def test_a_new_join_next_to_one_through_a_third_topic_asks() -> None:
    """Orders and customers are joined with the same topic; that may make them partners of each other."""
    before = _THROUGH_ANOTHER.replace("stores: [customers-store]", "stores: []")
    assert _uneven(before, _THROUGH_ANOTHER, customers=4) == {"orders": None, "customers": None}


@pytest.mark.parametrize(("own", "uneven"), [(6, None), (None, False)])
def test_a_new_join_with_a_repartition_topic_of_a_number_of_its_own_asks(own: int | None, uneven: bool | None) -> None:
    """Without one the library gives the topic the number of orders, which nobody has to know."""
    joined = {
        "orders": DeclaredTopic(joined_with=frozenset({"returns-repartition"})),
        "returns-repartition": DeclaredTopic(partitions=own, joined_with=frozenset({"orders"})),
    }
    alone = {name: DeclaredTopic(partitions=one.partitions, joined_with=frozenset()) for name, one in joined.items()}
    old, new = (Side(parse_topology(_THROUGH_ANOTHER), Declaration(topics=topics)) for topics in (alone, joined))
    facts = {one.name: one.facts["uneven"] for one in sources(Compared(old, new))}
    assert facts["orders"] is uneven


@pytest.mark.parametrize(
    ("before", "after", "name", "was"),
    [
        ("topic: totals", "extractor class: com.acme.Route", "com.acme.Route", "totals"),
        ("extractor class: com.acme.Route", "topic: totals", "totals", "topics chosen by code"),
        (
            "extractor class: com.acme.Route",
            "extractor class: com.acme.Other",
            "com.acme.Other",
            "topics chosen by code",
        ),
    ],
)
def test_topics_that_code_chooses_are_not_compared(before: str, after: str, name: str, was: str) -> None:
    """An extractor is not a topic. The plan asks nothing about its format, and proposes no topic of its name."""
    text = "Topologies:\n Sub-topology: 0\n Source: in (topics: [orders])\n --> out\n Sink: out ({})\n <-- in\n"
    old, new = (Side(parse_topology(text.format(target))) for target in (before, after))
    [one] = sinks(Compared(old, new))
    assert (one.name, one.said["before"], one.said["sinks"]) == (name, was, "out")
    assert one.facts["topic_changed"] is True
    assert one.facts["extracted"] is (name != "totals")
    assert (one.facts["key_changed"], one.facts["serde_changed"]) == (False, False)


def _chosen_by(code: str) -> Topology:
    return parse_topology(
        "Topologies:\n   Sub-topology: 0\n    Source: orders (topics: [orders])\n      --> out\n"
        f"    Sink: out (extractor class: {code})\n      <-- orders\n"
    )


def test_a_sink_that_chooses_its_topics_on_both_sides_asks_for_none() -> None:
    """The name is that of a class: only what a person declares under it is compared."""
    sides = [Side(_chosen_by("App$$Lambda/0x12@3"), Declaration()) for _ in range(2)]
    [sink] = sinks(Compared(*sides))
    assert not any(sink.facts[fact] for fact in ("key_changed", "serde_changed", "topic_changed"))
    assert None not in sink.facts.values()
    declared = (
        Side(_chosen_by("com.acme.PerCountry@1"), Declaration(topics={"com.acme.PerCountry": DeclaredTopic(key=key)}))
        for key in ("user", "country")
    )
    [sink] = sinks(Compared(*declared))
    assert sink.facts["key_changed"] is True


@pytest.mark.parametrize(("declared", "changes"), [(None, None), ("com.acme.ByField", False)])
def test_an_extractor_that_was_not_read_is_asked_for(declared: str | None, changes: bool | None) -> None:
    """Its class may have a state that no reader shows; a declared word answers it."""
    missing = {"topics.orders.timestamp_extractor": "field rules of class java.util.ArrayList"}
    known = Declaration(topics={"orders": DeclaredTopic(timestamp_extractor="com.acme.ByField")})
    unread = Declaration(topics={"orders": DeclaredTopic(timestamp_extractor=declared)}, not_read=missing)
    sides = (Side(_chosen_by("com.acme.PerCountry@1"), one) for one in (known, unread))
    [source] = [one for one in sources(Compared(*sides)) if one.name == "orders" and not one.facts["global"]]
    assert source.facts["extractor_changed"] is changes
    assert changes is not None or source.asked["extractor_changed"][0].sides == "new"
