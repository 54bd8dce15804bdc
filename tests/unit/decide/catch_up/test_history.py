"""A history is read if retention was never faster than the application, and nothing reads its results yet."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.catch_up.history import history_read, nearest_to_start
from kstreams_runbooks.model.readings.lag import PartitionLag
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from world.samples import gone, partition


def judged(*rows: PartitionLag, most: int = 10, users: tuple[str, ...] = (), **earlier: int) -> Verdict:
    """The decision; `earlier` are offsets of the look before, `orders_0` for partition 0."""
    before = {name.replace("_", "-"): offset for name, offset in earlier.items()}
    return history_read(rows, before, users, most)


def test_it_waits_until_few_records_are_left() -> None:
    """The limit is that of every gate."""
    assert judged(partition(50, 100)).outcome is Outcome.WAIT
    assert judged(partition(90, 100)).outcome is Outcome.PROCEED
    assert judged(partition(90, 100), partition(99, 101, 1)).outcome is Outcome.WAIT


def test_records_that_were_deleted_before_they_were_read() -> None:
    """The committed offset is below the start of the log: certain."""
    verdict = judged(partition(50, 1_000, log_start=80), orders_0=50)
    assert verdict.outcome is Outcome.REFUSE
    assert "orders-0: 50 is committed, and its log begins at 80 (expected below): 30 offsets" in verdict.reasons[0]
    assert "trigger a new run with --param mode=cancel" in verdict.reasons[0]


def test_records_that_were_deleted_since_the_look_before() -> None:
    """It may have read them in between, or may have been sent past them by auto.offset.reset."""
    verdict = judged(partition(100, 1_000, log_start=80), orders_0=50)
    assert verdict.outcome is Outcome.REFUSE
    assert "50 was committed at the look before, and its log begins at 80 now" in verdict.reasons[0]


@pytest.mark.parametrize("earlier", [80, 90])
def test_retention_behind_the_application_is_no_loss(earlier: int) -> None:
    """The start of the log moves all the time: it may come up to what was read before, and no further."""
    assert judged(partition(100, 1_000, log_start=80), orders_0=earlier).outcome is Outcome.WAIT


def test_the_start_of_a_log_may_be_the_first_offset_to_read() -> None:
    """Where the run has begun."""
    assert judged(partition(80, 85, log_start=80), orders_0=80).outcome is Outcome.PROCEED


def test_an_offset_that_is_gone() -> None:
    """The run has committed one on each partition: where it goes on would be chosen by auto.offset.reset."""
    verdict = judged(partition(None, 100))
    assert verdict.outcome is Outcome.REFUSE
    assert "orders-0: the committed offset is gone" in verdict.reasons[0]


def test_a_group_that_reads_its_outputs() -> None:
    """By a pattern, which no broker shows beforehand."""
    verdict = judged(partition(90, 100), users=("output totals-green: group billing uses it",))
    assert verdict.outcome is Outcome.REFUSE
    assert "group billing uses it (expected: nothing reads it before the cutover)" in verdict.reasons[0]


def test_what_cannot_be_read_is_not_known() -> None:
    """Offsets, an end, a topic that is gone, the start of a log."""
    assert history_read(Missing("no coordinator"), {}, (), 10).outcome is Outcome.INCONCLUSIVE
    assert judged(partition(90, Missing("no leader"))).outcome is Outcome.INCONCLUSIVE
    assert judged(gone("orders")).outcome in {Outcome.INCONCLUSIVE, Outcome.REFUSE}
    unseen = replace(partition(90, 100), log_start_offset=None)
    assert judged(unseen).outcome is Outcome.INCONCLUSIVE


def test_the_partition_that_retention_reaches_first() -> None:
    """For a person who watches."""
    rows = (partition(90, 100, log_start=10), partition(60, 100, 1, log_start=50))
    assert nearest_to_start(rows).startswith("orders-1 is 10 offsets above the start")
    assert not nearest_to_start((partition(None, 100),))
