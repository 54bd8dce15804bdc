"""What is not known of the age of unread records is never taken for young."""

from dataclasses import replace

from kstreams_runbooks.model.readings.lag import ApplicationLag, PartitionLag
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.observe.lag import ages as lag_ages
from kstreams_runbooks.observe.lag import looks as lag_looks
from kstreams_runbooks.observe.lag.first_unread import First

ROW = PartitionLag(
    "orders", 0, "source", "ok", committed=10, log_start_offset=0, last_stable_offset=20, log_end_offset=20, records=10
)
PLACE = ("orders", 0)
WEEK = 7 * 86_400_000


def lag(*rows: PartitionLag) -> ApplicationLag:
    """One application."""
    return ApplicationLag("orders", "orders", "classic", "Stable", rows)


def test_without_its_retention_an_age_is_unknown_whether_something_is_unread_or_not() -> None:
    """What is not told does not become known, and unknown again, with each record; offsets are what they are."""
    for row in (ROW, replace(ROW, committed=20, records=0)):
        aged = lag_ages._aged(row, {"orders": None}, {}, {}, None)
        assert (aged.state, aged.offsets) == ("ok", row.records)
        assert "retention.ms is not reported (needs DescribeConfigs on the topic)" in aged.age_why


def test_what_could_not_be_asked_or_reached_is_unknown() -> None:
    """With the reason; what was reached has its time."""
    retention, wanted = {"orders": WEEK}, {PLACE: (10, 15)}
    asked = lag_ages._aged(ROW, retention, {PLACE: Missing("no leader")}, {}, None)
    assert asked.age_why == "the age of its unread records is not known: no leader"
    late = lag_ages._aged(ROW, retention, {PLACE: 15}, wanted, lag_looks.answer_of(ROW, wanted, {}))
    assert late.oldest_unread_ms is None
    assert late.age_why.startswith("how old its first unread record is was not found out")
    # Also where nothing is near its deletion, and the records of what stands still may not be read.
    refused = lag_looks.answer_of(ROW, wanted, {(PLACE, (10, 15)): Missing("needs Read")})
    assert lag_ages._aged(ROW, retention, {PLACE: 10}, {}, refused).age_why == "needs Read"
    assert lag_ages._aged(ROW, retention, {PLACE: 10}, {}, lag_looks.answer_of(ROW, wanted, {})).age_why == ""
    answer = lag_looks.answer_of(ROW, wanted, {(PLACE, (10, 15)): First(12, 7_000)})
    seen = lag_ages._aged(lag_looks.with_look(ROW, answer), retention, {PLACE: 15}, wanted, answer)
    assert (seen.age_why, seen.none_until, seen.oldest_unread_ms) == ("", 12, 7_000)
    assert seen.retention_left_ms == 7_000 + WEEK


def test_what_has_not_moved_is_looked_at_once_from_where_it_was_looked_at_before() -> None:
    """The whole of it; what has moved, what is known to hold a record, and what is new are left alone."""
    before = lag(replace(ROW, last_stable_offset=15, records=5))
    assert lag_ages._still(lag(ROW), before) == {PLACE: (10, 20)}
    assert lag_ages._still(lag(replace(ROW, none_until=15)), before) == {PLACE: (15, 20)}
    # What came behind markers since somebody looked, and found nothing.
    nothing = lag(replace(ROW, last_stable_offset=15, records=0, exact=True, none_until=15))
    assert lag_ages._still(lag(replace(ROW, none_until=15)), nothing) == {PLACE: (15, 20)}
    assert lag_ages._still(lag(ROW), lag(replace(ROW, last_stable_offset=10, records=0))) == {}
    assert lag_ages._still(lag(replace(ROW, oldest_unread_ms=1)), before) == {}
    assert lag_ages._still(lag(replace(ROW, committed=11)), before) == {}
    assert lag_ages._still(lag(ROW), None) == {}


def test_a_range_without_a_record_has_nothing_to_read() -> None:
    """However many offsets it has; of a part of it that says nothing of the rest."""
    whole = lag_looks.with_look(ROW, lag_looks.Look(20, None))
    assert (whole.records, whole.exact, whole.none_until) == (0, True, 20)
    part = lag_looks.with_look(ROW, lag_looks.Look(15, None))
    assert (part.records, part.exact, part.none_until) == (5, False, 15)
    assert lag_looks.with_look(ROW, lag_looks.answer_of(ROW, {PLACE: (10, 20)}, {})) == ROW


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
    turns = lag_looks.in_turn([{one: (0, 5), two: (0, 5)}, {three: (1, 5), one: (3, 5)}])
    assert turns == [(one, (0, 5)), (three, (1, 5)), (two, (0, 5)), (one, (3, 5))]
