"""Groups of every type as one reading.

librdkafka does not know streams groups and reports a running one as DEAD; kafka-python does the same with consumer
groups (KIP-848). So each type is read through the client that knows it.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from kstreams_runbooks.model.readings.readings import GroupReading, MemberReading, Missing, Taken

_GROUP_REFUSED, _TOPIC_REFUSED = 30, 29


def hidden_group(group_id: str) -> str:
    """A group that this login may not Describe."""
    return f"group {group_id} is not visible to this login; grant it Describe on Group {group_id}"


def unknown_group(group_id: str) -> str:
    """A group that no broker lists, to a login that would see it."""
    return f"group {group_id} is known to no broker: it never had a member, or its offsets expired"


def _refused(group_id: str, code: int, why: str) -> Missing:
    """Missing with a broker's answer instead of a description."""
    if code == _GROUP_REFUSED:
        return Missing(hidden_group(group_id))
    if code == _TOPIC_REFUSED:
        return Missing(f"group {group_id} reads topics that are not visible to this login; grant it Describe on them")
    return Missing(f"group {group_id}: {why}")


def classic_group(described: Mapping[str, Any], taken: Taken) -> GroupReading | Missing:
    """A classic group from kafka-python's description."""
    if described.get("error") or described["group_state"] == "Dead":
        return Missing(f"group {described['group_id']}: {described.get('error') or 'the broker reports Dead'}")
    members = tuple(
        MemberReading(
            member_id=member["member_id"],
            client_id=member["client_id"],
            host=_host(member["client_host"]),
            instance_id=member.get("group_instance_id"),
            partitions=_assigned(member.get("member_assignment")),
        )
        for member in described["members"]
    )
    state, protocol = described["group_state"], described.get("protocol_data") or ""
    return GroupReading(taken, described["group_id"], "classic", state, _sorted(members), protocol)


def streams_group(described: Mapping[str, Any], taken: Taken) -> GroupReading | Missing:
    """A streams group (KIP-1071) from its protocol answer."""
    if code := described["error_code"]:
        return _refused(described["group_id"], code, described["error_message"] or str(code))
    members = tuple(
        MemberReading(
            member_id=member["member_id"],
            client_id=member["client_id"],
            host=_host(member["client_host"]),
            instance_id=member["instance_id"],
            tasks=tuple(
                sorted(
                    f"{tasks['subtopology_id']}_{partition}"
                    for tasks in member["assignment"]["active_tasks"]
                    for partition in tasks["partitions"]
                )
            ),
            process_id=member["process_id"],
        )
        for member in described["members"]
    )
    return GroupReading(taken, described["group_id"], "streams", described["group_state"], _sorted(members))


def consumer_group(group_id: str, future: Any, taken: Taken) -> GroupReading | Missing:
    """A consumer group (KIP-848) from the future of librdkafka's admin client."""
    from confluent_kafka import KafkaException

    try:
        described = future.result()
    except KafkaException as error:
        return _refused(group_id, error.args[0].code(), error.args[0].str())
    members = tuple(
        MemberReading(
            member_id=member.member_id,
            client_id=member.client_id,
            host=_host(member.host),
            instance_id=member.group_instance_id,
            partitions=tuple(
                sorted(f"{partition.topic}-{partition.partition}" for partition in member.assignment.topic_partitions)
            )
            if member.assignment
            else (),
        )
        for member in described.members
    )
    # librdkafka's state is an enum in capitals; the broker's own words are Stable, Empty, Assigning, Reconciling.
    return GroupReading(taken, group_id, "consumer", described.state.name.title().replace("_", ""), _sorted(members))


def _assigned(assignment: Any) -> tuple[str, ...]:
    """`topic-partition` names; none if the member's assignment is not in the consumer protocol's format."""
    if not isinstance(assignment, Mapping):
        return ()
    return tuple(
        sorted(
            f"{topic['topic']}-{partition}"
            for topic in assignment.get("assigned_partitions", ())
            for partition in topic["partitions"]
        )
    )


def _host(text: str) -> str:
    return text.removeprefix("/")


def _sorted(members: Iterable[MemberReading]) -> tuple[MemberReading, ...]:
    return tuple(sorted(members, key=lambda member: (member.client_id, member.member_id)))
