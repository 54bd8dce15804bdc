"""What is known before one side of an application takes over from the other, and at the seam between them."""

from dataclasses import dataclass
from typing import Literal

from kstreams_runbooks.model.readings.drain import DrainReading, OpenTransaction
from kstreams_runbooks.model.readings.lag import PartitionLag
from kstreams_runbooks.model.readings.readings import GroupReading, Missing

# Both are groups that read an output: an application of Kafka Streams, or any other consumer.
DownstreamKind = Literal["streams", "consumer"]


@dataclass(frozen=True, slots=True)
class SideReading:
    """One side of a cutover: what its group reads and writes, each topic by its exact name.

    `inputs` are the topics that it reads and others write, `internal` its repartition and changelog topics, `unread`
    the records that it has not read. `acts` is False if a person deploys it.
    """

    application: str
    group_id: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    internal: tuple[str, ...]
    unread: int | Missing
    acts: bool = True


@dataclass(frozen=True, slots=True)
class CopyingSide:
    """A copier in front of the sides, or in a chain behind that one; `acts` is False if a person deploys it."""

    name: str
    delivery: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    acts: bool = True


@dataclass(frozen=True, slots=True)
class PairedOutput:
    """An output of the old side and its counterpart on the new side; empty if none is declared.

    `kind` is its class (docs/blue_green.md), None if it is not known, and `asked` the fields that decide it then.
    Partitions are Missing if a topic cannot be read.
    """

    old: str
    new: str
    old_partitions: int | Missing
    new_partitions: int | Missing
    kind: str | None
    asked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GroupOnOutput:
    """A group that has members or committed offsets on an output of the old side; `entry` is empty if undeclared."""

    topic: str
    group_id: str
    entry: str = ""


@dataclass(frozen=True, slots=True)
class KeptFor:
    """How long brokers keep what a group needs to move, in ms; None without a limit. `what` is the setting."""

    what: str
    ms: int | Missing | None


@dataclass(frozen=True, slots=True)
class DownstreamReading:
    """A declared group that reads outputs of the old side, and moves to those of the new one.

    `topics` are those of the old outputs that it reads, `settings` pairs of a setting of its own and the topic that it
    names. `group_type` is the broker's word. `acts` is False if a person deploys it: `kept` limits when it may come.
    """

    entry: str
    kind: DownstreamKind
    group_id: str
    group_type: str
    topics: tuple[str, ...]
    settings: tuple[tuple[str, str], ...]
    delivery: str
    transactional_ids: tuple[str, ...] = ()
    acts: bool = True
    kept: tuple[KeptFor, ...] = ()


@dataclass(frozen=True, slots=True)
class CutoverReading:
    """Both sides, what copies in front of them, and what reads behind them.

    `copier` is None if no copier writes their inputs. `chain` are copiers between it and the new side. `readers` is
    Missing if the groups of the cluster cannot be listed. `most_unread` is how far the new side may be behind.
    """

    old: SideReading
    new: SideReading
    copier: CopyingSide | None
    chain: tuple[CopyingSide, ...]
    outputs: tuple[PairedOutput, ...]
    readers: tuple[GroupOnOutput, ...] | Missing
    downstream: tuple[DownstreamReading, ...]
    most_unread: int


@dataclass(frozen=True, slots=True)
class SideDrain:
    """Two readings of one application behind held inputs, `earlier` before `now`."""

    application: str
    earlier: DrainReading
    now: DrainReading


@dataclass(frozen=True, slots=True)
class SeamReading:
    """A downstream group once its instances are stopped: its group, its rows of the old outputs, what is open.

    `open` are the transactions that its transactional ids have open anywhere.
    """

    entry: str
    group_id: str
    group: GroupReading | Missing
    rows: tuple[PartitionLag, ...] | Missing
    open: tuple[OpenTransaction, ...] | Missing
