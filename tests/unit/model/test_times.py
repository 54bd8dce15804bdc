"""Times as people read them."""

import pytest
from kstreams_runbooks.model.times import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, utc_minute, utc_second

AT_MS = 1_769_903_998_999


def test_times_are_shown_in_utc() -> None:
    """To the minute or the second; a part of one is cut off and not rounded."""
    assert utc_minute(AT_MS) == "2026-01-31 23:59 UTC"
    assert utc_second(AT_MS) == "2026-01-31 23:59:58 UTC"
    assert utc_second(AT_MS + SECOND_MS + 1) == "2026-02-01 00:00:00 UTC"


def test_the_units_are_multiples_of_each_other() -> None:
    """A day later it is the same time of day."""
    assert (DAY_MS, HOUR_MS, MINUTE_MS) == (86_400_000, 3_600_000, 60_000)
    assert utc_minute(AT_MS + DAY_MS) == "2026-02-01 23:59 UTC"


@pytest.mark.parametrize("at_ms", [2**63 - 1, -(2**63), 253_402_300_800_000])
def test_a_number_that_is_no_date_is_shown_as_it_is(at_ms: int) -> None:
    """The time in a record is what its producer wrote."""
    assert utc_minute(at_ms) == utc_second(at_ms) == f"{at_ms} ms"
