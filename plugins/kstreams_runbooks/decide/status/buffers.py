"""How full the suppress buffers are that end an application at their limits, from the metrics of its instances."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from kstreams_runbooks.decide.topology.names import suppression_of
from kstreams_runbooks.model.readings.buffers import NOT_MEASURED, BufferFill, PolledBuffers
from kstreams_runbooks.model.readings.lag import ApplicationLag
from kstreams_runbooks.model.times import HOUR_MS, utc_minute
from kstreams_runbooks.model.topology.declaration import DeclaredSuppression
from kstreams_runbooks.wording import first_of

# How long a measurement counts after the last one: a buffer that no record enters or leaves is not measured.
_CARRIED_MS = HOUR_MS
Limited = Mapping[str, DeclaredSuppression]


def tighter(one: DeclaredSuppression, other: DeclaredSuppression) -> DeclaredSuppression:
    """The first with the smaller one of each limit."""
    return replace(
        one,
        max_records=min(filter(None, (one.max_records, other.max_records)), default=None),
        max_bytes=min(filter(None, (one.max_bytes, other.max_bytes)), default=None),
    )


def fullest(polled: tuple[PolledBuffers, ...], limited: Mapping[str, Limited], at_ms: int) -> tuple[BufferFill, ...]:
    """The fullest measured buffer of each limited operator, and one that is unknown if an instance measured none.

    `limited` has the suppressions that end the application, by Kafka Streams release and operator. An operator without
    a buffer on any instance does not run, and is left out. So is a buffer that gets no records while others of its
    instance are measured: it does not grow.
    """
    known: dict[str, BufferFill] = {}
    unknown: dict[str, BufferFill] = {}
    for fill in (fill for one in polled for fill in _of_instance(one, limited.get(one.library, {}), at_ms)):
        if fill.why:
            unknown.setdefault(fill.operator, fill)
        elif (other := known.get(fill.operator)) is None or (fill.percent or 0) > (other.percent or 0):
            known[fill.operator] = fill
    return tuple(fills[name] for name in sorted({*known, *unknown}) for fills in (known, unknown) if name in fills)


def with_last_known(
    now: tuple[BufferFill, ...], before: tuple[BufferFill, ...], lag: ApplicationLag, lag_before: ApplicationLag
) -> tuple[BufferFill, ...]:
    """The same, with the last known size in place of an unknown one, at its own time.

    It counts for an hour, and for as long as no offset has been committed since: no record has entered the buffer then.
    """
    known = {one.operator: one for one in before if not one.why}
    same = _committed(lag) == _committed(lag_before)
    return tuple(
        last
        if one.why and (last := known.get(one.operator)) and (same or one.at_ms - last.at_ms <= _CARRIED_MS)
        else one
        for one in now
    )


@dataclass(frozen=True, slots=True)
class Fills:
    """Why an application is filling (empty: it is not), and buffers for which that is unknown."""

    sentence: str = ""
    unknown: tuple[str, ...] = ()


def fills(buffers: tuple[BufferFill, ...], percent: int) -> Fills:
    """Buffers of which `percent` or more of a limit is used; 0: none is judged."""
    if not percent:
        return Fills()
    full = tuple(
        f"{one.operator} ({one.place} held {one.sizes} by {utc_minute(one.at_ms)}: {one.percent} %, limit {percent} %)"
        for one in buffers
        if (one.percent or 0) >= percent
    )
    unknown = tuple(f"how full the buffer of {one.operator} is: {one.why}" for one in buffers if one.why)
    if not full:
        return Fills("", unknown)
    said = "a full suppress buffer shuts the application down; raise its limit, or add instances"
    return Fills(f"{said}: {first_of(full)}", unknown)


def _committed(lag: ApplicationLag) -> dict[str, int | None]:
    return {row.name: row.committed for row in lag.read}


def _of_instance(one: PolledBuffers, limits: Limited, at_ms: int) -> Iterator[BufferFill]:
    if one.why:
        yield from (BufferFill(operator, at_ms, why=f"{one.instance}: {one.why}") for operator in limits)
    measured = any(buffer.bytes is not None for buffer in one.buffers)
    for buffer in one.buffers:
        if (limit := limits.get(suppression_of(buffer.store))) is None:
            continue
        place = f"task {buffer.task} of {one.instance}"
        if buffer.records is not None and buffer.bytes is not None:
            sizes = (buffer.records, buffer.bytes, limit.max_records, limit.max_bytes)
            yield BufferFill(suppression_of(buffer.store), at_ms, place, *sizes)
        elif not measured:
            yield BufferFill(suppression_of(buffer.store), at_ms, place, why=f"{place}: {NOT_MEASURED}")
