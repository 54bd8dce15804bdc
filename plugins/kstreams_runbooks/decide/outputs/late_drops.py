"""How many late records the second side of an application has dropped since it began: by counters of its tasks.

A counter of Kafka Streams lives as long as its task in one thread of one process. The sum is that of all records only
if every process is the one that began, no thread has failed, no task was closed, and each task shows its counter.

Instances that start together give tasks to each other, and the counters go with them. They were at 0 if nothing that
was read until then can have been late (`why_late`): a task is then counted from its new place on.
"""

from collections.abc import Collection, Mapping

from kstreams_runbooks.model.readings.readings import (
    ApplicationReading,
    InstanceReading,
    Missing,
    Start,
    StreamsReading,
)
from kstreams_runbooks.model.readings.sides import SideStart


def late_drops(
    began: SideStart | Missing, now: ApplicationReading, late: Collection[str], tasks: Mapping[str, int]
) -> int | Missing:
    """The records that the tasks of these subtopologies (ids) have dropped; Missing if a counter may have gone.

    `began` is how the run that started this side found it, `tasks` the number of tasks of each subtopology.
    """
    if isinstance(began, Missing):
        return began
    verified = {one.instance: one for one in began.verified.instances}
    counted: dict[str, int] = {}
    for one in now.instances:
        figures = _figures(one, verified.get(one.instance), began)
        if isinstance(figures, Missing):
            return Missing(f"{one.instance}: {figures.missing}")
        for task, number in figures:
            counted[task] = counted.get(task, 0) + number
    if gone := sorted(verified.keys() - {one.instance for one in now.instances}):
        return Missing(f"{gone[0]}: was there when the side was verified, and was not read now")
    wanted = set[str]()
    for subtopology in late:
        if not tasks.get(subtopology):
            return Missing(f"how many tasks subtopology {subtopology} has is not known")
        wanted |= {f"{subtopology}_{number}" for number in range(tasks[subtopology])}
    if lacking := sorted(wanted - counted.keys()):
        return Missing(f"task {lacking[0]} shows no counter ({len(lacking)} such tasks of {len(wanted)}, limit 0)")
    return sum(counted[task] for task in wanted)


def closed_before(began: SideStart) -> int:
    """How many tasks its threads had closed when it was verified, as far as that was read."""
    closed = [one.streams.closed_tasks for one in began.verified.instances if isinstance(one.streams, StreamsReading)]
    return sum(one for one in closed if not isinstance(one, Missing))


def _figures(
    one: InstanceReading, verified: InstanceReading | None, began: SideStart
) -> tuple[tuple[str, int], ...] | Missing:
    """The counters of one instance, if they count from the beginning, or were at 0 until a later moment."""
    streams = one.streams
    if not isinstance(streams, StreamsReading):
        return Missing(streams.missing)
    if verified is None or _start(verified) is None or _start(one) != _start(verified):
        return Missing("its process is another one than the run that started this side has verified")
    for figure in (streams.failed_threads, streams.closed_tasks):
        if isinstance(figure, Missing):
            return figure
    if streams.failed_threads:
        return Missing(f"{streams.failed_threads} of its threads failed (limit 0), and their counters went with them")
    if why := _gone(streams, verified, began):
        return Missing(f"{why}, and counters went with that")
    return streams.dropped


def _gone(streams: StreamsReading, verified: InstanceReading, began: SideStart) -> str:
    """What may have taken counters of this instance with it; empty if nothing that counts."""
    before = (
        verified.streams.closed_tasks if isinstance(verified.streams, StreamsReading) else Missing("which was not read")
    )
    if streams.closed_tasks and streams.closed_tasks != before:
        limit = before if isinstance(before, int) else f"as many, {before.missing}"
        return f"its threads have closed {streams.closed_tasks} tasks (limit {limit}: when this side was verified)"
    if not began.early:
        return ""
    if streams.closed_tasks:
        return f"its threads closed {streams.closed_tasks} tasks as it started (limit 0; {began.early})"
    if _start(verified) != began.first.get(verified.instance):
        return f"it may have been restarted before this side was verified (limit 0; {began.early})"
    return ""


def _start(one: InstanceReading) -> Start | None:
    return None if isinstance(one.streams, Missing) else one.streams.start
