"""Readings from which "drained" is proven or not: consecutive, each with the ends before and after the offsets."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from kstreams_runbooks.model.readings.lag import PartitionLag
from kstreams_runbooks.model.readings.readings import Taken
from kstreams_runbooks.model.verdicts import Verdict

LogEnds = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class OpenTransaction:
    """A transaction that is open on the partition `name` (`topic-number`); what nobody could say is None, with `why`.

    `age_ms` is how long it is open and `timeout_ms` how long it may be, both by its coordinator; where none names it,
    `timeout_ms` is the longest that a broker allows any. `start_offset`, where it begins on the partition, tells it
    from the next one of the same producer. `seen_ms` is for how long whoever reads has seen this very one.
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
    """One instance that runs: its state, failed threads and tasks, None with `why` where one is not known.

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
    """Records that only stream time lets go: in a suppress buffer, or in a window that is not closed.

    `until_ms` is the stream time at which the last of them is due, `stream_time_ms` where it stands (None: not known).
    """

    what: str
    until_ms: int | None
    stream_time_ms: int | None


@dataclass(frozen=True, slots=True)
class DrainReading:
    """One reading: ends of everything, then committed offsets, then the ends again.

    `partitions` are those that the application reads, `sinks` the ends of what it writes for others by `topic-number`,
    and `other_ids` the ids of those topics and of the changelogs: without them an end that has not moved says nothing,
    and a state that is gone would not be seen. Stable only where `ends_before` and `ends_after` are equal: otherwise
    somebody wrote in between. `group_state` is the broker's word, None where no broker knows the group.
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
        """Whether what is left is counted in records: of a large backlog only its offsets are told."""
        return all(one.exact or not one.records for one in self.partitions if one.role != "orphaned")

    @property
    def topic_ids(self) -> dict[str, str]:
        """Ids of the topics that it reads, that it writes for others, and that hold its state, by name."""
        read = {one.topic: one.topic_id for one in self.partitions if one.topic_id is not None}
        return {**self.other_ids, **read}

    @property
    def unread(self) -> int | None:
        """Records left to read, None while one partition is not known."""
        counts = [one.records for one in self.partitions if one.role != "orphaned"]
        return None if self.problems or not counts or None in counts else sum(count or 0 for count in counts)


@dataclass(frozen=True, slots=True)
class Pause:
    """Why nothing new arrives: a switch that acknowledged it, or a person's word (`by` and the reason)."""

    how: str
    by: str
    reason: str


@dataclass(frozen=True, slots=True)
class DrainQuestion:
    """What is asked: how many readings in a row, the pause, and what the application declares beside its topics.

    `topic_ids` are those of the first reading, by topic: a wait may be longer than the readings that are kept of it.
    """

    readings: int
    pause: Pause | None
    punctuators: tuple[str, ...] = ()
    topic_ids: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DrainAnswer:
    """What was asked, the last readings of so many, the verdict on them, and whether the last one found no broker."""

    question: DrainQuestion
    readings: tuple[DrainReading, ...]
    taken: int
    verdict: Verdict
    unreachable: bool = False
