"""The facts of an application that a topology description omits: windows, keys, serdes, suppressions.

A person declares them, or they are read from the built program (docs/facts.md). No field has a default in place of a
fact: a fact that is not known stays unknown, and decisions that depend on it are inconclusive.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.topology.code import Code

# buffer: of a join of a stream with a table that has a grace (KIP-923).
StoreKind = Literal["key_value", "window", "session", "join", "versioned", "buffer"]
WindowKind = Literal["tumbling", "hopping", "sliding", "session", "join"]
# What is kept with each value: nothing, the time of its record, its headers too. In this order: each has what the one
# before it has.
StoreFormat = Literal["plain", "timestamped", "headers"]
Emit = Literal["on_window_update", "on_window_close"]
SuppressMode = Literal["until_window_closes", "until_time_limit"]
WhenFull = Literal["shut_down", "emit_early"]
Join = Literal["inner", "left", "outer"]
# What an operator does with the records of its store, as far as code shows it; none: it keeps them as they come.
Aggregation = Literal["count", "reduce", "aggregate", "none"]
# The kind of the operator that fills a store, by its code. A table and a stream as a table, of one topic, are one.
OnTable = Literal["filter", "filter_not", "map_values", "transform_values"]
MadeBy = Literal["count", "reduce", "aggregate", "table", "to_table", OnTable, "join", "processor"]
# How the name of a format that is a lambda ends.
LAMBDA = " (lambda)"
_DIRECTION = re.compile(r"(?<=[\w])(Serializer|Deserializer|Serde)$")
# How a supplier that is an LRU map of the library begins.
_LRU_MAP = "lru_map"
# Of an operator: the program sets none.
DEFAULT = "default"
# What no description shows and a declaration may state to be as it was: of every store, the key of topics too, the join
# of every operator, and of the program all other code on which state, keys, partitions or order hang.
Unchanged = Literal["key", "key_serde", "value_serde", "aggregate", "join", "logging", "timestamped", "other_code"]
OTHER_CODE: Unchanged = "other_code"


@dataclass(frozen=True, slots=True)
class Window:
    """One window, in ms: `size_ms` is the gap of a session and the difference of a join or a sliding window.

    A join that looks ahead farther than back, or less far, has `after_ms`, and `size_ms` is how far it looks back: one
    may be negative. `grace_given` is False if the program leaves it to the default (24 h less the size, for old
    factories), `emit` the strategy of KIP-825, which is on_window_update unless a program sets another.
    """

    kind: WindowKind
    size_ms: int
    grace_ms: int
    advance_ms: int | None = None
    grace_given: bool = True
    emit: Emit = "on_window_update"
    after_ms: int | None = None

    @property
    def ahead_ms(self) -> int:
        """How far it looks ahead."""
        return self.size_ms if self.after_ms is None else self.after_ms

    @property
    def lasts_ms(self) -> int:
        """How long a record counts after its own time, late records included."""
        return max(self.size_ms, self.ahead_ms) + self.grace_ms

    @property
    def both_ways_ms(self) -> int:
        """How long the library keeps the records of a window that looks back and ahead."""
        return self.size_ms + self.ahead_ms + self.grace_ms


# The setting with which stores of the DSL keep the headers of records.
STORE_FORMAT = "dsl.store.format"
# How the place of a setting begins that was not read.
_CONFIG = "config."


@dataclass(frozen=True, slots=True)
class Serde:
    """The format of bytes: a name, and the version of the schema that is written with them (None: no version).

    `is_class`: the name is that of a class of the program, read from its code. Under an equal name it may write another
    schema: only a declared name and version prove that a format is the same. `by_serializer`: the class is that of the
    serializer, and not of the serde (None: one of the two). The names of both are not comparable. A lambda has the name
    of the class that has it, with LAMBDA behind it.
    """

    name: str
    schema_version: int | None = None
    reads: frozenset[int] = field(default=frozenset(), compare=False)
    is_class: bool = False
    by_serializer: bool | None = field(default=False, compare=False)

    def takes(self, other: "Serde | None") -> bool:
        """Whether it reads what another one wrote: the same one, or a declared version of its schema (`reads`)."""
        if other is None or self.is_class:
            return False
        return self == other or (self.name == other.name and other.schema_version in self.reads)

    def differs(self, other: "Serde") -> bool | None:
        """Whether another one writes other bytes, None if both are one class, which may write either, or may be one.

        A class is never a format of Kafka's, unless one release shows the serializer inside the class of the other.
        """
        one_kind = self.by_serializer is not None and self.by_serializer == other.by_serializer
        if self.is_class and other.is_class:
            return None if _class_of(self) == _class_of(other) or not one_kind else self != other
        of_kafka = self if other.is_class else other
        inside = (self.is_class or other.is_class) and not one_kind and of_kafka.by_serializer is not False
        as_they_are = not (self.is_class or other.is_class) and {self.name, other.name} <= _BYTES
        return None if inside else self != other and not as_they_are

    @property
    def is_lambda(self) -> bool:
        """Whether its code is a lambda, whose name shows nothing of the format."""
        return self.is_class and self.name.endswith(LAMBDA)


# Formats of Kafka that write the bytes which they get.
_BYTES = {"bytes", "byte_array", "byte_buffer"}


def _class_of(serde: Serde) -> str:
    """The name, or that of the class of a lambda without its direction: a serde may get its serializer there."""
    return _DIRECTION.sub("", serde.name.removesuffix(LAMBDA)) if serde.is_lambda else serde.name


@dataclass(frozen=True, slots=True)
class DeclaredStore:
    """One store. `key` describes in words how its records are keyed.

    `ttl_ms` is the time after which a key is removed, `loss_acceptable` whether the owners accept to begin without its
    content; `source_table` whether it is a table read straight from a topic. `aggregate` describes in words what
    `aggregation` is by its code. `key_of` are the topics whose keys it has, unchanged: by its code, which does not show
    what they mean. `history_retention_ms` is how long a versioned store keeps earlier values; a store that is not
    `in_memory` is on the disk. `supplier` is the class that makes it (DEFAULT: the program leaves it to the library),
    `timestamped` whether it keeps a timestamp with each value, `headers` whether those of the record too,
    `logging_config` what the program sets of its changelog. `retain_duplicates`: a window store keeps each record of a
    key and a time. `needs_headers`: its serdes cannot read a value without the headers of its record. `changelog` is
    the source topic that it has for a changelog, None for one of its own. `changelog_keeps_ms` is the present
    retention.ms of the topic that restores it (versioned: min.compaction.lag.ms), None for that of its creation.
    `is_global`: what facts show of it, None for a declaration; the topology decides. Code alone shows the rest:
    `made_by` is the kind of the operator that fills it, `filled_by` the names of such operators (None: not known),
    `supplier_window_ms` the length of windows that its supplier has, `builder_format` what its builder reads with each
    value, `supplier_format` what the store of its supplier keeps, and `caching` whether it has a record cache.
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
    aggregation: Aggregation | None = None
    key_of: frozenset[str] | None = None
    history_retention_ms: int | None = None
    in_memory: bool | None = None
    supplier: str | None = None
    timestamped: bool | None = None
    headers: bool | None = None
    needs_headers: bool | None = None
    retain_duplicates: bool | None = None
    logging_config: Mapping[str, str] | None = None
    changelog: str | None = None
    changelog_keeps_ms: int | None = None
    is_global: bool | None = None
    made_by: MadeBy | None = None
    filled_by: frozenset[str] | None = None
    supplier_window_ms: int | None = None
    builder_format: StoreFormat | None = None
    supplier_format: StoreFormat | None = None
    caching: bool | None = None

    @property
    def is_lru_map(self) -> bool:
        """Whether it is an LRU map of the library: in memory, without the entries beyond its limit."""
        return (self.supplier or "").startswith(_LRU_MAP)

    @property
    def built_for(self) -> str:
        """The two formats, `plain over timestamped`, if the builder reads less than its supplier's store keeps.

        Otherwise empty. A builder that reads more has an adapter around the store, which keeps what it is made for.
        """
        formats = get_args(StoreFormat)
        if self.builder_format is None or self.supplier_format is None:
            return ""
        less = formats.index(self.builder_format) < formats.index(self.supplier_format)
        return f"{self.builder_format} over {self.supplier_format}" if less else ""

    @property
    def is_misread(self) -> bool:
        """Whether a restore puts a timestamp or headers in front of each value, and the serde reads them as its part.

        A key-value builder with timestamps has an adapter around a store with headers, also for a restore.
        Source: Apache Kafka, StateManagerUtil#converterForStore, KeyValueStoreBuilder, TimestampedKeyValueStoreBuilder.
        """
        return self.built_for.startswith("plain ") or (self.kind == "window" and bool(self.built_for))

    @property
    def on_disk(self) -> bool:
        """Whether it may have files."""
        return not (self.in_memory or self.is_lru_map)

    @property
    def is_of_library(self) -> bool:
        """Whether the library makes it, and keeps all of it."""
        return self.supplier == DEFAULT or (self.in_memory is not None and not self.is_lru_map)


