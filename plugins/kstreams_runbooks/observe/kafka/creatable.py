"""Topics to create, as the controller is asked for them; it can check them without creating one."""

from collections.abc import Mapping, Sequence
from typing import Any

from kstreams_runbooks.model.writes import TopicShape
from kstreams_runbooks.observe.kafka.cluster import ClusterReader


def create_requests(topics: Sequence[TopicShape]) -> dict[str, dict[str, Any]]:
    """The request for each topic, by name."""
    return {
        one.name: {
            "num_partitions": one.partitions,
            "replication_factor": one.replication,
            "configs": dict(one.settings),
        }
        for one in topics
    }


def read_not_creatable(reader: ClusterReader, topics: Sequence[TopicShape]) -> dict[str, str]:
    """Why the controller would not create a topic, by name; nothing is created.

    Inconclusive if the controller does not answer the check.
    """
    if not topics:
        return {}
    from kafka.errors import for_code

    wanted = create_requests(topics)
    rows = reader.answered("check of topics", lambda: reader.admin.check_create_topics(wanted))
    return {row["name"]: _reason(row, for_code(row["error_code"]).__name__) for row in rows if row["error_code"]}


def _reason(row: Mapping[str, Any], error: str) -> str:
    name = row["name"]
    if "AuthorizationFailed" in error:
        return f"topic {name}: this login may not create it; grant it Create on Topic {name}, or on Cluster"
    return f"topic {name}: the controller answers {error.removesuffix('Error')} ({row.get('error_message') or ''})"
