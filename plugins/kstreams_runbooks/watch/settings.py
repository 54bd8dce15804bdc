"""Settings of the scheduled check: `config/fleet_check.yaml`, next to the fleet's folders, all optional."""

from pathlib import Path

from pydantic import Field

from kstreams_runbooks.fleet import fleet_dir
from kstreams_runbooks.fleet.reading import read_settings
from kstreams_runbooks.fleet.values import Amount, FleetModel, WholeNumber

_FILE = "fleet_check.yaml"


class CheckSettings(FleetModel):
    """The file; every value has a default, and a maximum that clocks and databases can still represent."""

    name: str = "fleet_check"
    every_minutes: WholeNumber = Field(
        default=5, ge=0, le=525_600, description="minutes between two checks; 0: only by hand"
    )
    keep_days: Amount = Field(default=7, gt=0, le=36_500, description="days for which readings are kept")
    samples: WholeNumber = Field(
        default=3,
        ge=2,
        le=1_000,
        description="readings that decide a status; this many without progress are stalled",
    )
    apart_seconds: Amount = Field(
        default=15, ge=0, le=31_536_000, description="minimum seconds between two readings that decide a status"
    )
    behind_records: WholeNumber = Field(
        default=10_000, ge=0, le=2**53 - 1, description="records to read above which it is behind"
    )
    expiring_hours: Amount = Field(
        default=6,
        gt=0,
        le=87_600,
        description="an unread record is expiring this many hours before its deletion; half its retention at most",
    )
    buffer_percent: WholeNumber = Field(
        default=80,
        ge=0,
        le=100,
        description="percent of a limit at which a suppress buffer that shuts the application down is filling; 0: off",
    )
    topology_hours: Amount = Field(
        default=1,
        gt=0,
        le=87_600,
        description="hours after which the check reads a healthy application's topology again",
    )


def check_settings(config_dir: Path | None = None) -> CheckSettings:
    """The settings in the file, or the defaults; BadInput names what is wrong with the file."""
    return read_settings(fleet_dir(config_dir) / _FILE, CheckSettings, "nothing is checked")
