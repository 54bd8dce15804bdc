"""Records in place of offsets, and never a zero for what was scanned in part."""

from kstreams_runbooks.decide.status.status import LagAnswer, Status
from kstreams_runbooks.model.readings.lag import ApplicationLag, PartitionLag, Readable, unread_ranges, with_counts
from kstreams_runbooks.present.lag import exit_code

ROW = PartitionLag("orders", 0, "source", "ok", committed=4, last_stable_offset=14, log_end_offset=14, records=10)


def unread(count: Readable) -> ApplicationLag:
    rows = with_counts((ROW,), {("orders", 0): count})
    return ApplicationLag("orders", "orders", "classic", "Stable", rows)


def answer(lag: ApplicationLag) -> LagAnswer:
    return LagAnswer("demo", 1, lag, Status("healthy", ""))


def test_what_was_counted_stands_in_place_of_offsets() -> None:
    """A row that nobody counted stays as it was."""
    assert unread_ranges((ROW,)) == {("orders", 0): (4, 14)}
    assert unread(Readable(3, 30, 7)).unread == 3
    assert with_counts((ROW,), {}) == (ROW,)


def test_a_part_that_was_found_empty_is_not_everything_read() -> None:
    """Markers may come first, and records behind what was scanned."""
    lag = unread(Readable(at_least=True))
    assert (lag.unread, lag.partitions[0].exact) == (10, False)
    assert exit_code([answer(lag)]) == 1
    assert exit_code([answer(unread(Readable()))]) == 0
