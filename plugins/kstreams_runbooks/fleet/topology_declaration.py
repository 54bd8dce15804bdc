"""An application's declaration of facts that a topology description omits, for one release: a YAML file.

For the fleet entry of `orders` it is `applications/orders/RELEASE.yaml`; `kstreams-runbooks plan` takes any file.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator, model_validator

from kstreams_runbooks.documents.text import is_absent
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.fleet.folders import declarations_in
from kstreams_runbooks.fleet.names import fleet_dir
from kstreams_runbooks.fleet.problems import Problem
from kstreams_runbooks.fleet.reading import read_declaration
from kstreams_runbooks.fleet.values import FleetModel, KafkaName, WholeNumber, Words
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.topology import declaration as model

if TYPE_CHECKING:
    from kstreams_runbooks.fleet.declarations import Application


def _as_text(value: Any) -> Any:
    """A setting as a properties file has it: YAML reads 100 and true as other types than text."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value


# The range of a Java long.
_MOST = 2**63 - 1
Milliseconds = Annotated[WholeNumber, Field(ge=0, le=_MOST)]
Positive = Annotated[WholeNumber, Field(ge=1, le=_MOST)]
SettingText = Annotated[str, BeforeValidator(_as_text)]


class WindowEntry(FleetModel):
    """The window of an aggregation or of a stream-stream join."""

    kind: model.WindowKind = Field(description="tumbling, hopping, sliding, session or join")
    size_ms: Milliseconds = Field(
        description="length; the gap of a session, the difference of a join or sliding window"
    )
    after_ms: Milliseconds | None = Field(
        default=None, description="how far a join looks ahead, if not as far as back (size_ms)"
    )
    grace_ms: Milliseconds = Field(description="how long late records are accepted")
    advance_ms: Positive | None = Field(default=None, description="how often a hopping window begins")
    grace_given: bool = Field(default=True, description="false if the program leaves the grace to the default")
    emit: model.Emit = Field(default="on_window_update", description="EmitStrategy, if the program sets one")

    @model_validator(mode="after")
    def _as_the_library_builds_it(self) -> Self:
        if self.kind in {"tumbling", "hopping", "session"} and self.size_ms == 0:
            raise ValueError(f"has size_ms 0 (expected at least 1 for a {self.kind} window); correct it")
        if self.kind == "hopping" and self.advance_ms is None:
            raise ValueError("is hopping and has no advance_ms; give it, or set kind: tumbling")
        if self.kind != "hopping" and self.advance_ms not in {None, self.size_ms}:
            raise ValueError(f"has an advance_ms, which contradicts kind: {self.kind}; remove it, or set kind: hopping")
        if self.kind != "join" and self.after_ms is not None:
            raise ValueError(f"has an after_ms, which contradicts kind: {self.kind}; remove it, or set kind: join")
        if self.advance_ms is not None and self.advance_ms > self.size_ms:
            raise ValueError("has an advance_ms longer than its size_ms; windows would leave gaps, which is refused")
        return self


class SerdeEntry(FleetModel):
    """How bytes are written."""

    name: Words = Field(description="any name, such as string, long, json or a class")
    schema_version: Positive | None = Field(
        default=None, description="version of the schema in the bytes; null: not in them"
    )
    reads: list[Positive] = Field(default_factory=list, description="versions of the schema that it reads as well")

    def declared(self) -> model.Serde:
        """As decisions see it."""
        return model.Serde(self.name, self.schema_version, frozenset(self.reads))