@dataclass(frozen=True, slots=True)
class DeclaredSuppression:
    """One suppress operator; limits that are None are not set.

    `value_serde` is that of its records, if an operator between the table and it changes the type. `keys` is the number
    of different keys that one instance sees while results are held back, the bytes are averages, serialized: the memory
    estimate uses them.
    """

    mode: SuppressMode
    time_limit_ms: int | None = None
    max_records: int | None = None
    max_bytes: int | None = None
    when_full: WhenFull | None = None
    value_serde: Serde | None = None
    keys: int | None = None
    key_bytes: int | None = None
    value_bytes: int | None = None
    logging: bool | None = None
    logging_config: Mapping[str, str] | None = None

    @property
    def ends_when_full(self) -> bool:
        """Whether a full buffer shuts the application down.

        A bounded buffer emits early unless the program sets it otherwise, and may be full all the time; final results
        allow only the other. Source: Suppressed.BufferConfig (Apache Kafka, EagerBufferConfig, StrictBufferConfig).
        """
        if self.max_records is None and self.max_bytes is None:
            return False
        return self.when_full == "shut_down" or (self.when_full is None and self.mode == "until_window_closes")


@dataclass(frozen=True, slots=True)
class DeclaredTopic:
    """One topic that is read or written: its partitions and, in words, how its records are keyed.

    `joined_with` are topics that it has to be co-partitioned with (empty: none), `readers` the groups downstream.
    `key_of` are the topics whose keys are written to it, unchanged, "(windowed)" if behind windows.
    """

    partitions: int | None = None
    key: str | None = None
    key_serde: Serde | None = None
    value_serde: Serde | None = None
    joined_with: frozenset[str] | None = None
    readers: tuple[str, ...] = ()
    key_of: frozenset[str] | None = None
    timestamp_extractor: str | None = None


