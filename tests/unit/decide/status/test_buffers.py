"""Suppress buffers that end an application when they are full: which one is the fullest, and what is unknown."""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.status.buffers import (
    fills,
    fullest,
    tighter,
    with_last_known,
)
from kstreams_runbooks.decide.status.status import LagSample, StatusLimits, status
from kstreams_runbooks.model.readings.buffers import NOT_MEASURED, BufferFill, PolledBuffers, SuppressBuffer
from kstreams_runbooks.model.readings.lag import ApplicationLag, PartitionLag
from kstreams_runbooks.model.topology.declaration import DeclaredSuppression

STRICT = DeclaredSuppression("until_window_closes", max_bytes=30_000)
LIMITED = {"4.3.1": {"closed": STRICT}}
MINUTE = 60_000
ROW = PartitionLag("orders", 0, "source", "ok", committed=10, last_stable_offset=10, records=0)
LAG = ApplicationLag("orders", "orders", "classic", "Stable", (ROW,))


def buffer(records: int | None, size: int | None, task: str = "1_0", store: str = "closed-store") -> SuppressBuffer:
    return SuppressBuffer(store, task, records, size)


def polled(*buffers: SuppressBuffer, instance: str = "orders-1", library: str = "4.3.1") -> PolledBuffers:
    return PolledBuffers(instance, library, buffers)


@pytest.mark.parametrize(
    ("changes", "ends"),
    [
        ({}, True),
        ({"max_bytes": None}, False),
        ({"max_bytes": None, "max_records": 5}, True),
        ({"when_full": "shut_down"}, True),
        ({"mode": "until_time_limit"}, False),
        ({"mode": "until_time_limit", "when_full": "shut_down"}, True),
        ({"mode": "until_time_limit", "when_full": "emit_early"}, False),
    ],
)
def test_only_a_strict_limit_ends_the_application(changes: dict[str, Any], *, ends: bool) -> None:
    """A bounded buffer emits early unless the program says otherwise; final results allow a strict one alone."""
    assert replace(STRICT, **changes).ends_when_full is ends


def test_the_fullest_buffer_of_all_tasks_and_instances_counts() -> None:
    """The limit is that of one task: sums over tasks mean nothing."""
    two = (
        polled(buffer(10, 20_000), buffer(5, 29_000, "1_1")),
        polled(buffer(90, 28_000, "1_2"), instance="orders-2"),
    )
    assert fullest(two, LIMITED, 7) == (BufferFill("closed", 7, "task 1_1 of orders-1", 5, 29_000, None, 30_000),)
    by_records = {"4.3.1": {"closed": replace(STRICT, max_bytes=10**9, max_records=100)}}
    [found] = fullest(two, by_records, 7)
    assert (found.place, found.percent) == ("task 1_2 of orders-2", 90)


def test_a_generated_name_has_the_number_before_that_of_its_store() -> None:
    """KTableImpl#suppress takes both numbers one after the other."""
    limited = {"4.3.1": {"KTABLE-SUPPRESS-0000000009": STRICT}}
    stores = [buffer(1, 3_000, store=f"KTABLE-SUPPRESS-STATE-STORE-00000000{number}") for number in ("09", "10")]
    [found] = fullest((polled(*stores),), limited, 7)
    assert (found.operator, found.percent) == ("KTABLE-SUPPRESS-0000000009", 10)


@pytest.mark.parametrize("one", [polled(buffer(1, 2, store="other-store")), polled(buffer(1, 2), library="3.4.1")])
def test_an_operator_without_a_limit_is_not_judged(one: PolledBuffers) -> None:
    """Another operator, and another release than the limited one."""
    assert fullest((one,), LIMITED, 7) == ()


def test_what_was_not_measured_is_unknown_and_not_empty() -> None:
    """With the setting that it takes; a buffer at rest next to measured ones does not grow."""
    [found] = fullest((polled(buffer(None, None), buffer(None, None, "1_1")),), LIMITED, 7)
    assert (found.why, found.percent) == (f"task 1_0 of orders-1: {NOT_MEASURED}", None)
    [quiet] = fullest((polled(buffer(None, None), buffer(1, 300, "1_1")),), LIMITED, 7)
    assert (quiet.why, quiet.percent) == ("", 1)
    [hidden] = fullest((PolledBuffers("orders-1", "4.3.1", (), "no access"),), LIMITED, 7)
    assert hidden.why == "orders-1: no access"


