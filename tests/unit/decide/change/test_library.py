"""Changes of a release that the two topologies answer are not a warning of their plan."""

import pytest
from kstreams_runbooks.decide.change.library import library_findings
from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.topology.declaration import Declaration
from kstreams_runbooks.rules import upgrade_path_rules
from world.sides import COUNTS

JOINED = """
Topologies:
   Sub-topology: 0
    Source: orders-source (topics: [orders])
      --> with-customer
    Source: customers-source (topics: [customers])
      --> customers-table
    Processor: with-customer (stores: [customers])
      --> orders-sink
      <-- orders-source
    Processor: customers-table (stores: [customers])
      --> none
      <-- customers-source
    Sink: orders-sink (topic: enriched)
      <-- with-customer
"""
GLOBAL = """
Topologies:
   Sub-topology: 0 for global store (will not generate tasks)
    Source: customers-source (topics: [customers])
      --> customers-table
    Processor: customers-table (stores: [customers])
      --> none
      <-- customers-source
  Sub-topology: 1
    Source: orders-source (topics: [orders])
      --> with-customer
    Processor: with-customer (stores: [])
      --> orders-sink
      <-- orders-source
    Sink: orders-sink (topic: enriched)
      <-- with-customer
"""


def _ids(text: str, old: str = "3.4.1", new: str = "4.3.1") -> set[str]:
    topology = parse_topology(text)
    before, after = (Side(topology, Declaration(library=Release.parse(one))) for one in (old, new))
    return {one.id for one in library_findings(Compared(before, after), upgrade_path_rules()).findings}


@pytest.mark.parametrize(("text", "joins"), [(COUNTS, False), (JOINED, True), (GLOBAL, True)])
def test_null_keys_are_a_warning_only_for_a_program_that_may_join(text: str, joins: bool) -> None:
    """A chosen name hides a join, and the store that it reads shows it; that of a global table is not printed."""
    found = _ids(text)
    assert "api-changes-4.3.0" in found
    assert ("null-keys-in-joins" in found) is joins
    assert "null-keys-in-joins" not in _ids(text, "3.7.0")


def test_compared_topologies_answer_whether_the_upgrade_builds_another() -> None:
    """The warning of a release that builds another topology for one program stays."""
    assert "process-values" not in _ids(COUNTS)
    assert "process-values-not-fixed" in _ids(COUNTS, "3.9.1", "4.0.0")
