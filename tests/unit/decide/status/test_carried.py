"""What an earlier look at a log is worth later: a log changes at its ends alone."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.status.carried import carried, dated
from kstreams_runbooks.model.readings.lag import PartitionLag

ROW = PartitionLag(
    "orders",
    0,
    "source",
    "ok",
    topic_id="a",
    committed=100,
    log_start_offset=0,
    last_stable_offset=101,
    log_end_offset=101,
    records=1,
)
MARKER = replace(ROW, records=0, exact=True, none_until=101)
RECORD = replace(ROW, none_until=100, oldest_unread_ms=7)


def test_a_marker_that_nobody_commits_is_looked_at_once() -> None:
    """Nothing is left to read, also of a log that has since lost it to retention."""
    assert carried(ROW, MARKER) == MARKER
    emptied = replace(ROW, log_start_offset=101, records=0)
    assert carried(emptied, MARKER) == replace(emptied, none_until=101, exact=True)
    assert not carried(emptied, MARKER).lost


def test_what_was_written_since_is_not_known_yet() -> None:
    """Only up to where somebody looked: what lies before that is nothing to read."""
    more = replace(ROW, last_stable_offset=150, log_end_offset=150, records=50)
    assert carried(more, MARKER) == replace(more, none_until=101, records=49)


def test_what_is_deleted_before_anybody_looked_is_perhaps_lost() -> None:
    """Where it was there at the reading before, and no longer than the group stands there."""
    emptied = replace(ROW, log_start_offset=101, records=0)
    perhaps = carried(emptied, ROW)
    assert (perhaps.perhaps_lost, perhaps.lost) == (True, False)
    assert carried(emptied, perhaps).perhaps_lost
    assert not carried(replace(emptied, committed=101), perhaps).perhaps_lost
    # Nothing was there.
    assert not carried(emptied, replace(emptied)).perhaps_lost
    # Streams deletes what it has committed of its own topics; the offset was read before the log's start.
    own = {"role": "repartition"}
    assert not carried(replace(emptied, **own), replace(ROW, **own)).perhaps_lost  # type: ignore[arg-type] # by name


def test_the_first_unread_record_stays_it_until_it_is_read_or_deleted() -> None:
    """Deleted unread, it stays lost for as long as the group stands there."""
    assert carried(ROW, RECORD).oldest_unread_ms == 7
    behind = replace(ROW, log_start_offset=101, records=0)
    lost = carried(behind, RECORD)
    assert (lost.lost, lost.oldest_unread_ms) == (True, None)
    assert carried(behind, lost).lost
    assert not carried(replace(behind, committed=101), lost).lost
    # A record further on, of which only what lies before it was deleted.
    assert not carried(replace(ROW, log_start_offset=101), replace(RECORD, none_until=101)).lost


@pytest.mark.parametrize("changes", [{"committed": 101}, {"topic_id": "b"}, {"role": "repartition"}])
def test_nothing_of_before_holds_elsewhere(changes: dict[str, object]) -> None:
    """Where the group has moved, or the topic is another one."""
    row = replace(ROW, **changes)  # type: ignore[arg-type]  # by name
    assert carried(row, RECORD) == row


def test_without_a_reading_before_the_row_stays_as_it_is() -> None:
    """So does one that could not be read."""
    assert carried(ROW, None) == ROW
    unknown = replace(ROW, state="unknown", records=None)
    assert carried(unknown, MARKER) == unknown


def test_since_when_a_group_stands_where_it_stands() -> None:
    """From the first reading that found it there; one of another topic of that name tells nothing."""
    first = dated(ROW, None, 1_000)
    assert first.committed_since_ms == 1_000
    assert dated(ROW, first, 2_000).committed_since_ms == 1_000
    assert dated(replace(ROW, committed=101), first, 2_000).committed_since_ms == 2_000
    assert dated(replace(ROW, topic_id="b"), first, 2_000).committed_since_ms == 2_000
    assert dated(replace(ROW, committed=None), first, 2_000).committed_since_ms is None
