"""Readings: every reading has its time, its source, and the start of the instance that it is about.

A reading that could not be taken is a `Missing`, never a zero, so a decision has to handle it. Units: times are Unix
milliseconds, offsets are log offsets (ends are exclusive), sizes are bytes.
"""

from dataclasses import dataclass, field
from typing import Literal

from kstreams_runbooks.model.readings.buffers import PolledBuffers, SuppressBuffer
from kstreams_runbooks.model.readings.lag import PartitionLag
from kstreams_runbooks.model.readings.states import is_down
from kstreams_runbooks.model.target import Target
from kstreams_runbooks.wording import sentence


@dataclass(frozen=True, slots=True)
class Start:
    """One start of one instance: a JVM's start time and, if the reader sees it, its process id."""

    started_at_ms: int
    pid: int | None = None


@dataclass(frozen=True, slots=True)
class Missing:
    """A reading that could not be taken, and why.

    `start` is the start of the instance that the reading is missing for, if it could be read: a JVM whose Streams
    client is gone still reports its start time.
    """

    missing: str
    start: Start | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "missing", sentence(self.missing))


@dataclass(frozen=True, slots=True)
class NoClient(Missing):
    """A JVM that answers and has no Kafka Streams client, of any application.

    `up_ms` is its uptime by its own clock, None if it did not report one.
    """

    up_ms: int | None = None


@dataclass(frozen=True, slots=True)
class NotListening(Missing):
    """No process listens at the instance's address: as for one that is stopped."""


@dataclass(frozen=True, slots=True)
class Lasting(Missing):
    """What no repetition of the reading gives: a login that is not accepted, a declaration that is wrong."""


@dataclass(frozen=True, slots=True)
class NoLeader(Missing):
    """What is read of a partition whose leader did not answer, or has just moved: it may be back in a moment."""


@dataclass(frozen=True, slots=True)
class Taken:
    """When a reading was taken, and from where (an address, never a secret)."""

    at_ms: int
    source: str


@dataclass(frozen=True, slots=True)
class MemberReading:
    """One member of a group as its coordinator knows it (one per stream thread).

    Classic and consumer groups report the member's `partitions` (`topic-partition`), streams groups its active `tasks`
    (`subtopology_partition`) and the `process_id` that the threads of one Streams client share.
    """

    member_id: str
    client_id: str
    host: str
    instance_id: str | None = None
    partitions: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    process_id: str | None = None


@dataclass(frozen=True, slots=True)
class GroupReading:
    """A group: `type` is classic, consumer, streams, share or unknown; `state` is the broker's word (Stable, Empty).

    `protocol` is the assignor that the members of a classic group agreed on, empty while they have none.
    """

    taken: Taken
    group_id: str
    type: str
    state: str
    members: tuple[MemberReading, ...]
    protocol: str = ""


