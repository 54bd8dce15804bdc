"""Records in place of offsets, of what an application has left to read, from one reading to the next."""

from collections.abc import Callable, Mapping

from kstreams_runbooks.model.lag import PartitionLag, unread_ranges, with_counts
from kstreams_runbooks.model.readable import MOST_AT_ONCE, Readable
from kstreams_runbooks.observe.offsets import Place

Ranges = Mapping[Place, tuple[int, int]]
Count = Callable[[Ranges], Mapping[Place, Readable]]


class UnreadCounts:
    """Counts what is left, once for the same ranges; `count` says what of ranges of offsets can be read.

    Without `exactly_once` offsets stay offsets: such an application processes aborted records too, which whoever counts
    does not get.
    """

    def __init__(self, count: Count, *, exactly_once: bool) -> None:
        self._count = count
        self._exactly_once = exactly_once
        self._ranges: Ranges = {}
        self._readable: Mapping[Place, Readable] | None = None

    def of(self, rows: tuple[PartitionLag, ...]) -> tuple[PartitionLag, ...]:
        """The rows with records where there are any and they were counted to their end."""
        if not self._exactly_once:
            return rows
        unread = (one for one in rows if one.records and one.role != "orphaned")
        return with_counts(rows, self._counted(unread_ranges(unread)))

    def _counted(self, ranges: Ranges) -> Mapping[Place, Readable]:
        """Many offsets only where they have not changed since the last reading.

        While an application works through a backlog, how much of it is markers changes nothing.
        """
        if ranges != self._ranges:
            self._ranges, self._readable = ranges, None
            if sum(end - start for start, end in ranges.values()) > MOST_AT_ONCE:
                return {}
        if self._readable is None:
            self._readable = self._count(ranges) if ranges else {}
        return self._readable
