"""How far apart in time records may meet while a history or a backlog is caught up, next to what windows allow.

Times are Unix ms, durations ms. None is a value that does not exist, Missing one that is not known.
"""

from dataclasses import dataclass

from kstreams_runbooks.model.readings.readings import Missing


@dataclass(frozen=True, slots=True)
class HistorySpan:
    """The timestamps of one partition that is caught up: of its first or oldest record there, and of the newest.

    Both are None if nothing of it is left to read.
    """

    topic: str
    partition: int
    first_ms: int | Missing | None
    newest_ms: int | Missing | None


@dataclass(frozen=True, slots=True)
class LateForecast:
    """A store that drops records later than `grace_ms`, and how far apart a catch-up may mix what leads to it.

    `disorder_ms` is the most that one record may be behind another that came before it; 0 if each of its tasks reads
    one partition, whose order is that of before. `times` names inputs whose records the application dates by something
    other than their timestamps, or perhaps so: the disorder is an estimate then.
    """

    store: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    grace_ms: int | Missing
    disorder_ms: int | Missing
    times: tuple[str, ...] = ()

    @property
    def comparable(self) -> bool:
        """Whether the catch-up alone drops no record: its results can be compared with those from before."""
        if self.times or isinstance(self.disorder_ms, Missing):
            return False
        return not self.disorder_ms or (isinstance(self.grace_ms, int) and self.disorder_ms <= self.grace_ms)


@dataclass(frozen=True, slots=True)
class PartitionOrder:
    """The last records of one partition: how many, how long by their own time, and how far out of order.

    `step_back_ms` is the most that a record is older than one before it.
    """

    topic: str
    partition: int
    records: int
    span_ms: int
    step_back_ms: int


@dataclass(frozen=True, slots=True)
class Stop:
    """The longest time without processing of a plan, and `what` happens meanwhile, for a sentence.

    `rolls`: one instance after another stops for that long; the others process on. `unread` are the records that may be
    unread when it begins. `longer` is why it may take longer than `seconds`, by a time that is not known; empty if it
    does not. `cure` prevents that records of it come late, for a sentence; empty if only a shorter one does. `waits`
    are the seconds for which records wait, if they are more than those that count.
    """

    seconds: float
    what: str
    rolls: bool = False
    unread: int | Missing = 0
    longer: str = ""
    cure: str = ""
    waits: float = 0.0


@dataclass(frozen=True, slots=True)
class LateStore:
    """A store that drops records later than `grace_ms`, in tasks that do not read one partition alone.

    `subtopology` is the one whose tasks have it. `windows` is the most windows that one record falls into; None if the
    number has no bound, 0 if the store has none.
    """

    store: str
    subtopology: str
    inputs: tuple[str, ...]
    grace_ms: int | Missing
    windows: int | None


@dataclass(frozen=True, slots=True)
class LateLoss:
    """A store that may drop records once processing goes on after a stop.

    `allowed_ms` is the longest stop after which none is late: half of the grace less the most that a record of its
    inputs is behind an earlier one of its partition. `records` is the most that may be late: what may be unread when it
    begins, and as many as its inputs get meanwhile `at` a rate, in words: that of their last records.
    """

    late: LateStore
    step_back_ms: int | Missing
    allowed_ms: int | Missing
    records: int | Missing
    at: str = ""
