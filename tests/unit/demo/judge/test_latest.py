"""The judge of `orders-enriched` and `orders-per-customer`: the latest value per key, whatever came before it."""

from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kstreams_runbooks.demo.judge.figures import OutputVerdict
from kstreams_runbooks.demo.judge.judge import judge
from kstreams_runbooks.demo.judge.windowed import JudgedWindow
from kstreams_runbooks.demo.traffic.records import Customer, Enriched, Order, PerCustomer
from kstreams_runbooks.demo.traffic.schedule import Schedule
from kstreams_runbooks.demo.traffic.topics import TopicRole
from world.faults import alter, places
from world.reference_application import (
    Log,
    append,
    collect,
    empty_log,
    run_application,
    scheduled,
    seeded_merge,
    write_inputs,
)

TABLES = (TopicRole.ENRICHED, TopicRole.PER_CUSTOMER)


def good_log(events: int = 500, merge_seed: int = 1, customers: int = 10) -> Log:
    """What the topics hold after the reference application has processed so many events."""
    log = empty_log()
    write_inputs(log, scheduled(Schedule(seed=3, rate=400, customers=customers, start_ms=1_790_000_000_000), events))
    run_application(log, JudgedWindow(), seeded_merge(merge_seed))
    return log


def verdict_of(log: Log, role: TopicRole) -> OutputVerdict:
    """One output's verdict; its figures must add up."""
    verdict = next(verdict for verdict in judge(collect(log), JudgedWindow()) if verdict.output is role)
    assert verdict.seen == verdict.expected - verdict.missing + verdict.extra
    return verdict


def figures(verdict: OutputVerdict) -> tuple[str, int, int, int]:
    """Verdict, missing, extra, inputs seen."""
    return verdict.verdict, verdict.missing, verdict.extra, verdict.inputs_seen


def last_of_its_key(log: Log, role: TopicRole) -> tuple[int, int]:
    """A record that no later one of its key follows."""
    return next((partition, len(entries) - 1) for partition, entries in enumerate(log[role]) if entries)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10**6))
def test_any_merge_is_ok(merge_seed: int) -> None:
    """What the tables hold in the end does not depend on the interleaving."""
    log = good_log(100, merge_seed, customers=3)
    for role in TABLES:
        assert figures(verdict_of(log, role))[:3] == ("ok", 0, 0)


def test_the_inputs_of_an_output_are_counted() -> None:
    """The join derives from both inputs, the count from the orders."""
    log = good_log()
    customers = sum(len(entries) for entries in log[TopicRole.CUSTOMERS])
    assert verdict_of(log, TopicRole.ENRICHED).inputs_seen == 500 + customers
    assert verdict_of(log, TopicRole.PER_CUSTOMER).inputs_seen == 500
    assert verdict_of(log, TopicRole.PER_CUSTOMER).expected == 10


def update(change: dict[str, int], value: dict[str, Any]) -> None:
    """Alter some fields of a record, whether it has them or not."""
    value.update(change)


@pytest.mark.parametrize("role", TABLES)
def test_a_wrong_latest_is_missing_and_extra_and_names_key_and_offset(role: TopicRole) -> None:
    """Altered, or not a record at all."""
    for change in ({"v": 2}, {"amount": -1, "count": -1}):
        log = good_log()
        place = last_of_its_key(log, role)
        alter(log, role, place, partial(update, change))
        verdict = verdict_of(log, role)
        assert figures(verdict)[:3] == ("wrong", 1, 1)
        extra = next(offence for offence in verdict.offences if offence.kind == "extra")
        assert (extra.partition, extra.offset) == place
        assert extra.key == log[role][place[0]][place[1]][0].decode()


@pytest.mark.parametrize("role", TABLES)
def test_an_older_value_may_be_anything(role: TopicRole) -> None:
    """A value that a right one follows is no fault: these outputs are tables."""
    log = good_log()
    latest = {entry[0]: place for place in places(log, role) for entry in [log[role][place[0]][place[1]]]}
    older = next(place for place in places(log, role) if latest[log[role][place[0]][place[1]][0]] != place)
    alter(log, role, older, lambda value: value.update(v=2))
    assert figures(verdict_of(log, role))[:3] == ("ok", 0, 0)


