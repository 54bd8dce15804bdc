"""Topics that stay: what each has and what the new version needs, also where the order of counting decides it."""

from kstreams_runbooks.decide.change.described import without_counts_of_old
from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.comparison.whole import kept_topics
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.model.topology.change import Subject, Undeclared
from kstreams_runbooks.model.topology.declaration import Declaration, DeclaredTopic

# A count behind a repartition topic, which the records of one input are written to.
_ONE_INPUT = """Topologies:
   Sub-topology: 0
    Source: orders (topics: [orders])
      --> by-customer-sink
    Sink: by-customer-sink (topic: by-customer-repartition)
      <-- orders

  Sub-topology: 1
    Source: by-customer (topics: [by-customer-repartition])
      --> count
    Processor: count (stores: [counts])
      --> none
      <-- by-customer
"""
# The same with the records of a second repartition topic, whose input may have another number of partitions.
_TWO_INPUTS = """Topologies:
   Sub-topology: 0
    Source: orders (topics: [orders])
      --> by-customer-sink
    Source: moved (topics: [moved-repartition])
      --> by-customer-sink
    Sink: by-customer-sink (topic: by-customer-repartition)
      <-- orders, moved

  Sub-topology: 1
    Source: by-customer (topics: [by-customer-repartition])
      --> count
    Processor: count (stores: [counts])
      --> none
      <-- by-customer

  Sub-topology: 2
    Source: returns (topics: [returns])
      --> moved-sink
    Sink: moved-sink (topic: moved-repartition)
      <-- returns
"""


def _side(text: str, **partitions: int) -> Side:
    topics = {name.replace("_", "-"): DeclaredTopic(partitions=count) for name, count in partitions.items()}
    return Side(parse_topology(text), Declaration(topics=topics))


def _kept(before: Side, after: Side) -> list[Subject]:
    return list(kept_topics(Compared(before, after)))


def test_a_number_that_depends_on_the_order_of_counting_is_asked_for() -> None:
    """By then the library has counted 2 of one topic, or 8 of the other as well."""
    found = _kept(_side(_ONE_INPUT, orders=2), _side(_TWO_INPUTS, orders=2, returns=8))
    asked = (Undeclared("topics.by-customer-repartition", "partitions", "new"),)
    assert [(one.name, one.facts, one.asked) for one in found] == [
        (name, {"refused": None}, {"refused": asked}) for name in ("by-customer-repartition", "counts-changelog")
    ]


def test_of_the_old_version_too() -> None:
    """The topic has one of the two numbers, and only the cluster shows which."""
    found = _kept(_side(_TWO_INPUTS, orders=2, returns=8), _side(_ONE_INPUT, orders=2))
    assert {one.asked["refused"] for one in found} == {
        (Undeclared("topics.by-customer-repartition", "partitions", "old"),)
    }


def test_a_number_that_is_unknown_in_both_is_asked_for_behind_other_topics() -> None:
    """A third input of the topic may be counted first from now on."""
    both = {"orders": 2, "returns": 8}
    before = _side(_TWO_INPUTS, **both)
    third = _TWO_INPUTS.replace("(topics: [orders])", "(topics: [orders, offers])")
    found = _kept(before, _side(third, **both, offers=4))
    topic = "topics.by-customer-repartition"
    asked = (Undeclared(topic, "partitions", "old"), Undeclared(topic, "partitions", "new"))
    assert [(one.name, one.asked["refused"]) for one in found] == [("by-customer-repartition", asked)]
    assert _kept(before, before) == []


def test_equal_inputs_leave_no_question() -> None:
    assert _kept(_side(_ONE_INPUT, orders=2), _side(_TWO_INPUTS, orders=2, returns=2)) == []


def test_an_input_without_a_number_is_not_asked_for_here() -> None:
    """It is missing in both versions, or its own finding asks for it."""
    assert _kept(_side(_ONE_INPUT, orders=2), _side(_TWO_INPUTS, orders=2)) == []


def test_a_number_by_the_order_of_counting_is_not_the_programs() -> None:
    """The cluster shows 8 for the old version; the new one needs 2."""
    old = _side(_TWO_INPUTS, orders=2, returns=8, by_customer_repartition=8, moved_repartition=8)
    new = without_counts_of_old(old, _side(_ONE_INPUT, orders=2, by_customer_repartition=8), Declaration())
    assert {one.name for one in _kept(old, new) if one.facts["refused"]} == {
        "by-customer-repartition",
        "counts-changelog",
    }
