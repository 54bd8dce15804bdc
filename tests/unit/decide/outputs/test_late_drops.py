"""Late records that a side has dropped: a sum only if no counter of its tasks can have gone."""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.outputs.late_drops import late_drops
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing, Start, StreamsReading
from world.samples import down, instance, reading

LATE, TASKS = {"1"}, {"0": 2, "1": 2}
FIRST = (("0_0", 70), ("1_0", 0))
SECOND = (("0_1", 7), ("1_1", 0))


def side(
    first: tuple[tuple[str, int], ...] | Missing = FIRST, second: tuple[tuple[str, int], ...] = SECOND, **changes: Any
) -> ApplicationReading:
    """Two instances with the counters of their tasks; changes are those of the first one."""
    return reading(
        instance("orders-1", **{"dropped": first, "closed_tasks": 0, **changes}),
        instance("orders-2", dropped=second, closed_tasks=0),
    )


def test_the_tasks_with_windows_count_and_no_other() -> None:
    """Foreign-key responses have thousands for other reasons."""
    assert late_drops(side(), side(), LATE, TASKS) == 0
    assert late_drops(side(), side((("0_0", 70), ("1_0", 3)), (("1_1", 4),)), LATE, TASKS) == 7
    assert late_drops(side(), side(), (), TASKS) == 0


@pytest.mark.parametrize(
    ("now", "why"),
    [
        (side(()), "task 1_0 shows no counter (1 such tasks of 2, limit 0)"),
        (side(closed_tasks=1), "orders-1: its threads closed 1 tasks (limit 0), and their counters went with them"),
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
def test_a_counter_that_may_have_gone_makes_the_sum_unknown(now: ApplicationReading, why: str) -> None:
    """A task that moved, failed or was not read would count as 0."""
    found = late_drops(side(), now, LATE, TASKS)
    assert isinstance(found, Missing)
    assert why in found.missing


def test_what_was_not_verified_is_not_known() -> None:
    """Neither without a reading, nor with one in which a process was not read, nor without the number of tasks."""
    never = Missing("no completed run has started it")
    assert late_drops(never, side(), LATE, TASKS) == never
    silent = reading(replace(side().instances[0], streams=Missing("no answer")), side().instances[1])
    assert isinstance(late_drops(silent, side(), LATE, TASKS), Missing)
    for tasks in ({}, {"1": 0}):
        assert isinstance(late_drops(side(), side(), LATE, tasks), Missing)
    more = late_drops(side(), side(), LATE, {"1": 3})
    assert isinstance(more, Missing)
    assert "task 1_2 shows no counter" in more.missing
    streams = side().instances[0].streams
    assert isinstance(streams, StreamsReading)
