"""How an application stands: by the present reading and those that the scheduled check kept before it."""

import logging

from kstreams_runbooks.check_settings import CheckSettings, check_settings
from kstreams_runbooks.decide.lag_status import LagSample, Status, status
from kstreams_runbooks.errors import RunbookError
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.model.lag import ApplicationLag, LagSnapshot
from kstreams_runbooks.steps.checking import limits_of, sample_of

log = logging.getLogger(__name__)


def status_of(snapshot: LagSnapshot, lag: ApplicationLag) -> Status:
    """The status over the window of the ledger; by this reading alone where there is no ledger, and it is said."""
    settings = CheckSettings()
    before: tuple[LagSample, ...] = ()
    try:
        settings = check_settings()
        if (ledger := Ledger.existing()) is not None:
            kept = ledger.lag_readings(snapshot.cluster, (lag.application,), settings.samples - 1)
            before = tuple(
                sample_of(one) for one in kept[lag.application] if one.lag.application_id == lag.application_id
            )
    except RunbookError as error:
        log.warning("%s: judged by this reading alone: %s", lag.application_id, error)
    return status((*before, LagSample(snapshot.taken.at_ms, lag)), limits_of(settings))
