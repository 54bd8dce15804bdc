"""The status of applications from the present reading and those that the scheduled check kept before it."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Self

from kstreams_runbooks.decide.status.status import LagAnswer, LagSample, Status, status
from kstreams_runbooks.errors import RunbookError
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.model.readings.lag import ApplicationLag
from kstreams_runbooks.model.readings.status import KeptReading
from kstreams_runbooks.watch.buffers import BufferLimits
from kstreams_runbooks.watch.lag import ClusterLag
from kstreams_runbooks.watch.own_writes import NO_WRITES, OwnWrites, own_writes
from kstreams_runbooks.watch.settings import CheckSettings, check_settings
from kstreams_runbooks.watch.window import earlier_readings, limits_of, window
from kstreams_runbooks.wording import sentence

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LagWindow:
    """The kept readings of a cluster's applications before some time, by name; empty without a ledger.

    `own` is what runs have written in the cluster by then.
    """

    settings: CheckSettings
    kept: Mapping[str, tuple[KeptReading, ...]]
    own: OwnWrites = NO_WRITES

    @classmethod
    def before(cls, at_ms: int, cluster: str, ids: Mapping[str, str]) -> Self:
        """Read them from the ledger (`ids`: name to application id); logs a ledger that does not answer.

        It leaves out later readings: a count takes long, and a check may run meanwhile.
        """
        settings, found, own = CheckSettings(), {}, NO_WRITES
        try:
            settings = check_settings()
            if (ledger := Ledger.existing()) is not None:
                found = earlier_readings(ledger, cluster, ids, at_ms, settings)
                own = own_writes(ledger, cluster, (each[-1].lag for each in found.values() if each), at_ms)
        except RunbookError as error:
            log.warning("%s", sentence(f"{', '.join(ids)}: judged by this reading alone: {error}"))
        return cls(settings, found, own)

    @property
    def lags(self) -> dict[str, ApplicationLag]:
        """The last reading of each application that has one."""
        return {name: readings[-1].lag for name, readings in self.kept.items() if readings}

    @property
    def expiring_ms(self) -> int:
        """How close to its deletion an unread record counts as expiring."""
        return limits_of(self.settings).expiring_ms

    def answers(
        self, read: ClusterLag, limits: Mapping[str, BufferLimits] = MappingProxyType({})
    ) -> tuple[LagAnswer, ...]:
        """The answer for each application that was read, whether its lag is in offsets or in records.

        `limits` are those of its suppress buffers, which are judged if its instances were polled.
        """
        none = BufferLimits()
        return tuple(
            LagAnswer(
                read.snapshot.cluster,
                read.snapshot.taken.at_ms,
                lag,
                self._status(lag, read, limits.get(lag.application, none)),
            )
            for lag in read.snapshot.applications
        )

    def _status(self, lag: ApplicationLag, read: ClusterLag, limits: BufferLimits) -> Status:
        at_ms, kept = read.snapshot.taken.at_ms, self.kept.get(lag.application, ())
        polled = read.buffers.get(lag.application)
        fills = () if polled is None or not limits else limits.fills(polled, lag, kept, at_ms)
        present = LagSample(at_ms, lag, read.failed.get(lag.application), buffers=fills)
        return status(window(kept, present, self.own), limits_of(self.settings))
