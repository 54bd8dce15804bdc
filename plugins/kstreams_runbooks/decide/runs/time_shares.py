"""The shares of a run's time: each moment counts once, for the first share that covers it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from kstreams_runbooks.model.times import SECOND_MS


class Share(StrEnum):
    """What a stretch of time went into; the first that holds counts."""

    PERSON = "waiting for people"
    DOWN = "stopped until running"
    GATE = "gates"
    BAKE = "bake"
    AIRFLOW = "Airflow between tasks"
    WORK = "readings and writes of the steps"


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time, in Unix milliseconds."""

    share: Share
    from_ms: int
    to_ms: int


@dataclass(frozen=True, slots=True)
class TimeShares:
    """The length of a run and its shares, in milliseconds; `restarts` is the number of stretches without processing."""

    whole_ms: int
    ms: tuple[tuple[Share, int], ...]
    restarts: int

    @property
    def sentence(self) -> str:
        """The shares in one sentence, those of no length left out: `of 118 s: gates 41 s, bake 30 s`."""
        shares = [f"{_named(share, self.restarts)} {_seconds(ms)} s" for share, ms in self.ms if _rounded(ms)]
        return f"of {_seconds(self.whole_ms)} s: {', '.join(shares) or 'nothing that takes a second'}"


def time_shares(from_ms: int, to_ms: int, spans: Iterable[Span]) -> TimeShares:
    """The shares of the time from `from_ms` to `to_ms`; what no span covers is work of the steps."""
    known = [one for one in (_within(span, from_ms, to_ms) for span in spans) if one.from_ms < one.to_ms]
    totals = dict.fromkeys(Share, 0)
    for begin, end, share in _stretches(from_ms, to_ms, known):
        totals[share] += end - begin
    restarts = sum(one.share is Share.DOWN for one in known)
    return TimeShares(max(0, to_ms - from_ms), tuple(totals.items()), restarts)


def _within(span: Span, from_ms: int, to_ms: int) -> Span:
    return Span(span.share, max(span.from_ms, from_ms), min(span.to_ms, to_ms))


def _stretches(from_ms: int, to_ms: int, spans: Sequence[Span]) -> Iterator[tuple[int, int, Share]]:
    ends = sorted({from_ms, to_ms, *(ms for one in spans for ms in (one.from_ms, one.to_ms))})
    order = list(Share)
    for begin, end in pairwise(ends):
        over = [one.share for one in spans if one.from_ms <= begin and end <= one.to_ms]
        yield begin, end, min(over, key=order.index, default=Share.WORK)


def _named(share: Share, restarts: int) -> str:
    if share is Share.DOWN and restarts > 1:
        return f"{share} ({restarts} restarts)"
    return str(share)


def _rounded(ms: int) -> int:
    return round(ms / SECOND_MS)


def _seconds(ms: int) -> str:
    return f"{_rounded(ms):,}"
