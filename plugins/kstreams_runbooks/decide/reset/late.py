"""Which stores of an application drop other records after a reset than they did live (decide/catch_up/disorder.py)."""

from collections.abc import Iterable, Iterator

from kstreams_runbooks.decide.catch_up.disorder import late_forecast
from kstreams_runbooks.decide.comparison.compared import Side
from kstreams_runbooks.model.readings.disorder import HistorySpan, LateForecast
from kstreams_runbooks.model.readings.input_offsets import MovedOffset
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.reset import CountedMove, ResetFacts


def late_stores(
    sides: Iterable[Side], offsets: Iterable[MovedOffset], counts: Iterable[CountedMove], facts: ResetFacts
) -> tuple[LateForecast, ...]:
    """What drops late records behind an input that moves, by store; of several versions a doubtful one counts."""
    moved = {one.topic for one in offsets}
    spans = tuple(_spans(moved, counts, facts))
    found: dict[str, LateForecast] = {}
    for side in sides if moved else ():
        for one in late_forecast(side, spans):
            if moved.intersection(one.inputs) and (one.store not in found or not one.comparable):
                found[one.store] = one
    return tuple(found[name] for name in sorted(found))


def _spans(moved: set[str], counts: Iterable[CountedMove], facts: ResetFacts) -> Iterator[HistorySpan]:
    counted = {(one.topic, one.partition): one for one in counts}
    unread = Missing("the times of its records were not read")
    for one in facts.inputs:
        if found := counted.get((one.topic, one.partition)):
            yield HistorySpan(one.topic, one.partition, found.after_ms, found.newest_ms)
        elif one.topic in moved:
            yield HistorySpan(one.topic, one.partition, unread, unread)
        else:
            # It goes on from its committed offset, with what is written now.
            yield HistorySpan(one.topic, one.partition, facts.taken.at_ms, facts.taken.at_ms)
