"""Which readings of a long wait are kept; the clock is the test's own."""

import itertools
from collections.abc import Callable

import pytest
from kstreams_runbooks.watch.thinned import Thinned

HOURS_8 = 8 * 3600


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Sets the time."""
    now = [0.0]
    monkeypatch.setattr("kstreams_runbooks.watch.thinned.time.monotonic", lambda: now[0])

    def set_to(at_s: float) -> None:
        now[0] = at_s

    return set_to


def kept(clock: Callable[[float], None], sentence: Callable[[int], str], length_s: int = HOURS_8) -> list[int]:
    """The times at which a reading was kept, one every 5 s."""
    clock(0)
    wait, times = Thinned(), []
    for at_s in range(0, length_s, 5):
        clock(at_s)
        if wait.keeps(sentence(at_s)):
            times.append(at_s)
    return times


def test_eight_hours_are_a_hundred_readings(clock: Callable[[float], None]) -> None:
    """A lag that falls is another sentence each time, and no news; the gaps grow to five minutes."""
    times = kept(clock, lambda at_s: f"wait: lag {HOURS_8 - at_s:,} records (limit 1,000)")
    assert len(times) == 140
    gaps = [after - before for before, after in itertools.pairwise(times)]
    assert (times[:3], min(gaps), max(gaps)) == ([0, 30, 60], 30, 300)


def test_what_is_new_is_kept_at_once(clock: Callable[[float], None]) -> None:
    """Whenever it comes; what was there before it is no news when it comes back."""
    changes = {0: "wait: lag 7", 7_200: "wait: orders-1 is REBALANCING", 7_205: "refuse: orders-1 is in ERROR"}
    times = kept(clock, lambda at_s: changes.get(at_s, "wait: lag 5"), 7_300)
    assert {7_200, 7_205} <= set(times)
    assert 7_210 not in times


def test_a_state_that_flaps_keeps_both_sides_and_not_each_change(clock: Callable[[float], None]) -> None:
    """An instance that comes and goes every five seconds for a day is seen to do so."""
    times = kept(clock, lambda at_s: "wait: RUNNING" if at_s % 10 else "wait: REBALANCING")
    assert len(times) < 320
    assert {at_s % 10 for at_s in times} == {0, 5}


def test_a_short_wait_keeps_one_every_half_minute(clock: Callable[[float], None]) -> None:
    """A gate of a minute has three; the decision that ends it has its own readings."""
    assert kept(clock, lambda _: "wait: lag 5", 65) == [0, 30, 60]
