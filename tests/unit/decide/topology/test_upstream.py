"""What is in front of a store or an operator."""

from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.decide.topology.upstream import topics_before
from world.sides import COUNTS

IN_FRONT = frozenset({"by-customer-repartition"})


def test_the_topics_that_lead_to_a_store() -> None:
    """Within its subtopology: what is in front of a repartition topic has another stream time."""
    topology = parse_topology(COUNTS)
    assert topics_before(topology, "counts") == IN_FRONT
    assert topics_before(topology, "totals") == frozenset()
    by_pattern = COUNTS.replace("(topics: [by-customer-repartition])", "(topics: by-.*)")
    by_pattern = by_pattern.replace("(topic: by-customer-repartition)", "(topic: by-customer)")
    assert topics_before(parse_topology(by_pattern), "counts") is None
    other_pattern = COUNTS.replace("(topics: [orders])", "(topics: orders.*)")
    assert topics_before(parse_topology(other_pattern), "counts") == IN_FRONT


def test_a_source_that_leads_past_a_store_is_not_in_front_of_it() -> None:
    """It is in the same subtopology, and its records never come to the store."""
    aside = COUNTS.replace(
        "    Processor: count (", "    Source: aside (topics: [returns])\n      --> out\n    Processor: count ("
    ).replace("      <-- count\n", "      <-- count, aside\n")
    assert topics_before(parse_topology(aside), "counts") == IN_FRONT
