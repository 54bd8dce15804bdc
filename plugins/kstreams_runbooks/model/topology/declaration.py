"""What a topology description has no room for, as an application declares it: windows, keys, serdes, suppressions.

Nothing here has a default that stands for a fact: what is not declared is not known, and what hangs on it is
inconclusive.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from kstreams_runbooks.model.releases.release import Release

StoreKind = Literal["key_value", "window", "session", "join", "versioned"]
WindowKind = Literal["tumbling", "hopping", "sliding", "session", "join"]
Emit = Literal["on_window_update", "on_window_close"]
SuppressMode = Literal["until_window_closes", "until_time_limit"]
Join = Literal["inner", "left", "outer"]
# What no description shows of a store, and what a declaration may state to be as it was before.
Unchanged = Literal["aggregate", "join", "logging"]


@dataclass(frozen=True, slots=True)
class Window:
    """One window, in ms: `size_ms` is the gap of a session and the difference of a join or a sliding window.

    `grace_given` is False where the program leaves it to the default (24 h less the size, for old factories), `emit`
    the strategy of KIP-825, which is on_window_update unless a program gives another.
    """

    kind: WindowKind
    size_ms: int
    grace_ms: int
    advance_ms: int | None = None
    grace_given: bool = True
    emit: Emit = "on_window_update"


@dataclass(frozen=True, slots=True)
class Serde:
    """How bytes are written: a name, and the version of the schema that stands in them (None: none does)."""

    name: str
    schema_version: int | None = None


@dataclass(frozen=True, slots=True)
class DeclaredStore:
    """One store. `key` says in words what its records are kept by.

    `ttl_ms` is after how long a key is forgotten, `loss_acceptable` whether the owners can bear to begin without what
    it holds; `source_table` whether it is a table read straight from a topic. `aggregate` says in words how records
    become its values (`count`, `sum of the amounts`; `none` where it keeps them as they come), `join` which join keeps
    it, `logging` whether it has a changelog.
    """

    kind: StoreKind | None = None
    window: Window | None = None
    retention_ms: int | None = None
    key: str | None = None
    key_serde: Serde | None = None
    value_serde: Serde | None = None
    ttl_ms: int | None = None
    loss_acceptable: bool = False
    source_table: bool | None = None
    aggregate: str | None = None
    join: Join | None = None
    logging: bool | None = None


@dataclass(frozen=True, slots=True)
class DeclaredSuppression:
    """One suppress operator; limits that are None are not set.

    `value_serde` is that of what it holds, where an operator between the table and it changes the type. `keys` is how
    many different ones an instance sees within the time that results are held back, the bytes are averages, serialized:
    what its memory is estimated from.
    """

    mode: SuppressMode
    time_limit_ms: int | None = None
    max_records: int | None = None
    max_bytes: int | None = None
    when_full: Literal["shut_down", "emit_early"] | None = None
    value_serde: Serde | None = None
    keys: int | None = None
    key_bytes: int | None = None
    value_bytes: int | None = None
    logging: bool | None = None


@dataclass(frozen=True, slots=True)
class DeclaredTopic:
    """One topic that is read or written: its partitions and, in words, what its records are keyed by.

    `joined_with` are topics that it has to be co-partitioned with (empty: none), `readers` the groups downstream.
    """

    partitions: int | None = None
    key: str | None = None
    key_serde: Serde | None = None
    value_serde: Serde | None = None
    joined_with: frozenset[str] | None = None
    readers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Memory:
    """What an instance has for suppress buffers and the record cache together, and how many instances there are."""

    heap_bytes: int
    instances: int


@dataclass(frozen=True, slots=True)
class Declaration:
    """Everything that an application declares of one version of itself, by the names that its topology has.

    `config` are its settings (None: not given), `library` its Kafka Streams release, `auto_create_topics` the broker's
    auto.create.topics.enable. `unchanged` are fields that no store changes from the version before to this one.
    """

    stores: Mapping[str, DeclaredStore] = field(default_factory=dict)
    suppressions: Mapping[str, DeclaredSuppression] = field(default_factory=dict)
    topics: Mapping[str, DeclaredTopic] = field(default_factory=dict)
    config: Mapping[str, str] | None = None
    library: Release | None = None
    auto_create_topics: bool | None = None
    memory: Memory | None = None
    unchanged: frozenset[Unchanged] = frozenset()


@dataclass(frozen=True, slots=True)
class Described:
    """The text of a description with where it came from.

    `release` is the deployed name, empty where the text is of none; `library` the Kafka Streams release inside it,
    empty where nobody says; `declared` is None where no file of that release declares anything.
    """

    release: str
    library: str
    source: str
    text: str
    declared: Declaration | None = None
