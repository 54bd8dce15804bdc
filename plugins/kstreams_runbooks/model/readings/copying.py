"""The reading of a copier that has to stay stopped."""

from dataclasses import dataclass

from kstreams_runbooks.model.readings.copied_into import CopiedInto
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


@dataclass(frozen=True, slots=True)
class CopierFigures:
    """What an instance of the shipped copier reports about itself (docs/topic_copier.md, output and metrics).

    `routes` are as in its settings (`FROM -> TO`). `lag` counts offsets of the whole group, and is Missing until it was
    first read, at `lag_at_ms`. `copied` counts records of this process. `until_left` are offsets until it ends, None if
    it goes on. `last_error` is empty without one.
    """

    taken: Taken
    version: str
    group: str
    routes: tuple[str, ...]
    mode: str
    state: str
    started_at_ms: int
    lag: int | Missing
    lag_at_ms: int | None
    copied: int
    until_left: int | None
    last_error: str
    last_error_at_ms: int | None


@dataclass(frozen=True, slots=True)
class SeedPlace:
    """One partition of a copier's source: its ends, and the offset that the copier's group has committed on it.

    Offsets are log offsets, `stable` and `end` exclusive: a transaction is open between both if they differ. `metadata`
    was committed with the offset; `into` is the target of the route, if that exists.
    """

    topic: str
    partition: int
    start: int | Missing
    stable: int | Missing
    end: int | Missing
    committed: int | None
    metadata: str = ""
    into: CopiedInto | None = None

    @property
    def name(self) -> str:
        """`topic-partition`."""
        return f"{self.topic}-{self.partition}"


@dataclass(frozen=True, slots=True)
class SeedReading:
    """The sources of a copier with the ends of its targets: what its first offsets are chosen from.

    `routes` are from each source to its target; `targets` have every partition of each target. `absent` are
    topics that do not exist; `hidden` are sentences about those that this login does not see.
    """

    copier: str
    group_id: str
    routes: tuple[tuple[str, str], ...]
    places: tuple[SeedPlace, ...]
    targets: tuple[TopicEnd, ...]
    absent: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