@pytest.mark.parametrize("role", TABLES)
def test_an_absent_key_is_missing(role: TopicRole) -> None:
    """Never written, or written and removed by a tombstone."""
    log = good_log()
    partition, offset = last_of_its_key(log, role)
    key = log[role][partition][offset][0]
    log[role][partition].append((key, None))
    assert figures(verdict_of(log, role))[:3] == ("wrong", 1, 0)
    log[role][partition] = [entry for entry in log[role][partition] if entry[0] != key]
    assert figures(verdict_of(log, role))[:3] == ("wrong", 1, 0)


@pytest.mark.parametrize(
    ("role", "record"),
    [(TopicRole.ENRICHED, Enriched("o-x", "e", "c-1", 1, "r-1", 1)), (TopicRole.PER_CUSTOMER, PerCustomer("c-999", 1))],
)
def test_a_key_that_no_input_explains_is_extra_until_a_tombstone_removes_it(
    role: TopicRole, record: Enriched | PerCustomer
) -> None:
    """Unknown keys count once, however often they were written."""
    log = good_log()
    append(log, role, record)
    append(log, role, record)
    assert figures(verdict_of(log, role))[:3] == ("wrong", 0, 1)
    key = record.key.encode()
    for entries in log[role]:
        if entries and entries[-1][0] == key:
            entries.append((key, None))
    assert figures(verdict_of(log, role))[:3] == ("ok", 0, 0)


@pytest.mark.parametrize("role", TABLES)
def test_a_key_in_another_partition_is_extra(role: TopicRole) -> None:
    """Even if the same value stands in the right partition too."""
    log = good_log()
    partition, offset = last_of_its_key(log, role)
    log[role][(partition + 1) % 4].append(log[role][partition][offset])
    assert figures(verdict_of(log, role))[:3] == ("wrong", 0, 1)


def test_an_order_whose_customer_is_unknown_has_no_join_result() -> None:
    """An inner join: nothing is expected, and a result is extra."""
    log = empty_log()
    write_inputs(log, [Order("e-1", "o-1", "c-1", 5, 100)])
    assert verdict_of(log, TopicRole.ENRICHED).expected == 0
    append(log, TopicRole.ENRICHED, Enriched("o-1", "e-1", "c-1", 5, "r-1", 1))
    assert figures(verdict_of(log, TopicRole.ENRICHED))[:3] == ("wrong", 0, 1)
    write_inputs(log, [Customer("c-1", "r-1", 1, 100)])
    assert figures(verdict_of(log, TopicRole.ENRICHED))[:3] == ("ok", 0, 0)


def test_a_customer_whose_orders_moved_away_counts_zero() -> None:
    """The grouped table subtracts; the key stays with 0."""
    log = empty_log()
    write_inputs(log, [Order("e-1", "o-1", "c-1", 5, 100), Order("e-2", "o-1", "c-2", 5, 101)])
    append(log, TopicRole.PER_CUSTOMER, PerCustomer("c-1", 0))
    append(log, TopicRole.PER_CUSTOMER, PerCustomer("c-2", 1))
    assert figures(verdict_of(log, TopicRole.PER_CUSTOMER))[:3] == ("ok", 0, 0)


def test_inputs_in_other_partitions_than_murmur2_gives_make_the_tables_inconclusive() -> None:
    """A table is read as it lies: the producer was at fault, and the reason says which setting."""
    log = good_log()
    entry = log[TopicRole.ORDERS][0].pop()
    log[TopicRole.ORDERS][1].append(entry)
    verdicts = {verdict.output: verdict for verdict in judge(collect(log), JudgedWindow())}
    for role in TABLES:
        assert verdicts[role].verdict == "inconclusive"
        assert "partitioner=murmur2_random" in verdicts[role].reasons[0]
    assert verdicts[TopicRole.RUNNING].verdict == "ok"
