"""A description is parsed once; its text stays what is kept."""

import pytest
from kstreams_runbooks.decide.topology.described import parsed
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.errors import BadInput
from world.sides import COUNTS, described


def test_a_description_has_its_topology_and_its_text() -> None:
    """The text is what a decision is given when evidence is checked again."""
    found = parsed(described(COUNTS))
    assert found.topology == parse_topology(COUNTS)
    assert found.described == described(COUNTS)


def test_what_is_not_a_description_is_refused_with_its_source() -> None:
    """A release, a file or an instance: the operator has to know which text to correct."""
    wrong = described("hello")
    with pytest.raises(BadInput, match="line 1: 'hello'") as raised:
        parsed(wrong)
    assert str(raised.value).startswith(f"{wrong.source}: ")
