"""What is kept of an application between two checks: its readings, its topology, its status.

All times are Unix milliseconds.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from kstreams_runbooks.model.readings.buffers import BufferFill
from kstreams_runbooks.model.readings.lag import ApplicationLag, LagRole
from kstreams_runbooks.model.readings.readings import Missing


@dataclass(frozen=True, slots=True)
class KnownTopology:
    """Topics that an application reads, by role, and changelogs that it may have, as its instances reported at `at_ms`.

    `declared` is a digest of the fleet entry under which they were polled, `changed` the ledger's entry in which a run
    had last changed it by then (0: none had). `patterns` are its sources by pattern, of which `reads` has the topics
    that matched then: another one may match by now.
    """

    reads: Mapping[str, LagRole]
    keeps: tuple[str, ...]
    at_ms: int
    declared: str
    changed: int = 0
    patterns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Standing:
    """A group with committed offsets and no member: since when, at the earliest, and how long brokers keep offsets."""

    since_ms: int | Missing
    kept_ms: int | Missing

    @property
    def until_ms(self) -> int | Missing:
        """The earliest time at which brokers may forget the offsets."""
        if isinstance(self.kept_ms, Missing):
            return Missing(f"offsets.retention.minutes: {self.kept_ms.missing}")
        return self.since_ms if isinstance(self.since_ms, Missing) else self.since_ms + self.kept_ms


@dataclass(frozen=True, slots=True)
class KeptReading:
    """One reading; `failed` are instances known to be in ERROR or dead, None if none was polled.

    `expected` are the ids that its topics have to have: the first ones, until a person accepts others. `buffers` are
    its suppress buffers that end the application when they are full. `accepted` are the changelogs whose other topic a
    person accepted, each with the reason. `standing` is None while the group has members, or has no offsets.
    """

    at_ms: int
    lag: ApplicationLag
    failed: tuple[str, ...] | None = None
    topology: KnownTopology | None = None
    expected: Mapping[str, str] = field(default_factory=dict)
    buffers: tuple[BufferFill, ...] = ()
    accepted: Mapping[str, str] = field(default_factory=dict)
    standing: Standing | None = None


@dataclass(frozen=True, slots=True)
class KeptStatus:
    """The status of an application since `since_ms`, as judged at `at_ms`.

    `read` is whether it is from a reading of that check, False if its cluster could not be read. `told` is the status
    word of the last message to its owner (None: no message yet), `told_read` the value of `read` at that time.
    """

    cluster: str
    application: str
    word: str
    sentence: str
    since_ms: int
    at_ms: int
    read: bool
    told: str | None
    told_read: bool


def apart(times_ms: Iterable[int], apart_ms: int) -> tuple[int, ...]:
    """The newest time, then each that is at least `apart_ms` before the previously chosen one; newest first.

    Checks that a person triggers one right after another prove no more than one of them does.
    """
    chosen: list[int] = []
    for at_ms in times_ms:
        if not chosen or chosen[-1] - at_ms >= apart_ms:
            chosen.append(at_ms)
    return tuple(chosen)
