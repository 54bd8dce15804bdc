"""The judge of `orders-windowed`: the boundaries of closing and lateness, and what cannot be decided."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kstreams_runbooks.demo.judge.figures import OutputVerdict
from kstreams_runbooks.demo.judge.judge import judge
from kstreams_runbooks.demo.judge.windowed import JudgedWindow
from kstreams_runbooks.demo.traffic.records import Order, Windowed
from kstreams_runbooks.demo.traffic.topics import TopicRole
from world.faults import alter, drop, duplicate
from world.reference_application import (
    Log,
    append,
    collect,
    empty_log,
    one_after_the_other,
    run_application,
    seeded_merge,
    write_inputs,
)

WINDOW = JudgedWindow(size_ms=10, grace_ms=5)


def order(n: int, ts: int, key: str = "o-1", customer: str = "c-1") -> Order:
    """An event of one customer; the order id decides its input partition."""
    return Order(f"e-{n}", key, customer, 1, ts)


def processed(*orders: Order) -> Log:
    """The log after these orders, one input partition after the other."""
    log = empty_log()
    write_inputs(log, orders)
    run_application(log, WINDOW, one_after_the_other)
    return log


def windowed(log: Log, window: JudgedWindow = WINDOW) -> OutputVerdict:
    """The verdict about `orders-windowed` alone."""
    return judge(collect(log), window)[1]


def figures(verdict: OutputVerdict) -> tuple[str, int, int, int]:
    """Verdict, missing, extra, duplicate."""
    return verdict.verdict, verdict.missing, verdict.extra, verdict.duplicate


def test_the_defaults_are_those_of_the_application() -> None:
    """10 s windows, 120 s grace; a window's start belongs to it, its end does not."""
    assert JudgedWindow() == JudgedWindow(size_ms=10_000, grace_ms=120_000)
    assert [WINDOW.start(ts) for ts in (0, 9, 10)] == [0, 0, 10]
    assert [WINDOW.closes(ts) for ts in (0, 9, 10)] == [15, 15, 25]


@pytest.mark.parametrize(("stream_time", "closed"), [(14, 0), (15, 1), (16, 1)])
def test_a_window_is_closed_once_stream_time_equals_its_end_plus_grace(stream_time: int, closed: int) -> None:
    """The record that brings stream time there closes it: suppress emits at `end + grace <= stream time`."""
    verdict = windowed(processed(order(0, 3), order(1, stream_time)))
    assert figures(verdict) == ("ok", 0, 0, 0)
    assert (verdict.expected, verdict.seen) == (closed, closed)


@pytest.mark.parametrize(("stream_time", "closed"), [(14, False), (15, True)])
def test_closed_and_silent_is_missing_and_open_and_emitted_is_extra(stream_time: int, closed: bool) -> None:
    """The same boundary, from the other side."""
    log = processed(order(0, 3), order(1, stream_time))
    log[TopicRole.WINDOWED] = [[] for _ in range(4)]
    assert figures(windowed(log)) == (("wrong", 1, 0, 0) if closed else ("ok", 0, 0, 0))
    append(log, TopicRole.WINDOWED, Windowed("c-1", 0, 10, 1))
    assert figures(windowed(log)) == (("ok", 0, 0, 0) if closed else ("wrong", 0, 1, 0))


@pytest.mark.parametrize(("before", "late"), [(14, False), (15, True)])
def test_a_record_is_late_once_stream_time_before_it_equals_its_window_end_plus_grace(before: int, late: bool) -> None:
    """Dropped if `window end <= stream time - grace`; the interleaving is known, so this is exact."""
    log = processed(order(0, before), order(1, 3), order(2, 40))
    verdict = windowed(log)
    assert figures(verdict) == ("inconclusive" if late else "ok", 0, 0, 0)
    if late:
        assert "c-1@0" in verdict.reasons[0]
        assert "orders-" in verdict.reasons[0]
        assert verdict.undecided == 1


def test_a_late_record_is_never_missing_or_extra_however_the_application_took_it() -> None:
    """Dropped, or counted and emitted again after a restart: inconclusive each time."""
    log = processed(order(0, 3), order(1, 15), order(2, 4), order(3, 40))
    for again in (Windowed("c-1", 0, 10, 2), Windowed("c-1", 0, 10, 1)):
        append(log, TopicRole.WINDOWED, again)
        assert figures(windowed(log)) == ("inconclusive", 0, 0, 0)


def test_a_fault_in_another_window_is_found_beside_a_late_record() -> None:
    """Wrong beats inconclusive."""
    log = processed(order(0, 3), order(1, 15), order(2, 4), order(3, 40))
    late_only = windowed(log)
    assert late_only.verdict == "inconclusive"
    log[TopicRole.WINDOWED] = [[] for _ in range(4)]
    assert figures(windowed(log)) == ("wrong", 1, 0, 0)


def two_partitions() -> list[Order]:
    """Two events of one customer in different input partitions, 60 ms apart: in one merge the early one is late."""
    return [order(0, 3, "o-1"), order(1, 63, "o-2")]


def last_one_first(left: Sequence[int]) -> int:
    """Read the last partition to its end, then the one before."""
    return max(index for index, count in enumerate(left) if count)


def test_the_order_of_the_running_count_decides_what_was_late() -> None:
    """Same inputs, two merges: only where the early event came second was it late."""
    verdicts = []
    for merge in (one_after_the_other, last_one_first):
        log = empty_log()
        write_inputs(log, two_partitions())
        run_application(log, WINDOW, merge)
        verdicts.append(windowed(log).verdict)
    assert sorted(verdicts) == ["inconclusive", "ok"]