def test_a_known_buffer_hides_no_unknown_one_and_the_other_way_round() -> None:
    """One instance records at DEBUG, another does not."""
    two = (polled(buffer(1, 29_000)), polled(buffer(None, None, "1_1"), instance="orders-2"))
    known, unknown = fullest(two, LIMITED, 7)
    assert (known.percent, known.why, unknown.percent) == (96, "", None)
    assert unknown.why.startswith("task 1_1 of orders-2: ")


@pytest.mark.parametrize(
    ("minutes", "committed", "carried"), [(60, 11, True), (61, 11, False), (10_000, 10, True), (0, 11, True)]
)
def test_the_last_measurement_counts_for_an_hour_or_while_nothing_is_committed(
    minutes: int, committed: int, *, carried: bool
) -> None:
    """No record has entered a buffer of an application that has committed nothing since."""
    last = BufferFill("closed", 0, "task 1_0 of orders-1", 5, 29_000, None, 30_000)
    now = BufferFill("closed", minutes * MINUTE, why="not measured")
    lag = replace(LAG, partitions=(replace(ROW, committed=committed),))
    assert with_last_known((now,), (last,), lag, LAG) == ((last,) if carried else (now,))


def test_an_unknown_size_is_not_carried_on() -> None:
    """Nor does an earlier size replace a present one."""
    unknown = BufferFill("closed", 0, why="not measured")
    now = BufferFill("closed", 1, why="not measured now")
    known = BufferFill("closed", 1, "task 1_0 of orders-1", 1, 1, None, 30_000)
    assert with_last_known((now,), (unknown,), LAG, LAG) == (now,)
    assert with_last_known((known,), (replace(known, bytes=2),), LAG, LAG) == (known,)


def test_the_smaller_limit_of_two_releases_counts() -> None:
    """A warning may come early, never late."""
    other = replace(STRICT, max_bytes=20_000, max_records=7)
    assert tighter(STRICT, other) == replace(STRICT, max_bytes=20_000, max_records=7)
    assert tighter(other, STRICT) == other
    assert tighter(STRICT, STRICT) == STRICT


FULL = BufferFill("closed", 0, "task 1_0 of orders-1", 5, 24_000, None, 30_000)


@pytest.mark.parametrize(
    ("fill", "percent", "word", "sentence"),
    [
        (
            FULL,
            80,
            "filling",
            "closed (task 1_0 of orders-1 held 24,000 of 30,000 bytes by 1970-01-01 00:00 UTC: 80 %,",
        ),
        (FULL, 80, "filling", "shuts the application down; raise its limit, or add instances"),
        (replace(FULL, bytes=23_999), 80, "healthy", "0 records"),
        (replace(FULL, bytes=23_999, max_records=6), 80, "filling", "5 of 6 records and 23,999 of 30,000 bytes"),
        (FULL, 0, "healthy", "0 records"),
        (BufferFill("closed", 0, why="no access"), 80, "unknown", "how full the buffer of closed is: no access"),
        (BufferFill("closed", 0, why="no access"), 0, "healthy", "0 records"),
    ],
)
def test_a_buffer_near_its_limit_is_a_status(fill: BufferFill, percent: int, word: str, sentence: str) -> None:
    """Before unknown facts: it is certain; an unknown size is never healthy."""
    found = status((LagSample(0, LAG, buffers=(fill,)),), StatusLimits(buffer_percent=percent))
    assert found.word == word
    assert sentence in found.sentence


def test_a_full_buffer_hides_no_unknown_one() -> None:
    """Both are there for the caller; the status names the certain one."""
    found = fills((FULL, BufferFill("other", 0, why="no access")), 80)
    assert found.sentence
    assert found.unknown == ("how full the buffer of other is: no access",)
