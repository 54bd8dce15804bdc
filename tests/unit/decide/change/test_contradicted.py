"""A declared fact that was read as another value is a finding of the plan."""

from kstreams_runbooks.decide.change.contradicted import CONTRADICTED, contradicted
from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.model.topology.declaration import Contradiction, Declaration
from world.sides import COUNTS


def test_each_contradiction_of_either_side_is_named() -> None:
    """With its place, both values, and the one that the plan uses; it asks for no runbook."""
    topology = parse_topology(COUNTS)
    before = Side(topology, Declaration(contradictions=(Contradiction("stores.counts.logging", "false", "true"),)))
    after = Side(topology, Declaration(contradictions=(Contradiction("library", "3.4.1", "4.3.1"),)))
    found = contradicted(Compared(before, after))
    assert [(one.id, one.severity, one.object, one.runbooks) for one in found] == [
        (CONTRADICTED, "info", "stores.counts.logging", ()),
        (CONTRADICTED, "info", "library", ()),
    ]
    assert found[0].message.startswith(
        "stores.counts.logging: the old version declares false, and its program has true"
    )
    assert "the new version declares 3.4.1" in found[1].message


def test_without_a_contradiction_there_is_no_finding() -> None:
    """Two versions whose declarations agree with their programs, or that have no facts."""
    side = Side(parse_topology(COUNTS))
    assert contradicted(Compared(side, side)) == ()
