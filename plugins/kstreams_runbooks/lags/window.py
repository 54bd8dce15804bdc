"""How applications stand: by the present reading and those that the scheduled check kept before it."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from kstreams_runbooks.check_settings import CheckSettings, check_settings
from kstreams_runbooks.decide.lag_status import LagSample, Status, status
from kstreams_runbooks.errors import RunbookError
from kstreams_runbooks.lags.reading import ClusterLag
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.model.lag import ApplicationLag
from kstreams_runbooks.steps.checking import limits_of, sample_of

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Answer:
    """What is answered of one application: its lag at one time, and how it stands."""

    cluster: str
    at_ms: int
    lag: ApplicationLag
    status: Status


@dataclass(frozen=True, slots=True)
class Window:
    """What was kept of a cluster's applications before a reading; nothing where there is no ledger, and it is said."""

    settings: CheckSettings
    kept: Mapping[str, tuple[LagSample, ...]]

    @classmethod
    def before(cls, read: ClusterLag, settings: CheckSettings) -> Self:
        """Read it from the ledger, as soon as the reading is taken: a count takes long, and a check comes meanwhile."""
        snapshot = read.snapshot
        lags = {lag.application: lag for lag in snapshot.applications}
        try:
            ledger = Ledger.existing()
            found = {} if ledger is None else ledger.lag_readings(snapshot.cluster, tuple(lags), settings.samples - 1)
        except RunbookError as error:
            log.warning("%s: judged by this reading alone: %s", ", ".join(lags), error)
            found = {}
        return cls(
            settings,
            {
                name: tuple(
                    sample_of(one)
                    for one in readings
                    if one.lag.application_id == lags[name].application_id and one.at_ms < snapshot.taken.at_ms
                )
                for name, readings in found.items()
            },
        )

    def answers(self, read: ClusterLag) -> tuple[Answer, ...]:
        """One of each application that was read, with records in place of offsets or not."""
        at_ms, cluster, limits = read.snapshot.taken.at_ms, read.snapshot.cluster, limits_of(self.settings)
        return tuple(
            Answer(
                cluster,
                at_ms,
                lag,
                status(
                    (
                        *self.kept.get(lag.application, ()),
                        LagSample(at_ms, lag, read.failed.get(lag.application)),
                    ),
                    limits,
                ),
            )
            for lag in read.snapshot.applications
        )


def present_settings() -> CheckSettings:
    """Those of the scheduled check, its defaults where its file is bad: `lag` is asked for more than its word."""
    try:
        return check_settings()
    except RunbookError as error:
        log.warning("statuses are judged by the default limits: %s", error)
        return CheckSettings()
