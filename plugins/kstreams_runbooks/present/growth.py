"""A growth of partitions, as JSON, as text and as an exit code: the topics, the keys that move, the load as bars."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, Final

from kstreams_runbooks.decide.growth.closure import Closure
from kstreams_runbooks.errors import Inconclusive
from kstreams_runbooks.model.fleet_entry import DeclaredApplication
from kstreams_runbooks.model.readings.growth import ForecastReading, HotKey, PartitionLoad, TopicForecast
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.wording import outside, sentence

SCHEMA_VERSION: Final = 1
_CODES = {Outcome.PROCEED: 0, Outcome.REFUSE: 1}
# Characters of the longest bar, the most bars of a picture, and of a key.
_WIDTH: Final = 40
_BARS: Final = 24
_LONGEST_KEY: Final = 40


def exit_code(verdict: Verdict) -> int:
    """0 it can grow, 1 it cannot or a person has to want it, 3 not known."""
    return _CODES.get(verdict.outcome, Inconclusive.exit_code)


def document(
    entry: DeclaredApplication, closed: Closure, forecast: ForecastReading | None, verdict: Verdict
) -> dict[str, Any]:
    """The verdict, the topics, and the forecast: null if Spark was not asked."""
    topics = None if forecast is None else forecast.topics
    return {
        "schema_version": SCHEMA_VERSION,
        "application": entry.name,
        "cluster": entry.cluster,
        "verdict": verdict.outcome.value,
        "reasons": list(verdict.reasons),
        "partitions": closed.wanted,
        "grown": [asdict(one) for one in closed.grown],
        "kept": [asdict(one) for one in closed.kept],
        "stores": [asdict(one) for one in closed.stores],
        "tasks": {"before": closed.tasks[0], "after": closed.tasks[1]},
        "taken_at_ms": None if forecast is None else forecast.taken.at_ms,
        "read": [] if forecast is None else [asdict(one) for one in forecast.asked],
        "forecast": None if topics is None or isinstance(topics, Missing) else [_topic(one) for one in topics],
    }


def _topic(one: TopicForecast) -> dict[str, Any]:
    skew = {"before": skew_of(one.loads_before, one.before), "after": skew_of(one.loads_after, one.after)}
    return {**asdict(one), "skew": skew}


def skew_of(loads: Sequence[PartitionLoad], partitions: int) -> float | None:
    """The records of the largest partition, in shares of the mean of all partitions; None without a record."""
    total = sum(one.share.records for one in loads)
    return round(max(one.share.records for one in loads) * partitions / total, 2) if total else None


def as_text(entry: DeclaredApplication, closed: Closure, forecast: ForecastReading | None, verdict: Verdict) -> str:
    """The verdict, each reason in a line of its own, the topics, and a picture of each forecast."""
    return "\n".join(map(sentence, _lines(entry, closed, forecast, verdict)))


def _lines(
    entry: DeclaredApplication, closed: Closure, forecast: ForecastReading | None, verdict: Verdict
) -> Iterator[str]:
    yield f"[{entry.name} @ {entry.cluster}] {verdict.outcome.upper()}: {closed.wanted:,} partitions"
    yield from (f"  {reason}" for reason in verdict.reasons)
    if closed.grown:
        yield "  grow together:"
        yield from (f"    {one.name}: {one.before:,} → {one.after:,} ({one.role}; {one.why})" for one in closed.grown)
    if closed.kept:
        yield "  keep their number:"
        yield from (f"    {one.name}: {_number(one.partitions)} ({one.why})" for one in closed.kept)
    for topic in _forecasts(forecast):
        yield from picture(topic)


def _forecasts(forecast: ForecastReading | None) -> tuple[TopicForecast, ...]:
    return () if forecast is None or isinstance(forecast.topics, Missing) else forecast.topics


def _number(partitions: int | None) -> str:
    return "not known" if partitions is None else f"{partitions:,}"


def picture(one: TopicForecast) -> Iterator[str]:
    """The load of each partition before and after as bars, and the keys with the most records and bytes."""
    what = "records" if one.kind == "input" else "rows"
    yield f"  {one.topic}: {what} in each partition"
    for title, loads, partitions in (
        ("before", one.loads_before, one.before),
        ("after", one.loads_after, one.after),
    ):
        skew = skew_of(loads, partitions)
        largest = "no record" if skew is None else f"the largest has {skew:.2f} times the mean"
        yield f"    {title}, {partitions:,} partitions: {largest}"
        yield from _bars(loads, partitions)
    for title, keys in ((f"most {what}", one.most_records), ("most bytes", one.most_bytes)):
        if keys:
            yield f"    keys with the {title}: partition before → after"
            yield from map(_hot, keys)


def _bars(loads: Sequence[PartitionLoad], partitions: int) -> Iterator[str]:
    """A bar for each partition, of many for the largest ones; a partition without a record has none."""
    shares = {one.partition: one.share for one in loads}
    total = sum(one.records for one in shares.values())
    largest = max((one.records for one in shares.values()), default=0)
    if not total:
        return
    numbers = list(range(partitions))
    if partitions > _BARS:
        numbers = sorted(sorted(shares, key=lambda one: (-shares[one].records, one))[:_BARS])
    for number in numbers:
        share = shares.get(number)
        records, size = (0, 0) if share is None else (share.records, share.bytes)
        bar = "█" * max(1 if records else 0, round(_WIDTH * records / largest))
        yield f"    {number:>6} {bar:<{_WIDTH}} {100 * records / total:5.1f} %  {records:,} ({size:,} bytes)"
    if left := partitions - len(numbers):
        yield f"    and {left:,} smaller ones"


def _hot(key: HotKey) -> str:
    moves = f"{key.before} → {key.after}" if key.before != key.after else f"{key.before}, stays"
    return f"      {outside(key.key, _LONGEST_KEY):<{_LONGEST_KEY}} {key.records:,} ({key.bytes:,} bytes): {moves}"
