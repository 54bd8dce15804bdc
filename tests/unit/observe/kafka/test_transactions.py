"""How long an open transaction has been seen."""

from collections.abc import Iterator
from dataclasses import replace

from kstreams_runbooks.model.readings.drain import OpenTransaction
from kstreams_runbooks.observe.kafka.transactions import Sightings

ONE = OpenTransaction("orders-0", None, 7, None, 900_000, start_offset=8)


def test_the_very_transaction_is_seen_from_the_first_reading_that_has_it() -> None:
    """The next of the same producer is another one, and so is one on another partition."""
    times: Iterator[float] = iter([100.0, 105.5, 130.0])
    seen = Sightings(lambda: next(times))
    following, elsewhere = replace(ONE, start_offset=12), replace(ONE, name="orders-1")
    assert [one.seen_ms for one in seen.of([ONE])] == [0]
    assert [one.seen_ms for one in seen.of([ONE, elsewhere])] == [5_500, 0]
    assert [(one.start_offset, one.seen_ms) for one in seen.of([following, elsewhere])] == [(12, 0), (8, 24_500)]


def test_one_that_ended_is_forgotten() -> None:
    """An hour of short ones is no hour of one."""
    times: Iterator[float] = iter([0.0, 10.0, 3_600.0])
    seen = Sightings(lambda: next(times))
    assert [seen.of([ONE])[0].seen_ms, seen.of([]), seen.of([ONE])[0].seen_ms] == [0, (), 0]
