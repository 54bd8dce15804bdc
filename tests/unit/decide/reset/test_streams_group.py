"""A streams group starts over on the topology that it has, and on no other."""

from kstreams_runbooks.decide.reset.streams_group import keeps_topology
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.model.verdicts import Outcome


def reads(topic: str) -> str:
    return (
        f"Topologies:\n  Sub-topology: 0\n    Source: a (topics: {topic})\n      --> p\n"
        "    Processor: p (stores: [s])\n      --> none\n      <-- a\n"
    )


ORDERS, CLICKS = parse_topology(reads("orders")), parse_topology(reads("clicks"))


def test_the_same_topology_proceeds() -> None:
    """As printed twice, by an instance and by the deployer."""
    again = parse_topology(reads("orders"))
    assert keeps_topology("orders", [ORDERS, again], [again]).outcome is Outcome.PROCEED


def test_another_topology_is_refused_before_anything_is_deleted() -> None:
    """Also if two versions may have run last."""
    for last, wanted in (([ORDERS], [CLICKS]), ([ORDERS, CLICKS], [ORDERS])):
        verdict = keeps_topology("orders", last, wanted)
        assert verdict.outcome is Outcome.REFUSE
        assert "group orders is a streams group, and the version that starts afterwards has another" in verdict.sentence


def test_a_topology_that_is_not_known_is_not_taken_for_the_same() -> None:
    assert "the topology that starts afterwards is not known" in keeps_topology("orders", [ORDERS], []).sentence
    assert "the topology that it ran last is not known" in keeps_topology("orders", [], [ORDERS]).sentence
    assert keeps_topology("orders", [ORDERS], []).outcome is Outcome.INCONCLUSIVE