class StoreEntry(FleetModel):
    """One state store, by the name that the description has."""

    kind: model.StoreKind | None = Field(
        default=None, description="key_value, window, session, join, versioned or buffer"
    )
    window: WindowEntry | None = Field(default=None, description="window of the operator that keeps it")
    retention_ms: Milliseconds | None = Field(default=None, description="retention of a window or session store")
    history_retention_ms: Milliseconds | None = Field(default=None, description="history of a versioned store")
    key: Words | None = Field(default=None, description="key of its records, in words")
    key_serde: SerdeEntry | None = Field(default=None, description="serde of its keys")
    value_serde: SerdeEntry | None = Field(default=None, description="serde of its values")
    ttl_ms: Positive | None = Field(default=None, description="time after which a key is forgotten, if ever")
    loss_acceptable: bool = Field(default=False, description="whether it may start empty")
    source_table: bool | None = Field(default=None, description="whether it is a table read straight from a topic")
    aggregate: Words | None = Field(
        default=None, description="how records become its values, in words, such as count; none: it keeps them"
    )
    join: model.Join | None = Field(default=None, description="of a table that a join fills: inner, left or outer")
    logging: bool | None = Field(default=None, description="whether each change to it is written to a changelog")
    in_memory: bool | None = Field(default=None, description="whether it is in memory; otherwise it is on the disk")
    supplier: Words | None = Field(default=None, description="class that makes it; default: that of the library")
    timestamped: bool | None = Field(default=None, description="whether it keeps a timestamp with each value")
    headers: bool | None = Field(default=None, description="whether its files have the headers of records")
    needs_headers: bool | None = Field(
        default=None, description="whether its serdes cannot read a value without the headers of its record"
    )
    retain_duplicates: bool | None = Field(
        default=None, description="whether a window store keeps each record of a key and a time"
    )
    logging_config: dict[Words, SettingText] | None = Field(default=None, description="settings of its changelog")
    changelog: Words | None = Field(
        default=None, description="topic that restores it, if the application reads that topic (read-only store)"
    )
    changelog_keeps_ms: Milliseconds | None = Field(
        default=None,
        description="present retention.ms of the topic that restores it (versioned store: min.compaction.lag.ms)",
    )

    @field_validator("window")
    @classmethod
    def _of_its_kind(cls, value: WindowEntry | None, info: ValidationInfo) -> WindowEntry | None:
        kind = info.data.get("kind")
        if value is None or kind is None:
            return value
        wanted = {"session": {"session"}, "join": {"join"}, "window": {"tumbling", "hopping", "sliding"}}.get(kind)
        if wanted is None:
            raise ValueError(f"contradicts kind: {kind}, which has no window; remove one of them")
        if value.kind not in wanted:
            raise ValueError(f"has kind {value.kind}, which contradicts kind: {kind} of the store; correct one of them")
        return value

    @field_validator("retention_ms")
    @classmethod
    def _long_enough(cls, value: int | None, info: ValidationInfo) -> int | None:
        window = info.data.get("window")
        if value is not None and info.data.get("kind") == "key_value":
            raise ValueError("contradicts kind: key_value, which has no retention; remove one of them")
        if value is not None and window and window.kind != "join" and value < window.size_ms + window.grace_ms:
            raise ValueError(
                f"is less than size and grace of its window ({window.size_ms + window.grace_ms}), which Kafka Streams "
                "refuses; correct one of them"
            )
        return value


class SuppressionEntry(FleetModel):
    """One suppress operator, by the name that the description has."""

    mode: model.SuppressMode = Field(description="until_window_closes or until_time_limit")
    time_limit_ms: Milliseconds | None = Field(default=None, description="for until_time_limit; 0 disables it")
    max_records: Positive | None = Field(default=None, description="maxRecords of its buffer; null: no limit")
    max_bytes: Positive | None = Field(default=None, description="maxBytes of its buffer; null: no limit")
    when_full: model.WhenFull | None = Field(default=None, description="what a full buffer does")
    value_serde: SerdeEntry | None = Field(default=None, description="serde of the results that it holds back")
    keys: Positive | None = Field(default=None, description="different keys an instance sees while results are held")
    key_bytes: Positive | None = Field(default=None, description="average size of a key, serialized")
    value_bytes: Positive | None = Field(default=None, description="average size of a value, serialized")
    logging: bool | None = Field(default=None, description="whether its buffer has a changelog")
    logging_config: dict[Words, SettingText] | None = Field(default=None, description="settings of that changelog")

    @field_validator("time_limit_ms")
    @classmethod
    def _of_its_mode(cls, value: int | None, info: ValidationInfo) -> int | None:
        if value is not None and info.data.get("mode") == "until_window_closes":
            raise ValueError("contradicts mode: until_window_closes, which has no time limit; remove one of them")
        return value

    @field_validator("when_full")
    @classmethod
    def _strict_for_final_results(cls, value: str | None, info: ValidationInfo) -> str | None:
        if value == "emit_early" and info.data.get("mode") == "until_window_closes":
            raise ValueError("emit_early contradicts mode: until_window_closes, which Kafka Streams refuses")
        return value


