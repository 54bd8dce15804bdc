"""A group without members, and the offsets that brokers may forget."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.status.standing import NOT_SEEN, standing
from kstreams_runbooks.decide.status.status import LagSample, StatusLimits, status
from kstreams_runbooks.model.readings.lag import ApplicationLag, PartitionLag
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.status import KeptReading, Standing
from kstreams_runbooks.model.times import DAY_MS, HOUR_MS

ROW = PartitionLag("orders", 0, "source", "ok", topic_id="a", committed=10, last_stable_offset=20, records=10)
RUNS = ApplicationLag("orders", "orders", "classic", "Stable", (ROW,))
STANDS = replace(RUNS, group_state="Empty")
WEEK = 7 * DAY_MS
HIDDEN = Missing("grant this login DescribeConfigs on Cluster")
LIMITS = StatusLimits(expiring_ms=6 * HOUR_MS)


def test_it_stands_since_the_last_reading_with_members() -> None:
    """At the earliest: so the time at which brokers forget the offsets is never later than shown."""
    assert standing(STANDS, KeptReading(1_000, RUNS), WEEK) == Standing(1_000, WEEK)


def test_the_first_time_stays() -> None:
    """Also if what brokers keep was hidden before, or was changed."""
    before = KeptReading(9_000, STANDS, standing=Standing(1_000, HIDDEN))
    assert standing(STANDS, before, WEEK) == Standing(1_000, WEEK)


@pytest.mark.parametrize("before", [None, KeptReading(9_000, STANDS), KeptReading(9_000, STANDS, standing=None)])
def test_without_a_reading_with_members_it_is_not_known(before: KeptReading | None) -> None:
    assert standing(STANDS, before, WEEK) == Standing(NOT_SEEN, WEEK)


@pytest.mark.parametrize("lag", [RUNS, replace(STANDS, partitions=(replace(ROW, committed=None),))])
def test_a_group_with_members_or_without_offsets_loses_none(lag: ApplicationLag) -> None:
    assert standing(lag, KeptReading(1_000, STANDS, standing=Standing(1, WEEK)), WEEK) is None


@pytest.mark.parametrize(
    ("stands", "now_ms", "word", "sentence"),
    [
        (Standing(0, WEEK), DAY_MS, "stopped", "; brokers keep its offsets until 1970-01-08 00:00 UTC at least"),
        (Standing(0, WEEK), WEEK - 6 * HOUR_MS, "stopped", "until 1970-01-08 00:00 UTC at least"),
        (Standing(0, WEEK), WEEK - 6 * HOUR_MS + 1, "expiring", "forget its committed offsets in 359 min (limit 360)"),
        (Standing(0, WEEK), WEEK + DAY_MS, "expiring", "in 0 min (limit 360); start it before: without them"),
        # Half of what brokers keep, if that is less.
        (Standing(0, 2 * HOUR_MS), HOUR_MS - 1, "stopped", "until 1970-01-01 02:00 UTC"),
        (Standing(0, 2 * HOUR_MS), HOUR_MS + 60_000, "expiring", "in 59 min (limit 60)"),
        (Standing(NOT_SEEN, WEEK), DAY_MS, "stopped", "is not known: no reading shows since when it has no member"),
        (Standing(0, HIDDEN), DAY_MS, "stopped", "is not known: offsets.retention.minutes: grant this login"),
    ],
)
def test_the_status_has_the_time(stands: Standing, now_ms: int, word: str, sentence: str) -> None:
    found = status((LagSample(now_ms, STANDS, standing=stands),), LIMITS)
    assert found.word == word
    assert sentence in found.sentence


def test_lost_records_come_first() -> None:
    """Both expire: what is lost already is said."""
    lost = replace(STANDS, partitions=(replace(ROW, log_start_offset=15, lost=True),))
    found = status((LagSample(WEEK, lost, standing=Standing(0, WEEK)),), LIMITS)
    assert found.sentence.startswith("unread records may be deleted soon: orders-0 (5 offsets are deleted already)")
