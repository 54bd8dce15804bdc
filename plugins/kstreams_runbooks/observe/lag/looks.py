"""Reads the first record of ranges of many partitions: how many, for how long, and the result for the others."""

import time
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from kstreams_runbooks.decide.status.carried import looked
from kstreams_runbooks.model.readings.lag import ApplicationLag, Isolation, PartitionLag
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.observe.kafka.offsets import Place
from kstreams_runbooks.observe.lag.first_unread import First, first_or_missing

# One partition proves that an application loses records, and findings are kept; each look costs a fetch.
MOST_READ = 1_000
_READ_S = 20.0

Range = tuple[int, int]
# The first record of a range, None if there is none, or why it is unknown.
Firsts = Mapping[tuple[Place, Range], First | Missing | None]
NOT_REACHED = Missing(
    f"how old its first unread record is was not found out ({_READ_S:.0f} s, {MOST_READ} partitions at most)"
)


class Look(NamedTuple):
    """How far a range was searched, and its first record; None: there is none."""

    until: int
    record: First | None


def look(
    config: Mapping[str, Any], lags: Sequence[ApplicationLag], wanted: Sequence[Mapping[Place, Range]]
) -> dict[bool, Firsts]:
    """The first records of the ranges of each application; by whether it processes each record exactly once.

    An application without exactly-once also processes records of aborted transactions.
    """
    return {
        once: _first(
            config,
            in_turn(own for lag, own in zip(lags, wanted, strict=True) if lag.exactly_once is once)[:MOST_READ],
            "read_committed" if once else "read_uncommitted",
        )
        for once in (True, False)
    }


def in_turn(wanted: Iterable[Mapping[Place, Range]]) -> list[tuple[Place, Range]]:
    """The ranges in their order: the first partition of each application before the second of any."""
    turns = zip_longest(*(own.items() for own in wanted))
    return list(dict.fromkeys(item for turn in turns for item in turn if item is not None))


def _first(config: Mapping[str, Any], wanted: Sequence[tuple[Place, Range]], isolation: Isolation) -> Firsts:
    """The first record of each range; absent if it was not reached in time.

    A consumer reads a partition from one offset only: several ranges of one partition are read one after another.
    """
    found: dict[tuple[Place, Range], First | Missing | None] = {}
    left, until = list(wanted), time.monotonic() + _READ_S
    while left and (rest_s := until - time.monotonic()) > 0:
        now = dict(reversed(left))
        answers = first_or_missing(config, now, rest_s, isolation)
        found |= {(place, now[place]): answer for place, answer in answers.items()}
        left = [(place, bounds) for place, bounds in left if now[place] != bounds]
    return found


def answer_of(row: PartitionLag, wanted: Mapping[Place, Range], first: Firsts) -> Look | Missing | None:
    """What was found in the row's range; Missing if it was not reached, None if none was wanted."""
    if (place := (row.topic, row.partition)) not in wanted:
        return None
    bounds = wanted[place]
    answer = first.get((place, bounds), NOT_REACHED)
    return answer if isinstance(answer, Missing) else Look(bounds[1], answer)


def with_look(row: PartitionLag, answer: Look | Missing | None) -> PartitionLag:
    """The row with what was found in its range, if that was reached."""
    if not isinstance(answer, Look):
        return row
    if answer.record is None:
        return looked(row, answer.until, None)
    return looked(row, answer.record.offset, answer.record.written_ms)
