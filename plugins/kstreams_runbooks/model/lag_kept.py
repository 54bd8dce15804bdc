"""What is remembered of an application between two checks: its readings, its topology, how it stands.

All times are Unix milliseconds.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from kstreams_runbooks.model.lag import ApplicationLag, LagRole


@dataclass(frozen=True, slots=True)
class KnownTopology:
    """Topics that an application reads, by role, and changelogs that it may keep, as its instances told at `at_ms`.

    `declared` is a digest of the fleet entry under which they were asked.
    """

    reads: Mapping[str, LagRole]
    keeps: tuple[str, ...]
    at_ms: int
    declared: str


@dataclass(frozen=True, slots=True)
class KeptReading:
    """One reading; `failed` are instances known to be in ERROR, None where nobody asked them."""

    at_ms: int
    lag: ApplicationLag
    failed: tuple[str, ...] | None = None
    topology: KnownTopology | None = None


@dataclass(frozen=True, slots=True)
class KeptStatus:
    """How an application stands since `since_ms`, as judged at `at_ms`.

    `read` says that it is by a reading of that check, False where its cluster could not be read. `told` is the word
    that its owner was told last (None: nothing yet), `told_read` what `read` was then.
    """

    cluster: str
    application: str
    word: str
    sentence: str
    since_ms: int
    at_ms: int
    read: bool
    told: str | None
    told_read: bool
