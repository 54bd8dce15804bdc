"""Readings that prove "drained" or do not: consecutive, each with the ends before and after the offsets."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from kstreams_runbooks.model.readings.lag import PartitionLag
from kstreams_runbooks.model.readings.readings import Taken
from kstreams_runbooks.model.verdicts import Verdict

LogEnds = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class OpenTransaction:
    """A transaction that is open on the partition `name` (`topic-number`); unknown values are None, with `why`.

    `age_ms` is how long it has been open and `timeout_ms` how long it may be, both from its coordinator; if no
    coordinator names it, `timeout_ms` is the longest that a broker allows any. `start_offset`, its beginning on the
    partition, distinguishes it from the next one of the same producer. `seen_ms` is how long the reader has seen this
    very transaction.
    """

    name: str
    transactional_id: str | None
    producer_id: int | None
    age_ms: int | None
    timeout_ms: int | None
    start_offset: int | None = None
    why: str = ""
    seen_ms: int = 0


@dataclass(frozen=True, slots=True)
class RunningInstance:
    """One instance that runs: its state, failed threads and tasks; an unknown value is None, with `why`.

    `gone`: its process lives and its Streams client has ended, as after an ERROR; no waiting brings it back.
    """

    instance: str
    state: str | None
    failed_threads: int | None
    tasks: frozenset[str] | None
    why: str = ""
    gone: bool = False


@dataclass(frozen=True, slots=True)
class HeldBack:
    """Records that only stream time releases: in a suppress buffer, or in a window that is not closed.

    `until_ms` is the stream time at which the last of them is due, `stream_time_ms` the present one (None: not known).
    """

    what: str
    until_ms: int | None
    stream_time_ms: int | None


@dataclass(frozen=True, slots=True)
class DrainReading:
    """One reading: ends of everything, then committed offsets, then the ends again.

    `partitions` are those that the application reads, `sinks` the ends of what it writes for others by `topic-number`,
    and `other_ids` the ids of those topics and of the changelogs: without them an end that has not moved proves
    nothing, and a lost state would go unnoticed. Stable only if `ends_before` and `ends_after` are equal: otherwise a
    producer wrote in between. `group_state` is the broker's word, None if no broker knows the group.
    """

    taken: Taken
    partitions: tuple[PartitionLag, ...]
    ends_before: LogEnds
    ends_after: LogEnds
    sinks: LogEnds
    group_state: str | None = None
    instances: tuple[RunningInstance, ...] = ()
    all_tasks: frozenset[str] | None = None
    open_transactions: tuple[OpenTransaction, ...] = ()
    held_back: tuple[HeldBack, ...] = ()
    problems: tuple[str, ...] = ()
    other_ids: Mapping[str, str] = field(default_factory=dict)

    @property
    def counted(self) -> bool:
        """Whether the unread records are counted: of a large backlog only the offsets are known."""
        return all(one.exact or not one.records for one in self.partitions if one.role != "orphaned")

    @property
    def topic_ids(self) -> dict[str, str]:
        """Ids of the topics that it reads, that it writes for others, and that hold its state, by name."""
        read = {one.topic: one.topic_id for one in self.partitions if one.topic_id is not None}
        return {**self.other_ids, **read}

    @property
    def unread(self) -> int | None:
        """Unread records, None while one partition is not known."""
        counts = [one.records for one in self.partitions if one.role != "orphaned"]
        return None if self.problems or not counts or None in counts else sum(count or 0 for count in counts)


@dataclass(frozen=True, slots=True)
class Pause:
    """Why nothing new arrives: a switch that acknowledged it, or a person's statement (`by` and the reason)."""

    how: str
    by: str
    reason: str


@dataclass(frozen=True, slots=True)
class DrainQuestion:
    """The requested proof: how many readings in a row, the pause, and what the application declares next to its topics.

    `topic_ids` are those of the first reading, by topic: a wait may be longer than the readings that are kept of it.
    """

    readings: int
    pause: Pause | None
    punctuators: tuple[str, ...] = ()
    topic_ids: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DrainAnswer:
    """The question, the last of `taken` readings, the verdict on them, and whether the last one found no broker."""

    question: DrainQuestion
    readings: tuple[DrainReading, ...]
    taken: int
    verdict: Verdict
    unreachable: bool = False
