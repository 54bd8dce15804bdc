"""The facts of a built program, as topology-facts.jar prints them (docs/facts.md): a YAML document."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, ConfigDict, Field, ValidationError

from kstreams_runbooks.documents.yaml_document import yaml_document
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.fleet.code_facts import CodePart
from kstreams_runbooks.fleet.problems import explained, shown
from kstreams_runbooks.fleet.values import FleetModel
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.topology import declaration as model
from kstreams_runbooks.wording import outside

FORMAT: Final = 1
# The value of a setting of the program itself (Settings.java).
_DIGEST: Final = re.compile(r"\(digest [0-9a-f]{4}\)")
# A release of Kafka Streams, or the version of a distribution of it, such as 7.6.0-ccs.
_VERSION: Final = re.compile(r"\d+\.\d")
# Parts of the document without facts of the program: the description has lines of its own.
_OTHER_PARTS = ("facts", "topology", "refused", "links", "code", "not_read")
# From this release on a store of the DSL is made of the program's serdes; before it, of the serializer in them.
_KEEPS_SERDES = Release("3.9")
# The longest of the library's own has about 400 characters.
_LONGEST_SENTENCE: Final = 600
_LONGEST_NAME: Final = 300
_LINKS: Final = "links"
# Facts next to a serde: the settings that give it. Its format does not depend on that.
_ENDING: Final = "_of_settings"
_OF_SETTINGS: Final = (f"key_serde{_ENDING}", f"value_serde{_ENDING}")
# A suppression without one of these facts would have a limit that the program may not set.
_LIMITS: Final = frozenset({"mode", "time_limit_ms", "max_records", "max_bytes", "when_full"})
_POLICY: Final = "cleanup.policy"
_DELETE: Final = "delete"
_OF_LIBRARY: Final = "kafka.streams."
# The class of Stores.inMemoryKeyValueStore until 2.8, which has no name of its own.
_IN_MEMORY: Final = f"{_OF_LIBRARY}state.Stores$1"
# Why the jar did not read a format: its class is known all the same (SerdeReader#format).
_LAMBDA: Final = re.compile(r"the format is a lambda of (\S+ \(lambda\)), ")
# The library's own partitioner of the answers of a foreign-key join; one around that of a program has it in its state.
_INTERNAL: Final = f"{_OF_LIBRARY}kstream.internals."
_OF_JOIN: Final = "TableJoined"


class _Part(FleetModel):
    """A part of the document. A later jar may read more facts of the same format: they are left out."""

    model_config = ConfigDict(frozen=True, extra="ignore", str_strip_whitespace=False)


class _Serde(_Part):
    name: str
    schema_version: int | None = None

    def read(self) -> model.Serde:
        """A format of Kafka has the fact that it has no version. A class of the program has no such fact."""
        return model.Serde(self.name, self.schema_version, is_class="schema_version" not in self.model_fields_set)


class _Window(_Part):
    """A join with two differences has no size: that is not a fact which is missing."""

    kind: model.WindowKind
    size_ms: int | None = Field(None, ge=0)
    before_ms: int | None = None
    after_ms: int | None = None
    grace_ms: int = Field(ge=0)
    advance_ms: int | None = None
    grace_given: bool = True
    emit: model.Emit = "on_window_update"

    def read(self) -> model.Window:
        """The size, or both differences of a join."""
        plain = self.model_dump(exclude={"size_ms", "before_ms", "after_ms"})
        # One of them was read: without both there is no window (_whole).
        back, ahead = (self.before_ms or 0, self.after_ms) if self.size_ms is None else (self.size_ms, None)
        return model.Window(**plain, size_ms=back, after_ms=ahead)


def _whole(value: Any) -> Any:
    """A window, None unless its kind, grace and size, or both differences of a join, were read."""
    if not isinstance(value, Mapping):
        return value
    read = {name for name, one in value.items() if one is not None}
    sized = "size_ms" in value or {"before_ms", "after_ms"} <= read
    return value if sized and {"kind", "grace_ms"} <= value.keys() else None


class _WithSerdes(_Part):
    """What has serdes: the settings that give those which the program does not."""

    key_serde_of_settings: frozenset[str] = frozenset()
    value_serde_of_settings: frozenset[str] = frozenset()


class _Store(_WithSerdes):
    kind: model.StoreKind | None = None
    window: Annotated[_Window | None, BeforeValidator(_whole)] = None
    retention_ms: int | None = None
    history_retention_ms: int | None = None
    supplier: str | None = None
    timestamped: bool | None = None
    headers: bool | None = None
    retain_duplicates: bool | None = None
    logging_config: dict[str, str] | None = None
    key_serde: _Serde | None = None
    value_serde: _Serde | None = None
    source_table: bool | None = None
    aggregate: str | None = None
    join: model.Join | None = None
    logging: bool | None = None
    aggregation: model.Aggregation | None = None
    key_of: frozenset[str] | None = None
    changelog: str | None = None
    made_by: model.MadeBy | None = None
    filled_by: frozenset[str] | None = None
    supplier_window_ms: int | None = None
    builder_format: model.StoreFormat | None = None
    supplier_format: model.StoreFormat | None = None
    caching: bool | None = None
    # Not compared, and checked all the same: a document with another place is not of the jar.
    is_global: bool | None = Field(None, alias="global")


class _Suppression(_WithSerdes):
    mode: model.SuppressMode | None = None
    time_limit_ms: int | None = None
    max_records: int | None = None
    max_bytes: int | None = None
    when_full: model.WhenFull | None = None
    value_serde: _Serde | None = None
    logging: bool | None = None
    logging_config: dict[str, str] | None = None


class _Topic(_Part):
    partitions: int | None = None
    key_serde: _Serde | None = None
    value_serde: _Serde | None = None
    joined_with: frozenset[str] | None = None
    key_of: frozenset[str] | None = None


class _Operator(_WithSerdes):
    """An operator, as far as it is compared: a topic has the timestamp extractor of its source."""

    topics: tuple[str, ...] = ()
    pattern: str | None = None
    timestamp_extractor: str | None = None
    offset_reset: str | None = None
    partitioner: str | None = None
    join: model.Join | None = None
    grace_ms: int | None = None
    foreign_key: bool = False
    table: model.OnTable | None = None

    def read(self) -> model.DeclaredOperator:
        """Null is a fact. The join of a foreign-key join is that of its stores."""
        given = {
            name: model.DEFAULT if value is None or (_INTERNAL in value and _OF_JOIN not in value) else value
            for name, value in (("offset_reset", self.offset_reset), ("partitioner", self.partitioner))
            if name in self.model_fields_set
        }
        join = None if self.foreign_key else self.join
        return model.DeclaredOperator(**given, join=join, grace_ms=self.grace_ms, on_table=self.table)

    def extractors(self) -> dict[str, str]:
        """The class that gives the records of each topic their times."""
        if "timestamp_extractor" not in self.model_fields_set:
            return {}
        return dict.fromkeys(self.sources(), self.timestamp_extractor or model.DEFAULT)

    def sources(self) -> tuple[str, ...]:
        """The topics that a source reads, and its pattern."""
        return (*self.topics, *([] if self.pattern is None else [self.pattern]))


class _NotRead(_Part):
    fact: tuple[str, ...]
    reason: str


class _Refused(_Part):
    by: str
    settings: tuple[str, ...] = Field(min_length=1)
    exception: str
    sentence: str

    def read(self) -> model.LibraryRefusal:
        """As decisions see it; the sentence is a stranger's text."""
        sentence = outside(self.sentence, _LONGEST_SENTENCE)
        return model.LibraryRefusal(self.by, self.settings, self.exception.rpartition(".")[2], sentence)


