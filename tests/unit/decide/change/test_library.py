"""Changes of a release that the two topologies answer are not a warning of their plan."""

from typing import Any

import pytest
from kstreams_runbooks.decide.change.library import library_findings
from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.topology.declaration import Declaration, DeclaredOperator, DeclaredStore
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
    """The known defect of a release that builds another topology for one program is shown (test_defects.py)."""
    assert "process-values" not in _ids(COUNTS)
    assert "process-values-not-fixed" not in _ids(COUNTS, "3.9.1", "4.0.0")


STATELESS = """
Topologies:
   Sub-topology: 0
    Source: orders-source (topics: [orders])
      --> orders-sink
    Sink: orders-sink (topic: copied)
      <-- orders-source
"""


def test_what_a_release_changes_about_stores_is_left_out_for_a_program_without_any() -> None:
    """Also on the way back; what every program meets stays, and so does the path."""
    assert {"store-offsets-kip-1035", "header-stores"} <= _ids(COUNTS)
    assert not {"store-offsets-kip-1035", "header-stores"} & _ids(STATELESS)
    assert "java-11" in _ids(STATELESS)
    assert {"store-offsets-4.3", "rocksdb-4.0"} <= _read(COUNTS, "4.3.1", "3.9.1")
    assert not {"store-offsets-4.3", "rocksdb-4.0"} & _read(STATELESS, "4.3.1", "3.9.1")


@pytest.mark.parametrize(("text", "waits"), [(STATELESS, False), (COUNTS, False), (JOINED, True)])
def test_a_task_with_one_input_waits_for_no_other(text: str, waits: bool) -> None:
    """A pattern or a second topic is another input."""
    assert ("eager-joins-idle" in _ids(text, "2.8.2", "3.4.1")) is waits
    assert "eager-joins-idle" in _ids(STATELESS.replace("topics: [orders]", "topics: [orders, returns]"), "2.8.2")


def _read(text: str, old: str = "3.4.1", new: str = "4.3.1", **sections: Any) -> set[str]:
    """The same of a program whose facts were read."""
    topology = parse_topology(text)
    sections = {"not_read": {"topics.orders.partitions": "those of the cluster"}, **sections}
    before, after = (
        Side(topology, Declaration(library=Release.parse(one), config={}, **sections)) for one in (old, new)
    )
    return {one.id for one in library_findings(Compared(before, after), upgrade_path_rules()).findings}


@pytest.mark.parametrize(
    ("sections", "warned"),
    [
        ({"operators": {"with-customer": DeclaredOperator(join="inner")}}, False),
        ({"operators": {"with-customer": DeclaredOperator(join="left")}}, True),
        ({"stores": {"customers": DeclaredStore(join="outer")}}, True),
        ({"not_read": {"operators.with-customer.join": "a class that is not known"}}, True),
    ],
)
def test_the_code_shows_whether_a_join_is_a_left_one(sections: dict[str, Any], warned: bool) -> None:
    """A join that was not read may be one."""
    assert ("null-keys-in-joins" in _read(JOINED, **sections)) is warned


def test_the_code_shows_that_no_table_is_grouped_again() -> None:
    """The library filters a stream in front of a repartition topic, and not a table; without facts a name hides it."""
    of_stream = COUNTS.replace("by-customer (", "by-customer-repartition-filter (").replace(
        "--> by-customer\n", "--> by-customer-repartition-filter\n"
    )
    of_stream = of_stream.replace("<-- by-customer\n", "<-- by-customer-repartition-filter\n")
    assert "table-aggregation-format" not in _read(of_stream)
    assert "table-aggregation-format" in _read(COUNTS)
    assert "table-aggregation-format" in _read(of_stream, not_read={})
