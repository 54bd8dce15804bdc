"""The judge of `orders-running` is judged: what was spoilt in a good log, and nothing else, is what it finds."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kstreams_runbooks.demo.judge.figures import OutputVerdict
from kstreams_runbooks.demo.judge.judge import exit_code, judge
from kstreams_runbooks.demo.judge.windowed import JudgedWindow
from kstreams_runbooks.demo.traffic.records import Order, Running
from kstreams_runbooks.demo.traffic.schedule import Schedule
from kstreams_runbooks.demo.traffic.topics import TopicRole
from world.faults import alter, drop, duplicate, entry, of_key, places, swap
from world.reference_application import (
    Log,
    append,
    collect,
    empty_log,
    one_after_the_other,
    run_application,
    scheduled,
    seeded_merge,
    write_inputs,
)

START = 1_790_000_000_000
WINDOW = JudgedWindow()


def good_log(events: int, customers: int = 100, merge_seed: int = 1) -> Log:
    """What the topics hold after the reference application has processed so many events."""
    log = empty_log()
    write_inputs(log, scheduled(Schedule(seed=7, rate=400, customers=customers, start_ms=START), events))
    run_application(log, WINDOW, seeded_merge(merge_seed))
    return log


@pytest.fixture(scope="module")
def ten_thousand() -> Log:
    """10,000 events, processed without a fault; not to be changed."""
    return good_log(10_000)


@pytest.fixture(scope="module")
def two_thousand() -> Log:
    """2,000 events, processed without a fault; not to be changed."""
    return good_log(2_000)


def copied(log: Log) -> Log:
    """A log of its own to spoil."""
    return {role: [list(entries) for entries in partitions] for role, partitions in log.items()}


def figures(verdict: OutputVerdict) -> tuple[int, int, int, int]:
    """Missing, extra, duplicate, out of order."""
    return verdict.missing, verdict.extra, verdict.duplicate, verdict.out_of_order


def running_of(log: Log) -> OutputVerdict:
    """Judge a log; only `orders-running` may be found wrong."""
    running, *others = judge(collect(log), WINDOW)
    assert {verdict.verdict for verdict in others} <= {"ok", "inconclusive"}
    assert running.seen == running.expected - running.missing + running.extra + running.duplicate
    return running


def test_a_good_log_of_10000_events_is_ok(ten_thousand: Log) -> None:
    """All four outputs are right, in whatever mix the topics are read."""
    for roles in (tuple(ten_thousand), tuple(reversed(ten_thousand))):
        verdicts = judge(collect(ten_thousand, roles), WINDOW)
        assert [figures(verdict) for verdict in verdicts] == [(0, 0, 0, 0)] * 4
        assert exit_code(verdicts) == 0
    assert [verdict.expected for verdict in verdicts][::3] == [10_000, 100]


def test_one_dropped_is_one_missing(ten_thousand: Log) -> None:
    """It names the event that was not counted, and nobody else."""
    log = copied(ten_thousand)
    event = json.loads(entry(log, TopicRole.RUNNING, (1, 1234))[1] or b"")["event"]
    drop(log, TopicRole.RUNNING, (1, 1234))
    verdict = running_of(log)
    assert figures(verdict) == (1, 0, 0, 0)
    assert event in verdict.offences[0].detail
    assert verdict.verdict == "wrong"


@pytest.mark.parametrize("to", [None, 10, 1235])
def test_one_duplicated_is_one_duplicate(ten_thousand: Log, to: int | None) -> None:
    """Wherever the second copy lands, also far before its place."""
    log = copied(ten_thousand)
    duplicate(log, TopicRole.RUNNING, (1, 1234), to)
    assert figures(running_of(log)) == (0, 0, 1, 0)


ALTERATIONS: dict[str, Callable[[dict[str, Any]], None]] = {
    "sum": lambda value: value.update(sum=value["sum"] + 1),
    "amount": lambda value: value.update(amount=value["amount"] + 1),
    "sum and amount": lambda value: value.update(sum=value["sum"] + 1, amount=value["amount"] + 1),
    "count up": lambda value: value.update(count=value["count"] + 1),
    "count down": lambda value: value.update(count=value["count"] - 1),
    "count far up": lambda value: value.update(count=value["count"] + 1_000_000),
    "count zero": lambda value: value.update(count=0),
    "event": lambda value: value.update(event="nobody-1"),
    "customer": lambda value: value.update(customer="nobody"),
    "version": lambda value: value.update(v=2),
    "type": lambda value: value.update(count=str(value["count"])),
    "huge": lambda value: value.update(sum=2**70),
}


@pytest.mark.parametrize("alteration", ALTERATIONS)
@pytest.mark.parametrize("index", [0, 1, 10, -2, -1])
def test_one_altered_is_one_missing_and_one_extra(two_thousand: Log, alteration: str, index: int) -> None:
    """Any field, at the beginning, in the middle and at the end of a key: it does not spread to its neighbours."""
    log = copied(two_thousand)
    place = of_key(log, TopicRole.RUNNING, b"c-17")[index]
    alter(log, TopicRole.RUNNING, place, ALTERATIONS[alteration])
    verdict = running_of(log)
    assert figures(verdict) == (1, 1, 0, 0)
    extra = next(offence for offence in verdict.offences if offence.kind == "extra")
    assert (extra.key, extra.partition, extra.offset) == ("c-17", *place)


@pytest.mark.parametrize(("one", "other"), [(0, 1), (3, 40), (-2, -1)])
def test_two_swapped_are_two_out_of_order(ten_thousand: Log, one: int, other: int) -> None:
    """Two records of one key, neighbours or far apart; both are named."""
    log = copied(ten_thousand)
    own = of_key(log, TopicRole.RUNNING, b"c-17")
    swap(log, TopicRole.RUNNING, own[one][0], own[one][1], own[other][1])
    verdict = running_of(log)
    assert figures(verdict) == (0, 0, 0, 2)
    assert {offence.offset for offence in verdict.offences} == {own[one][1], own[other][1]}


def test_all_four_faults_in_one_log_are_found_beside_each_other(ten_thousand: Log) -> None:
    """One dropped, one duplicated, one altered, two swapped, in one key: exactly these."""
    log = copied(ten_thousand)
    own = of_key(log, TopicRole.RUNNING, b"c-17")
    swap(log, TopicRole.RUNNING, own[60][0], own[60][1], own[70][1])
    alter(log, TopicRole.RUNNING, own[50], ALTERATIONS["sum"])
    duplicate(log, TopicRole.RUNNING, own[30])
    drop(log, TopicRole.RUNNING, own[10])
    assert figures(running_of(log)) == (2, 1, 1, 2)


@settings(deadline=None, max_examples=150)
@given(
    merge_seed=st.integers(0, 10**6),
    customers=st.integers(1, 5),
    pick=st.integers(0, 10**6),
    fault=st.sampled_from(["drop", "duplicate", "swap", *ALTERATIONS]),
)
def test_any_single_fault_in_any_merge_is_found_exactly(merge_seed: int, customers: int, pick: int, fault: str) -> None:
    """Short keys and long ones, every position; without the fault the log is good."""
    log = good_log(40, customers, merge_seed)
    assert figures(running_of(log)) == (0, 0, 0, 0)
    place = places(log, TopicRole.RUNNING)[pick % 40]
    key = entry(log, TopicRole.RUNNING, place)[0]
    own = of_key(log, TopicRole.RUNNING, key)
    if fault == "drop":
        drop(log, TopicRole.RUNNING, place)
        expected = (1, 0, 0, 0)
    elif fault == "duplicate":
        duplicate(log, TopicRole.RUNNING, place)
        expected = (0, 0, 1, 0)
    elif fault == "swap":
        other = own[pick // 40 % len(own)]
        swap(log, TopicRole.RUNNING, place[0], place[1], other[1])
        expected = (0, 0, 0, 0 if other == place else 2)
    else:
        alter(log, TopicRole.RUNNING, place, ALTERATIONS[fault])
        expected = (1, 1, 0, 0)
    assert figures(running_of(log)) == expected


def test_an_event_counted_twice_under_two_counts_is_one_duplicate() -> None:
    """What at-least-once processing does: the counts go on without a gap, and one event is in twice."""
    log = good_log(2_000)
    own = of_key(log, TopicRole.RUNNING, b"c-17")
    again = Running.decode(entry(log, TopicRole.RUNNING, own[5])[1] or b"")
    for place in own[6:]:
        alter(
            log,
            TopicRole.RUNNING,
            place,
            lambda value: value.update(count=value["count"] + 1, sum=value["sum"] + again.amount),
        )
    twice = Running("c-17", again.count + 1, again.sum + again.amount, again.event, again.amount)
    log[TopicRole.RUNNING][own[6][0]].insert(own[6][1], (b"c-17", twice.encode()))
    assert figures(running_of(log)) == (0, 0, 1, 0)


def test_an_event_lost_before_it_was_counted_is_one_missing() -> None:
    """The counts have no gap either, so only the events tell."""
    log = good_log(2_000)
    own = of_key(log, TopicRole.RUNNING, b"c-17")
    lost = Running.decode(entry(log, TopicRole.RUNNING, own[5])[1] or b"")
    for place in own[6:]:
        alter(
            log,
            TopicRole.RUNNING,
            place,
            lambda value: value.update(count=value["count"] - 1, sum=value["sum"] - lost.amount),
        )
    drop(log, TopicRole.RUNNING, own[5])
    assert figures(running_of(log)) == (1, 0, 0, 0)


def test_a_replayed_stretch_is_as_many_duplicates() -> None:
    """Ten outputs written again, as after a restart that went back too far."""
    log = good_log(2_000)
    own = of_key(log, TopicRole.RUNNING, b"c-17")
    entries = log[TopicRole.RUNNING][own[0][0]]
    entries[own[9][1] + 1 : own[9][1] + 1] = [entries[offset] for _, offset in own[:10]]
    assert figures(running_of(log)) == (0, 0, 10, 0)


def test_a_record_in_another_partition_is_extra_and_missing_in_its_own() -> None:
    """The default partitioner decides where a key lives."""
    log = good_log(2_000)
    partition, offset = of_key(log, TopicRole.RUNNING, b"c-17")[3]
    moved = log[TopicRole.RUNNING][partition].pop(offset)
    log[TopicRole.RUNNING][(partition + 1) % 4].append(moved)
    verdict = running_of(log)
    assert figures(verdict) == (1, 1, 0, 0)
    assert {offence.partition for offence in verdict.offences} == {partition, (partition + 1) % 4}


def test_records_of_a_customer_that_no_input_knows_are_extra() -> None:
    """So are tombstones and values that are no records."""
    log = good_log(1_000)
    append(log, TopicRole.RUNNING, Running("c-999", 1, 5, "x-1", 5))
    log[TopicRole.RUNNING][0].append((b"c-17", None))
    log[TopicRole.RUNNING][0].append((b"c-17", b"\x00"))
    assert figures(running_of(log)) == (0, 3, 0, 0)


def test_events_of_one_input_partition_counted_in_another_order_are_out_of_order() -> None:
    """Counts ascend, each event once, and still two updates of an order were processed the wrong way round."""
    log = empty_log()
    orders = [Order(f"e-{n}", "o-1", "c-1", 10, START + n) for n in range(5)]
    write_inputs(log, orders)
    counted = [orders[0], orders[2], orders[1], orders[3], orders[4]]
    for count, order in enumerate(counted, start=1):
        append(log, TopicRole.RUNNING, Running("c-1", count, count * 10, order.event, 10))
    verdict = judge(collect(log), WINDOW)[0]
    assert figures(verdict) == (0, 0, 0, 2)


def test_an_empty_output_misses_everything_and_empty_topics_are_ok() -> None:
    """An application that never ran is wrong, a fleet without traffic is not."""
    log = good_log(500)
    log[TopicRole.RUNNING] = [[] for _ in range(4)]
    assert figures(judge(collect(log), WINDOW)[0]) == (500, 0, 0, 0)
    assert exit_code(judge(collect(empty_log()), WINDOW)) == 0


def test_an_event_that_the_input_has_twice_is_expected_twice() -> None:
    """The judge counts with multiplicity; with two contents under one id it cannot judge."""
    log = empty_log()
    order = Order("e-1", "o-1", "c-1", 10, START)
    write_inputs(log, [order, order])
    run_application(log, WINDOW, one_after_the_other)
    assert figures(judge(collect(log), WINDOW)[0]) == (0, 0, 0, 0)
    append(log, TopicRole.ORDERS, Order("e-1", "o-1", "c-1", 11, START))
    verdicts = judge(collect(log), WINDOW)
    assert {verdict.verdict for verdict in verdicts} == {"inconclusive"}
    assert exit_code(verdicts) == 3


def test_an_unreadable_input_leaves_nothing_to_be_expected() -> None:
    """Every output that derives from it is inconclusive and says which record it was."""
    log = good_log(500)
    log[TopicRole.ORDERS][2].append((b"o-x", b"{}"))
    verdicts = judge(collect(log), WINDOW)
    assert {verdict.verdict for verdict in verdicts} == {"inconclusive"}
    assert f"orders-2@{len(log[TopicRole.ORDERS][2]) - 1}" in verdicts[0].reasons[0]


def test_a_doubt_about_an_output_leaves_what_more_reading_could_not_take_back() -> None:
    """Under an open transaction a missing record may still come; a duplicate stays one."""
    log = good_log(500)
    doubts = {TopicRole.RUNNING: ["orders-running-0 has an open transaction"]}
    drop(log, TopicRole.RUNNING, (0, 3))
    assert judge(collect(log), WINDOW, doubts)[0].verdict == "inconclusive"
    duplicate(log, TopicRole.RUNNING, (1, 3))
    assert judge(collect(log), WINDOW, doubts)[0].verdict == "wrong"
    doubts[TopicRole.ORDERS] = ["orders-0 still moved"]
    verdicts = judge(collect(log), WINDOW, doubts)
    assert {verdict.verdict for verdict in verdicts} == {"inconclusive"}


def test_offences_beyond_the_bound_are_counted_and_said_to_be_left_out() -> None:
    """The document stays readable; the figures count all."""
    log = good_log(3_000)
    log[TopicRole.RUNNING] = [[] for _ in range(4)]
    verdict = judge(collect(log), WINDOW)[0]
    document = verdict.document("orders-running")
    assert (verdict.missing, len(verdict.offences), document["offences_left_out"]) == (3_000, 1_000, 2_000)
