"""A declaration with the facts that were read of a program, and null for those that no code shows, to fill in."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

import yaml

from kstreams_runbooks.model.topology.declaration import (
    Declaration,
    DeclaredOperator,
    DeclaredStore,
    DeclaredSuppression,
    DeclaredTopic,
    Serde,
    Window,
)
from kstreams_runbooks.present.skeleton import FIELDS, key_of

_HEAD = """\
# The facts of {application} on Kafka Streams {release}, as `kstreams-runbooks discover` read them from its instances.
# No code shows the fields with null: fill in the known values and delete the rest (docs/declaration.md)."""
_STORE = ("kind", "window", "retention_ms", "key_serde", "value_serde", "source_table", "aggregate", "join", "logging")
_SUPPRESSION = ("mode", "time_limit_ms", "max_records", "max_bytes", "when_full", "value_serde", "logging")
# The partitions of a topic are those of the cluster.
_TOPIC = ("key_serde", "value_serde", "joined_with", "timestamp_extractor")
_OPERATOR = ("offset_reset", "partitioner", "join")
_KEY = "key"


def read_declaration(application: str, release: str, read: Declaration) -> str:
    """YAML of the declaration of one release."""
    return "\n".join(_lines(application, release, read)) + "\n"


def _lines(application: str, release: str, read: Declaration) -> Iterator[str]:
    yield from _HEAD.format(application=key_of(application), release=release).splitlines()
    yield f"library: {json.dumps(release)}"
    if read.config is not None:
        yield "config:"
        yield from (f"  {json.dumps(name)}: {json.dumps(value)}" for name, value in sorted(read.config.items()))
    yield from _section("stores", read.stores, _STORE, read)
    yield from _section("suppressions", read.suppressions, _SUPPRESSION, read)
    yield from _section("topics", read.topics, _TOPIC, read)
    yield from _section("operators", read.operators, _OPERATOR, read)


def _section(
    section: str,
    entries: Mapping[str, DeclaredStore]
    | Mapping[str, DeclaredSuppression]
    | Mapping[str, DeclaredTopic]
    | Mapping[str, DeclaredOperator],
    names: tuple[str, ...],
    read: Declaration,
) -> Iterator[str]:
    shown = {name: list(_fields(f"{section}.{name}", entry, names, read)) for name, entry in sorted(entries.items())}
    if any(shown.values()):
        yield f"{section}:"
    for name, lines in shown.items():
        if lines:
            yield f"  {key_of(name)}:"
        yield from (f"    {line}" for line in lines)


def _fields(where: str, entry: Any, names: tuple[str, ...], read: Declaration) -> Iterator[str]:
    comments = FIELDS.get(where.partition(".")[0], {})
    for name in names:
        value = getattr(entry, name)
        if isinstance(value, Serde) and value.is_class and not value.is_lambda:
            yield f"{name}: null   # {{name: {json.dumps(value.name)}, schema_version: 1}}"
        elif value is not None and not (isinstance(value, Serde) and value.is_lambda):
            yield f"{name}: {_flow(_plain(value))}"
        elif f"{where}.{name}" in read.not_read:
            yield f"{name}: null   {comments.get(name, '')}".rstrip()
    if _KEY in comments and entry.key_of is None:
        yield f"{_KEY}: null   {comments[_KEY]}"


def _plain(value: Any) -> Any:
    """A value as a declaration has it."""
    if isinstance(value, Serde):
        return {"name": value.name} | ({} if value.schema_version is None else {"schema_version": value.schema_version})
    if isinstance(value, Window):
        given = {each.name: getattr(value, each.name) for each in fields(value)}
        return {name: one for name, one in given.items() if one is not None}
    return sorted(value) if isinstance(value, frozenset) else value


def _flow(value: Any) -> str:
    """One line of YAML, quoted if YAML would otherwise read another value."""
    return yaml.safe_dump([value], default_flow_style=True, sort_keys=False, allow_unicode=False, width=float("inf"))[
        1:-2
    ]
