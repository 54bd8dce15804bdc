"""The groups that use topics: by their committed offsets, and by what their members are assigned."""

from collections.abc import Collection, Iterator

from kstreams_runbooks.model.readings.readings import GroupReading, Missing
from kstreams_runbooks.model.readings.reset import TopicUser
from kstreams_runbooks.observe.kafka.cluster import ClusterReader, ListedGroup
from kstreams_runbooks.observe.kafka.offsets import GroupOffsets

_WITHOUT_MEMBERS = frozenset({"empty", "dead"})
# Groups of these types have members whose partitions brokers report; a streams group reports tasks instead.
_WITH_PARTITIONS = frozenset({"classic", "consumer", "unknown"})
# Other groups (Kafka Connect's workers) read no topics by their group.
_READS_TOPICS = frozenset({"", "consumer", "streams"})
_SHARE = "share"


def read_topic_users(
    reader: ClusterReader, topics: Collection[str], own: str
) -> tuple[tuple[TopicUser, ...], tuple[str, ...]]:
    """Every group other than `own` that uses one of these topics, and one sentence for each group that is not known.

    A reader without a group is not seen, nor is a streams group that has never committed. Unreachable if no broker
    answers.
    """
    wanted = frozenset(topics)
    listed = [one for one in reader.listed() if one.group_id != own]
    groups = [one for one in listed if one.protocol_type in _READS_TOPICS and one.type != _SHARE]
    committed = reader.committed([one.group_id for one in groups])
    users: list[TopicUser] = []
    problems: list[str] = []
    if reader.lists_every_group() is not True:
        problems.append(
            "whether other groups use these topics is not known: this login may not list every group; grant it "
            "Describe on Cluster"
        )
    problems += [
        f"share group {one.group_id} is {one.state}: which topics it reads is not read; see kafka-share-groups.sh"
        for one in listed
        if one.type == _SHARE and one.state.lower() not in _WITHOUT_MEMBERS
    ]
    for group in groups:
        offsets, members = committed[group.group_id], _members(reader, group)
        problems += [f"{one.missing}" for one in (offsets, members) if isinstance(one, Missing)]
        users += _users(group, offsets, members, wanted)
    return tuple(users), tuple(dict.fromkeys(problems))


def _members(reader: ClusterReader, group: ListedGroup) -> GroupReading | Missing | None:
    """The group with its members; None if they show nothing: it is empty, or reports tasks."""
    if group.type not in _WITH_PARTITIONS or group.state.lower() in _WITHOUT_MEMBERS:
        return None
    return reader.group_of(group.group_id, group.type)


def _users(
    group: ListedGroup, offsets: GroupOffsets | Missing, members: GroupReading | Missing | None, wanted: frozenset[str]
) -> Iterator[TopicUser]:
    commits = set() if isinstance(offsets, Missing) else {topic for topic, _ in offsets}
    listed = members.members if isinstance(members, GroupReading) else ()
    assigned = {place.rpartition("-")[0] for one in listed for place in one.partitions}
    for topic in sorted(wanted & (commits | assigned)):
        yield TopicUser(topic, group.group_id, group.type, group.state, topic in commits, topic in assigned)
