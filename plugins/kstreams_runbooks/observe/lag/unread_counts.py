"""Records in place of offsets, for the lag of one application, from one reading to the next."""

from collections.abc import Callable, Mapping

from kstreams_runbooks.model.readings.lag import MOST_AT_ONCE, PartitionLag, Readable, unread_ranges, with_counts
from kstreams_runbooks.observe.kafka.offsets import Place
from kstreams_runbooks.observe.lag.first_unread import First

Ranges = Mapping[Place, tuple[int, int]]
Count = Callable[[Ranges], Mapping[Place, Readable]]
FirstOf = Callable[[Ranges], Mapping[Place, First | None]]


class UnreadCounts:
    """Counts unread records, once for the same ranges, and never many offsets: callers share their threads.

    An exact figure matters if it may be zero. For up to MOST_AT_ONCE offsets `count` gives the number of readable
    records. For more, `first` is called once the ranges no longer change: one readable record is enough for "not yet",
    and their offsets stay the figure; None for each of them is zero. While an application works through a backlog
    neither is called.

    With `orphaned` it counts the topics instead that nothing reads any more.
    """

    def __init__(self, count: Count, first: FirstOf, *, orphaned: bool = False) -> None:
        self._count = count
        self._first = first
        self._orphaned = orphaned
        self._of: object = None
        # The first record of each of these ranges that was read until now, None if there is none.
        self._found: dict[Place, First | None] = {}
        self._counted: Ranges = {}
        self._counts: Mapping[Place, Readable] = {}

    def of(self, rows: tuple[PartitionLag, ...]) -> tuple[PartitionLag, ...]:
        """The rows with records if they have any and they were counted to their end."""
        unread = [one for one in rows if one.records and (one.role == "orphaned") is self._orphaned]
        # The same offsets of a topic that was created again are other records.
        return with_counts(rows, self._readable(unread_ranges(unread), {one.topic: one.topic_id for one in unread}))

    def _readable(self, ranges: Ranges, topic_ids: Mapping[str, str | None]) -> Mapping[Place, Readable]:
        if (ranges, topic_ids) != self._of:
            self._of, self._found, self._counted, self._counts = (ranges, topic_ids), {}, {}, {}
        elif _offsets(ranges) > MOST_AT_ONCE and not any(self._found.values()):
            self._found |= self._first({place: part for place, part in ranges.items() if place not in self._found})
        empty = {place: Readable() for place in ranges if place in self._found and self._found[place] is None}
        left = {place: part for place, part in ranges.items() if place not in empty}
        if left != self._counted and _offsets(left) <= MOST_AT_ONCE:
            self._counted, self._counts = left, self._count(left) if left else {}
        return {**empty, **self._counts}


def _offsets(ranges: Ranges) -> int:
    return sum(end - start for start, end in ranges.values())
