"""The objects that a run is about to change: rights of this login on them, and their state on the brokers."""

from dataclasses import dataclass

from kstreams_runbooks.model.readings.readings import Missing, Taken


@dataclass(frozen=True, slots=True)
class TopicState:
    """One topic, or a name that no topic has: then `topic_id` is empty and `partitions` is 0.

    `operations` are those that this login may perform, in Kafka's words (`DELETE`). `replication` is the lowest number
    of replicas of a partition. `under_replicated` are partitions with fewer replicas in sync than assigned,
    `leaderless` those without a leader.
    """

    name: str
    topic_id: str
    partitions: int
    replication: int
    operations: tuple[str, ...] | Missing
    under_replicated: tuple[int, ...] = ()
    leaderless: tuple[int, ...] = ()

    @property
    def exists(self) -> bool:
        """Whether a topic has this name."""
        return bool(self.topic_id)


@dataclass(frozen=True, slots=True)
class HiddenTopic(Missing):
    """A topic that a broker does not describe to this login."""

    name: str = ""


@dataclass(frozen=True, slots=True)
class GroupRights:
    """What this login may do with a group, whether the group exists or not."""

    group_id: str
    operations: tuple[str, ...] | Missing


@dataclass(frozen=True, slots=True)
class TouchedReading:
    """Topics and groups that a run is about to change.

    `cluster` are the operations on the cluster. `deletes_topics`: every broker has `delete.topic.enable`.
    `reassigned` are the partitions (`topic-partition`) whose replicas are being moved. `hidden` are topics that this
    login may not see: one of the groups may have offsets on them. `principal` is this login, empty if it is not known.
    """

    taken: Taken
    cluster: tuple[str, ...] | Missing
    deletes_topics: bool | Missing
    reassigned: tuple[str, ...] | Missing
    topics: tuple[TopicState | HiddenTopic, ...]
    groups: tuple[GroupRights, ...]
    hidden: tuple[str, ...] | Missing = ()
    principal: str = ""
