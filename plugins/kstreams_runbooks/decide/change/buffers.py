"""Suppress buffers as they are now, next to the limits that a new version gives them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from kstreams_runbooks.decide.comparison.compared import Compared
from kstreams_runbooks.decide.comparison.state.suppressions import candidates
from kstreams_runbooks.decide.topology.names import suppression_of
from kstreams_runbooks.model.readings.buffers import NOT_MEASURED, BufferFill, PolledBuffers
from kstreams_runbooks.model.topology.declaration import DeclaredSuppression

NO_INSTANCE = "no instance was polled"
NO_BUFFER = "no instance that was polled has a buffer of it"


@dataclass(frozen=True, slots=True)
class NewLimits:
    """Limits that a suppress operator gets by a change (None: not set), `before` its name in the old version."""

    operator: str
    before: str
    max_records: int | None
    max_bytes: int | None
    when_full: Literal["shut_down", "emit_early"]


@dataclass(frozen=True, slots=True)
class BufferNow:
    """The fullest buffer of an operator now, next to its new limits; `fits` is None if it is unknown, `why` is why.

    `place` is the task and its instance; sizes are the largest within the metrics' window, of one task as the limits.
    """

    operator: str
    before: str
    when_full: Literal["shut_down", "emit_early"]
    max_records: int | None
    max_bytes: int | None
    place: str = ""
    records: int | None = None
    bytes: int | None = None
    fits: bool | None = None
    why: str = ""

    @property
    def ends_it(self) -> bool:
        """Whether the new version shuts down with the records that are held back now."""
        return self.fits is False and self.when_full == "shut_down"


def new_limits(compared: Compared) -> tuple[NewLimits, ...]:
    """Limits of each suppression that stays and whose limits are other ones, or whose buffer gets another name."""
    return tuple(_new_limits(compared))


def _new_limits(compared: Compared) -> Iterator[NewLimits]:
    old, new = compared.before.declared.suppressions, compared.after.declared.suppressions
    kept = dict(compared.operators.pairs)
    for was in candidates(compared.before):
        now = kept.get(was, "")
        one, before = new.get(now), old.get(was)
        if one is None or (one.max_records is None and one.max_bytes is None):
            continue
        if was != now or before is None or _limits(before) != _limits(one):
            how: Literal["shut_down", "emit_early"] = "shut_down" if one.ends_when_full else "emit_early"
            yield NewLimits(now, was, one.max_records, one.max_bytes, how)


def _limits(one: DeclaredSuppression) -> tuple[int | None, int | None, bool]:
    return one.max_records, one.max_bytes, one.ends_when_full


def held_back(limits: tuple[NewLimits, ...], polled: tuple[PolledBuffers, ...]) -> tuple[BufferNow, ...]:
    """What the old version holds back now, one row for each of the new limits; unknown if an instance is."""
    return tuple(_held_back(one, polled) for one in limits)


def _held_back(limit: NewLimits, polled: tuple[PolledBuffers, ...]) -> BufferNow:
    """A measured buffer over a limit is certain, even if others are unknown."""
    measured: list[BufferFill] = []
    unknown = [f"{one.instance}: {one.why}" for one in polled if one.why]
    for one in polled:
        own = [buffer for buffer in one.buffers if suppression_of(buffer.store) == limit.before]
        if own and all(buffer.bytes is None for buffer in one.buffers):
            unknown.append(f"{one.instance}: {NOT_MEASURED}")
        measured += [
            BufferFill(limit.before, 0, f"task {buffer.task} of {one.instance}", buffer.records, buffer.bytes)
            for buffer in own
            if buffer.records is not None and buffer.bytes is not None
        ]
    given = (limit.operator, limit.before, limit.when_full, limit.max_records, limit.max_bytes)
    most = max(measured, key=lambda one: _over(one, limit), default=None)
    if most is None or (unknown and _over(most, limit) <= 1):
        return BufferNow(*given, why=next(iter(unknown), NO_INSTANCE if not polled else NO_BUFFER))
    return BufferNow(*given, most.place, most.records, most.bytes, _over(most, limit) <= 1)


def _over(one: BufferFill, limit: NewLimits) -> float:
    """How often the tighter of the limits is held: more than 1 is over it, as Kafka Streams compares."""
    pairs = ((one.records, limit.max_records), (one.bytes, limit.max_bytes))
    return max((size or 0) / most for size, most in pairs if most)