@dataclass(frozen=True, slots=True)
class TopicReading:
    """One topic: `topic_id` changes when it is deleted and created again.

    `uncertain` are the partitions whose end is not certain, with the reason: too few replicas are in sync.
    """

    name: str
    topic_id: str
    partitions: int
    configs: tuple[tuple[str, str], ...] = ()
    uncertain: tuple[tuple[int, str], ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class BrokerReading:
    """The cluster's brokers: release, finalized features, and the two settings that change what is safe."""

    taken: Taken
    version: str | Missing
    features: tuple[tuple[str, int], ...] | Missing
    auto_create_topics: bool | Missing
    brokers: int


@dataclass(frozen=True, slots=True)
class StreamsReading:
    """What an instance's own Kafka Streams client reports (its JMX beans): never the process's view.

    A copier `as_deployed` has no such client: its state is that of its process (CREATED while it starts, then RUNNING),
    its version `as-deployed`, and its client id the declared one, empty for any.

    `restoring` is the number of active tasks that still restore; `restore_remaining` the records they still have to
    restore (-1 if Streams does not know yet). Both are `Missing` in releases that have no such metric. `buffers` are
    those of its suppress operators, one for each task. `dropped` has each task with the records that it has dropped
    since its start, and `closed_tasks` is how often a thread has closed a task: its figures are gone then.
    """

    taken: Taken
    start: Start
    client_id: str
    application_id: str
    state: str
    version: str
    alive_threads: int | Missing
    failed_threads: int | Missing
    restoring: int | Missing
    restore_remaining: int | Missing
    topology: str | Missing
    buffers: tuple[SuppressBuffer, ...] | Missing = Missing("the suppress buffers were not read")
    as_deployed: bool = False
    dropped: tuple[tuple[str, int], ...] | Missing = Missing("dropped records were not read")
    closed_tasks: int | Missing = Missing("closed tasks were not read")


def polled_buffers(instance: str, found: StreamsReading | Missing) -> PolledBuffers:
    """The suppress buffers of an instance, or why they are unknown."""
    if isinstance(found, Missing):
        return PolledBuffers(instance, "", (), found.missing)
    if isinstance(found.buffers, Missing):
        return PolledBuffers(instance, found.version, (), found.buffers.missing)
    return PolledBuffers(instance, found.version, found.buffers)


ProcessState = Literal["running", "stopped", "starting", "failed", "unknown"]


@dataclass(frozen=True, slots=True)
class Deployment:
    """A deployer's report on one instance.

    `release` and `settings` are what is declared for it. `applied` is whether the running process was started after
    they were last written (False: it still runs with the earlier values). `obstacles` are the reasons why no runbook
    can declare anything else, one sentence each. `stated`: the values were not observed, they come from a declaration.
    `autorestart` is whether anything else starts the instance again after its deployer has stopped it. `ended_cleanly`
    is whether a process that has ended did so by itself or as it was asked to: False if a signal killed it. `build`
    is which build of `release` it is, such as the id of an image; empty if the deployer does not know it. `log_end` is
    the last error in the log of one that died, or its last line, as a clause; empty if it lives or nothing reads it.
    """

    taken: Taken
    instance: str
    process: ProcessState
    started_at_ms: int | None
    pid: int | None
    release: str | Missing
    settings: tuple[tuple[str, str], ...]
    applied: bool | Missing
    obstacles: tuple[str, ...] = ()
    stated: bool = False
    autorestart: bool | Missing = Missing("its deployer does not report autorestart")
    ended_cleanly: bool | Missing = Missing("its deployer does not report how its process ended (ended_cleanly)")
    build: str = ""
    log_end: str = field(default="", compare=False)

    @property
    def target(self) -> Target | Missing:
        """What is declared for it; Missing if its release is. The value of a hidden setting is `(hidden)`."""
        return self.release if isinstance(self.release, Missing) else Target(self.release, self.settings)

    def setting(self, name: str) -> str | None:
        """Value of one declared setting, None if it is unset."""
        return dict(self.settings).get(name)


@dataclass(frozen=True, slots=True)
class InstanceReading:
    """One declared instance: its deployment and the report of its Streams client, each possibly missing.

    `group_instance_id` is the declared one, empty without static membership.
    """

    instance: str
    deployment: Deployment | Missing
    streams: StreamsReading | Missing
    group_instance_id: str = ""

    @property
    def down(self) -> str:
        """That its process has ended, as its deployer has it: DEAD if it failed; empty if it has not ended."""
        if isinstance(self.deployment, Missing) or not is_down(self.deployment.process):
            return ""
        if self.deployment.process == "failed":
            return f"{self.instance} is DEAD (its process has failed)"
        return f"{self.instance} is DOWN (its process is {self.deployment.process})"

    @property
    def ended(self) -> str:
        """The same with what its log ends with, as `orders-1 is DEAD (…): last error in its log: …`."""
        return f"{self.down}{self.log_end.replace(';', ':', 1)}" if self.down else ""

    @property
    def log_end(self) -> str:
        """What the log of an instance that died ends with, as `; last error in its log: …`; empty if it is not read."""
        end = "" if isinstance(self.deployment, Missing) else self.deployment.log_end
        return f"; {end}" if end else ""

    @property
    def silent(self) -> str:
        """Why its Streams client reports nothing: its process has ended, or the reading failed; empty if it reports."""
        if not isinstance(self.streams, Missing):
            return ""
        return self.ended or f"{self.instance}: {self.streams.missing}"


# What is read of an application apart from its instances.
Part = Literal["broker", "group", "offsets", "topics"]


@dataclass(frozen=True, slots=True)
class ApplicationReading:
    """Everything that was read of one application at one time; `taken.at_ms` is when the reading began."""

    taken: Taken
    application: str
    cluster: str
    broker: BrokerReading | Missing
    group: GroupReading | Missing
    topics: tuple[TopicReading, ...] | Missing
    partitions: tuple[PartitionLag, ...] | Missing
    instances: tuple[InstanceReading, ...] = field(default=())

    def instance(self, name: str) -> InstanceReading | Missing:
        """Reading of one declared instance."""
        for reading in self.instances:
            if reading.instance == name:
                return reading
        return Missing(f"instance {name} was not read")

    def lacking(self, *parts: Part) -> tuple[str, ...]:
        """The Missing ones of these parts, one sentence each, in the given order."""
        found = {"broker": self.broker, "group": self.group, "offsets": self.partitions, "topics": self.topics}
        asked = ((part, found[part]) for part in parts)
        return tuple(f"{part} of {self.application}: {one.missing}" for part, one in asked if isinstance(one, Missing))
