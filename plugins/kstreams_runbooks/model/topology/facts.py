"""Topology facts that a running instance shows, in the MBean of topology-facts.jar (docs/facts.md)."""

from dataclasses import dataclass

from kstreams_runbooks.model.readings.readings import Missing, Taken
from kstreams_runbooks.model.topology.declaration import Declaration


@dataclass(frozen=True, slots=True)
class FactsReading:
    """What was read of the program that one Kafka Streams client runs."""

    taken: Taken
    client_id: str
    read: Declaration


@dataclass(frozen=True, slots=True)
class NoFacts(Missing):
    """An instance that answers and shows no facts: it was started without the jar."""
