"""What is left to read of a row, over all rows, and which of them do not move."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.lag import Lag, standing_still, to_read, total_lag
from kstreams_runbooks.model.readings.lag import PartitionLag
from kstreams_runbooks.model.readings.readings import Missing
from world.samples import gone, partition

PAST = (
    "orders-0: committed 101 is past its end 100: the topic was created again or cut off, or the offset was set "
    "manually"
)


@pytest.mark.parametrize(
    ("row", "left"),
    [
        (partition(90), 10),
        (partition(100), 0),
        (partition(None), 100),
        (partition(None, log_start=40), 60),
        (partition(10, log_start=40), 60),
        (partition(101), Missing(PAST)),
        (partition(stable=Missing("no leader")), Missing("orders-0: last stable offset no leader")),
        (partition(None, Missing("no leader")), Missing("orders-0: last stable offset no leader")),
        (gone("zones"), Missing("zones-0: the topic does not exist on the cluster")),
    ],
)
def test_what_is_left_is_known_or_says_why_not(row: PartitionLag, left: int | Missing) -> None:
    """Never 0 where it is not known; from the log's start where the group is before it."""
    assert to_read(row) == left


def test_the_sum_names_what_is_not_in_it() -> None:
    """Each partition of which it is not known."""
    rows = (partition(90), partition(None, number=1), partition(101), gone("zones"))
    assert total_lag(rows) == Lag(110, (PAST, "zones-0: the topic does not exist on the cluster"))


def test_a_partition_with_something_to_read_has_to_advance() -> None:
    """One that is not known, or has nothing to read, need not."""
    before = (partition(90), partition(90, number=1), partition(100, number=2), partition(101, number=3))
    after = (partition(91), partition(90, 200, 1), partition(100, number=2), partition(101, number=3))
    assert standing_still(before, after) == ("orders-1 (10 to read, committed stays at 90)",)
    lost = (partition(91), replace(partition(number=1), committed=None))
    assert standing_still(before[:2], lost) == ("orders-1 (10 to read, committed offset not readable)",)
