"""How far apart in time records of a history may meet while it is caught up, next to what windows allow.

Times are Unix ms, durations ms. None is a value that does not exist, Missing one that is not known.
"""

from dataclasses import dataclass

from kstreams_runbooks.model.readings.readings import Missing


@dataclass(frozen=True, slots=True)
class HistorySpan:
    """The timestamps of one partition that is caught up: of its first record there, and the newest of its log.

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
