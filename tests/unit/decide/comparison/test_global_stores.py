"""Global stores whose directories do not fit the new version; tests/long/test_global_tables.py shows what happens."""

import pytest
from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.comparison.global_stores import left_behind
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.model.topology.declaration import Declaration, DeclaredStore

_GLOBAL = """
  Sub-topology: {number} for global store (will not generate tasks)
    Source: {topic}-source (topics: [{topic}])
      --> {topic}-table
    Processor: {topic}-table (stores: [{store}])
      --> none
      <-- {topic}-source
"""


_STREAM = """Topologies:
   Sub-topology: 9
    Source: orders-source (topics: [orders])
      --> none
"""


def _side(stores: dict[str, str], *, in_memory: bool = False) -> Side:
    """A version with these global stores, each with its topic."""
    texts = (_GLOBAL.format(number=place, topic=stores[store], store=store) for place, store in enumerate(stores))
    declared = {store: DeclaredStore(kind="key_value", in_memory=in_memory) for store in stores}
    return Side(parse_topology(_STREAM + "".join(texts)), Declaration(stores=declared))


@pytest.mark.parametrize(
    ("after", "fate"),
    [
        ({"rates": "rates-v2"}, "global store rates reads rates-v2 instead of rates-v1"),
        ({"prices": "rates-v1"}, "the global store of topic rates-v1 is prices instead of rates"),
        ({"prices": "prices-v1"}, "global store rates of topic rates-v1 is removed"),
    ],
)
def test_a_store_without_its_topic_is_left_behind(after: dict[str, str], fate: str) -> None:
    assert left_behind(Compared(_side({"rates": "rates-v1"}), _side(after))) == {"rates-v1": fate}


def test_a_store_that_stays_or_comes_leaves_nothing() -> None:
    before = _side({"rates": "rates-v1"})
    assert left_behind(Compared(before, before)) == {}
    assert left_behind(Compared(before, _side({"rates": "rates-v1", "prices": "prices-v1"}))) == {}


def test_a_store_in_memory_has_no_directory() -> None:
    assert left_behind(Compared(_side({"rates": "rates-v1"}, in_memory=True), _side({"rates": "rates-v2"}))) == {}


def test_without_a_global_store_nothing_opens_the_directory() -> None:
    assert left_behind(Compared(_side({"rates": "rates-v1"}), _side({}))) == {}
