"""Tasks next to stream threads: a thread without a task processes nothing, and only more partitions give it one."""

from collections.abc import Mapping
from dataclasses import dataclass

from kstreams_runbooks.decide.topology.partitions import task_counts
from kstreams_runbooks.model.topology.topology import Topology
from kstreams_runbooks.model.verdicts import Finding

IDLE = "idle-threads"
SOURCE = "Kafka Streams architecture, Stream Partitions and Tasks, Threading Model"
# Stream threads of an instance. Source: StreamsConfig (Apache Kafka), num.stream.threads.
SETTING, _DEFAULT = "num.stream.threads", 1


@dataclass(frozen=True, slots=True)
class Parallelism:
    """Stream threads of all instances, and the tasks of each subtopology by its id."""

    threads: int
    tasks: Mapping[str, int]

    @property
    def all_tasks(self) -> int:
        """Tasks of all subtopologies: the most threads that can process at the same time."""
        return sum(self.tasks.values())

    @property
    def idle(self) -> int:
        """Threads without an active task."""
        return max(0, self.threads - self.all_tasks)

    @property
    def sentence(self) -> str:
        """What is there, and the limit."""
        each = ", ".join(f"subtopology {sub}: {count}" for sub, count in sorted(self.tasks.items()))
        return (
            f"{self.threads:,} stream threads for {self.all_tasks:,} tasks ({each}): {self.idle:,} of them process "
            "nothing; more instances or threads add nothing until the inputs get more partitions"
        )

    def finding(self, name: str) -> tuple[Finding, ...]:
        """An info about the application `name` if a thread is idle, else nothing."""
        return (Finding(IDLE, "info", name, f"{name} has {self.sentence}", SOURCE),) if self.idle else ()


def parallelism(topology: Topology, counts: Mapping[str, int], threads: int) -> Parallelism | None:
    """None if a source's partitions are unknown: `counts` has them by the names that the description prints.

    A subtopology has as many tasks as the source with the most partitions.
    """
    found = task_counts(topology, counts)
    subs = {sub.id for sub in topology.subtopologies if not sub.is_global}
    return Parallelism(threads, found) if subs and subs == found.keys() else None


def threads_of(config: Mapping[str, str] | None, instances: int | None) -> int | None:
    """Stream threads of all instances by their settings; None if settings or the number of instances are unknown."""
    given = None if config is None else config.get(SETTING, str(_DEFAULT))
    if given is None or instances is None or not given.isdecimal():
        return None
    return int(given) * instances
