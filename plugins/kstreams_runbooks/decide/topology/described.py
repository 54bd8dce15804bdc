"""A description with its topology: its text is parsed once, and stays as what evidence keeps."""

from dataclasses import dataclass

from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.topology.declaration import Described
from kstreams_runbooks.model.topology.topology import Topology


@dataclass(frozen=True, slots=True)
class ParsedDescription:
    """A description and the topology that its text has."""

    described: Described
    topology: Topology


def parsed(described: Described) -> ParsedDescription:
    """The description with its topology; BadInput begins with where it came from."""
    try:
        return ParsedDescription(described, parse_topology(described.text))
    except BadInput as error:
        raise BadInput(f"{described.source}: {error}") from None