def test_without_a_perfect_running_count_every_merge_is_possible() -> None:
    """The early event could have come second, so its window is undecided, whatever was emitted."""
    log = empty_log()
    write_inputs(log, two_partitions())
    run_application(log, WINDOW, seeded_merge(1))
    log[TopicRole.RUNNING] = [[] for _ in range(4)]
    for emitted in (0, 1, 2):
        log[TopicRole.WINDOWED] = [[] for _ in range(4)]
        for _ in range(emitted):
            append(log, TopicRole.WINDOWED, Windowed("c-1", 0, 10, 1))
        verdict = windowed(log)
        assert figures(verdict) == ("inconclusive", 0, 0, 0)
        assert "may have come" in verdict.reasons[0]


@pytest.mark.parametrize(("other", "undecided"), [(14, 0), (15, 1)])
def test_possible_lateness_has_the_same_boundary(other: int, undecided: int) -> None:
    """Some record that is not after it in its own input partition has an event time >= window end + grace."""
    log = empty_log()
    write_inputs(log, [order(0, 3, "o-1"), order(1, other, "o-2")])
    assert windowed(log).undecided == undecided


def test_within_one_input_partition_only_what_came_before_can_make_a_record_late() -> None:
    """A later record of the same partition stays later in every merge."""
    log = empty_log()
    write_inputs(log, [order(0, 3), order(1, 100)])
    assert windowed(log).undecided == 0
    write_inputs(log, [order(2, 50)])
    assert windowed(log).undecided == 1


def test_stream_time_is_that_of_the_repartition_partition_of_the_customer() -> None:
    """Customers of the same partition close each other's windows, customers of another one do not."""
    log = empty_log()
    names = collect(log).customers
    home = {f"c-{n}": names.home(names.id(f"c-{n}"), 4) for n in range(20)}
    same = next(name for name in home if name != "c-1" and home[name] == home["c-1"])
    other = next(name for name in home if home[name] != home["c-1"])
    for customer, closed in ((same, 1), (other, 0)):
        verdict = windowed(processed(order(0, 3), order(1, 50, "o-1", customer)))
        assert (verdict.verdict, verdict.expected) == ("ok", closed)


def one_more(field: str, value: dict[str, Any]) -> None:
    """Alter one number of a record."""
    value[field] += 1


def test_each_fault_in_a_closed_window_is_found_exactly() -> None:
    """Dropped, duplicated, altered, in another partition, a tombstone, a window that never was."""
    orders = [order(n, n * 7) for n in range(30)]
    good = processed(*orders)
    assert figures(windowed(good)) == ("ok", 0, 0, 0)
    place = next((partition, 0) for partition in range(4) if good[TopicRole.WINDOWED][partition])
    entry = good[TopicRole.WINDOWED][place[0]][0]

    log = processed(*orders)
    drop(log, TopicRole.WINDOWED, place)
    assert figures(windowed(log)) == ("wrong", 1, 0, 0)
    log[TopicRole.WINDOWED][(place[0] + 1) % 4].append(entry)
    assert figures(windowed(log)) == ("wrong", 1, 1, 0)

    log = processed(*orders)
    duplicate(log, TopicRole.WINDOWED, place)
    assert figures(windowed(log)) == ("wrong", 0, 0, 1)

    for field in ("count", "start", "end"):
        log = processed(*orders)
        alter(log, TopicRole.WINDOWED, place, partial(one_more, field))
        assert figures(windowed(log)) == ("wrong", 1, 1, 0)

    log = processed(*orders)
    log[TopicRole.WINDOWED][place[0]].append((entry[0], None))
    append(log, TopicRole.WINDOWED, Windowed("c-2", 0, 10, 1))
    assert figures(windowed(log)) == ("wrong", 0, 2, 0)


def test_another_window_size_or_grace_is_another_truth() -> None:
    """Both are parameters; with the wrong ones a good output looks wrong."""
    log = processed(*[order(n, n * 7) for n in range(30)])
    assert windowed(log, JudgedWindow(10, 5)).verdict == "ok"
    assert windowed(log, JudgedWindow(20, 5)).verdict == "wrong"


TRAFFIC = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3), st.integers(0, 120)), max_size=40)


@settings(deadline=None, max_examples=300)
@given(TRAFFIC, st.integers(0, 10**6), st.integers(0, 200), st.booleans())
def test_in_any_merge_nothing_is_ever_missing_or_extra(
    traffic: list[tuple[int, int, int]], merge_seed: int, grace: int, hidden: bool
) -> None:
    """Whatever the disorder: a good output is ok or, where a record was or could be late, inconclusive.

    With `hidden` the running count is lost, so that the interleaving is unknown.
    """
    window = JudgedWindow(10, grace)
    log = empty_log()
    write_inputs(
        log, [order(n, ts, f"o-{key}-{customer}", f"c-{customer}") for n, (key, customer, ts) in enumerate(traffic)]
    )
    run_order = run_application(log, window, seeded_merge(merge_seed))
    verdict_known = windowed(log, window)
    emitted = sum(Windowed.decode(value or b"").count for entries in log[TopicRole.WINDOWED] for _, value in entries)
    if hidden:
        log[TopicRole.RUNNING] = [[] for _ in range(4)]
    verdict = windowed(log, window)
    assert (verdict.missing, verdict.extra, verdict.duplicate) == (0, 0, 0)
    # what is known exactly is never more doubtful than what is only possible
    assert verdict_known.undecided <= verdict.undecided or not hidden
    if verdict_known.verdict == "ok":
        closed = verdict_known.expected
        assert closed == sum(len(entries) for entries in log[TopicRole.WINDOWED])
        assert emitted <= len(run_order)