class _Unlinked(_Part):
    name: str = Field(alias="class", min_length=1)
    jar: str
    needed_by: str | None
    handled: bool
    references: int = Field(ge=1)
    sentence: str = Field(min_length=1)

    def read(self) -> model.UnlinkedClass:
        """As decisions see it; names and sentence are a stranger's text."""
        name, jar, needed_by = (outside(one, _LONGEST_NAME) for one in (self.name, self.jar, self.needed_by or ""))
        sentence = outside(self.sentence, _LONGEST_SENTENCE)
        return model.UnlinkedClass(name, jar, sentence, self.references, self.handled, needed_by)


class _Document(_Part):
    """The whole; sections are absent if the topology was not read, `refused` if the settings were not tried.

    `links` are absent if the class path was not scanned.
    """

    facts: int
    library: str | None = None
    topology: str | None = None
    config: dict[str, str] | None = None
    stores: dict[str, _Store] = Field(default_factory=dict)
    suppressions: dict[str, _Suppression] = Field(default_factory=dict)
    topics: dict[str, _Topic] = Field(default_factory=dict)
    operators: dict[str, _Operator] = Field(default_factory=dict)
    refused: tuple[_Refused, ...] | None = None
    links: tuple[_Unlinked, ...] | None = None
    code: CodePart = Field(default_factory=CodePart)
    not_read: tuple[_NotRead, ...]


