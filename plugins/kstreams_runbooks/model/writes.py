"""Writes to topics and committed offsets: what is wanted, what it replaces, and the result for each object."""

from dataclasses import dataclass
from typing import Literal

from kstreams_runbooks.wording import sentence

WriteKind = Literal[
    "create_topics",
    "grow_topics",
    "delete_topics",
    "delete_records",
    "set_offsets",
    "delete_offsets",
    "delete_groups",
    "empty_group",
]
WriteResult = Literal["done", "already", "rehearsed", "failed"]
NO_EPOCH = -1


@dataclass(frozen=True, slots=True)
class PlannedWrite:
    """One kind of write to these topics, and to the committed offsets of `group` if the kind concerns a group.

    `empty_group` stops the members of `group`; `topics` are those that they read and restore from afterwards.
    """

    kind: WriteKind
    topics: tuple[str, ...] = ()
    group: str = ""


@dataclass(frozen=True, slots=True)
class TopicShape:
    """A topic to create. `replication` -1 is the brokers' default; `settings` are those that the topic has itself."""

    name: str
    partitions: int
    replication: int = -1
    settings: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Growth:
    """The topic with this id, from `partitions` to `to`."""

    topic: str
    topic_id: str
    partitions: int
    to: int


@dataclass(frozen=True, slots=True)
class CommittedOffset:
    """A committed offset with all that was committed with it.

    Kafka Streams keeps its stream time in `metadata`. `leader_epoch` is -1 if none was committed.
    """

    topic: str
    partition: int
    offset: int
    metadata: str = ""
    leader_epoch: int = NO_EPOCH

    @property
    def place(self) -> tuple[str, int]:
        """Its partition."""
        return self.topic, self.partition


@dataclass(frozen=True, slots=True)
class SavedOffsets:
    """Everything that a group had committed at `at_ms`, sorted; a partition that it never committed is absent."""

    group_id: str
    at_ms: int
    offsets: tuple[CommittedOffset, ...]

    def by_place(self) -> dict[tuple[str, int], CommittedOffset]:
        """Each offset by its partition."""
        return {one.place: one for one in self.offsets}


@dataclass(frozen=True, slots=True)
class ObjectWritten:
    """What a write did to one object (`topic x`, `x-3 of group g`).

    `already`: it was as wanted before this call. `rehearsed`: a dry run. `failed`: `error` has the reason. `topic_id`
    is the id of a topic that was created, grown or deleted.
    """

    object: str
    result: WriteResult
    topic_id: str = ""
    error: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "error", sentence(self.error))


@dataclass(frozen=True, slots=True)
class SavedFile:
    """Saved offsets as a plain file: `path` for Kafka's own tool, `notes` next to it with all that the tool cannot set.

    `command` restores the offsets without this project; empty if there was none to save.
    """

    path: str
    notes: str
    command: str
