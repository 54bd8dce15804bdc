"""Suppress buffers next to their declared limits, for the scheduled check and `lag`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kstreams_runbooks.decide.status.buffers import (
    Limited,
    fullest,
    tighter,
    with_last_known,
)
from kstreams_runbooks.documents.text import is_absent, read_text
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.fleet import Application, fleet_dir, release_declaration
from kstreams_runbooks.model.readings.buffers import BufferFill, PolledBuffers
from kstreams_runbooks.model.readings.lag import ApplicationLag
from kstreams_runbooks.model.readings.status import KeptReading
from kstreams_runbooks.model.topology.declaration import DeclaredSuppression
from kstreams_runbooks.watch.settings import CheckSettings

# A declaration without these words has no limit: most files of a fleet are not parsed in every check.
_WORDS = ("max_records", "max_bytes")


@dataclass(frozen=True, slots=True)
class BufferLimits:
    """Limits of one application by Kafka Streams release and operator; `why` is the reason if they are unknown."""

    limited: Mapping[str, Limited] = field(default_factory=dict)
    why: str = ""

    def __bool__(self) -> bool:
        """Whether there is a limit to watch."""
        return bool(self.limited or self.why)

    def fills(
        self,
        polled: tuple[PolledBuffers, ...],
        lag: ApplicationLag,
        earlier: Sequence[KeptReading],
        at_ms: int,
    ) -> tuple[BufferFill, ...]:
        """The fullest buffers now; one that was not measured now as it was in the last of the `earlier` readings."""
        if self.why:
            return (BufferFill("every suppress operator", at_ms, why=self.why),)
        if not polled:
            return (BufferFill("every suppress operator", at_ms, why="no instance reports its metrics"),)
        found = fullest(polled, self.limited, at_ms)
        return with_last_known(found, earlier[-1].buffers, lag, earlier[-1].lag) if earlier else found


def buffer_limits(entry: Application, settings: CheckSettings) -> BufferLimits:
    """Suppressions that end the application when full; none if the check is set not to judge them.

    If several releases of the application have one Kafka Streams release, the smallest limit of an operator counts.
    """
    if not settings.buffer_percent:
        return BufferLimits()
    declared = entry.declared()
    found: dict[str, dict[str, DeclaredSuppression]] = {}
    for release in declared.releases:
        library = declared.library(release)
        try:
            suppressions = _suppressions(entry.name, release, library)
        except BadInput as error:
            return BufferLimits(why=f"its limit is not known: {error}")
        limits = {name: one for name, one in suppressions.items() if one.ends_when_full}
        for name, one in limits.items():
            same = found.setdefault(library, {})
            same[name] = tighter(same[name], one) if name in same else one
    return BufferLimits(found)


def _suppressions(application: str, release: str, library: str) -> Mapping[str, DeclaredSuppression]:
    file = fleet_dir() / "applications" / application / f"{release}.yaml"
    if is_absent(file) or not any(word in read_text(file) for word in _WORDS):
        return {}
    declared = release_declaration(application, release, library)
    return {} if declared is None else declared.suppressions
