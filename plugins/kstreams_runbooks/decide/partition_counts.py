"""How many partitions the internal topics of a topology have, from those of the topics that it reads."""

from collections.abc import Mapping

from kstreams_runbooks.decide.topology_graph import internal_topics
from kstreams_runbooks.model.topology import Sink, Subtopology, Topology


def partition_counts(topology: Topology, declared: Mapping[str, int]) -> dict[str, int]:
    """Partitions by name as printed: of internal topics, and of each store's changelog under `<store>-changelog`.

    `declared` has those of topics that are there already and of repartition topics that the program gives a number.
    What is not there cannot be told. A repartition topic has as many as the most of what is read where it is written;
    one that is joined with topics of others, as many as those. Source: `RepartitionTopics#setRepartitionSourceTopic...`
    and `CopartitionedTopicsEnforcer` (Apache Kafka); tests/integration/test_predicted_change.py.
    """
    counts = dict(declared)
    internal = internal_topics(topology)
    tasks = [sub for sub in topology.subtopologies if not sub.is_global]
    # At most one topic becomes known in each round.
    for _ in internal:
        for sub in tasks:
            most = _most(sub, counts)
            for topic in _written(sub) & internal:
                if most is not None and topic not in declared:
                    counts[topic] = _joined(topic, tasks, internal, declared) or most
    for sub in tasks:
        if (most := _most(sub, counts)) is not None:
            counts |= {f"{store}-changelog": most for store in sub.stores}
    return counts


def _most(sub: Subtopology, counts: Mapping[str, int]) -> int | None:
    """Tasks of a subtopology: the most partitions of what it reads, None while one is not known or a pattern."""
    read = {topic for source in sub.sources for topic in source.topics}
    if any(source.pattern is not None for source in sub.sources) or not read <= counts.keys():
        return None
    return max((counts[topic] for topic in read), default=None)


def _joined(topic: str, tasks: list[Subtopology], internal: frozenset[str], declared: Mapping[str, int]) -> int | None:
    """Partitions of the topics of others that are read beside a repartition topic, where a store joins them."""
    for sub in tasks:
        read = {name for source in sub.sources for name in source.topics}
        others = read - internal
        if topic in read and others and sub.stores and others <= declared.keys():
            return max(declared[name] for name in others)
    return None


def _written(sub: Subtopology) -> set[str]:
    return {node.topic for node in sub.nodes if isinstance(node, Sink) and node.topic is not None}
