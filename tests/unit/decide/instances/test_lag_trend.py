"""The pace of the lag that keeps a gate shut."""

from dataclasses import replace

from kstreams_runbooks.decide.instances.lag_trend import lag_trend
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing, Taken
from world.samples import partition, reading


def at(second: int, lag: int) -> ApplicationReading:
    """A reading of one partition with that lag."""
    return replace(reading(), taken=Taken(second * 1000, "t"), partitions=(partition(committed=0, stable=lag),))


def test_a_lag_that_falls_has_an_end() -> None:
    """At the pace between the first and the last reading."""
    samples = (at(0, 3_000), at(5, 2_900), at(10, 2_000))
    assert lag_trend(samples, 1_000) == "lag falls by 100.0 records/s: under its limit in about 10 s"


def test_a_lag_that_does_not_fall_has_none() -> None:
    """Nor one whose limit is too low for the pace to be known."""
    assert lag_trend((at(0, 2_000), at(4, 3_000)), 1_000) == "lag grows by 250.0 records/s"
    assert lag_trend((at(0, 2_000), at(4, 2_000)), 1_000) == "lag neither falls nor grows"


def test_it_has_nothing_to_report_under_the_limit_or_without_two_readings() -> None:
    """One that could not be read counts for nothing."""
    lost = replace(at(0, 0), partitions=Missing("away"))
    assert lag_trend((at(0, 2_000), at(4, 900)), 1_000) == ""
    assert lag_trend((lost, at(4, 2_000)), 1_000) == ""
    assert lag_trend((at(4, 2_000), at(4, 1_500)), 1_000) == ""
