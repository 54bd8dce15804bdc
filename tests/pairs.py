"""The topologies of tests/apps/topologies: before and after a change, as the real library describes them."""

from pathlib import Path

from kstreams_runbooks.decide.topology_text import parse_topology
from kstreams_runbooks.model.topology import Topology

PAIRS = Path(__file__).parent / "apps" / "topologies" / "pairs"


def described(pair: str) -> tuple[Topology, Topology]:
    """The old and the new topology of a pair."""
    before, after = (parse_topology((PAIRS / pair / f"{side}.txt").read_text("utf-8")) for side in ("before", "after"))
    return before, after
