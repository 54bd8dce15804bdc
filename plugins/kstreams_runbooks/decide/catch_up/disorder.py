"""Forecasts which results of a catch-up differ because records come in another order than they did live.

Live, the partitions of an input advance together. While a history is caught up each task reads as fast as it can: one
partition may be at its end while another is at its start. Behind a repartition topic their records meet, stream time
follows the foremost, and a window whose end and grace it has passed drops the others. Tried: a windowed count behind a
repartition topic, with 200 ms of grace, live and from history: 1,013 of 2,883 windows missing.

Source: Kafka Streams core concepts, "Out-of-Order Handling"; developer guide, "Windowing" (grace period); KIP-695.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from kstreams_runbooks.decide.comparison.compared import Side, filled_by_tables
from kstreams_runbooks.decide.topology.graph import store_roles
from kstreams_runbooks.decide.topology.names import (
    is_join_window,
    is_subscription_store,
    is_suppress_buffer,
    suppression_of,
)
from kstreams_runbooks.decide.topology.upstream import inputs_of, topics_before
from kstreams_runbooks.model.readings.disorder import HistorySpan, LateForecast, LateStore
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.times import SECOND_MS
from kstreams_runbooks.model.topology.declaration import DEFAULT, DeclaredStore
from kstreams_runbooks.wording import first_of

# Of a grace: what a stop and the disorder of its inputs may use together; the rest is for what nothing forecasts.
SHARE_OF_GRACE: Final = 0.5
_EXTRACTOR = "default.timestamp.extractor"
# Of the library, and they date a record by its timestamp. Source: org.apache.kafka.streams.processor.
_BY_TIMESTAMP = frozenset(
    f"org.apache.kafka.streams.processor.{name}"
    for name in ("FailOnInvalidTimestamp", "LogAndSkipOnInvalidTimestamp", "UsePartitionTimeOnInvalidTimestamp")
)


def late_forecast(side: Side, spans: Sequence[HistorySpan]) -> tuple[LateForecast, ...]:
    """Each store that may drop late records and is behind one of these partitions, sorted by its name.

    `spans` has every partition of all inputs; an input without one is not known.
    """
    return tuple(_forecasts(side, spans))


def why_late(sides: Iterable[Side], stores: Iterable[LateStore], spans: tuple[HistorySpan, ...] | Missing) -> str:
    """Why one of these records may have come too late to one of these stores; empty if none can have.

    `spans` are the times of the records that were read of each partition of all inputs, the oldest and the newest one.
    A record is late once a newer one has moved stream time past the end and the grace of its window. Records whose
    times differ by the grace at most are in time, in any order and on any instance.
    If the application dates its records itself, their timestamps are an estimate: the limit is that of a hold.
    """
    if isinstance(spans, Missing):
        return spans.missing
    wanted = {one.store: one for one in stores}
    forecasts = [one for side in sides for one in late_forecast(side, spans) if one.store in wanted]
    for one in forecasts:
        if not one.comparable and not _within_hold(one):
            limit = "; the limit is half of that, as for a hold" if one.times else ""
            return f"store {one.store} {late_text(one)}{limit}"
    known = {one.topic for one in spans}
    for name in sorted(wanted.keys() - {one.store for one in forecasts}):
        # It has no forecast if nothing was read of its inputs, or if they are not known.
        if unread := sorted(set(wanted[name].inputs) - known):
            return f"store {name}: the times of {unread[0]} were not read"
        if not wanted[name].inputs:
            return f"store {name}: no topic is known that leads to it"
    return ""


def _within_hold(one: LateForecast) -> bool:
    if not one.times or isinstance(one.grace_ms, Missing) or isinstance(one.disorder_ms, Missing):
        return False
    return one.disorder_ms <= one.grace_ms * SHARE_OF_GRACE


def late_text(one: LateForecast) -> str:
    """How far apart records may meet next to the grace, for a person; what is not known with its reason."""
    if one.comparable and not one.disorder_ms:
        return "each task reads one partition, in the order that it had live"
    if isinstance(one.grace_ms, Missing):
        drops = f"whether late records are dropped is not known ({one.grace_ms.missing})"
    else:
        drops = f"drops records that come more than {_seconds(one.grace_ms)} late"
    if isinstance(one.disorder_ms, Missing):
        return f"{drops}; how far apart the catch-up mixes records is not known: {one.disorder_ms.missing}"
    apart = f"the catch-up may mix records that are up to {_seconds(one.disorder_ms)} apart"
    return f"{drops}; {apart}" + (f" by their timestamps, but {first_of(one.times)}" if one.times else "")


def _seconds(ms: int) -> str:
    return f"{ms / SECOND_MS:,.1f} s"


def _forecasts(side: Side, spans: Sequence[HistorySpan]) -> Iterator[LateForecast]:
    topics = {one.topic for one in spans}
    read = {one.topic for one in spans if one.first_ms is not None}
    for name, role in sorted(store_roles(side.topology).items()):
        inputs = inputs_of(side.topology, name, topics)
        grace = grace_of(side, name)
        if grace is None or not read.intersection(inputs):
            continue
        outputs = tuple(sorted(role.outputs))
        if is_in_order(side, name):
            yield LateForecast(name, inputs, outputs, grace, 0)
        else:
            own = [one for one in spans if one.topic in inputs]
            yield LateForecast(name, inputs, outputs, grace, _disorder_ms(own, inputs), tuple(_times(side, inputs)))


def grace_of(side: Side, name: str) -> int | Missing | None:
    """How late a record may come to a store, in ms; None if it takes every record."""
    if is_suppress_buffer(name) or is_subscription_store(name) or suppression_of(name) in side.declared.suppressions:
        # The windows before it have dropped what is too late.
        return None
    store = side.declared.stores.get(name, DeclaredStore())
    if store.window is not None:
        return store.window.grace_ms
    if store.kind == "versioned":
        # It ignores a value that is older than its history.
        return _known(store.history_retention_ms, name, "history_retention_ms")
    if store.kind == "buffer":
        # The join of a stream with a table takes a record that comes later than that at once (KIP-923).
        graces = [one.grace_ms for one in map(side.declared.operators.get, _keepers(side, name)) if one is not None]
        return _known(next((grace for grace in graces if grace is not None), None), name, "grace_ms of its operator")
    if store.kind == "key_value" or store.source_table or name in filled_by_tables(side):
        return None
    if store.kind is None and not is_join_window(name):
        return Missing(f"whether it is a window is not declared; declare stores.{name}.kind")
    return Missing(f"its grace is not declared; declare stores.{name}.window")


def _known(value: int | None, name: str, what: str) -> int | Missing:
    return Missing(f"{what} of store {name} is not declared") if value is None else value


def _keepers(side: Side, store: str) -> list[str]:
    return [one.name for one in side.keepers.get(store, ())]


def is_in_order(side: Side, store: str) -> bool:
    """Whether each task that keeps it reads one partition, of an input: in the order of its log, live as later."""
    topics = topics_before(side.topology, store)
    return topics is not None and len(topics) == 1 and not topics & side.internal


def _disorder_ms(own: Sequence[HistorySpan], inputs: Sequence[str]) -> int | Missing:
    if unread := sorted(set(inputs) - {one.topic for one in own}):
        return Missing(f"the times of {unread[0]} were not read")
    for one in own:
        for value in (one.first_ms, one.newest_ms):
            if isinstance(value, Missing):
                return Missing(f"{one.topic}-{one.partition}: {value.missing}")
    filled = [one for one in own if isinstance(one.first_ms, int)]
    first = [one.first_ms for one in filled if isinstance(one.first_ms, int)]
    newest = [one.newest_ms for one in filled if isinstance(one.newest_ms, int)]
    if len(filled) <= 1:
        return 0
    return max(0, max(newest) - min(first))


def _times(side: Side, inputs: Iterable[str]) -> Iterator[str]:
    """The inputs whose records are not, or perhaps not, dated by their timestamps."""
    for topic in inputs:
        declared = side.declared.topics.get(topic)
        extractor = None if declared is None else declared.timestamp_extractor
        if extractor == DEFAULT and side.declared.config is not None:
            extractor = side.declared.config.get(_EXTRACTOR, DEFAULT)
        elif extractor == DEFAULT:
            extractor = None
        if extractor is None:
            yield f"{topic}: its timestamp_extractor is not declared"
        elif extractor != DEFAULT and extractor not in _BY_TIMESTAMP:
            yield f"{topic}: {extractor} dates its records"
