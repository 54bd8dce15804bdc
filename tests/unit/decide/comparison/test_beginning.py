"""Where a group begins a partition without an offset: the setting counts where no source has a place of its own."""

import pytest
from kstreams_runbooks.decide.comparison.beginning import beginning_of_all
from kstreams_runbooks.decide.comparison.compared import Side
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.model.topology.declaration import DEFAULT, Declaration, DeclaredOperator

TEXT = """Topologies:
   Sub-topology: 0
    Source: orders-source (topics: [orders])
      --> out
    Source: people-source (topics: [people])
      --> out
    Sink: out (topic: out)
      <-- orders-source, people-source
"""


@pytest.mark.parametrize(
    ("config", "own", "begins"),
    [
        ({"auto.offset.reset": "latest"}, {"orders": DEFAULT, "people": DEFAULT}, "latest"),
        ({"auto.offset.reset": "latest"}, {"orders": "latest", "people": DEFAULT}, "latest"),
        ({}, {"orders": DEFAULT, "people": "earliest"}, "earliest"),
        ({"auto.offset.reset": "latest"}, {"orders": "earliest", "people": DEFAULT}, ""),
        ({"auto.offset.reset": "latest"}, {"orders": DEFAULT}, ""),
        ({"auto.offset.reset": "latest"}, {}, ""),
        (None, {"orders": DEFAULT, "people": DEFAULT}, ""),
    ],
)
def test_every_source_has_to_be_known(config: dict[str, str] | None, own: dict[str, str], begins: str) -> None:
    """A source that no file describes may begin elsewhere."""
    operators = {f"{topic}-source": DeclaredOperator(offset_reset=value) for topic, value in own.items()}
    side = Side(parse_topology(TEXT), Declaration(config=config, operators=operators))
    assert beginning_of_all(side, ["orders", "people"]) == begins
