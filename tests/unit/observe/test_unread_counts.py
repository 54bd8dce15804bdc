"""How many records are left: counted where that may be another number than the offsets, and no more often."""

from collections.abc import Mapping

from kstreams_runbooks.model.lag import LagRole, PartitionLag
from kstreams_runbooks.model.readable import MOST_AT_ONCE, Readable
from kstreams_runbooks.observe.offsets import Place
from kstreams_runbooks.observe.unread_counts import Ranges, UnreadCounts


class Log:
    """A log that has a record every ten offsets, and remembers what it was asked for."""

    def __init__(self) -> None:
        """Asked for nothing yet."""
        self.asked: list[Ranges] = []

    def count(self, ranges: Ranges) -> Mapping[Place, Readable]:
        """What can be read of these ranges."""
        self.asked.append(dict(ranges))
        return {place: Readable(-(end // -10) - -(start // -10)) for place, (start, end) in ranges.items()}


def left(offsets: int, topic: str = "orders", role: LagRole = "source") -> PartitionLag:
    return PartitionLag(
        topic, 0, role, "ok", committed=100, last_stable_offset=100 + offsets, log_start_offset=0, records=offsets
    )


def test_an_application_that_reads_aborted_records_too_has_offsets_left() -> None:
    """At least once: a consumer that counts does not get what such an application will process."""
    log = Log()
    rows = (left(30),)
    assert UnreadCounts(log.count, exactly_once=False).of(rows) == rows
    assert log.asked == []
    [counted] = UnreadCounts(log.count, exactly_once=True).of(rows)
    assert (counted.records, counted.exact) == (3, True)


def test_the_same_ranges_are_counted_once() -> None:
    """What lies in a log does not change; what nothing reads any more is no part of what is left."""
    log = Log()
    counts = UnreadCounts(log.count, exactly_once=True)
    rows = (left(30), left(50, "old", "orphaned"), left(0, "customers"))
    assert [one.records for one in counts.of(rows)] == [one.records for one in counts.of(rows)] == [3, 50, 0]
    assert [one.records for one in counts.of((left(20),))] == [2]
    assert log.asked == [{("orders", 0): (100, 130)}, {("orders", 0): (100, 120)}]


def test_a_backlog_that_is_worked_through_is_not_counted() -> None:
    """How much of it is markers changes nothing."""
    log = Log()
    counts = UnreadCounts(log.count, exactly_once=True)
    for offsets in (MOST_AT_ONCE + 2, MOST_AT_ONCE + 1):
        [row] = counts.of((left(offsets),))
        assert (row.records, row.exact) == (offsets, False)
    assert log.asked == []
