"""Topics that an application writes and reads again in front of a store."""

import pytest
from kstreams_runbooks.decide.comparison.compared import Side
from kstreams_runbooks.decide.comparison.read_back import read_back, read_in_its_tasks
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.model.topology.declaration import Declaration, DeclaredStore
from world.pairs import described

BEHIND, WITHOUT_STORE = "count-behind-own-topic", "own-topic-read-without-store"
BY_PATTERN = """Topologies:
   Sub-topology: 0
    Source: clicks-source (topics: [clicks])
      --> kept-sink
    Sink: kept-sink (topic: clicks-kept)
      <-- clicks-source

  Sub-topology: 1
    Source: kept-source (topics: {pattern})
      --> clicks-count
    Processor: clicks-count (stores: [clicks-store])
      --> none
      <-- kept-source
"""


@pytest.mark.parametrize(("pair", "topics"), [(BEHIND, {"clicks-kept"}), (WITHOUT_STORE, set())])
def test_a_topic_counts_in_front_of_a_store(pair: str, topics: set[str]) -> None:
    """One that leads to an output alone does not."""
    assert read_back(Side(described(pair)[1])) == topics


def test_a_store_that_may_be_lost_does_not_count() -> None:
    """Its keys may move."""
    declared = Declaration(stores={"clicks-store": DeclaredStore(loss_acceptable=True)})
    assert read_back(Side(described(BEHIND)[1], declared)) == frozenset()


def test_a_store_in_front_of_the_topic_does_not_count() -> None:
    """Its task writes the topic, and another one reads it."""
    side = Side(described("store-moved-to-other-subtopology-by-hand")[0])
    assert read_back(side) == frozenset()
    assert read_in_its_tasks(side, "invoices-seen") == {"invoices"}


@pytest.mark.parametrize(("pattern", "topics"), [("clicks-.*", {"clicks-kept"}), ("orders-.*", set())])
def test_a_pattern_counts_for_what_it_matches(pattern: str, topics: set[str]) -> None:
    """And for no other topic."""
    assert read_back(Side(parse_topology(BY_PATTERN.format(pattern=pattern)))) == topics
