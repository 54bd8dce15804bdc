"""What was read from a built program together with what a person declared: what was read wins, and is compared."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from typing import Any, TypeVar

from kstreams_runbooks.model.topology.declaration import (
    Contradiction,
    Declaration,
    DeclaredOperator,
    DeclaredStore,
    DeclaredSuppression,
    DeclaredTopic,
    Serde,
    Window,
)

_T = TypeVar("_T", DeclaredStore, DeclaredSuppression, DeclaredTopic, DeclaredOperator)
_Found = tuple[_T, list[Contradiction]]
_BEGINS = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\n)*(?:---[ \t]*\n)?facts[ \t]*:")
_NOT_SET = "not set"
_CONFIG = "config."
_AGGREGATE = "aggregate"
# What no declaration has of a store.
_OF_CODE_ALONE = (
    *("aggregation", "key_of", "is_global", "made_by", "filled_by", "caching"),
    *("supplier_window_ms", "builder_format", "supplier_format"),
)
# Limits of a buffer: one that was not read as a number is not set.
_LIMITS = ("time_limit_ms", "max_records", "max_bytes")


def is_facts(text: str) -> bool:
    """Whether a text is a document of facts, of any format, and not a description or a declaration."""
    return _BEGINS.match(text) is not None


def merged(read: Declaration, declared: Declaration | None) -> Declaration:
    """Both in one: each fact that was read, every other one as declared, and the contradictions between the two.

    Settings that were read are all that the program sets. What no code shows is declared: the meaning of a key, the
    version of a schema, what may be lost, readers, memory.
    """
    if declared is None:
        return read
    stores, of_stores = _each("stores", read.stores, declared.stores, _store)
    suppressions, of_suppressions = _each("suppressions", read.suppressions, declared.suppressions, _suppression)
    topics, of_topics = _each("topics", read.topics, declared.topics, _topic)
    operators, of_operators = _each("operators", read.operators, declared.operators, _operator)
    config, of_config = _config(read, declared.config)
    library, of_library = _one("library", declared.library, read.library)
    return replace(
        declared,
        stores=stores,
        suppressions=suppressions,
        topics=topics,
        operators=operators,
        config=config,
        library=library,
        not_read=without_given(read.not_read, config),
        refused=read.refused,
        unlinked=read.unlinked,
        of_settings=read.of_settings,
        digests=read.digests,
        code=read.code,
        contradictions=(*of_library, *of_config, *of_stores, *of_suppressions, *of_topics, *of_operators),
    )


def without_given(not_read: Mapping[str, str], config: Mapping[str, str] | None) -> Mapping[str, str]:
    """What was not read, without the settings that are given all the same."""
    return {where: reason for where, reason in not_read.items() if where.removeprefix(_CONFIG) not in (config or {})}


def _each(
    section: str, read: Mapping[str, _T], declared: Mapping[str, _T], both: Callable[[str, _T, _T], _Found[_T]]
) -> tuple[dict[str, _T], list[Contradiction]]:
    found, contradictions = {**declared, **read}, []
    for name in sorted(read.keys() & declared.keys()):
        found[name], more = both(f"{section}.{name}", read[name], declared[name])
        contradictions += more
    return found, contradictions


def _store(where: str, read: DeclaredStore, declared: DeclaredStore) -> _Found[DeclaredStore]:
    merges = (
        "kind",
        "window",
        "retention_ms",
        "history_retention_ms",
        "in_memory",
        "supplier",
        "timestamped",
        "headers",
        "retain_duplicates",
        "logging_config",
        "changelog",
        "source_table",
        "join",
        "logging",
        "key_serde",
        "value_serde",
    )
    store, found = _fields(where, read, _with_state(read, declared, "supplier"), merges)
    words, wrong = _aggregate(where, read, declared)
    of_code = replace(store, **{name: getattr(read, name) for name in _OF_CODE_ALONE})
    return replace(of_code, aggregate=words), [*found, *wrong]


def _aggregate(where: str, read: DeclaredStore, declared: DeclaredStore) -> tuple[str | None, list[Contradiction]]:
    """The words: the declared ones, unless the code shows that they are wrong."""
    words, kind = declared.aggregate, read.aggregation
    wrong = kind is not None and words is not None and ((words == "none") != (kind == "none") or _counts(words, kind))
    if not wrong:
        return words or read.aggregate, []
    return read.aggregate, [Contradiction(f"{where}.{_AGGREGATE}", str(words), str(kind))]


def _counts(words: str, kind: str) -> bool:
    return words == "count" and kind == "reduce"


def _suppression(where: str, read: DeclaredSuppression, declared: DeclaredSuppression) -> _Found[DeclaredSuppression]:
    suppression, found = _fields(
        where, read, declared, ("mode", "when_full", "logging", "logging_config", "value_serde")
    )
    for limit in _LIMITS:
        was, now = getattr(declared, limit), getattr(read, limit)
        if was != now:
            found.append(Contradiction(f"{where}.{limit}", _shown(was), _shown(now)))
    return replace(suppression, **{limit: getattr(read, limit) for limit in _LIMITS}), found


def _topic(where: str, read: DeclaredTopic, declared: DeclaredTopic) -> _Found[DeclaredTopic]:
    topic, found = _fields(
        where,
        read,
        _with_state(read, declared, "timestamp_extractor"),
        ("partitions", "joined_with", "key_serde", "value_serde", "timestamp_extractor"),
    )
    return replace(topic, key_of=read.key_of), found


def _operator(where: str, read: DeclaredOperator, declared: DeclaredOperator) -> _Found[DeclaredOperator]:
    named = _with_state(read, declared, "partitioner")
    return _fields(where, read, named, tuple(field.name for field in fields(DeclaredOperator)))


def _with_state(read: _T, declared: _T, field: str) -> _T:
    """A person declares the class of an object, and the code shows its state too."""
    shown = getattr(read, field)
    same = shown and getattr(declared, field) == shown.partition("(")[0].rstrip()
    return replace(declared, **{field: shown}) if same else declared


def _fields(where: str, read: _T, declared: _T, names: tuple[str, ...]) -> _Found[_T]:
    """`declared` with the named fields as they were read."""
    values: dict[str, Any] = {}
    found: list[Contradiction] = []
    for name in names:
        values[name], more = _one(f"{where}.{name}", getattr(declared, name), getattr(read, name))
        found += more
    return replace(declared, **values), found


def _one(where: str, declared: Any, read: Any) -> tuple[Any, list[Contradiction]]:
    """The value of one field, with its contradictions: a window has one for each part."""
    if read is None or declared is None:
        return (declared if read is None else read), []
    if isinstance(read, Serde):
        # The name of a class does not prove its format, which a declaration gives.
        return (declared, []) if read.is_class else _compared(where, declared, read)
    if isinstance(read, Window):
        return read, list(_of_windows(where, declared, read))
    return _compared(where, declared, read)


def _compared(where: str, declared: Any, read: Any) -> tuple[Any, list[Contradiction]]:
    return read, [] if declared == read else [Contradiction(where, _shown(declared), _shown(read))]


def _of_windows(where: str, declared: Window, read: Window) -> Iterator[Contradiction]:
    for part in fields(Window):
        was, now = getattr(declared, part.name), getattr(read, part.name)
        if part.name in {"advance_ms", "after_ms"}:
            was, now = (None if value == one.size_ms else value for one, value in ((declared, was), (read, now)))
        if part.name == "grace_given" and was:
            continue  # a declaration without it does not declare it
        if was != now:
            yield Contradiction(f"{where}.{part.name}", _shown(was), _shown(now))


def _config(read: Declaration, declared: Mapping[str, str] | None) -> tuple[Any, list[Contradiction]]:
    """The settings that were read, with declared ones that the reader leaves out, such as a password."""
    if read.config is None or declared is None:
        return (declared if read.config is None else read.config), []
    left_out = {name: value for name, value in declared.items() if f"{_CONFIG}{name}" in read.not_read}
    wrong = [
        Contradiction(f"{_CONFIG}{name}", value, read.config.get(name, _NOT_SET))
        for name, value in sorted(declared.items())
        if name not in left_out and read.config.get(name) != value
    ]
    return {**left_out, **read.config}, wrong


def _shown(value: Any) -> str:
    if value is None:
        return _NOT_SET
    if isinstance(value, Serde):
        return value.name if value.schema_version is None else f"{value.name} v{value.schema_version}"
    if isinstance(value, frozenset):
        return ", ".join(sorted(value)) or "none"
    return str(value).lower() if isinstance(value, bool) else str(value)
