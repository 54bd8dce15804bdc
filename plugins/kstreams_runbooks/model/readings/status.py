"""What is remembered of an application between two checks: its readings, its topology, how it stands.

All times are Unix milliseconds.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from kstreams_runbooks.model.readings.lag import ApplicationLag, LagRole


@dataclass(frozen=True, slots=True)
class KnownTopology:
    """Topics that an application reads, by role, and changelogs that it may keep, as its instances told at `at_ms`.

    `declared` is a digest of the fleet entry under which they were asked, `changed` the ledger's entry in which a run
    had last changed it by then (0: none had). `patterns` are its sources by pattern, of which `reads` has the topics
    that matched then: another one may match by now.
    """

    reads: Mapping[str, LagRole]
    keeps: tuple[str, ...]
    at_ms: int
    declared: str
    changed: int = 0
    patterns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KeptReading:
    """One reading; `failed` are instances known to be in ERROR, None where nobody asked them.

    `expected` are the ids that its topics have to have: the first ones, until a person takes others for right.
    """

    at_ms: int
    lag: ApplicationLag
    failed: tuple[str, ...] | None = None
    topology: KnownTopology | None = None
    expected: Mapping[str, str] = field(default_factory=dict)


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


def apart(times_ms: Iterable[int], apart_ms: int) -> tuple[int, ...]:
    """Those times, newest first, that are at least `apart_ms` before the one that was taken last: the newest always is.

    Checks that somebody triggers one right after another show no more than one of them does.
    """
    chosen: list[int] = []
    for at_ms in times_ms:
        if not chosen or chosen[-1] - at_ms >= apart_ms:
            chosen.append(at_ms)
    return tuple(chosen)
