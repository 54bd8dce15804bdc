"""What a gate waits for: which start of which instance, on which release, within which limits, and for how long."""

from dataclasses import dataclass

from kstreams_runbooks.model.readings.readings import MemberReading, Start
from kstreams_runbooks.model.runs.plan import Bounce


@dataclass(frozen=True, slots=True)
class Expectation:
    """An instance is ready when a start other than `previous` runs `bounce` well, `good_readings` times in a row.

    `max_lag` is in records over all partitions of the application, `max_age_ms` is how old a reading may be,
    `commit_interval_ms` within which time an application that works commits. `seen` is a start whose Streams client has
    been seen before the gate's first reading: should it be gone by then, it does not come back.
    """

    instance: str
    bounce: Bounce
    previous: Start | None
    max_lag: int
    good_readings: int
    max_age_ms: int
    commit_interval_ms: int
    seen: Start | None = None


@dataclass(frozen=True, slots=True)
class Patience:
    """How a gate waits, in seconds: between two readings, at most, and how long it has to stay good once it passed."""

    interval_s: float
    ceiling_s: float
    bake_s: float


@dataclass(frozen=True, slots=True)
class Awaited:
    """What a person is requested to deploy: `bounce` on one instance, in a start other than `previous`.

    `previous` is None where the instance was down when it was requested. `members` are those that the old start brought
    into the group and that are to be removed once it is gone; none under static membership.
    """

    instance: str
    bounce: Bounce
    previous: Start | None
    members: tuple[MemberReading, ...] = ()
