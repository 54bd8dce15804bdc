"""The topology that an application's instances tell."""

from kstreams_runbooks.decide.topology_text import parse_topology
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.readings import ApplicationReading, Missing, StreamsReading
from kstreams_runbooks.model.topology import Topology


def running_topology(reading: ApplicationReading) -> Topology | Missing:
    """What runs; Missing where no instance tells it, where it cannot be read, or where two run, as in a roll."""
    streams = [one.streams for one in reading.instances if isinstance(one.streams, StreamsReading)]
    texts = sorted({one.topology for one in streams if isinstance(one.topology, str)})
    if not texts:
        return Missing("topology not known: no running instance tells it")
    try:
        topologies = [parse_topology(text) for text in texts]
    except BadInput as error:
        return Missing(f"topology not known: {error}")
    if any(one != topologies[0] for one in topologies):
        return Missing(f"topology not known: {len(topologies)} different ones run")
    return topologies[0]