@dataclass(frozen=True, slots=True)
class DeclaredOperator:
    """One operator. DEFAULT is a value: the program leaves the choice to the library or to the settings.

    `offset_reset` is that of a source, `partitioner` that of a sink, `join` that of an operator which keeps no result:
    inner, left or outer. `grace_ms` is that of a join of a stream with a table, if it has one. `on_table` is what an
    operator of a table does with its rows, by its code.
    """

    offset_reset: str | None = None
    partitioner: str | None = None
    join: Join | None = None
    grace_ms: int | None = None
    on_table: OnTable | None = None


@dataclass(frozen=True, slots=True)
class Memory:
    """Memory of an instance for suppress buffers and the record cache together, and the number of instances."""

    heap_bytes: int
    instances: int


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A field (`stores.orders.window.size_ms`) that a person declared and that was read as another value."""

    where: str
    declared: str
    read: str


@dataclass(frozen=True, slots=True)
class LibraryRefusal:
    """What the library refuses before it connects: `by` is the part of a start, such as producer.

    `settings` are those of which each one alone, left out, ends the refusal. `sentence` is the library's, without
    values.
    """

    by: str
    settings: tuple[str, ...]
    exception: str
    sentence: str


@dataclass(frozen=True, slots=True)
class UnlinkedClass:
    """A class of the build that refers to something of Kafka that is not on the class path.

    `sentence` is about its worst reference, of `references`. `is_handled`: its methods go on after each of their
    errors. `needed_by` is the class of an object of the topology, or one that a setting names, which is this class, is
    below it, or makes it; empty if the topology has none.
    """

    name: str
    jar: str
    sentence: str
    references: int
    is_handled: bool
    needed_by: str

    @property
    def stops_the_build(self) -> bool:
        """Whether the topology needs it, and no method of it takes the error."""
        return bool(self.needed_by) and not self.is_handled


@dataclass(frozen=True, slots=True)
class NamedUnchanged:
    """Fields that a person named as unchanged for one comparison; `by` is how: `in the form by ada`."""

    fields: tuple[Unchanged, ...]
    by: str


@dataclass(frozen=True, slots=True)
class Declaration:
    """All facts of one version, by the names in its topology.

    `config` are its settings (None: not given), `library` its Kafka Streams release, `auto_create_topics` the broker's
    auto.create.topics.enable. `unchanged` are fields that no store changes from the version before to this one.
    `named` are those of them that no file declares, with who named them. `same_program` is how it is known that this
    version is the build of the version before, empty if it is not.
    `instances` is their number in the fleet entry (None: not read from one). `not_read` has the reason for each field
    that the reader of the program could not read; `contradictions` are declared fields that it read as other values,
    which replace them. `refused` is what the library refuses of the settings (None: it was not tried; empty: it takes
    them). `unlinked` are the classes that do not link with the Kafka of the build (None: the class path was not
    scanned; empty: all of them link). `of_settings` are the serdes that the program leaves to its settings
    (`operators.out.value_serde`), each with the settings that give it. `digests` are of the program's own settings,
    whose values no reader shows: equal digests, equal values, but for one of 65,536. `code` is the code behind facts
    (`stores.orders.value_serde`; empty: it was not read).
    """

    stores: Mapping[str, DeclaredStore] = field(default_factory=dict)
    suppressions: Mapping[str, DeclaredSuppression] = field(default_factory=dict)
    topics: Mapping[str, DeclaredTopic] = field(default_factory=dict)
    operators: Mapping[str, DeclaredOperator] = field(default_factory=dict)
    config: Mapping[str, str] | None = None
    library: Release | None = None
    auto_create_topics: bool | None = None
    memory: Memory | None = None
    unchanged: frozenset[Unchanged] = frozenset()
    instances: int | None = None
    not_read: Mapping[str, str] = field(default_factory=dict, compare=False)
    contradictions: tuple[Contradiction, ...] = field(default=(), compare=False)
    named: NamedUnchanged | None = field(default=None, compare=False)
    same_program: str = field(default="", compare=False)
    refused: tuple[LibraryRefusal, ...] | None = field(default=None, compare=False)
    unlinked: tuple[UnlinkedClass, ...] | None = field(default=None, compare=False)
    of_settings: Mapping[str, frozenset[str]] = field(default_factory=dict, compare=False)
    digests: Mapping[str, str] = field(default_factory=dict, compare=False)
    code: Mapping[str, Code] = field(default_factory=dict, compare=False)

    def keeps_headers(self, store: DeclaredStore) -> bool | None:
        """Whether a store keeps headers: by the store, else by the setting for stores of the DSL; None if unknown."""
        if store.headers is not None or self.config is None or STORE_FORMAT in self.settings_not_read:
            return store.headers
        return self.config.get(STORE_FORMAT, "").upper() == "HEADERS"

    @property
    def was_read(self) -> bool:
        """Whether a reader of the program gave it: the partitions of inputs at least are in no program."""
        return bool(self.not_read)

    @property
    def instance_count(self) -> int | None:
        """The number of instances, that of the fleet entry first; None if neither gives it."""
        if self.instances is not None or self.memory is None:
            return self.instances
        return self.memory.instances

    @property
    def settings_not_read(self) -> frozenset[str]:
        """Names of settings that the program sets to a value which was not read."""
        found = (where.partition(_CONFIG)[2] for where in self.not_read if where.startswith(_CONFIG))
        return frozenset(found)


@dataclass(frozen=True, slots=True)
class TopologyFacts:
    """What was read from a built program: the text of its description (None: not read), and its facts.

    `lines` are all facts of the document, also those that decide nothing: `stores.orders.caching: true`, sorted.
    """

    text: str | None
    read: Declaration
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Described:
    """The text of a description with its origin.

    `release` is the deployed name, empty if the text belongs to none; `library` the Kafka Streams release inside it,
    empty if unknown; `declared` is None if that release has no declaration file and nothing was read of its program.
    If facts were `read`, `declared` has them, and `file` is the content of the file alone. `unread` are the reasons why
    facts of a running program were not read.
    """

    release: str
    library: str
    source: str
    text: str
    declared: Declaration | None = None
    read: bool = False
    file: Declaration | None = None
    unread: tuple[str, ...] = ()

    @property
    def only_read(self) -> bool:
        """Whether facts were read and no file declares any."""
        return self.read and self.file is None

    @property
    def is_bare(self) -> bool:
        """Whether nothing is known of it but its description, and what a form names as unchanged."""
        return replace(self.declaration, unchanged=frozenset()) == Declaration()

    @property
    def declaration(self) -> Declaration:
        """What is declared of it; one without any facts if the release has no declaration file."""
        return self.declared or Declaration()
