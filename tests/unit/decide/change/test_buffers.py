"""Suppress buffers as they are now, next to the limits that a new version gives them."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.change.buffers import NO_BUFFER, NO_INSTANCE, NewLimits, held_back, new_limits
from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.model.readings.buffers import PolledBuffers, SuppressBuffer
from kstreams_runbooks.model.topology.declaration import DeclaredSuppression
from world.pairs import compared

BOUNDED = NewLimits("final-only", "final-only", 10_000, None, "shut_down")


def with_limits(case: str, **suppressions: DeclaredSuppression | None) -> Compared:
    """A case whose new version declares `final-only` otherwise."""
    change = compared(case)
    declared = {
        **change.after.declared.suppressions,
        **{name.replace("_", "-"): one for name, one in suppressions.items()},
    }
    kept = {name: one for name, one in declared.items() if one is not None}
    return Compared(change.before, Side(change.after.topology, replace(change.after.declared, suppressions=kept)))


def test_limits_that_a_buffer_gets() -> None:
    """A buffer without a limit in the new version can hold what it holds."""
    assert new_limits(compared("suppress-buffer-bounded")) == (BOUNDED,)
    change = compared("suppress-buffer-bounded")
    assert new_limits(Compared(change.after, change.before)) == ()
    assert new_limits(Compared(change.after, change.after)) == ()


def test_a_renamed_buffer_has_new_limits_too() -> None:
    """It restores what the old one holds, or begins empty: the person who decides sees both names."""
    [found] = new_limits(compared("suppress-renamed-and-buffer-bounded"))
    assert found.operator != found.before
    assert found.max_records or found.max_bytes


def test_a_buffer_that_emits_early_is_told_apart() -> None:
    """Its limit ends nothing."""
    early = DeclaredSuppression("until_time_limit", 1_000, max_bytes=5)
    [found] = new_limits(with_limits("suppress-buffer-bounded", final_only=early))
    assert (found.when_full, found.max_bytes, found.max_records) == ("emit_early", 5, None)
    assert new_limits(with_limits("suppress-buffer-bounded", final_only=None)) == ()


def polled(*records: int | None, instance: str = "orders-1", why: str = "") -> PolledBuffers:
    """An instance with a task for each number; a record has 100 bytes."""
    buffers = tuple(
        SuppressBuffer("final-only-store", f"1_{task}", count, None if count is None else 100 * count)
        for task, count in enumerate(records)
    )
    return PolledBuffers(instance, "4.3.1", buffers, why)


@pytest.mark.parametrize(
    ("found", "fits", "place", "why"),
    [
        ((polled(10_000, 7),), True, "task 1_0 of orders-1", ""),
        ((polled(7, 10_001),), False, "task 1_1 of orders-1", ""),
        ((polled(7, None),), True, "task 1_0 of orders-1", ""),
        ((), None, "", NO_INSTANCE),
        ((polled(),), None, "", NO_BUFFER),
        ((polled(None, None),), None, "", "only with metrics.recording.level=DEBUG"),
        ((polled(7), polled(why="no access", instance="orders-2")), None, "", "orders-2: no access"),
        ((polled(7), polled(None, instance="orders-2")), None, "", "orders-2: Streams has not measured it"),
        # What is certain needs no other instance.
        ((polled(10_001), polled(why="no access", instance="orders-2")), False, "task 1_0 of orders-1", ""),
    ],
)
def test_the_fullest_task_is_next_to_the_new_limit(
    found: tuple[PolledBuffers, ...], fits: bool | None, place: str, why: str
) -> None:
    """A limit is that of one task; what was not measured fits nowhere."""
    [one] = held_back((BOUNDED,), found)
    assert (one.fits, one.place) == (fits, place)
    assert why in one.why
    assert bool(why) is bool(one.why)
    assert one.ends_it is (fits is False)


def test_the_tighter_limit_counts() -> None:
    """Kafka Streams looks at both."""
    [one] = held_back((replace(BOUNDED, max_bytes=499),), (polled(5, 4),))
    assert (one.fits, one.records, one.bytes) == (False, 5, 500)
    [early] = held_back((replace(BOUNDED, max_bytes=499, when_full="emit_early"),), (polled(5),))
    assert (early.fits, early.ends_it) == (False, False)


def test_the_buffer_of_the_old_name_is_read() -> None:
    """What runs has the old name."""
    [one] = held_back((replace(BOUNDED, operator="closed"),), (polled(5),))
    assert (one.operator, one.before, one.records) == ("closed", "final-only", 5)
    [none] = held_back((replace(BOUNDED, before="closed"),), (polled(5),))
    assert none.why == NO_BUFFER
