"""The declaration that an application needs next to a topology, as a file to fill in."""

import json
import re
from collections.abc import Iterator

import yaml

from kstreams_runbooks.decide.comparison.compared import Side, source_tables
from kstreams_runbooks.decide.topology.names import stem
from kstreams_runbooks.model.topology.topology import Processor, Topology
from kstreams_runbooks.wording import sentence

_PLAIN = re.compile(r"[A-Za-z][\w.-]*", re.ASCII)
_HEAD = """\
# The facts that the description of this release leaves out. A null value is unknown, and a plan that needs it is
# inconclusive: fill in the known values and delete the rest (docs/declaration.md).
library: null              # Kafka Streams release, such as 4.3.1
config: null               # every setting that is set, such as {application.id: orders, topology.optimization: all}
default_key_serde: null    # {name: string}, of stores and topics that give none
default_value_serde: null  # {name: json, schema_version: 1}; without schema_version the bytes do not contain one"""


def skeleton(topology: Topology) -> str:
    """YAML with every store, suppression and topic of a topology, and the fields to fill in."""
    return "\n".join(_lines(Side(topology))) + "\n"


def _lines(side: Side) -> Iterator[str]:
    yield _HEAD
    suppressions = [name for name in sorted(side.nodes) if stem(name).startswith("KTABLE-SUPPRESS-")]
    nodes = (side.nodes[name] for name in suppressions)
    buffers = {store for node in nodes if isinstance(node, Processor) for store in node.stores}
    first = _first_stores(side)
    if stores := sorted(side.store_places.keys() - buffers):
        yield "stores:"
        for store in stores:
            yield from (f"  {_key(store)}:", "    kind: null             # key_value, window, session or join")
            yield "    key: null              # the key of its records, in words"
            yield "    # window: {kind: tumbling, size_ms: 3600000, grace_ms: 300000}   retention_ms: 86400000"
            if store in first:
                yield "    source_table: null     # true if it is a table that is read straight from a topic"
            if store.removesuffix("-store") in side.nodes:
                yield sentence(
                    f"    # is {store.removesuffix('-store')} a suppression? Then declare it below, not here"
                )
    if suppressions:
        yield "suppressions:"
        for name in suppressions:
            yield f"  {_key(name)}: {{mode: until_window_closes}}   # or until_time_limit with time_limit_ms"
    yield "topics:"
    for topic in sorted(side.read() | side.written() | side.internal):
        yield f"  {_key(topic)}: {{partitions: null, key: null}}"


def _key(name: str) -> str:
    """A name that YAML reads back unchanged: quoted if it would be another value."""
    return name if _PLAIN.fullmatch(name) and yaml.safe_load(name) == name else json.dumps(name)


def _first_stores(side: Side) -> set[str]:
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
