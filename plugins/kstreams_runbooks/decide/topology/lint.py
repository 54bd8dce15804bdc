"""Advice before an application is deployed for the first time: names that will not last, formats without a version."""

import re
from collections.abc import Iterator

from kstreams_runbooks.decide.topology.graph import internal_topics
from kstreams_runbooks.decide.topology.names import is_generated, stem
from kstreams_runbooks.model.topology.declaration import Declaration
from kstreams_runbooks.model.topology.topology import Topology
from kstreams_runbooks.model.verdicts import Finding

GENERATED, UNVERSIONED = "generated-internal-name", "format-version-missing"
_NAMING = "Kafka Streams developer guide, Naming Operators in a Kafka Streams DSL application; KIP-307"
_ENFORCED = "KIP-1111"
_VERSIONED = (
    "S. Blee-Goldman, guide to Kafka Streams upgrades (Responsive, Kafka Streams 101), version serdes and schemas"
)
# Kafka Streams itself defines the format of a foreign-key join's topics and store.
_OF_LIBRARY = re.compile(
    r".*-subscription-(registration|response|store).*|KTABLE-FK-JOIN-SUBSCRIPTION-.*", re.IGNORECASE
)
_OPTIMIZATION = "Kafka Streams developer guide, Optimizing Kafka Streams Topologies; KIP-295"

# The prefix of a generated name, and the setting that gives the thing a lasting name; the first that fits.
_NAMED_BY: tuple[tuple[str, str], ...] = (
    ("KTABLE-FK-JOIN", "TableJoined.as, with Materialized.as for its table"),
    ("KTABLE-SUPPRESS", "Suppressed.withName"),
    ("KSTREAM-JOIN", "StreamJoined.withStoreName"),
    ("KSTREAM-OUTER", "StreamJoined.withStoreName"),
    ("KSTREAM-AGGREGATE", "Materialized.as (store) and Grouped.as (repartition topic)"),
    ("KSTREAM-REDUCE", "Materialized.as (store) and Grouped.as (repartition topic)"),
    ("KTABLE-AGGREGATE", "Materialized.as (store) and Grouped.as (repartition topic)"),
    ("KTABLE-REDUCE", "Materialized.as (store) and Grouped.as (repartition topic)"),
    ("KSTREAM-REPARTITION", "Repartitioned.as"),
    ("KSTREAM-KEY-SELECT", "Grouped.as, or the name of the join that reads it"),
)
_OTHERWISE = "Materialized.as"


def lint(topology: Topology, optimization: str | None) -> tuple[Finding, ...]:
    """Findings on everything persistent whose name was generated, then on settings best made at a first deployment.

    `optimization` is `topology.optimization` as set, None if it is not set.
    """
    return (*_generated(topology), *_settings(topology, optimization))


def unversioned(topology: Topology, declared: Declaration, read: Declaration | None = None) -> tuple[Finding, ...]:
    """Declared value serdes of stores and topics without a `schema_version`; an undeclared serde has no finding.

    A serde in `read`, the facts of the program, is one of Kafka, whose format does not change, or a class.
    """
    facts = read or Declaration()
    internal = internal_topics(topology)
    stores = {name: one for name, one in declared.stores.items() if not _OF_LIBRARY.fullmatch(name)}
    topics = {
        name: one for name, one in declared.topics.items() if name not in internal or not _OF_LIBRARY.fullmatch(name)
    }
    serdes = (
        *(("store", name, one.value_serde, facts.stores.get(name)) for name, one in sorted(stores.items())),
        *(("topic", name, one.value_serde, facts.topics.get(name)) for name, one in sorted(topics.items())),
    )
    return tuple(
        Finding(
            UNVERSIONED,
            "warning",
            name,
            f"the values of {what} {name} have no format version (value serde {serde.name} without schema_version): "
            "after a change of the format no reader can distinguish old records from new ones; write a version into "
            "the values from the first deployment on",
            _VERSIONED,
        )
        for what, name, serde, of_code in serdes
        if serde is not None and serde.schema_version is None and (of_code is None or serde != of_code.value_serde)
    )


def _generated(topology: Topology) -> Iterator[Finding]:
    for what, names in (("store", topology.stores), ("repartition topic", internal_topics(topology))):
        for name in sorted(filter(is_generated, names)):
            yield Finding(
                GENERATED,
                "warning",
                name,
                f"{what} {name} is called after its place in the program: whatever is added, removed or moved before "
                f"it gives it another name, and what it holds is no longer found; name it with {_named_by(name)} "
                "before the first deployment",
                _NAMING,
            )


def _settings(topology: Topology, optimization: str | None) -> Iterator[Finding]:
    if any(is_generated(name) for name in (*topology.stores, *internal_topics(topology))):
        yield Finding(
            "naming-can-be-enforced",
            "info",
            "ensure.explicit.internal.resource.naming",
            "ensure.explicit.internal.resource.naming=true makes Kafka Streams 4.1.0 and later reject a topology with "
            "generated names",
            _ENFORCED,
        )
    if optimization is None:
        yield Finding(
            "optimization-not-set",
            "info",
            "topology.optimization",
            "topology.optimization is not known to be set: it changes the topology, so a first deployment is the time "
            "for `all` (and StreamsBuilder#build has to be given it as well)",
            _OPTIMIZATION,
        )


def _named_by(name: str) -> str:
    return next((how for begins, how in _NAMED_BY if stem(name).startswith(begins)), _OTHERWISE)
