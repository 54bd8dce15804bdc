"""How many records are left: counted where that may be another number than the offsets, and no more often."""

from collections.abc import Collection, Mapping

from kstreams_runbooks.model.readings.lag import MOST_AT_ONCE, LagRole, PartitionLag, Readable
from kstreams_runbooks.observe.kafka.offsets import Place
from kstreams_runbooks.observe.lag.first_unread import First
from kstreams_runbooks.observe.lag.unread_counts import Ranges, UnreadCounts


class Log:
    """A log with a record every ten offsets; none of `aborted` can be read, and `slow` ones take too long."""

    def __init__(self, aborted: Collection[str] = (), slow: Collection[str] = ()) -> None:
        """Asked for nothing yet."""
        self.aborted = aborted
        self.slow = set(slow)
        self.asked: list[Ranges] = []
        self.looked: list[Ranges] = []

    def count(self, ranges: Ranges) -> Mapping[Place, Readable]:
        """What can be read of these ranges."""
        self.asked.append(dict(ranges))
        return {
            place: Readable(0 if place[0] in self.aborted else -(end // -10) - -(start // -10))
            for place, (start, end) in ranges.items()
        }

    def first(self, ranges: Ranges) -> Mapping[Place, First | None]:
        """The first record of each."""
        self.looked.append(dict(ranges))
        return {
            place: None if place[0] in self.aborted else First(start, 1)
            for place, (start, _) in ranges.items()
            if place[0] not in self.slow
        }

    def counts(self, *, orphaned: bool = False) -> UnreadCounts:
        """Whoever counts in it."""
        return UnreadCounts(self.count, self.first, orphaned=orphaned)


def left(offsets: int, topic: str = "orders", role: LagRole = "source", topic_id: str = "a") -> PartitionLag:
    return PartitionLag(
        topic,
        0,
        role,
        "ok",
        topic_id=topic_id,
        committed=100,
        last_stable_offset=100 + offsets,
        log_start_offset=0,
        records=offsets,
    )


def test_what_nothing_reads_any_more_is_counted_by_itself() -> None:
    """Where nothing runs it is a finding, and a marker is none."""
    log = Log(aborted={"old"})
    rows = (left(30), left(1, "old", "orphaned"))
    counted = log.counts(orphaned=True).of(rows)
    assert [(one.records, one.exact) for one in counted] == [(30, False), (0, True)]
    assert log.asked == [{("old", 0): (100, 101)}]


def test_the_same_ranges_are_counted_once() -> None:
    """What lies in a log does not change; what nothing reads any more is no part of what is left."""
    log = Log()
    counts = log.counts()
    rows = (left(30), left(50, "old", "orphaned"), left(0, "customers"))
    assert [one.records for one in counts.of(rows)] == [one.records for one in counts.of(rows)] == [3, 50, 0]
    assert [one.records for one in counts.of((left(20),))] == [2]
    assert log.asked == [{("orders", 0): (100, 130)}, {("orders", 0): (100, 120)}]


def test_a_backlog_that_is_worked_through_is_not_counted() -> None:
    """How much of it is markers changes nothing."""
    log = Log()
    counts = log.counts()
    for offsets in (MOST_AT_ONCE + 2, MOST_AT_ONCE + 1):
        [row] = counts.of((left(offsets),))
        assert (row.records, row.exact) == (offsets, False)
    assert log.asked == log.looked == []


MANY = MOST_AT_ONCE + 1


def test_of_many_that_rest_one_record_is_enough() -> None:
    """How many millions are left changes nothing: it is not yet, and said with what there is at most."""
    log = Log()
    counts = log.counts()
    rows = (left(MANY), left(50, "customers"))
    assert counts.of(rows) == counts.of(rows) == counts.of(rows) == rows
    assert (len(log.looked), log.asked) == (1, [])


def test_many_of_which_none_can_be_read_are_nothing() -> None:
    """Aborted records and markers have offsets too: no certificate may be kept back by them."""
    log = Log(aborted={"orders", "customers"})
    counts = log.counts()
    rows = (left(MANY), left(50, "customers"))
    assert [one.records for one in counts.of(rows)] == [MANY, 50]
    assert [(one.records, one.exact) for one in counts.of(rows)] == [(0, True), (0, True)]
    assert (len(log.looked), log.asked) == (1, [])


def test_where_many_are_nothing_the_few_beside_them_are_counted() -> None:
    """The figure is a number of records again."""
    log = Log(aborted={"orders"})
    counts = log.counts()
    rows = (left(MANY), left(50, "customers"))
    counts.of(rows)
    assert [(one.records, one.exact) for one in counts.of(rows)] == [(0, True), (5, True)]
    assert log.asked == [{("customers", 0): (100, 150)}]


def test_what_was_not_looked_through_in_time_is_not_nothing() -> None:
    """It is looked for again, alone, until it is known."""
    log = Log(aborted={"orders", "customers"}, slow={"orders"})
    counts = log.counts()
    rows = (left(MANY), left(50, "customers"))
    counts.of(rows)
    for _ in range(2):
        assert [(one.records, one.exact) for one in counts.of(rows)] == [(MANY, False), (0, True)]
    log.slow.clear()
    assert [one.records for one in counts.of(rows)] == [0, 0]
    assert [list(ranges) for ranges in log.looked[1:]] == [[("orders", 0)], [("orders", 0)]]


def test_a_topic_that_was_created_again_is_looked_at_anew() -> None:
    """The same offsets are other records."""
    log = Log(aborted={"orders"})
    counts = log.counts()
    assert [one.records for one in (*counts.of((left(MANY),)), *counts.of((left(MANY),)))] == [MANY, 0]
    log.aborted = ()
    assert [one.records for one in counts.of((left(MANY, topic_id="b"),))] == [MANY]
