"""The declaration that an application needs next to its topology facts: what no code shows, to fill in."""

from collections.abc import Iterator

from kstreams_runbooks.decide.comparison.compared import Side
from kstreams_runbooks.decide.topology.names import is_suppress_buffer
from kstreams_runbooks.model.topology.declaration import DeclaredStore, DeclaredTopic, Serde
from kstreams_runbooks.present.skeleton import FIELDS, key_of
from kstreams_runbooks.wording import sentence

_HEAD = """\
# What the topology facts of this release leave open. A null value is unknown, and a plan that needs it is inconclusive:
# fill in the known values and delete the rest (docs/declaration.md). For a change that touches none of the keys and
# aggregates, this line in the new declaration is enough:
# unchanged: [key, aggregate]"""
_NOTHING = "# The topology facts of this release leave nothing open."
_WINDOWED = {"window", "session", "join"}
# Functions of the library; another one is in the code of the program.
_KNOWN = {"count", "none"}


def left_of(side: Side) -> str:
    """YAML with the fields of stores, suppressions and topics that were not read."""
    found = [*_stores(side), *_suppressions(side), *_topics(side)]
    return "\n".join([_HEAD, *found] if found else [_NOTHING]) + "\n"


def _stores(side: Side) -> Iterator[str]:
    known = {f"{name}-store" for name in side.declared.suppressions}
    stores = {
        name: list(_of_store(side.declared.stores.get(name, DeclaredStore())))
        for name in sorted(side.topology.stores - known)
        if not is_suppress_buffer(name)
    }
    yield from _section(side, "stores", stores)


def _of_store(store: DeclaredStore) -> Iterator[str]:
    if store.key_of is None:
        yield "key"
    if store.aggregate is None and store.aggregation not in _KNOWN:
        yield "aggregate"
    if store.window is None and store.kind in _WINDOWED:
        yield "window"
    yield from (field for field in ("kind", "logging", "source_table") if getattr(store, field) is None)
    yield from _serdes(store.key_serde, store.value_serde)


def _suppressions(side: Side) -> Iterator[str]:
    for where, reason in sorted(side.declared.not_read.items()):
        section, _, name = where.partition(".")
        if section == "suppressions" and name.partition(".")[0] not in side.declared.suppressions:
            yield sentence(f"# {where}: {reason}")


def _topics(side: Side) -> Iterator[str]:
    written = {*side.writers}
    topics = {
        name: list(_of_topic(side.declared.topics.get(name, DeclaredTopic()), external=name not in side.internal))
        for name in sorted(side.read() | side.written() | side.internal)
    }
    keyed = {
        name: ["key", *fields] if name in written and _has_no_key(side, name) else fields
        for name, fields in topics.items()
    }
    yield from _section(side, "topics", keyed)


def _has_no_key(side: Side, topic: str) -> bool:
    one = side.declared.topics.get(topic)
    return one is None or one.key_of is None


def _of_topic(topic: DeclaredTopic, *, external: bool) -> Iterator[str]:
    if external and topic.partitions is None:
        yield "partitions"
    yield from _serdes(topic.key_serde, topic.value_serde)


def _serdes(key: Serde | None, value: Serde | None) -> Iterator[str]:
    for field, serde in (("key_serde", key), ("value_serde", value)):
        if serde is None or serde.is_class:
            yield field


def _section(side: Side, section: str, objects: dict[str, list[str]]) -> Iterator[str]:
    """The fields of each object that has some, with the class of a format that was read."""
    if any(objects.values()):
        yield f"{section}:"
    for name, names in objects.items():
        if names:
            yield f"  {key_of(name)}:"
        for field in names:
            yield f"    {f'{field}: null':22} {_comment(side, section, name, field)}".rstrip()


def _comment(side: Side, section: str, name: str, field: str) -> str:
    one = (side.declared.stores if section == "stores" else side.declared.topics).get(name)
    serde = getattr(one, field, None)
    if isinstance(serde, Serde):
        return sentence(f"# its class is {serde.name}: {{name: json, schema_version: 1}}")
    return FIELDS[section].get(field, "")
