"""Expectations of a gate: which start of which instance, on which release, within which limits, and for how long."""

from dataclasses import dataclass

from kstreams_runbooks.model.readings.readings import MemberReading, Start
from kstreams_runbooks.model.runs.stages import Bounce


@dataclass(frozen=True, slots=True)
class Expectation:
    """An instance is ready when a start other than `previous` runs `bounce` well, `good_readings` times in a row.

    `max_lag` is in records over all partitions of the application, `max_age_ms` is the highest age of a reading,
    `commit_interval_ms` the time within which a working application commits. `seen` is a start whose Streams client was
    seen before the gate's first reading: if it is gone by then, it does not come back. `goes_back`: an undo brings it:
    both topologies of a change may run for a while.
    """

    instance: str
    bounce: Bounce
    previous: Start | None
    max_lag: int
    good_readings: int
    max_age_ms: int
    commit_interval_ms: int
    seen: Start | None = None
    goes_back: bool = False


@dataclass(frozen=True, slots=True)
class Patience:
    """Times of a gate, in seconds: between two readings, the longest wait, and how long it has to stay good."""

    interval_s: float
    ceiling_s: float
    bake_s: float


@dataclass(frozen=True, slots=True)
class Awaited:
    """The deployment requested from a person: `bounce` on one instance, in a start other than `previous`.

    `previous` is None if the instance was down at the time of the request. `members` are those that the old start
    brought into the group and that are removed once it is gone; none under static membership.
    """

    instance: str
    bounce: Bounce
    previous: Start | None
    members: tuple[MemberReading, ...] = ()
