"""The pace of the lag, and of the restore, that keep a gate shut."""

from dataclasses import replace

from kstreams_runbooks.decide.instances.lag_trend import lag_trend, restore_trend
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing, Taken
from world.samples import instance, partition, reading


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


def restoring(second: int, left: int | Missing, tasks: int | Missing = 2) -> ApplicationReading:
    """A reading of one instance that restores."""
    own = instance("orders-1", restoring=tasks, restore_remaining=left)
    return replace(reading(own), taken=Taken(second * 1000, "t"))


def test_a_restore_that_advances_has_an_end() -> None:
    samples = (restoring(0, 5_000), restoring(5, 4_500), restoring(10, 1_000))
    assert restore_trend(samples, "orders-1") == "it restores 400.0 records/s: done in about 2 s"
    assert restore_trend((restoring(0, 5_000), restoring(5, 5_000)), "orders-1") == "its restore does not advance"


def test_a_restore_that_is_over_or_not_known_has_no_pace() -> None:
    """-1 is what Streams reports while it does not know the number."""
    for last in (restoring(5, 0, 0), restoring(5, -1), restoring(5, Missing("no metric"), Missing("no metric"))):
        assert restore_trend((restoring(0, 5_000), last), "orders-1") == ""
    assert restore_trend((restoring(0, 5_000), restoring(5, 10)), "orders-9") == ""
