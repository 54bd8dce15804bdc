"""The schedule is a function of its settings and n: same settings, same records, in any order of asking."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kstreams_runbooks.demo.traffic.schedule import Schedule, base36
from kstreams_runbooks.errors import BadInput

START = 1_790_000_000_000
SCHEDULE = Schedule(seed=7, rate=400, customers=100, start_ms=START)


def test_the_same_settings_give_the_same_events_whatever_was_asked_before() -> None:
    """No state: event 5,000 asked alone equals event 5,000 asked after all others."""
    alone = SCHEDULE.order(5_000)
    again = Schedule(seed=7, rate=400, customers=100, start_ms=START)
    assert [again.order(n) for n in range(5_001)][-1] == alone
    assert replace(SCHEDULE, seed=8).order(5_000) != alone


def test_updates_keep_the_customer_of_their_order_and_change_the_event() -> None:
    """Some events are new orders, some update an earlier one: same customer, another event id."""
    customers: dict[str, str] = {}
    events = set()
    for n in range(10_000):
        order = SCHEDULE.order(n)
        assert customers.setdefault(order.order, order.customer) == order.customer
        events.add(order.event)
    assert len(events) == 10_000
    assert 5_000 < len(customers) < 7_000
    assert len(set(customers.values())) == 100


@given(st.integers(0, 10**9), st.integers(0, 5_000), st.floats(0.1, 10_000))
def test_event_time_lags_the_schedule_by_at_most_the_disorder(n: int, disorder: int, rate: float) -> None:
    """`start + n * 1000 / rate - disorder <= ts <= start + n * 1000 / rate`."""
    schedule = Schedule(seed=1, rate=rate, customers=3, start_ms=START, disorder_ms=disorder)
    due = START + int(n * 1000 / rate)
    assert due - disorder <= schedule.order(n).ts <= due
    assert schedule.due(n) == n / rate


def test_disorder_happens_and_none_can_be_asked_for() -> None:
    """With the default jitter event times go back now and then; with 0 they never do."""
    times = [SCHEDULE.order(n).ts for n in range(1_000)]
    assert times != sorted(times)
    straight = replace(SCHEDULE, disorder_ms=0)
    times = [straight.order(n).ts for n in range(1_000)]
    assert times == sorted(times)


def test_customer_updates_come_now_and_then_and_their_seq_grows_across_runs() -> None:
    """A customer's seq grows within a run and from one run to the next."""
    updates = [update for n in range(10_000) if (update := SCHEDULE.customer_after(n)) is not None]
    assert len(updates) == 250
    first_run = [SCHEDULE.preload(0), *updates]
    second_run = replace(SCHEDULE, start_ms=START + 30_000)
    seqs = [customer.seq for customer in first_run] + [second_run.preload(0).seq]
    assert seqs == sorted(set(seqs))


def test_runs_have_ids_of_their_own() -> None:
    """Order and event ids carry the start, so a restarted generator never repeats one."""
    later = replace(SCHEDULE, start_ms=START + 1)
    assert SCHEDULE.order(0).event != later.order(0).event
    assert SCHEDULE.order(0).order != later.order(0).order


@given(st.integers(min_value=0))
def test_base_36_reads_back(number: int) -> None:
    """What `int` reads in base 36 is the number."""
    assert int(base36(number), 36) == number


@pytest.mark.parametrize(
    "settings",
    [{"rate": 0}, {"rate": -1}, {"rate": float("nan")}, {"customers": 0}, {"disorder_ms": -1}, {"start_ms": 0}],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, float]) -> None:
    """One sentence, before anything is sent."""
    with pytest.raises(BadInput):
        replace(SCHEDULE, **settings)  # type: ignore[arg-type]
