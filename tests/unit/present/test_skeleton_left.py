"""The file to fill in next to topology facts: what no code shows, and nothing that was read."""

import yaml
from kstreams_runbooks.decide.comparison.compared import Side
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.fleet.topology_facts import read_facts
from kstreams_runbooks.model.topology.topology import Topology
from kstreams_runbooks.present.skeleton_left import left_of
from world.facts import COUNTED


def _left(text: str) -> str:
    facts = read_facts(text, "old.yaml")
    return left_of(Side(parse_topology(facts.text or ""), facts.read))


def test_only_what_was_not_read_is_asked() -> None:
    """The partitions of the cluster, the format of a class, and the key format that was not read."""
    text = _left(COUNTED)
    assert yaml.safe_load(text) == {
        "topics": {
            "reading-counts": {"partitions": None, "key_serde": None},
            "readings": {"partitions": None, "value_serde": None},
        }
    }
    assert "value_serde: null      # its class is com.acme.Reading" in text


def test_a_key_and_a_function_that_code_does_not_show_are_asked() -> None:
    """With the line that declares them for a change."""
    text = _left(
        COUNTED.replace('    key_of: ["readings"]\n', "")
        .replace('    key_of: ["readings (windowed)"]\n', "")
        .replace('    aggregate: "count"\n', "")
        .replace('aggregation: "count"', 'aggregation: "reduce"')
    )
    found = yaml.safe_load(text)
    assert found["stores"] == {"readings-store": {"key": None, "aggregate": None}}
    assert set(found["topics"]["reading-counts"]) == {"key", "partitions", "key_serde"}
    assert "# unchanged: [key, aggregate]" in text


def test_a_window_and_a_suppression_that_were_not_read_are_asked() -> None:
    """The reason is next to the suppression."""
    unread = '{fact: ["suppressions", "closed", "max_bytes"], reason: "its buffer is not known"}'
    text = _left(
        COUNTED.replace("    max_bytes: null\n", "")
        .replace("size_ms: 3600000", "later: 1")
        .replace("not_read:\n", f"not_read:\n  - {unread}\n")
    )
    assert "window" in yaml.safe_load(text)["stores"]["readings-store"]
    assert "# suppressions.closed.max_bytes: its buffer is not known" in text


def test_facts_that_leave_nothing_open_ask_nothing() -> None:
    """Without stores and topics there is no field."""
    assert left_of(Side(Topology(()))).startswith("# The topology facts of this release leave nothing open")
