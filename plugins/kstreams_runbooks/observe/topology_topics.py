"""Which topics an application reads through its group, and which changelogs it keeps, from its topology description.

Small on purpose: names only. Kafka Streams prints internal topics without the application.id prefix, and nothing in
the text marks them. What marks them is how they are named and that the same topology writes them (Kafka Streams
developer guide, "Managing topics: internal topics"; KIP-221 for repartition, KIP-213 and KIP-775 for foreign-key
joins): a source that is also a sink of the topology and ends in `-repartition`, or in
`subscription-registration-topic` / `subscription-response-topic` in either case, with a number in generated names.
A topic of the user's that fits both, written and read by the same topology, would be taken for an internal one; where
the names on the cluster are given, the one that exists decides.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass

_SUBTOPOLOGY = re.compile(r"\s*Sub-topology:\s*(\d+)(?P<globe>.*for global store.*)?$")
_SOURCE = re.compile(r"\s*Source:\s*\S+\s+\(topics:\s*(?P<topics>.*)\)\s*$")
_SINK = re.compile(r"\s*Sink:\s*\S+\s+\(topic:\s*(?P<topic>.*)\)\s*$")
_STORES = re.compile(r"\s*Processor:\s*\S+\s+\(stores:\s*\[(?P<stores>.*)\]\)\s*$")
_INTERNAL = re.compile(r".*-repartition|.*subscription-(registration|response)(-\d{10})?-topic", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TopologyTopics:
    """Topics of one topology, full names.

    `external` and `internal` are read through the group; `patterns` are regex sources, whose topics only the cluster
    knows; `changelogs` are candidates: a store without logging, or one that uses its source topic, has none.
    """

    external: frozenset[str]
    internal: frozenset[str]
    patterns: frozenset[str]
    changelogs: frozenset[str]

    def sources(self, cluster: Collection[str] = ()) -> frozenset[str]:
        """Every topic whose offsets the group commits; patterns are resolved against the names in `cluster`."""
        matched = {name for name in cluster for pattern in self.patterns if re.fullmatch(pattern, name)}
        return self.external | self.internal | matched


def topology_topics(text: str, application_id: str, cluster: Collection[str] = ()) -> TopologyTopics:
    """Topics named in a topology description (`Topology#describe`).

    A global store's source is not among them: no group commits it.
    """
    sources, patterns, sinks, stores = _named(text)
    internal = {name for name in sources if _is_internal(name, sinks, application_id, cluster)}
    return TopologyTopics(
        external=frozenset(sources - internal),
        internal=frozenset(f"{application_id}-{name}" for name in internal),
        patterns=frozenset(patterns),
        changelogs=frozenset(f"{application_id}-{store}-changelog" for store in stores),
    )


def source_topics(topology_text: str, application_id: str, cluster: Collection[str] = ()) -> frozenset[str]:
    """Source and repartition topics whose offsets the group commits, full names."""
    return topology_topics(topology_text, application_id, cluster).sources(cluster)


def changelog_topics(topology_text: str, application_id: str) -> frozenset[str]:
    """Changelogs that the stores may have, full names; the cluster tells which of them exist."""
    return topology_topics(topology_text, application_id).changelogs


def _named(text: str) -> tuple[set[str], set[str], set[str], set[str]]:
    """Source names, source patterns, sink names and store names outside of global stores."""
    sources: set[str] = set()
    patterns: set[str] = set()
    sinks: set[str] = set()
    stores: set[str] = set()
    globe = False
    for line in text.splitlines():
        if found := _SUBTOPOLOGY.match(line):
            globe = found["globe"] is not None
        elif globe:
            continue
        elif found := _SOURCE.match(line):
            topics = found["topics"].strip()
            if topics.startswith("[") and topics.endswith("]"):
                sources |= _listed(topics[1:-1])
            else:
                patterns.add(topics)
        elif found := _SINK.match(line):
            sinks.add(found["topic"].strip())
        elif found := _STORES.match(line):
            stores |= _listed(found["stores"])
    return sources, patterns, sinks, stores


def _listed(text: str) -> set[str]:
    return {name.strip() for name in text.split(",") if name.strip()}


def _is_internal(name: str, sinks: set[str], application_id: str, cluster: Collection[str]) -> bool:
    if name not in sinks or not _INTERNAL.fullmatch(name):
        return False
    # Before the first start neither name exists: then the naming rule alone decides.
    return f"{application_id}-{name}" in cluster or name not in cluster
