"""The partitions of the keys of an input and of their state, which show whether a repartition is needless.

Partitions count from 0; a key is its bytes, as the serializer wrote them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from kstreams_runbooks.model.readings.readings import Taken

# How the keys of a state topic begin. A repartition topic has no state: it shows the partition in which
# each key is read today.
StateKind = Literal["key_value", "window", "session", "versioned", "repartition"]

# Bytes behind the record's key in a changelog: of a window its start and a number (8 + 4), of a session its end and its
# start (8 + 8). Source: `WindowKeySchema`, `SessionKeySchema`, Apache Kafka 4.3.
KEY_SUFFIX: Final[Mapping[StateKind, int]] = {
    "key_value": 0,
    "window": 12,
    "session": 16,
    "versioned": 0,
    "repartition": 0,
}

# What a few examples are given of.
KeyCase = Literal["elsewhere", "several", "new_elsewhere", "absent"]


@dataclass(frozen=True, slots=True)
class KeyPair:
    """An input topic and the topic that keeps the state of its keys: a changelog, or the repartition topic.

    Without `kind` the declaration of the store decides.
    """

    input: str
    state: str
    kind: StateKind | None = None


@dataclass(frozen=True, slots=True)
class PlacedKey:
    """One key, as text if it can be printed and in hexadecimal digits otherwise, and its partitions: first and last."""

    key: str
    input: tuple[int, ...]
    state: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class KeyCounts:
    """How many keys are where; each key of either topic is counted once in `same` … `absent` or `deleted`.

    `same`: in both, each in one partition, with one number. `elsewhere`: in both, otherwise. `new`: in the input, with
    no state; `new_elsewhere` of them are not, or not only, where Kafka's default partitioner puts them. `absent`: with
    state, and not in the input; `absent_elsewhere` of them have it where that partitioner does not put them. `several`:
    in more than one partition of the input, of all keys. `other_state`: of all keys with state those that have it where
    the default partitioner does not put them. `deleted`: in the state topic as a deleted key alone: such a key has no
    state, and counts as `new` too if it is in the input.

    `null_keys` are records of the input without a key, `short_keys` records of the state topic whose key is too short
    for its kind, or null.
    """

    same: int = 0
    elsewhere: int = 0
    new: int = 0
    new_elsewhere: int = 0
    absent: int = 0
    absent_elsewhere: int = 0
    several: int = 0
    other_state: int = 0
    deleted: int = 0
    null_keys: int = 0
    short_keys: int = 0
    examples: Mapping[KeyCase, tuple[PlacedKey, ...]] = field(default_factory=dict)

    @property
    def state(self) -> int:
        """Keys with state."""
        return self.same + self.elsewhere + self.absent

    @property
    def input(self) -> int:
        """Keys of the input."""
        return self.same + self.elsewhere + self.new


@dataclass(frozen=True, slots=True)
class ComparedTopic:
    """One of the two topics, with offsets of all its partitions together.

    `offsets` are those between the log's start and the end up to which committed records can be read, `unread` those of
    them that a sample left out. `deleted` are offsets before the log's start, `open` those behind an open transaction.
    `compacted`: its cleanup.policy compacts it, None if that is not known.
    """

    name: str
    topic_id: str
    partitions: int
    offsets: int
    unread: int
    deleted: int
    open: int
    compacted: bool | None


@dataclass(frozen=True, slots=True)
class PartitioningReading:
    """The comparison of one pair; `keys` is None if there was no need to read it: its topics cannot be compared."""

    taken: Taken
    kind: StateKind
    input: ComparedTopic
    state: ComparedTopic
    keys: KeyCounts | None = None