class TopicEntry(FleetModel):
    """One topic, by the name that the description has (internal topics without application.id)."""

    partitions: Positive | None = Field(default=None, description="number of partitions")
    key: Words | None = Field(default=None, description="key of its records, in words")
    key_serde: SerdeEntry | None = Field(default=None, description="serde of its keys")
    value_serde: SerdeEntry | None = Field(default=None, description="serde of its values")
    joined_with: tuple[KafkaName, ...] | None = Field(
        default=None, description="topics that it has to be co-partitioned with; [] for none"
    )
    readers: tuple[Words, ...] = Field(default=(), description="groups and applications that read it")
    timestamp_extractor: Words | None = Field(
        default=None, description="class that gives its records their times; default: that of the settings"
    )


class OperatorEntry(FleetModel):
    """One operator, by the name that the description has."""

    offset_reset: Literal["earliest", "latest", "none", "by_duration", "default"] | None = Field(
        default=None, description="of a source; default: the setting"
    )
    partitioner: Words | None = Field(default=None, description="class of a sink; default: that of the library")
    join: model.Join | None = Field(default=None, description="of a join without a store: inner, left or outer")
    grace_ms: Milliseconds | None = Field(default=None, description="of a join of a stream with a table, if it has one")


class MemoryEntry(FleetModel):
    """Memory into which suppress buffers have to fit."""

    heap_bytes: Positive = Field(description="heap of one instance that buffers and record cache may fill")
    instances: Positive = Field(description="number of instances")


class TopologyDeclaration(FleetModel):
    """The declaration of one release, in addition to its topology description."""

    name: Words = Field(description="stem of the file")
    library: Words | None = Field(default=None, description="Kafka Streams release, such as 4.3.1")
    config: dict[Words, SettingText] | None = Field(default=None, description="settings of the application")
    auto_create_topics: bool | None = Field(default=None, description="the brokers' auto.create.topics.enable")
    stores: dict[Words, StoreEntry] = Field(default_factory=dict, description="by name of the store")
    suppressions: dict[Words, SuppressionEntry] = Field(default_factory=dict, description="by name of the operator")
    topics: dict[Words, TopicEntry] = Field(default_factory=dict, description="by name of the topic, or the pattern")
    operators: dict[Words, OperatorEntry] = Field(default_factory=dict, description="by name of the operator")
    default_key_serde: SerdeEntry | None = Field(default=None, description="of stores and topics that give none")
    default_value_serde: SerdeEntry | None = Field(default=None, description="of stores and topics that give none")
    memory: MemoryEntry | None = Field(default=None, description="of an instance, for suppress buffers")
    unchanged: list[model.Unchanged] = Field(
        default_factory=list, description="fields that no store or topic changes against the release before"
    )

    @field_validator("library")
    @classmethod
    def _a_release(cls, value: str | None) -> str | None:
        if value is not None and not Release.known(value):
            raise ValueError("is not a Kafka release; give one such as 4.3.1")
        return value

    def declared(self) -> model.Declaration:
        """As decisions see it, defaults filled in."""
        return model.Declaration(
            stores={name: self._store(entry) for name, entry in self.stores.items()},
            suppressions={name: _suppression(entry) for name, entry in self.suppressions.items()},
            topics={name: self._topic(entry) for name, entry in self.topics.items()},
            operators={name: model.DeclaredOperator(**one.model_dump()) for name, one in self.operators.items()},
            config=self.config,
            library=None if self.library is None else Release.parse(self.library),
            auto_create_topics=self.auto_create_topics,
            memory=None if self.memory is None else model.Memory(**self.memory.model_dump()),
            unchanged=frozenset(self.unchanged),
            of_settings=dict(self._of_settings()),
        )

    def _of_settings(self) -> Iterator[tuple[str, frozenset[str]]]:
        """The serdes that the defaults of this file give: those of settings, which a later version may not have."""
        entries: dict[str, Mapping[str, StoreEntry | TopicEntry]] = {"stores": self.stores, "topics": self.topics}
        for field in ("key_serde", "value_serde"):
            for section, named in entries.items() if getattr(self, f"default_{field}") else ():
                for name, entry in named.items():
                    if getattr(entry, field) is None:
                        yield f"{section}.{name}.{field}", frozenset({f"default.{field.replace('_', '.')}"})

    def _store(self, entry: StoreEntry) -> model.DeclaredStore:
        plain = entry.model_dump(exclude={"window", "key_serde", "value_serde"})
        window = None if entry.window is None else model.Window(**entry.window.model_dump())
        key, value = self._serdes(entry)
        return model.DeclaredStore(**plain, window=window, key_serde=key, value_serde=value)

    def _topic(self, entry: TopicEntry) -> model.DeclaredTopic:
        plain = entry.model_dump(exclude={"joined_with", "key_serde", "value_serde"})
        joined = None if entry.joined_with is None else frozenset(entry.joined_with)
        key, value = self._serdes(entry)
        return model.DeclaredTopic(**plain, joined_with=joined, key_serde=key, value_serde=value)

    def _serdes(self, entry: StoreEntry | TopicEntry) -> tuple[model.Serde | None, model.Serde | None]:
        key, value = entry.key_serde or self.default_key_serde, entry.value_serde or self.default_value_serde
        return (
            None if key is None else key.declared(),
            None if value is None else value.declared(),
        )


