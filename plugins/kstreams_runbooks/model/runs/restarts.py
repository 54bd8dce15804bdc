"""A restart of an instance as it was measured, and the times after which its group goes on without it."""

from dataclasses import dataclass


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

    @property
    def gap_s(self) -> float:
        """Seconds from the request to stop until it was seen RUNNING again."""
        return max(0, self.running_ms - self.stop_requested_ms) / 1000


@dataclass(frozen=True, slots=True)
class EarlierRestart:
    """A restart that another run measured."""

    run_key: str
    restart: Restart
