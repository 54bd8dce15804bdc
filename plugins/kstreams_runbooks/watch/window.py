"""The readings that decide a status, and its limits."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kstreams_runbooks.decide.status.expected_topics import expected_ids
from kstreams_runbooks.decide.status.standing import standing
from kstreams_runbooks.decide.status.status import LagSample, StatusLimits
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.status import KeptReading
from kstreams_runbooks.model.times import HOUR_MS, SECOND_MS
from kstreams_runbooks.watch.own_writes import NO_WRITES, OwnWrites
from kstreams_runbooks.watch.settings import CheckSettings

_NOT_ASKED = Missing("fleet_check reads it")


def limits_of(settings: CheckSettings) -> StatusLimits:
    """The limits of the statuses, from the settings."""
    return StatusLimits(
        settings.samples,
        settings.behind_records,
        int(settings.expiring_hours * HOUR_MS),
        int(settings.apart_seconds * SECOND_MS),
        settings.buffer_percent,
    )


def sample_of(reading: KeptReading) -> LagSample:
    """A kept reading as a sample for the status."""
    stands = reading.standing
    return LagSample(reading.at_ms, reading.lag, reading.failed, reading.expected, reading.buffers, standing=stands)


def earlier_readings(
    ledger: Ledger, cluster: str, ids: Mapping[str, str], at_ms: int, settings: CheckSettings
) -> dict[str, tuple[KeptReading, ...]]:
    """Readings before `at_ms` of each application (name to application id), oldest first, as many as a status needs.

    A reading with another id belongs to another group, even under the same name.
    """
    limits = limits_of(settings)
    found = ledger.lag_readings(cluster, ids, limits.samples, until_ms=at_ms - 1, apart_ms=limits.apart_ms)
    return {name: tuple(one for one in found[name] if one.lag.application_id == ids[name]) for name in ids}


def window(earlier: Sequence[KeptReading], present: LagSample, own: OwnWrites = NO_WRITES) -> tuple[LagSample, ...]:
    """The samples that decide a status: earlier readings, and the present one with the topics expected before.

    `own` is what runs have written: no fault of the application.
    """
    if earlier and not present.expected:
        expected = expected_ids(earlier[-1].expected, present.lag, own.topics)
        present = replace(present, expected=expected)
    if present.standing is None:
        # Only the check asks brokers how long they keep offsets.
        last = earlier[-1] if earlier else None
        kept_ms = last.standing.kept_ms if last and last.standing else _NOT_ASKED
        present = replace(present, standing=standing(present.lag, last, kept_ms))
    samples = (*map(sample_of, earlier), present)
    return tuple(replace(one, moved=own.moved_at(one.lag.application_id, one.at_ms)) for one in samples)