def read_facts(text: str, source: str) -> model.TopologyFacts:
    """The facts in a document, which comes from `source` (a file, or an instance).

    BadInput in one sentence for a text that is not valid YAML or not such a document, for a format that is not known,
    and for a fact that has another type than the jar writes.
    """
    try:
        written = _written(text)
        return replace(_read(_Document.model_validate(written)), lines=tuple(sorted(_lines(written))))
    except ValidationError as error:
        raise BadInput(f"{source}: {explained(error, _Document, written)} (print the facts again)") from None
    except BadInput as error:
        raise BadInput(f"{source}: {error}") from None


def _written(text: str) -> dict[str, Any]:
    written = yaml_document(text)
    if not isinstance(written, dict) or "facts" not in written:
        raise BadInput("is not a document of topology facts (expected `facts: 1`); print it with topology-facts.jar")
    if written["facts"] != FORMAT or isinstance(written["facts"], bool):
        raise BadInput(
            f"facts: {shown(written['facts'])} is a format that is not known (expected {FORMAT}); print the facts "
            "with the topology-facts.jar of this release of kstreams-runbooks"
        )
    return written


def _read(document: _Document) -> model.TopologyFacts:
    _check_read_once(document)
    document = _with_lambdas(document)
    two_sided = {name for name, one in document.stores.items() if one.window and one.window.size_ms is None}
    # The document has it as not read: no single number is its size.
    sizes = {("stores", name, "window", "size_ms") for name in two_sided}
    entries = [entry for entry in document.not_read if entry.fact not in sizes]
    not_read = {".".join(entry.fact): entry.reason for entry in entries}
    unread = {entry.fact for entry in entries}
    library = document.library
    if library is not None and not _VERSION.match(library):
        raise BadInput(
            f"library: {shown(library)} is not a version (expected one such as 4.3.1); print the facts again"
        )
    if library is not None and not Release.known(library):
        not_read["library"] = f"{library[:40]} is not a release of Apache Kafka; give the release that it is made of"
        library = None
    digests = {name: value for name, value in (document.config or {}).items() if _DIGEST.fullmatch(value)}
    not_read |= {f"config.{name}": f"only a digest of {name} is known; declare it if it matters" for name in digests}
    not_read |= _unread_extractors(document, not_read)
    by_serializer = None if library is None else Release.parse(library) < _KEEPS_SERDES
    extractors = {name: one for source in document.operators.values() for name, one in source.extractors().items()}
    return model.TopologyFacts(
        document.topology,
        model.Declaration(
            stores={name: _store(name, one, unread, by_serializer) for name, one in document.stores.items()},
            suppressions={
                name: _suppression(one)
                for name, one in document.suppressions.items()
                if one.model_fields_set >= _LIMITS
            },
            topics={name: _topic(one, extractors.get(name)) for name, one in document.topics.items()},
            operators={name: one.read() for name, one in document.operators.items()},
            config=None
            if document.config is None
            else {name: value for name, value in document.config.items() if name not in digests},
            digests=digests,
            library=None if library is None else Release.parse(library),
            not_read=not_read,
            refused=None if document.refused is None else tuple(one.read() for one in document.refused),
            unlinked=_unlinked(document),
            of_settings=dict(_of_settings(document)),
            code=document.code.read(),
        ),
    )


def _check_read_once(document: _Document) -> None:
    """BadInput if a fact has a value and a reason why it was not read, or neither: the document was edited."""
    sections: dict[str, Mapping[str, _WithSerdes | _Topic]] = {
        "stores": document.stores,
        "suppressions": document.suppressions,
        "topics": document.topics,
    }
    for entry in document.not_read:
        section, name, field = entry.fact if len(entry.fact) == len(("section", "name", "field")) else ("", "", "")
        part = sections.get(section, {}).get(name)
        if part is not None and getattr(part, field, None) is not None:
            where = shown(f"{section}.{name}.{field}")
            raise BadInput(
                f"{where} has a value and is under `not_read` (expected: one of them); print the facts again"
            )
    left_out = {entry.fact[:2] for entry in document.not_read}
    for name, one in document.suppressions.items():
        lacking = sorted(_LIMITS - one.model_fields_set)
        if lacking and ("suppressions", name) not in left_out:
            where = shown(f"suppressions.{name}")
            raise BadInput(f"{where} has no {lacking[0]}, and `not_read` has no reason for it; print the facts again")


