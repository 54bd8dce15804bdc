"""Findings on declared facts that were read from the program as other values."""

from kstreams_runbooks.decide.comparison.compared import Compared
from kstreams_runbooks.model.topology.change import ChangeFinding

CONTRADICTED = "declaration-contradicted"
_SOURCE = "topology facts of the program; docs/facts.md"


def contradicted(compared: Compared) -> tuple[ChangeFinding, ...]:
    """One finding for each field of either side: the plan uses what was read."""
    sides = (("old", compared.before), ("new", compared.after))
    return tuple(
        ChangeFinding(
            CONTRADICTED,
            "info",
            one.where,
            f"{one.where}: the {which} version declares {one.declared}, and its program has {one.read}, which the plan "
            "uses; correct the declaration",
            _SOURCE,
            (),
        )
        for which, side in sides
        for one in side.declared.contradictions
    )
