"""Limits of an application's runs: each with its unit and the reason for its default, as forms and docs print them."""

from pydantic import Field, ValidationInfo, field_validator

from kstreams_runbooks.fleet.values import Amount, FleetModel, WholeNumber

# Longer than any wait, and within what clocks and databases can count: ten years, in the unit of each.
_SECONDS, _HOURS, _DAYS = 300_000_000.0, 87_600.0, 3_650.0
_RECORDS = 2**53 - 1
# Each reading is kept until the gate opens.
_READINGS = 1_000
_SHORTEST_S = 0.1


class Limits(FleetModel):
    """Named values that gates and approvals compare with; each one has a default."""

    max_lag: WholeNumber = Field(
        default=1000,
        ge=0,
        le=_RECORDS,
        description="records over all partitions; a gate stays shut above it, because an instance that lags has not "
        "taken its work up again",
    )
    gate_good_readings: WholeNumber = Field(
        default=3,
        ge=1,
        le=_READINGS,
        description="consecutive readings that open a gate; one good reading may be an instance that flaps",
    )
    gate_interval_s: Amount = Field(
        default=5.0,
        ge=_SHORTEST_S,
        le=_SECONDS,
        description="seconds between two readings of a gate",
    )
    commit_interval_s: Amount = Field(
        default=30.0,
        ge=0,
        le=_SECONDS,
        description="seconds in which an instance that works commits: its commit.interval.ms (0.1 s by default under "
        "exactly_once_v2, 30 s under at_least_once); progress has to show within it",
    )
    gate_ceiling_s: Amount = Field(
        default=900.0,
        gt=0,
        validate_default=True,
        le=_SECONDS,
        description="seconds of wall clock after which a gate gives up; covers a full restore of local state",
    )
    bake_s: Amount = Field(
        default=300.0,
        ge=0,
        le=_SECONDS,
        description="seconds that the first instance has to stay good before the second is touched; a late failure "
        "then affects one instance only",
    )
    drain_ceiling_s: Amount = Field(
        default=3600.0,
        gt=0,
        le=_SECONDS,
        description="seconds of wall clock after which the wait for a drain gives up; records that are unread after "
        "an hour need a person",
    )
    max_reading_age_s: Amount = Field(
        default=30.0,
        gt=0,
        le=_SECONDS,
        description="seconds; a decision never uses an older reading, because the application may have changed since",
    )
    deploy_wait_h: Amount = Field(
        default=8.0,
        gt=0,
        le=_HOURS,
        description="hours that a step of an application with the manual deployer waits until the requested state is "
        "observed; one working day",
    )
    approval_timeout_h: Amount = Field(
        default=8.0,
        gt=0,
        le=_HOURS,
        description="hours that an approval waits for an answer; one working day",
    )
    approval_expiry_h: Amount = Field(
        default=8.0,
        gt=0,
        le=_HOURS,
        description="hours that an approval holds after it was given; a run cleared weeks later asks again",
    )
    orphan_quarantine_days: Amount = Field(
        default=7.0,
        ge=0,
        le=_DAYS,
        description="days that a topic which a run left behind stays before it may be retired; an undo may need its "
        "store, and a change that is wrong shows within a week",
    )

    @field_validator("gate_ceiling_s")
    @classmethod
    def _reachable(cls, ceiling: float, info: ValidationInfo) -> float:
        readings, interval = info.data.get("gate_good_readings", 0), info.data.get("gate_interval_s", 0.0)
        needed = readings * interval + info.data.get("commit_interval_s", 0.0)
        if needed > ceiling:
            raise ValueError(
                f"is too short: gate_good_readings {readings} at gate_interval_s {interval:g} and one commit interval "
                f"take {needed:g} s, so no gate could open; raise it"
            )
        return ceiling
