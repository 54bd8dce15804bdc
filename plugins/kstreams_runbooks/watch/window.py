"""The readings that a status is judged by, and its limits."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kstreams_runbooks.decide.status.status import LagSample, StatusLimits
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.model.readings.status import KeptReading
from kstreams_runbooks.model.times import HOUR_MS, SECOND_MS
from kstreams_runbooks.watch.settings import CheckSettings


def limits_of(settings: CheckSettings) -> StatusLimits:
    """What statuses are judged by."""
    return StatusLimits(
        settings.samples,
        settings.behind_records,
        int(settings.expiring_hours * HOUR_MS),
        int(settings.apart_seconds * SECOND_MS),
    )


def sample_of(reading: KeptReading) -> LagSample:
    """A kept reading as a status is judged by it."""
    return LagSample(reading.at_ms, reading.lag, reading.failed, reading.expected)


def earlier_readings(
    ledger: Ledger, cluster: str, ids: Mapping[str, str], at_ms: int, settings: CheckSettings
) -> dict[str, tuple[KeptReading, ...]]:
    """Readings before `at_ms` of each application (name to application id), oldest first, as many as a status needs.

    Those of another id are of another group, whatever it was called.
    """
    limits = limits_of(settings)
    found = ledger.lag_readings(cluster, ids, limits.samples, until_ms=at_ms - 1, apart_ms=limits.apart_ms)
    return {name: tuple(one for one in found[name] if one.lag.application_id == ids[name]) for name in ids}


def window(earlier: Sequence[KeptReading], present: LagSample) -> tuple[LagSample, ...]:
    """What a status is judged by: what was read before, and the present reading, with what was expected before it."""
    if earlier and not present.expected:
        present = replace(present, expected=earlier[-1].expected)
    return (*map(sample_of, earlier), present)
