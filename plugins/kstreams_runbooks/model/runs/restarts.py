"""A restart of an instance as it was measured, and the times after which its group goes on without it."""

from dataclasses import dataclass

# A JVM answers within some seconds of its start, and looks are this far apart at most.
_LONGEST_UNHEARD_MS = 15_000


@dataclass(frozen=True, slots=True)
class GroupTimes:
    """`session.timeout.ms` and `max.poll.interval.ms` of an instance's main consumer, and where each was found.

    None if a value is not known; then its source is the reason.
    """

    application: str
    instance: str
    session_ms: int | None
    session_source: str
    poll_ms: int | None
    poll_source: str


@dataclass(frozen=True, slots=True)
class Restart:
    """One measured restart; times are Unix milliseconds.

    `back_ms` is when the new Streams client was first seen past its creation, `running_ms` when it was first seen
    RUNNING: each at most one look late. With `at_once` all instances were down together, with `cleared` local state was
    deleted in between. `session_ms` is the session timeout of the member that left (None: unknown, and why).

    A run sees a restart by a person only in its looks, one each `seen_every_ms` (0: the run restarted it itself). Then
    `stop_requested_ms` is the last look that the old start answered, `stopped_ms` the first without it, and
    `started_ms` the last one before the new start: the gap is an upper bound, the time without a process a lower one.

    `unheard_ms` is how long before `running_ms` nothing was heard of the new start: its agent did not answer, and it
    may have been RUNNING all the time.
    """

    application: str
    instance: str
    bounce: int
    at_once: bool
    cleared: bool
    static: bool
    stop_requested_ms: int
    stopped_ms: int
    started_ms: int
    back_ms: int
    running_ms: int
    session_ms: int | None
    session_source: str
    seen_every_ms: int = 0
    unheard_ms: int = 0

    @property
    def is_measured(self) -> bool:
        """Whether the gap is that of the instance, and not that of an agent without an answer."""
        return self.unheard_ms <= _LONGEST_UNHEARD_MS

    @property
    def by_person(self) -> bool:
        """Whether a person restarted it."""
        return self.seen_every_ms > 0

    @property
    def gap_s(self) -> float:
        """Seconds from the request to stop until it was seen RUNNING again."""
        return max(0, self.running_ms - self.stop_requested_ms) / 1000


@dataclass(frozen=True, slots=True)
class EarlierRestart:
    """A restart that another run measured."""

    run_key: str
    restart: Restart
