"""Late records that a side has dropped: a sum only if no counter of its tasks can have gone."""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.outputs.late_drops import closed_before, late_drops
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing, Start
from kstreams_runbooks.model.readings.sides import SideStart
from world.samples import down, instance, reading

LATE, TASKS = {"1"}, {"0": 2, "1": 2}
FIRST = (("0_0", 70), ("1_0", 0))
SECOND = (("0_1", 7), ("1_1", 0))
STARTS = {"orders-1": Start(500, 41), "orders-2": Start(500, 41)}
TOO_LATE = "records are 130 s apart"


def side(
    first: tuple[tuple[str, int], ...] | Missing = FIRST, second: tuple[tuple[str, int], ...] = SECOND, **changes: Any
) -> ApplicationReading:
    """Two instances with the counters of their tasks; changes are those of the first one."""
    return reading(
        instance("orders-1", **{"dropped": first, "closed_tasks": 0, **changes}),
        instance("orders-2", dropped=second, closed_tasks=0),
    )


def began(verified: ApplicationReading | None = None, **changes: Any) -> SideStart:
    """A start whose records may all have been late."""
    return replace(SideStart(verified or side(), STARTS, TOO_LATE), **changes)


def test_the_tasks_with_windows_count_and_no_other() -> None:
    """Foreign-key responses have thousands for other reasons."""
    assert late_drops(began(), side(), LATE, TASKS) == 0
    assert late_drops(began(), side((("0_0", 70), ("1_0", 3)), (("1_1", 4),)), LATE, TASKS) == 7
    assert late_drops(began(), side(), (), TASKS) == 0


@pytest.mark.parametrize(
    ("now", "why"),
    [
        (side(()), "task 1_0 shows no counter (1 such tasks of 2, limit 0)"),
        (side(closed_tasks=1), "orders-1: its threads have closed 1 tasks (limit 0: when this side was verified)"),
        (side(closed_tasks=Missing("not read")), "orders-1: not read"),
        (side(failed_threads=1), "orders-1: 1 of its threads failed (limit 0)"),
        (side(failed_threads=Missing("no such metric")), "orders-1: no such metric"),
        (side(start=Start(900, 43)), "orders-1: its process is another one"),
        (side(Missing("a task has no dropped-records-total")), "orders-1: a task has no dropped-records-total"),
        (reading(*side().instances[:1]), "orders-2: was there when the side was verified"),
        (reading(*side().instances, instance("orders-3", dropped=(), closed_tasks=0)), "orders-3: its process is"),
        (reading(down("orders-1"), side().instances[1]), "orders-1: connection refused"),
    ],
)
@pytest.mark.parametrize("early", ["", TOO_LATE])
def test_a_counter_that_may_have_gone_makes_the_sum_unknown(now: ApplicationReading, why: str, early: str) -> None:
    """A task that moved since, failed or was not read would count as 0, whatever came before."""
    found = late_drops(began(early=early), now, LATE, TASKS)
    assert isinstance(found, Missing)
    assert why in found.missing


def test_tasks_that_moved_as_it_started_count_from_their_new_place() -> None:
    """If nothing that was read by then can have been late; a task that moves afterwards is not known again."""
    verified = side(closed_tasks=6)
    assert late_drops(began(verified, early=""), side(closed_tasks=6), LATE, TASKS) == 0
    assert late_drops(began(verified, early=""), side(second=(("1_1", 4),), closed_tasks=6), LATE, TASKS) == 4
    assert closed_before(began(verified)) == 6
    for now, early, why in (
        (6, TOO_LATE, "orders-1: its threads closed 6 tasks as it started (limit 0; records are 130 s apart)"),
        (7, "", "orders-1: its threads have closed 7 tasks (limit 6: when this side was verified)"),
    ):
        found = late_drops(began(verified, early=early), side(closed_tasks=now), LATE, TASKS)
        assert isinstance(found, Missing)
        assert why in found.missing
    unread = side(closed_tasks=Missing("no such metric"))
    found = late_drops(began(unread, early=""), side(closed_tasks=6), LATE, TASKS)
    assert isinstance(found, Missing)
    assert "closed 6 tasks (limit as many, no such metric: when this side was verified)" in found.missing
    assert closed_before(began(unread)) == 0


@pytest.mark.parametrize("first", [{}, STARTS | {"orders-1": Start(400, 40)}])
def test_a_process_that_may_be_the_second_one_has_counted_only_its_own(first: dict[str, Start]) -> None:
    """A crash in a catch-up: its supervisor starts it again, and the counters begin at 0."""
    found = late_drops(began(first=first), side(), LATE, TASKS)
    assert isinstance(found, Missing)
    assert "orders-1: it may have been restarted before this side was verified (limit 0; records" in found.missing
    assert late_drops(began(first=first, early=""), side(), LATE, TASKS) == 0


def test_what_was_not_verified_is_not_known() -> None:
    """Neither without a reading, nor with one in which a process was not read, nor without the number of tasks."""
    never = Missing("no completed run has started it")
    assert late_drops(never, side(), LATE, TASKS) == never
    silent = reading(replace(side().instances[0], streams=Missing("no answer")), side().instances[1])
    assert isinstance(late_drops(began(silent), side(), LATE, TASKS), Missing)
    for tasks in ({}, {"1": 0}):
        assert isinstance(late_drops(began(), side(), LATE, tasks), Missing)
    more = late_drops(began(), side(), LATE, {"1": 3})
    assert isinstance(more, Missing)
    assert "task 1_2 shows no counter" in more.missing