def _suppression(entry: SuppressionEntry) -> model.DeclaredSuppression:
    serde = entry.value_serde
    plain = entry.model_dump(exclude={"value_serde"})
    return model.DeclaredSuppression(**plain, value_serde=None if serde is None else serde.declared())


def read_topology_declaration(file: Path) -> model.Declaration:
    """The declaration in a YAML file; BadInput that names file, field, value and the valid form."""
    found, problems = read_declaration(file, TopologyDeclaration, os.environ, {})
    if found is None:
        first, *more = problems
        raise BadInput(f"{first}{f' (and {len(more)} more)' if more else ''}")
    return found.declared()


def release_declaration(
    application: str, release: str, library: str, config_dir: Path | None = None
) -> model.Declaration | None:
    """The declaration of a release of a fleet entry (`applications/APPLICATION/RELEASE.yaml`), None without a file.

    `library` is the Kafka Streams release that the fleet entry has for it: BadInput if the file names another one, and
    if the file is invalid. Both names are those of the fleet, never a person's: they become a path.
    """
    file = fleet_dir(config_dir) / "applications" / application / f"{release}.yaml"
    if is_absent(file):
        return None
    declared = read_topology_declaration(file)
    if declared.library is not None and str(declared.library) != library:
        raise BadInput(
            f"{file}: library: {declared.library}, and the fleet entry of {application} has {library} for release "
            f"{release}; correct one of them"
        )
    return replace(declared, library=Release.parse(library))


def declaration_problems(applications: Mapping[str, "Application"], directory: Path) -> Iterator[Problem]:
    """Problems of the release files next to the fleet entries: an invalid one, and one of an undeclared release."""
    for name, application in sorted(applications.items()):
        files, unlisted = declarations_in(directory / "applications" / name)
        yield from unlisted
        for file in files:
            found, problems = read_declaration(file, TopologyDeclaration, os.environ, {})
            yield from problems
            declared = application.declared()
            if file.stem not in declared.releases:
                reason = f"is not a release of {name} ({', '.join(declared.releases)}), so nothing reads the file"
                yield Problem(file, "", "", reason)
            elif found is not None and found.library not in {None, declared.library(file.stem)}:
                reason = f"is not the one of the fleet entry ({declared.library(file.stem)}); correct one of them"
                yield Problem(file, "library", f'"{found.library}"', reason)
