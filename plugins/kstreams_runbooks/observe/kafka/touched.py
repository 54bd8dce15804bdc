"""Reads what a write is about to touch: this login's rights, the state of topics, and settings of the brokers."""

from collections.abc import Collection, Mapping
from typing import Any

from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.touched import GroupRights, HiddenTopic, TopicState, TouchedReading
from kstreams_runbooks.observe.kafka.cluster import ClusterReader
from kstreams_runbooks.observe.kafka.configs import broker_down, read_broker_config
from kstreams_runbooks.observe.kafka.groups import hidden_group
from kstreams_runbooks.observe.kafka.saved_offsets import read_hidden
from kstreams_runbooks.observe.kafka.topic_names import refused_topic

_UNKNOWN_TOPIC = 3
_DELETES = "delete.topic.enable"


def read_touched(reader: ClusterReader, topics: Collection[str], groups: Collection[str]) -> TouchedReading:
    """State of these topics and rights on them and on these groups; Unreachable if no broker answers."""
    taken = reader.taken()
    described = reader.ask("describe cluster", reader.admin.describe_cluster)
    operations = described if isinstance(described, Missing) else _operations(described)
    states = read_topic_states(reader, topics)
    return TouchedReading(
        taken=taken,
        cluster=operations,
        deletes_topics=described if isinstance(described, Missing) else _deletes_topics(reader, described),
        reassigned=_reassigned(reader, [one for one in states.values() if isinstance(one, TopicState)]),
        topics=tuple(states[name] for name in sorted(states)),
        groups=tuple(GroupRights(group, read_group_operations(reader, group)) for group in sorted(set(groups))),
        hidden=read_hidden(reader) if groups else (),
    )


def read_topic_states(reader: ClusterReader, names: Collection[str]) -> dict[str, TopicState | HiddenTopic]:
    """Each of these names with its topic, if there is one; one call."""
    if not names:
        return {}
    found = reader.ask("describe topics", lambda: reader.admin.describe_topics(sorted(set(names))))
    if isinstance(found, Missing):
        return {name: HiddenTopic(f"topic {name}: {found.missing}", name=name) for name in names}
    states = {topic["name"]: _state(topic) for topic in found}
    left_out = "the broker left it out of its answer"
    return {name: states.get(name, HiddenTopic(f"topic {name}: {left_out}", name=name)) for name in set(names)}


def _state(topic: Mapping[str, Any]) -> TopicState | HiddenTopic:
    name, code = topic["name"], topic["error_code"]
    if code not in {0, _UNKNOWN_TOPIC}:
        return HiddenTopic(refused_topic(name, code), name=name)
    partitions = topic["partitions"] if code == 0 else []
    return TopicState(
        name=name,
        topic_id=str(topic["topic_id"]) if code == 0 else "",
        partitions=len(partitions),
        replication=min((len(one["replica_nodes"]) for one in partitions), default=0),
        operations=_operations(topic),
        under_replicated=_numbers(one for one in partitions if len(one["isr_nodes"]) < len(one["replica_nodes"])),
        leaderless=_numbers(one for one in partitions if one["leader_id"] < 0),
    )


def _numbers(partitions: Any) -> tuple[int, ...]:
    return tuple(sorted(int(one["partition_index"]) for one in partitions))


def _operations(described: Mapping[str, Any]) -> tuple[str, ...] | Missing:
    operations = described.get("authorized_operations")
    if operations is None:
        return Missing("the broker does not report this login's operations (reported by Kafka 2.3 and later)")
    return tuple(sorted(operations))


def read_group_operations(reader: ClusterReader, group_id: str) -> tuple[str, ...] | Missing:
    """What this login may do with a group of any type, also with one that does not exist."""
    described = reader.of_group(group_id, lambda: reader.admin.describe_group_operations(group_id))
    if isinstance(described, Missing):
        return described
    if described["hidden"]:
        return Missing(hidden_group(group_id))
    return _operations(described)


def _deletes_topics(reader: ClusterReader, described: Mapping[str, Any]) -> bool | Missing:
    if down := broker_down(described["brokers"]):
        return Missing(f"{_DELETES}: {down}")
    ids = [int(node["broker_id"]) for node in described["brokers"]]
    values = reader.ask("broker configs", lambda: read_broker_config(reader.admin, ids, _DELETES))
    if isinstance(values, Missing):
        return values
    if None in values or not values:
        return Missing(f"{_DELETES}: not reported by every broker; grant this login DescribeConfigs on Cluster")
    return all(str(value).lower() == "true" for value in values)


def _reassigned(reader: ClusterReader, topics: Collection[TopicState]) -> tuple[str, ...] | Missing:
    from kafka.errors import ClusterAuthorizationFailedError

    partitions = {topic.name: list(range(topic.partitions)) for topic in topics if topic.exists}
    if not partitions:
        return ()

    def ask() -> tuple[str, ...] | Missing:
        try:
            found = reader.admin.list_partition_reassignments(partitions)
        except ClusterAuthorizationFailedError:
            return Missing("partition reassignments: not visible to this login; grant it Describe on Cluster")
        return tuple(sorted(f"{place.topic}-{place.partition}" for place in found))

    return reader.ask("partition reassignments", ask)
