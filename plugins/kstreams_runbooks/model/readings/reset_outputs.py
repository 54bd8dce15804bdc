"""Outputs whose records a reset would delete: their partitions, who reads them, and who wrote them.

Offsets are log offsets, ends are exclusive; times are Unix ms. An unknown value is Missing, never zero.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.reset import RunningUse, TopicUser


@dataclass(frozen=True, slots=True)
class OutputPartition:
    """One partition of an output: records before `cut` would be deleted.

    The cut is the last stable offset at the plan: no record before it is part of an open transaction.
    """

    topic: str
    partition: int
    topic_id: str
    start: int | Missing
    cut: int | Missing

    @property
    def name(self) -> str:
        """The name of the partition, `results-3`."""
        return f"{self.topic}-{self.partition}"

    @property
    def offsets(self) -> int:
        """Offsets that would be deleted, 0 if an end is unknown."""
        if isinstance(self.start, Missing) or isinstance(self.cut, Missing):
            return 0
        return max(0, self.cut - self.start)


@dataclass(frozen=True, slots=True)
class UnreadBelow:
    """Records below the cut of a partition that a group has not read; `committed` is None without an offset."""

    group_id: str
    topic: str
    partition: int
    committed: int | None
    records: int | Missing
    at_least: bool = False

    @property
    def name(self) -> str:
        """The name of the partition."""
        return f"{self.topic}-{self.partition}"


@dataclass(frozen=True, slots=True)
class OutputProducer:
    """A producer that a broker lists for a partition: it wrote there within the last day.

    `transactional_id` is None if no coordinator names it. `last_ms` is the time of its last record, which the producer
    chooses. `is_open`: it has a transaction open there. A producer without idempotence is not listed at all.
    """

    topic: str
    partition: int
    producer_id: int
    transactional_id: str | None
    last_ms: int
    is_open: bool

    @property
    def name(self) -> str:
        """The name of the partition."""
        return f"{self.topic}-{self.partition}"


@dataclass(frozen=True, slots=True)
class OutputFacts:
    """What was read of the outputs to clean.

    `policies` has the cleanup.policy of each that was reported, `users` other groups on them, `others` what other
    applications of the fleet read and write as they run. `owners` are the owners of the fleet's entries. `problems` are
    readings that could not be taken, one sentence each.
    """

    partitions: tuple[OutputPartition, ...]
    policies: Mapping[str, str]
    users: tuple[TopicUser, ...]
    others: tuple[RunningUse, ...]
    unread: tuple[UnreadBelow, ...]
    producers: tuple[OutputProducer, ...]
    owners: Mapping[str, str]
    problems: tuple[str, ...] = ()

    def of(self, topic: str) -> tuple[OutputPartition, ...]:
        """The partitions of one output."""
        return tuple(one for one in self.partitions if one.topic == topic)
