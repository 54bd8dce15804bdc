"""Formats of stores that the library makes, and of those that a program only names like them."""

import pytest
from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.comparison.state.persistent import stores
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.model.topology.change import Fact
from kstreams_runbooks.model.topology.declaration import Declaration, DeclaredStore, Serde

_BY_FOREIGN_KEY = """
Topologies:
   Sub-topology: 0
    Source: orders (topics: [orders])
      --> register
    Processor: register (stores: [])
      --> fk-sink
      <-- orders
    Sink: fk-sink (topic: {topic})
      <-- register
   Sub-topology: 1
    Source: fk-source (topics: [{topic}])
      --> fk-receive
    Processor: fk-receive (stores: [fk-subscription-store])
      --> none
      <-- fk-source
"""


def _facts(topic: str, old: DeclaredStore | None = None, new: DeclaredStore | None = None) -> dict[str, Fact]:
    topology = parse_topology(_BY_FOREIGN_KEY.format(topic=topic))
    before, after = (
        Side(topology, Declaration(stores={} if one is None else {"fk-subscription-store": one})) for one in (old, new)
    )
    [store] = stores(Compared(before, after))
    return dict(store.facts)


@pytest.mark.parametrize(
    ("topic", "changes"),
    [
        ("fk-subscription-registration-topic", False),
        ("KTABLE-FK-JOIN-SUBSCRIPTION-REGISTRATION-0000000004-topic", False),
        ("fk-repartition", None),
    ],
)
def test_the_formats_of_a_foreign_key_join_are_not_asked_for(topic: str, changes: bool | None) -> None:
    """The topic in front of the store shows that the library made it; the name of a store shows nothing."""
    facts = _facts(topic)
    assert (facts["key_serde_changed"], facts["value_serde_changed"], facts["serde_changed"]) == (changes,) * 3


def test_declared_formats_of_a_foreign_key_join_are_compared() -> None:
    """They follow from those of the joined tables, and a person may declare that these change."""
    old, new = (DeclaredStore(value_serde=Serde("json", version)) for version in (1, 2))
    assert _facts("fk-subscription-registration-topic", old, new)["value_serde_changed"] is True