def _unlinked(document: _Document) -> tuple[model.UnlinkedClass, ...] | None:
    """The classes that do not link; BadInput if the document contradicts itself about them."""
    if document.links is None:
        return None
    if any(entry.fact == (_LINKS,) for entry in document.not_read):
        raise BadInput("links are in the document and under `not_read` (expected: one of them); print the facts again")
    names = [one.name for one in document.links]
    if twice := {name for name in names if names.count(name) > 1}:
        raise BadInput(f"links: {shown(min(twice))} has two entries (expected: one a class); print the facts again")
    return tuple(one.read() for one in document.links)


def _of_settings(document: _Document) -> Iterator[tuple[str, frozenset[str]]]:
    sections: dict[str, Mapping[str, _WithSerdes]] = {
        "stores": document.stores,
        "suppressions": document.suppressions,
        "operators": document.operators,
    }
    for section, parts in sections.items():
        for name, one in parts.items():
            for field in _OF_SETTINGS:
                if settings := getattr(one, field):
                    yield f"{section}.{name}.{field.removesuffix(_ENDING)}", settings


def _with_lambdas(document: _Document) -> _Document:
    """The document with each format that is a lambda by the class that has it, which another format lacks."""
    sections: dict[str, dict[str, Any]] = {"stores": {}, "suppressions": {}, "topics": {}}
    for entry in document.not_read:
        found = _LAMBDA.match(entry.reason)
        section, name, field = entry.fact if len(entry.fact) == len(("section", "name", "field")) else ("", "", "")
        subject = getattr(document, section).get(name) if section in sections else None
        if found and subject is not None and field in {"key_serde", "value_serde"}:
            subject = sections[section].get(name, subject)
            sections[section][name] = subject.model_copy(update={field: _Serde(name=found[1])})
    return document.model_copy(update={one: {**getattr(document, one), **new} for one, new in sections.items()})


def _unread_extractors(document: _Document, not_read: Mapping[str, str]) -> dict[str, str]:
    """Why the extractor of a topic was not read: that of its source was not."""
    return {
        f"topics.{topic}.timestamp_extractor": reason
        for name, source in document.operators.items()
        if (reason := not_read.get(f"operators.{name}.timestamp_extractor")) is not None
        for topic in source.sources()
    }


def _lines(written: Mapping[str, Any], path: str = "") -> Iterator[str]:
    for name, value in written.items():
        if (not path and name in _OTHER_PARTS) or (path and name in _OF_SETTINGS):
            continue
        where = f"{path}{name}"
        if isinstance(value, Mapping) and value:
            yield from _lines(value, f"{where}.")
        else:
            yield f"{where}: {json.dumps(value, default=str)}"


def _store(name: str, store: _Store, unread: set[tuple[str, ...]], by_serializer: bool | None) -> model.DeclaredStore:
    without = {"window", "key_serde", "value_serde", "supplier", *_OF_SETTINGS}
    plain = store.model_dump(exclude=without)
    # A window with a part that was not read is not known: no part of it has a default.
    whole = store.window is not None and not any(fact[:3] == ("stores", name, "window") for fact in unread)
    if store.retain_duplicates and store.logging_config is not None:
        # From some release on the library sets it for such a store; another value is the program's.
        own = {name: one for name, one in store.logging_config.items() if (name, one) != (_POLICY, _DELETE)}
        plain["logging_config"] = own
    return model.DeclaredStore(
        **plain,
        window=store.window.read() if whole and store.window else None,
        key_serde=_serde(store.key_serde),
        value_serde=None
        if store.value_serde is None
        else replace(store.value_serde.read(), by_serializer=by_serializer),
        in_memory=_in_memory(store.supplier),
        supplier=(store.supplier or model.DEFAULT) if "supplier" in store.model_fields_set else None,
    )


def _in_memory(supplier: str | None) -> bool | None:
    """By the class of the library that makes the store; None for the default of the library and other classes."""
    name = supplier or ""
    own = name.replace("$", ".").rpartition(".")[2].lower().replace("_", "") if _OF_LIBRARY in name else ""
    if own.startswith("inmemory") or name.endswith(_IN_MEMORY):
        return True
    return False if own.startswith("rocksdb") else None


def _suppression(one: _Suppression) -> model.DeclaredSuppression:
    plain = one.model_dump(exclude={"value_serde", *_OF_SETTINGS})
    return model.DeclaredSuppression(**plain, value_serde=_serde(one.value_serde))


def _topic(one: _Topic, extractor: str | None) -> model.DeclaredTopic:
    return model.DeclaredTopic(
        partitions=one.partitions,
        key_serde=_serde(one.key_serde),
        value_serde=_serde(one.value_serde),
        joined_with=one.joined_with,
        key_of=one.key_of,
        timestamp_extractor=extractor,
    )


def _serde(serde: _Serde | None) -> model.Serde | None:
    return None if serde is None else serde.read()
