"""What is not known of the age of unread records is never taken for young."""

from kstreams_runbooks.model.lag import ApplicationLag, PartitionLag
from kstreams_runbooks.model.readings import Missing
from kstreams_runbooks.observe import lag_ages

ROW = PartitionLag(
    "orders", 0, "source", "ok", committed=10, log_start_offset=0, last_stable_offset=20, log_end_offset=20, records=10
)
PLACE = ("orders", 0)
WEEK = 7 * 86_400_000


def lag(*rows: PartitionLag) -> ApplicationLag:
    """One application."""
    return ApplicationLag("orders", "orders", "classic", "Stable", rows)


def test_without_its_retention_a_partition_with_something_to_read_is_unknown() -> None:
    """One with nothing to read needs none."""
    aged = lag_ages._aged(ROW, {"orders": None}, {}, {}, {})
    assert (aged.state, aged.records) == ("unknown", 10)
    assert "retention.ms is not told (needs DescribeConfigs on the topic)" in aged.why
    read = PartitionLag("orders", 0, "source", "ok", committed=20, last_stable_offset=20, records=0)
    assert lag_ages._aged(read, {}, {}, {}, {}) == read


def test_what_could_not_be_asked_or_reached_is_unknown() -> None:
    """With the reason; what was reached has its time."""
    retention = {"orders": WEEK}
    asked = lag_ages._aged(ROW, retention, {PLACE: Missing("no leader")}, {}, {})
    assert (asked.state, asked.why) == ("unknown", "the age of its unread records is not known: no leader")
    old = {PLACE: (10, 15)}
    late = lag_ages._aged(ROW, retention, {PLACE: 15}, old, {})
    assert (late.state, late.oldest_unread_ms) == ("unknown", None)
    assert late.why.startswith("how old its first unread record is was not found out")
    seen = lag_ages._aged(ROW, retention, {PLACE: 15}, old, {(PLACE, (10, 15)): 7_000})
    assert (seen.state, seen.oldest_unread_ms, seen.retention_left_ms) == ("ok", 7_000, 7_000 + WEEK)


def test_only_what_is_older_than_the_first_young_record_is_looked_at() -> None:
    """Up to the last stable offset; where no record is young enough, all of it."""
    assert lag_ages._old(lag(ROW), {PLACE: 10}) == {}
    assert lag_ages._old(lag(ROW), {PLACE: 12}) == {PLACE: (10, 12)}
    assert lag_ages._old(lag(ROW), {PLACE: 99}) == {PLACE: (10, 20)}
    assert lag_ages._old(lag(ROW), {PLACE: None}) == {PLACE: (10, 20)}
    # Kept for ever: it was never asked about.
    assert lag_ages._old(lag(ROW), {}) == {}


def test_each_application_is_looked_at_once_before_any_a_second_time() -> None:
    """There is a limit to how many are read, and one partition is enough to say that records are lost."""
    one, two, three = ("a", 0), ("a", 1), ("b", 0)
    turns = lag_ages._in_turn([{one: (0, 5), two: (0, 5)}, {three: (1, 5), one: (3, 5)}])
    assert turns == [(one, (0, 5)), (three, (1, 5)), (two, (0, 5)), (one, (3, 5))]
