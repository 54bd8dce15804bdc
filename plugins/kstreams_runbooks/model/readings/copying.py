"""The reading of a copier that has to stay stopped."""

from dataclasses import dataclass

from kstreams_runbooks.model.readings.drain import OpenTransaction
from kstreams_runbooks.model.readings.readings import Deployment, GroupReading, Missing, Taken


@dataclass(frozen=True, slots=True)
class TopicEnd:
    """The end of one partition of a control topic (exclusive), Missing if it cannot be read."""

    topic: str
    partition: int
    end: int | Missing

    @property
    def name(self) -> str:
        """`topic-partition`."""
        return f"{self.topic}-{self.partition}"


@dataclass(frozen=True, slots=True)
class CopierReading:
    """A copier at one time: its processes, its group, and what its control topics show.

    `topics` are its outputs; `ends` have every partition of them, `open` the transactions that are open there, by any
    producer. `taken.at_ms` is when the reading began: the ends were read after it.
    """

    taken: Taken
    copier: str
    cluster: str
    group_id: str
    delivery: str
    topics: tuple[str, ...]
    deployments: tuple[Deployment, ...] | Missing
    group: GroupReading | Missing
    open: tuple[OpenTransaction, ...] | Missing
    ends: tuple[TopicEnd, ...] | Missing
