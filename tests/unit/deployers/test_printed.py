"""What a topology command prints is a description or a document of facts, with other lines before it."""

import pytest
from kstreams_runbooks.deployers.command.contract import DescribedTopology, parsed
from kstreams_runbooks.deployers.printed import PrintedTopology, printed_topology
from kstreams_runbooks.errors import Inconclusive
from world.facts import COUNTED
from world.sides import COUNTS

WHO = "orders: topology (print-it)"


@pytest.mark.parametrize("before", ["", "INFO facts are read\n", "config: facts: 1\n"])
def test_a_description_is_taken_from_its_first_line_on(before: str) -> None:
    """It has no facts."""
    assert printed_topology(f"{before}{COUNTS}\n\n", WHO) == PrintedTopology(COUNTS)


@pytest.mark.parametrize("before", ["", "INFO StreamsConfig values:\n\tclient.id = \n\n"])
def test_a_document_of_facts_has_the_description_too(before: str) -> None:
    """Both are of the same program."""
    found = printed_topology(f"{before}{COUNTED}", WHO)
    assert found is not None
    assert found.text.startswith("Topologies:\n   Sub-topology: 0")
    assert found.text.endswith("<-- closed\n")
    assert found.read is not None
    assert found.read.stores["readings-store"].window is not None


@pytest.mark.parametrize("text", ["", "no such class\n", "the facts: none\n"])
def test_anything_else_is_neither(text: str) -> None:
    """The deployer has a sentence of its own for it."""
    assert printed_topology(text, WHO) is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("facts: 1\n", "not_read"),
        ("facts: 2\nnot_read: []\n", "facts: 2 is a format that is not known"),
        ("facts: 1\nlibrary: [\n", "line 3"),
        ("facts: 1\nnot_read: []\n", "has no description: no reason is given, print the facts again"),
        (
            'facts: 1\nnot_read:\n  - {fact: ["topology"], reason: "it is not a Topology"}\n',
            "has no description: it is not a Topology",
        ),
    ],
)
def test_facts_that_cannot_be_used_are_one_sentence(text: str, why: str) -> None:
    """It begins with the command."""
    with pytest.raises(Inconclusive) as raised:
        printed_topology(text, WHO)
    assert str(raised.value).startswith(f"{WHO}: its document of topology facts")
    assert why in str(raised.value)


def test_the_contract_takes_both() -> None:
    """In one key, by its first word."""
    for text in (COUNTS, COUNTED):
        document = DescribedTopology(schema_version=1, release="4.3.1", topology=text)
        assert parsed(document.model_dump_json(), DescribedTopology, WHO) == document
    with pytest.raises(Inconclusive, match="topology: "):
        parsed('{"schema_version": 1, "release": "4.3.1", "topology": "factual"}', DescribedTopology, WHO)
