"""The fleet as declared now, for decisions about topics that others may use."""

from kstreams_runbooks.decide.fleet_graph import fleet_graph
from kstreams_runbooks.fleet import load_fleet
from kstreams_runbooks.model.fleet_graph import FleetGraph


def graph_of_fleet() -> FleetGraph:
    """All entries of the fleet, with the topics that they read and write."""
    return fleet_graph(one.declared() for one in load_fleet().entries.values())
