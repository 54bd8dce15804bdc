"""How many late records the second side of an application has dropped since it began: by counters of its tasks.

A counter of Kafka Streams lives as long as its task in one thread of one process. The sum is that of all records only
if every process is the one that began, no thread has failed, no task was closed, and each task shows its counter.
"""

from collections.abc import Collection, Mapping

from kstreams_runbooks.model.readings.readings import ApplicationReading, InstanceReading, Missing, StreamsReading


def late_drops(
    began: ApplicationReading | Missing, now: ApplicationReading, late: Collection[str], tasks: Mapping[str, int]
) -> int | Missing:
    """The records that the tasks of these subtopologies (ids) have dropped; Missing if a counter may have gone.

    `began` is the reading with which the run that started this side has verified it, `tasks` the number of tasks of
    each subtopology.
    """
    if isinstance(began, Missing):
        return began
    starts = {one.instance: _start(one) for one in began.instances}
    counted: dict[str, int] = {}
    for one in now.instances:
        figures = _figures(one, starts.get(one.instance))
        if isinstance(figures, Missing):
            return Missing(f"{one.instance}: {figures.missing}")
        for task, number in figures:
            counted[task] = counted.get(task, 0) + number
    if gone := sorted(starts.keys() - {one.instance for one in now.instances}):
        return Missing(f"{gone[0]}: was there when the side was verified, and was not read now")
    wanted = set[str]()
    for subtopology in late:
        if not tasks.get(subtopology):
            return Missing(f"how many tasks subtopology {subtopology} has is not known")
        wanted |= {f"{subtopology}_{number}" for number in range(tasks[subtopology])}
    if lacking := sorted(wanted - counted.keys()):
        return Missing(f"task {lacking[0]} shows no counter ({len(lacking)} such tasks of {len(wanted)}, limit 0)")
    return sum(counted[task] for task in wanted)


def _start(one: InstanceReading) -> tuple[int, int | None] | None:
    streams = one.streams
    if isinstance(streams, Missing) or streams.start is None:
        return None
    return streams.start.started_at_ms, streams.start.pid


def _figures(one: InstanceReading, began: tuple[int, int | None] | None) -> tuple[tuple[str, int], ...] | Missing:
    """The counters of one instance, if they count from the beginning."""
    streams = one.streams
    if not isinstance(streams, StreamsReading):
        return Missing(streams.missing)
    if began is None or _start(one) != began:
        return Missing("its process is another one than the run that started this side has verified")
    if isinstance(streams.failed_threads, Missing):
        return streams.failed_threads
    if streams.failed_threads:
        return Missing(f"{streams.failed_threads} of its threads failed (limit 0), and their counters went with them")
    if isinstance(streams.closed_tasks, Missing):
        return streams.closed_tasks
    if streams.closed_tasks:
        return Missing(f"its threads closed {streams.closed_tasks} tasks (limit 0), and their counters went with them")
    return streams.dropped
