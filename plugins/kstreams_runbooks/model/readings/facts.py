"""Topology facts that a running instance shows: the documents of topology-facts.jar (docs/facts.md)."""

from dataclasses import dataclass

from kstreams_runbooks.model.readings.readings import Missing, Taken


@dataclass(frozen=True, slots=True)
class FactsReading:
    """The documents of one Kafka Streams client, as they came.

    There is one, unless the process has several clients with one client.id, or one that was closed and not collected.
    """

    taken: Taken
    client_id: str
    documents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NoFacts(Missing):
    """An instance that answers and shows no facts: it was started without the jar."""
