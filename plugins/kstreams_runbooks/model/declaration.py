"""What a topology description has no room for, as an application declares it: windows, keys, formats, suppressions.

Nothing here has a default that stands for a fact: what is not declared is not known, and what hangs on it is
inconclusive.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

StoreKind = Literal["key_value", "window", "session", "join"]
WindowKind = Literal["tumbling", "hopping", "sliding", "session", "join"]
SuppressMode = Literal["until_window_closes", "until_time_limit"]


@dataclass(frozen=True, slots=True)
class Window:
    """One window, in ms: `size_ms` is the gap of a session and the difference of a join or a sliding window.

    `grace_given` is False where the program leaves it to the default (24 h less the size, for old factories).
    """

    kind: WindowKind
    size_ms: int
    grace_ms: int
    advance_ms: int | None = None
    grace_given: bool = True


@dataclass(frozen=True, slots=True)
class Format:
    """How bytes are written: a name, and the version that stands in them (None: none does)."""

    name: str
    schema_version: int | None = None


@dataclass(frozen=True, slots=True)
class DeclaredStore:
    """One store, or the window of an operator without one. `key` says in words what the records are kept by."""

    kind: StoreKind | None = None
    window: Window | None = None
    retention_ms: int | None = None
    key: str | None = None
    key_format: Format | None = None
    value_format: Format | None = None


@dataclass(frozen=True, slots=True)
class DeclaredSuppression:
    """One suppress operator; limits that are None are not set."""

    mode: SuppressMode
    time_limit_ms: int | None = None
    max_records: int | None = None
    max_bytes: int | None = None
    when_full: Literal["shut_down", "emit_early"] | None = None


@dataclass(frozen=True, slots=True)
class DeclaredTopic:
    """One topic that is read or written: its partitions and, in words, what its records are keyed by."""

    partitions: int | None = None
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Declaration:
    """Everything that an application declares of one version of itself, by the names that its topology has."""

    stores: Mapping[str, DeclaredStore] = field(default_factory=dict)
    suppressions: Mapping[str, DeclaredSuppression] = field(default_factory=dict)
    topics: Mapping[str, DeclaredTopic] = field(default_factory=dict)
    config: Mapping[str, str] | None = None
