"""Whether deleted topics are gone: from the metadata of every broker, and from the committed offsets of a group."""

from collections.abc import Collection

from kstreams_runbooks.errors import Inconclusive
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.observe.kafka.cluster import ClusterReader
from kstreams_runbooks.observe.kafka.configs import broker_down
from kstreams_runbooks.observe.kafka.topic_names import refused_topic

_UNKNOWN_TOPIC = 3


def read_left(reader: ClusterReader, names: Collection[str], group_id: str) -> tuple[str, ...]:
    """One sentence for each broker that lists one of these topics, and for each with an offset of the group.

    Empty if all of them are gone. Inconclusive if a broker is down, or does not show a topic to this login.
    """
    wanted = sorted(set(names))
    if not wanted:
        return ()
    described = reader.answered("describe cluster", reader.admin.describe_cluster)
    if down := broker_down(described["brokers"]):
        raise Inconclusive(f"whether {wanted[0]} is gone from every broker is not known: {down}")
    brokers = sorted(int(node["broker_id"]) for node in described["brokers"])
    each = reader.answered("topics of each broker", lambda: reader.admin.describe_topics_of_each(brokers, wanted))
    left = []
    for broker, topics in each.items():
        for topic in topics:
            if topic["error_code"] not in {0, _UNKNOWN_TOPIC}:
                raise Inconclusive(refused_topic(topic["name"], topic["error_code"]))
            if topic["error_code"] == 0:
                left.append(f"broker {broker} lists topic {topic['name']} (id {topic['topic_id']})")
    offsets = reader.committed([group_id])[group_id]
    if isinstance(offsets, Missing):
        raise Inconclusive(f"whether group {group_id} has offsets on {wanted[0]} is not known: {offsets.missing}")
    held = sorted({topic for topic, _ in offsets} & set(wanted))
    return (*left, *(f"group {group_id} has a committed offset on topic {name}" for name in held))
