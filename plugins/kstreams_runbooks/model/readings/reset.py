"""What a reset would do, before it does anything: what was read for it, and the answer.

Offsets are log offsets, ends are exclusive; times are Unix ms, sizes bytes. An unknown value is Missing, never zero.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from kstreams_runbooks.model.fleet_graph import DownstreamEntry
from kstreams_runbooks.model.local_state import FileTimes
from kstreams_runbooks.model.readings.disorder import LateForecast
from kstreams_runbooks.model.readings.input_offsets import InputPartition, MovedOffset
from kstreams_runbooks.model.readings.readings import Missing, Taken, TopicReading

# reset: internal topics and local state go, inputs are read from their targets. offsets: only the offsets move, state
# stays. state: local state goes and is restored from the changelogs. retire: reset, and the application does not start
# again.
ResetMode = Literal["reset", "offsets", "state", "retire"]
# The modes that delete internal topics.
DELETES_TOPICS: frozenset[ResetMode] = frozenset({"reset", "retire"})
# What becomes of a store. partly: rebuilt, without the part of its history that is not read again. doubled: records
# are counted a second time. unknown: whether they are is not declared.
Fate = Literal["rebuilt", "restored", "kept", "partly", "doubled", "unknown", "lost", "gone"]


@dataclass(frozen=True, slots=True)
class TopicUser:
    """A group that uses a topic: it has committed offsets on it, or members that it is assigned to."""

    topic: str
    group_id: str
    type: str
    state: str
    commits: bool
    assigned: bool


@dataclass(frozen=True, slots=True)
class RunningUse:
    """A topic that the running topology of another application of the fleet reads or writes."""

    topic: str
    entry: str
    writes: bool


@dataclass(frozen=True, slots=True)
class LocalSize:
    """Local state of one instance, as its deployer reports it: bytes by task directory."""

    instance: str
    directories: Mapping[str, int] | Missing


@dataclass(frozen=True, slots=True)
class LocalTimes:
    """When the local state of one instance changed, as its deployer reports it: by task directory."""

    instance: str
    directories: Mapping[str, FileTimes] | Missing


@dataclass(frozen=True, slots=True)
class CountedMove:
    """Records of one partition that another offset reads again, or skips, and those left to read after it.

    `at_least`: only a part was scanned. `before_ms` and `after_ms` are the times of the first records at either offset
    (None: there is none), `newest_ms` is the newest time among all records of its log.
    """

    topic: str
    partition: int
    moved: int | Missing
    left: int | Missing
    at_least: bool = False
    before_ms: int | Missing | None = None
    after_ms: int | Missing | None = None
    newest_ms: int | Missing | None = None


@dataclass(frozen=True, slots=True)
class MissingKeys:
    """Keys of a table that its target does not read: `count`, and some `examples`."""

    topic: str
    count: int | Missing
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReadPace:
    """Records each second on all inputs between two readings of the scheduled check.

    The most that were read, and those that came in meanwhile; `readings` is how many were compared.
    """

    read_per_s: float
    incoming_per_s: float
    readings: int


@dataclass(frozen=True, slots=True)
class RestoringLog:
    """A topic that restores a store: its cleanup.policy (empty: not visible), and the offsets that its log lost.

    `retention_ms` is how long it keeps a record, None without a limit, `lag_ms` how long compaction leaves a record;
    both are Missing if its settings are not visible. `limited_bytes`: brokers delete also beyond a size.
    """

    topic: str
    policy: str
    gone: int | Missing
    retention_ms: int | Missing | None = None
    lag_ms: int | Missing = 0
    limited_bytes: bool = False


@dataclass(frozen=True, slots=True)
class ResetFacts:
    """What was read of an application before a reset.

    `inputs` are the partitions of its inputs, `policies` the cleanup.policy of each that was reported. `internal` are
    the topics that are named as its internal ones, `sizes` their bytes. `users` are other groups on its outputs and
    internal topics, `others` other applications of the fleet whose topology runs. `oldest_ms` is the time of the first
    record left of each input. `restoring` are its changelogs, its inputs and the topics of global stores. `problems`
    are readings that could not be taken, one sentence each.
    """

    taken: Taken
    inputs: tuple[InputPartition, ...]
    policies: Mapping[str, str]
    internal: tuple[TopicReading, ...]
    sizes: Mapping[str, int] | Missing
    users: tuple[TopicUser, ...]
    others: tuple[RunningUse, ...]
    local: tuple[LocalSize, ...]
    pace: ReadPace | Missing
    oldest_ms: Mapping[str, int | Missing] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    restoring: tuple[RestoringLog, ...] = ()


@dataclass(frozen=True, slots=True)
class ResetTopic:
    """A topic that is named as an internal one of the application.

    `goes`: the mode deletes it. `used_by` are others that read or write it. `why` is the reason why it stays.
    """

    name: str
    topic_id: str
    kind: Literal["changelog", "repartition"]
    partitions: int
    bytes: int | Missing
    goes: bool
    used_by: tuple[str, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True)
class GoneHistory:
    """Offsets of an input that its log no longer has, over all partitions; `oldest_ms` is its first record left."""

    topic: str
    offsets: int
    partitions: int
    policy: str
    oldest_ms: int | Missing


@dataclass(frozen=True, slots=True)
class StoreFate:
    """What becomes of a store; `inputs` lead to it, `changelog` is its topic (empty: it has none).

    `local_only` is why no log brings back what local disks have of it, empty if one does: an undo does not either.
    `in_part`: the topic restores it, but for that.
    """

    store: str
    inputs: tuple[str, ...]
    changelog: str
    fate: Fate
    why: str = ""
    accepted: bool = False
    local_only: str = ""
    in_part: bool = False


@dataclass(frozen=True, slots=True)
class OutputReader:
    """A group that reads outputs and will see results again; `entry` is its name in the fleet, empty if it has none."""

    group_id: str
    type: str
    state: str
    topics: tuple[str, ...]
    entry: str = ""


@dataclass(frozen=True, slots=True)
class CatchUp:
    """How long until the inputs are read to their end: `seconds` at the pace of the ledger's readings."""

    records: int | Missing
    at_least: bool
    seconds: float | Missing


@dataclass(frozen=True, slots=True)
class BlastRadius:
    """What a reset of one application would do, and to whom.

    `unmoved` are inputs that keep their offsets. `tables` are the inputs that are read as tables,
    `emptied` the outputs whose records would be deleted. `late` has each store that drops late records and reads a
    history again.
    """

    application: str
    application_id: str
    cluster: str
    mode: ResetMode
    taken: Taken
    internal: tuple[ResetTopic, ...]
    offsets: tuple[MovedOffset, ...]
    counts: tuple[CountedMove, ...]
    unmoved: tuple[str, ...]
    tables: tuple[str, ...]
    missing_keys: tuple[MissingKeys, ...]
    history: tuple[GoneHistory, ...]
    stores: tuple[StoreFate, ...]
    outputs: tuple[str, ...]
    emptied: tuple[str, ...]
    downstream: tuple[DownstreamEntry, ...]
    readers: tuple[OutputReader, ...]
    local: tuple[LocalSize, ...]
    catch_up: CatchUp
    problems: tuple[str, ...] = ()
    late: tuple[LateForecast, ...] = ()

    @property
    def deleted(self) -> tuple[ResetTopic, ...]:
        """The internal topics that go."""
        return tuple(one for one in self.internal if one.goes)
