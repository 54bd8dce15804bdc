"""Readings from which "drained" is proven or not: consecutive, each with the ends before and after the offsets."""

from collections.abc import Mapping
from dataclasses import dataclass

from kstreams_runbooks.model.lag import PartitionLag
from kstreams_runbooks.model.readings import Taken

Ends = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class OpenTransaction:
    """A transaction that is open on a partition; `due_ms` is when it has outlived its own timeout."""

    partition: str
    transactional_id: str | None
    producer_id: int
    age_ms: int
    due_ms: int


@dataclass(frozen=True, slots=True)
class RunningInstance:
    """One instance that runs: whether what it says is fresh, its failed threads, its tasks; None for not known."""

    instance: str
    fresh: bool
    state: str | None
    failed_threads: int | None
    tasks: frozenset[str] | None


@dataclass(frozen=True, slots=True)
class HeldBack:
    """Records that only stream time lets go: in a suppress buffer, or in a window that is not closed.

    `until_ms` is the stream time at which the last of them is due, `stream_time_ms` where it stands (None: not known).
    """

    what: str
    until_ms: int | None
    stream_time_ms: int | None


@dataclass(frozen=True, slots=True)
class DrainReading:
    """One reading: ends of everything, then committed offsets, then the ends again.

    `partitions` are those that the application reads, `sinks` the ends of what it writes for others by `topic-number`.
    Stable only where `ends_before` and `ends_after` are equal: otherwise somebody wrote in between.
    """

    taken: Taken
    partitions: tuple[PartitionLag, ...]
    ends_before: Ends
    ends_after: Ends
    sinks: Ends
    instances: tuple[RunningInstance, ...] = ()
    all_tasks: frozenset[str] | None = None
    open_transactions: tuple[OpenTransaction, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Pause:
    """Why nothing new arrives: a switch that acknowledged it, or a person's word (`by` and the reason)."""

    how: str
    by: str
    reason: str


@dataclass(frozen=True, slots=True)
class DrainQuestion:
    """What is asked: how many readings in a row, the pause, and what the application declares beside its topics."""

    readings: int
    pause: Pause | None
    punctuators: tuple[str, ...] = ()
    held_back: tuple[HeldBack, ...] = ()
