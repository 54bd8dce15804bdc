"""The declaration that an application needs next to a topology, as a file to fill in."""

import json
import re
from collections.abc import Iterator, Mapping

import yaml

from kstreams_runbooks.decide.comparison.compared import Side, source_tables
from kstreams_runbooks.decide.topology.names import is_generated, is_subscription_store, stem
from kstreams_runbooks.model.topology.topology import Processor, Source, Topology
from kstreams_runbooks.wording import sentence

_PLAIN = re.compile(r"[A-Za-z][\w.-]*", re.ASCII)
_HEAD = """\
# The facts that the description of this release leaves out. A null value is unknown, and a plan that needs it is
# inconclusive: fill in the known values and delete the rest (docs/declaration.md).
library: null              # Kafka Streams release, such as 4.3.1
config: null               # every setting that is set, such as {application.id: orders, topology.optimization: all}
default_key_serde: null    # {name: string}, of stores and topics that give none
default_value_serde: null  # {name: json, schema_version: 1}; without schema_version the bytes do not contain one
unchanged: []              # fields that no store or topic changes against the one before: [key, aggregate, logging]"""
# What a comment next to a field explains.
FIELDS: Mapping[str, Mapping[str, str]] = {
    "stores": {
        "kind": "# key_value, window, session, join or versioned",
        "key": "# the key of its records, in words",
        "window": "# {kind: tumbling, size_ms: 3600000, grace_ms: 300000}; leave it out without a window",
        "retention_ms": "# if the program sets it",
        "history_retention_ms": "# of a versioned store",
        "key_serde": "# {name: string}",
        "value_serde": "# {name: json, schema_version: 1}",
        "aggregate": "# how records become its values, in words, such as count; none: it keeps them",
        "join": "# inner, left or outer, of a table that a join fills",
        "logging": "# whether each change is written to a changelog; of a store class of your own: look at its put",
        "source_table": "# true if it is a table that is read straight from a topic",
        "supplier": "# the class that makes it; default: that of the library",
        "timestamped": "# whether it keeps a timestamp with each value",
    },
    "topics": {
        "partitions": "# their number",
        "key": "# the key of its records, in words",
        "key_serde": "# {name: string}",
        "value_serde": "# {name: json, schema_version: 1}",
        "joined_with": "# topics that it has to be co-partitioned with; [] for none",
        "timestamp_extractor": "# the class that gives its records their times; default: that of the settings",
    },
    "operators": {
        "join": "# inner, left or outer",
        "partitioner": "# the class that chooses a partition; default: that of the library",
    },
}
_ASKED = ("kind", "key", "aggregate", "logging")
# Suffixes of the operators of a stream-stream join with a name.
_JOINS = ("-this-join", "-other-join")
_JOIN_STORES = ("-this-join-store", "-other-join-store")


def skeleton(topology: Topology) -> str:
    """YAML with every store, suppression and topic of a topology, and the fields to fill in."""
    return "\n".join(_lines(Side(topology))) + "\n"


def _lines(side: Side) -> Iterator[str]:
    yield _HEAD
    suppressions = [name for name in sorted(side.nodes) if stem(name).startswith("KTABLE-SUPPRESS-")]
    nodes = (side.nodes[name] for name in suppressions)
    buffers = {store for node in nodes if isinstance(node, Processor) for store in node.stores}
    first = first_stores(side)
    if stores := sorted(side.store_places.keys() - buffers):
        yield "stores:"
        for store in stores:
            yield f"  {key_of(store)}:"
            fields = [field for field in _ASKED if field != "aggregate" or not store.endswith(_JOIN_STORES)]
            joined = ("join",) if _may_be_joined(side, store) else ()
            table = ("source_table",) if store in first else ()
            for field in (*fields, *joined, *table):
                yield f"    {f'{field}: null':22} {FIELDS['stores'][field]}"
            yield "    # window: {kind: tumbling, size_ms: 3600000, grace_ms: 300000}   retention_ms: 86400000"
            if (operator := _may_suppress(side, store)) is not None:
                yield sentence(f"    # is {operator} a suppression? Then declare it below, not here")
    if suppressions:
        yield "suppressions:"
        for name in suppressions:
            yield f"  {key_of(name)}: {{mode: until_window_closes}}   # or until_time_limit with time_limit_ms"
    yield "topics:"
    for topic in sorted(side.read() | side.written() | side.internal):
        yield f"  {key_of(topic)}: {{partitions: null, key: null}}"


def _may_suppress(side: Side, store: str) -> str | None:
    """The operator of a store that may be a suppression: its only store is its own, and its name hides its kind."""
    operator = store.removesuffix("-store")
    node = side.nodes.get(operator)
    if not isinstance(node, Processor) or node.stores != {f"{operator}-store"}:
        return None
    behind_source = any(isinstance(side.nodes[name], Source) for name in side.predecessors.get(operator, ()))
    return None if behind_source or is_generated(operator) or operator.endswith(_JOINS) else operator


def _may_be_joined(side: Side, store: str) -> bool:
    """Whether a join of tables may fill a store: two operators lead to the one that keeps it, or its name shows it."""
    keepers = side.keepers.get(store, [])
    return is_subscription_store(store) or any(len(side.predecessors.get(one.name, ())) > 1 for one in keepers)


def key_of(name: str) -> str:
    """A name that YAML reads back unchanged: quoted if it would be another value."""
    return name if _PLAIN.fullmatch(name) and yaml.safe_load(name) == name else json.dumps(name)


def first_stores(side: Side) -> set[str]:
    """Stores that may be tables: the text does not show it."""
    asked = {topic for topic, is_table in source_tables(side).items() if is_table is None}
    readers = {
        name
        for sub in side.topology.subtopologies
        for source in sub.sources
        if source.topics & asked
        for name in source.successors
    }
    nodes = (side.nodes[name] for name in readers)
    return {store for node in nodes if isinstance(node, Processor) for store in node.stores}
