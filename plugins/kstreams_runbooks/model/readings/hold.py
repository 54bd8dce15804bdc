"""How long inputs are held for a flush: what was read, what is planned, and the forecast in parts, with its limits.

Durations are seconds unless the name ends in `_ms`. An unknown value is Missing, never zero and never endless.
"""

from dataclasses import dataclass, field
from typing import Final, Literal

from kstreams_runbooks.model.readings.lag import LagRole
from kstreams_runbooks.model.readings.readings import Missing, Taken
from kstreams_runbooks.wording import sentence

# How inputs are held: the application's settings name empty topics, a copier in front of it is stopped, or a person
# has stopped the producers.
HowHeld = Literal["swap", "copier", "manual"]

MEANWHILE: Final = "meanwhile no window closes and no suppress emits its results"
_HOUR_S, _HOURS_FROM_S = 3600, 7200


def seconds_text(seconds: float) -> str:
    """`90 s`, and `2.5 h` from two hours on."""
    return f"{seconds:,.0f} s" if seconds < _HOURS_FROM_S else f"{seconds / _HOUR_S:,.1f} h"


@dataclass(frozen=True, slots=True)
class WaitingTopic:
    """A topic in which records wait while inputs are held.

    `deletes` is whether its cleanup.policy has `delete`; limits of -1 are unlimited, and `retention_bytes` is of each
    partition. `bytes_per_s` is what its busiest partition gets, `waiting_bytes` what waits already in the fullest one.
    `age_ms` is how old the oldest waiting record is, or records are when they arrive: retention counts from their
    timestamps. `tombstones_ms` is how long a compacted topic keeps the deletion of a key (`delete.retention.ms`), None
    if it is not compacted.
    """

    topic: str
    deletes: bool | Missing
    retention_ms: int | Missing
    retention_bytes: int | Missing
    bytes_per_s: float | Missing = 0.0
    waiting_bytes: int | Missing = 0
    age_ms: int | Missing = 0
    tombstones_ms: int | Missing | None = None


@dataclass(frozen=True, slots=True)
class LeftToRead:
    """Unread records on all topics of one role, and how many the application reads of them each second now."""

    role: LagRole
    records: int | Missing
    per_s: float | Missing


@dataclass(frozen=True, slots=True)
class HoldFacts:
    """What was read for a forecast.

    `internal` are the repartition topics that it reads, `changelog_bytes` one copy of its changelogs. `stops_ms` are
    the stops of earlier runs, from the request until the last instance was down, and `empties_ms` from then until the
    group was EMPTY.
    """

    taken: Taken
    waits: tuple[WaitingTopic, ...]
    offsets_retention_ms: int | Missing
    left: tuple[LeftToRead, ...]
    internal: tuple[str, ...]
    changelog_bytes: int | Missing
    stops_ms: tuple[int, ...] = ()
    empties_ms: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class PlannedHold:
    """What a run does while inputs are held.

    `stops` and `starts` are those of all instances together, `restores` the starts of these that may restore local
    state, `threads` the stream threads of each instance. `stop_timeout_s` is the longest stop that the deployer allows,
    None if it has no limit. `requests` are what a person does meanwhile. `longest_s` is the
    longest hold that a person allowed in the form, None if the form does not limit it. `number` is that of the hold in
    the plan, from 1.
    """

    how: HowHeld
    instances: int
    threads: int
    stop_timeout_s: float | None
    gate_good_readings: int
    gate_interval_s: float
    commit_interval_s: float
    task_idle_ms: int | Missing
    stops: int
    starts: int
    restores: int
    requests: int = 0
    longest_s: float | None = None
    number: int = 1


# Stops, starts and restores while inputs are held. With `swap` the way back is a start too. A copier is stopped before
# the application and started after it; it has no state.
WHILE_HELD: Final[dict[HowHeld, tuple[int, int, int]]] = {"swap": (2, 2, 2), "copier": (2, 1, 0), "manual": (1, 0, 0)}


@dataclass(frozen=True, slots=True)
class HoldPart:
    """One part of a forecast: seconds at least and at most, and the reason for them."""

    what: str
    low: float
    high: float
    why: str

    @property
    def text(self) -> str:
        """The part as text, without its reason."""
        return f"{self.what} {self.low:,.0f}–{seconds_text(self.high)}"


@dataclass(frozen=True, slots=True)
class HoldLimit:
    """How long something lasts while inputs are held, and the part of it that a forecast may use."""

    what: str
    seconds: float
    allowed_s: float

    @property
    def text(self) -> str:
        """The limit as text."""
        share = "half of the" if self.allowed_s < self.seconds else "all of the"
        return f"{seconds_text(self.allowed_s)}, {share} {seconds_text(self.seconds)} that {self.what}"


@dataclass(frozen=True, slots=True)
class HoldForecast:
    """How long inputs are held, in parts, and the limits of what waits; `unknown` are parts and limits not known."""

    parts: tuple[HoldPart, ...]
    limits: tuple[HoldLimit, ...]
    unknown: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        object.__setattr__(self, "unknown", tuple(map(sentence, self.unknown)))

    @property
    def seconds(self) -> tuple[float, float]:
        """At least and at most, of the known parts."""
        return sum(one.low for one in self.parts), sum(one.high for one in self.parts)

    @property
    def smallest(self) -> HoldLimit | None:
        """The limit that allows least, None without any."""
        return min(self.limits, key=lambda one: one.allowed_s, default=None)

    @property
    def sentence(self) -> str:
        """The forecast for an approval: seconds, parts, the smallest limit, and what stops meanwhile."""
        low, high = self.seconds
        parts = ", ".join(one.text for one in self.parts)
        limit = self.smallest
        within = f"; limit {limit.text}" if limit else "; no limit of a topic or of offsets"
        unknown = f"; not known: {'; '.join(self.unknown)}" if self.unknown else ""
        return f"{low:,.0f}–{seconds_text(high)} ({parts}){within}{unknown}; {MEANWHILE}"
