"""The keys to compare before a repartition goes."""

import pytest
from kstreams_runbooks.decide.change.needless import key_pairs
from kstreams_runbooks.decide.topology.described import ParsedDescription, parsed
from kstreams_runbooks.errors import Inconclusive
from kstreams_runbooks.model.readings.partitioning import KeyPair
from kstreams_runbooks.model.topology.declaration import Described

_REPARTITIONED = """Topologies:
   Sub-topology: 0
    Source: in (topics: [customers])
      --> by
    Processor: by (stores: [])
      --> sink
      <-- in
    Sink: sink (topic: counts-repartition)
      <-- by

  Sub-topology: 1
    Source: back (topics: [counts-repartition])
      --> count
    Processor: count (stores: [counts])
      --> none
      <-- back
"""
_DIRECT = """Topologies:
   Sub-topology: 0
    Source: in (topics: [customers])
      --> count
    Processor: count (stores: [counts])
      --> none
      <-- in
"""


def described(text: str) -> ParsedDescription:
    return parsed(Described("1.0.0", "4.3.1", "test", text))


def test_a_store_that_an_input_fills_in_place_of_a_repartition_topic() -> None:
    """Its changelog keeps the partitions of that topic."""
    pairs = key_pairs(described(_REPARTITIONED), described(_DIRECT), "app")
    assert pairs == (KeyPair("customers", "app-counts-changelog"),)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (_DIRECT, _DIRECT),
        (_DIRECT, _REPARTITIONED),
        (_REPARTITIONED, _REPARTITIONED.replace("counts-repartition", "other-repartition")),
        (_REPARTITIONED, _DIRECT.replace("[counts]", "[others]")),
    ],
)
def test_nothing_to_compare(before: str, after: str) -> None:
    """No repartition goes, another one comes in its place, or no state stays."""
    assert key_pairs(described(before), described(after), "app") == ()


def test_a_source_pattern_is_inconclusive() -> None:
    """Which topics it reads only the cluster knows."""
    after = _DIRECT.replace("(topics: [customers])", "(topics: cust.*)")
    with pytest.raises(Inconclusive, match="a source pattern does now"):
        key_pairs(described(_REPARTITIONED), described(after), "app")
