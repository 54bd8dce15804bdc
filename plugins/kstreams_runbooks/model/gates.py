"""What a gate waits for: which start of which instance, on which release, within which limits."""

from dataclasses import dataclass

from kstreams_runbooks.model.plan import Bounce
from kstreams_runbooks.model.readings import Start


@dataclass(frozen=True, slots=True)
class Expectation:
    """An instance is ready when a start other than `previous` runs `bounce` well, `good_readings` times in a row.

    `max_lag` is in records over all partitions of the application, `max_age_ms` is how old a reading may be.
    """

    instance: str
    bounce: Bounce
    previous: Start | None
    max_lag: int
    good_readings: int
    max_age_ms: int
