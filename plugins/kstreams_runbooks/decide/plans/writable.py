"""What a plan will write, and whether a run may begin: rights proven and topics healthy, before anything is stopped."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from kstreams_runbooks.model.readings.acls import allow_create
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.touched import GroupRights, HiddenTopic, TopicState, TouchedReading
from kstreams_runbooks.model.runs.object_stages import (
    DeleteGroups,
    DeleteOffsets,
    SetOffsets,
    TopicStage,
    changed_topics,
)
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.runs.stages import Stage, StopAll
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.model.writes import PlannedWrite, WriteKind
from kstreams_runbooks.wording import first_of

_SHOWN = 5


class _Needs(NamedTuple):
    """Operations in Kafka's words, on each topic and on the group; none if empty."""

    topic: str
    group: str = ""


# The rows of rules/rights.yaml, by kind of write.
_NEEDS: Mapping[WriteKind, _Needs] = {
    "create_topics": _Needs("CREATE"),
    "grow_topics": _Needs("ALTER"),
    "delete_topics": _Needs("DELETE"),
    "delete_records": _Needs("DELETE"),
    "set_offsets": _Needs("READ", "READ"),
    "delete_offsets": _Needs("READ", "DELETE"),
    "delete_groups": _Needs("", "DELETE"),
    "empty_group": _Needs("", "READ"),
}


def planned_writes(plan: Plan, groups: Mapping[str, str]) -> tuple[PlannedWrite, ...]:
    """The writes to topics and groups of all stages of a plan, in their order; `groups` has the group of each side."""
    return tuple(write for stage in plan.stages for write in _writes(stage, plan, groups))


def _writes(stage: Stage, plan: Plan, groups: Mapping[str, str]) -> Iterator[PlannedWrite]:
    if isinstance(stage, StopAll):
        [facts] = [one.facts for one in plan.parts if one.role == stage.side]
        yield PlannedWrite("empty_group", tuple(name for name, *_ in facts.topics), groups[stage.side])
    elif isinstance(stage, TopicStage):
        yield PlannedWrite(stage.kind, changed_topics(stage))
    elif isinstance(stage, SetOffsets | DeleteOffsets):
        yield PlannedWrite(stage.kind, stage.topics, stage.group)
    elif isinstance(stage, DeleteGroups):
        yield from (PlannedWrite(stage.kind, (), group) for group in stage.groups)


def may_write(reading: TouchedReading, writes: tuple[PlannedWrite, ...]) -> Verdict:
    """Whether this login may make these writes, and the brokers can take them now.

    A right that is absent, brokers that delete no topics, replicas that are being moved or are not in sync, and a
    partition without a leader refuse, even if other readings failed. Without such a fact a failed reading, or a topic
    or group that was not read, is inconclusive.
    """
    certain = tuple(dict.fromkeys(_refusals(reading, writes)))
    unread = tuple(dict.fromkeys(_unread(reading, writes)))
    if certain:
        return Verdict(Outcome.REFUSE, (*certain, *unread))
    if unread:
        return Verdict(Outcome.INCONCLUSIVE, unread)
    return Verdict(Outcome.PROCEED, ("this login has every right, and the topics are healthy",))


def _refusals(reading: TouchedReading, writes: tuple[PlannedWrite, ...]) -> Iterator[str]:
    topics, groups = _topics(reading), _groups(reading)
    who = f"login {reading.principal}" if reading.principal else "this login"
    for write in writes:
        needs, words = _NEEDS[write.kind], write.kind.replace("_", " ")
        for name in write.topics:
            topic = topics.get(name)
            if needs.topic and isinstance(topic, TopicState) and _is_denied(reading, write.kind, topic, needs.topic):
                also = ", or Create on Cluster" if needs.topic == "CREATE" else ""
                yield f"topic {name}: {who} may not {words}; grant it {_right(needs.topic)} on Topic {name}{also}"
        group = groups.get(write.group)
        if needs.group and group and not isinstance(group.operations, Missing) and needs.group not in group.operations:
            right = f"{_right(needs.group)} on Group {write.group}"
            yield f"group {write.group}: {who} may not {words}; grant it {right}"
        if write.kind == "delete_topics" and reading.deletes_topics is False:
            yield "the brokers delete no topics (delete.topic.enable=false); set it to true on every broker"
    for name in _touched(writes):
        if isinstance(topic := topics.get(name), TopicState):
            yield from _unhealthy(topic, reading)


def _is_denied(reading: TouchedReading, kind: WriteKind, topic: TopicState, operation: str) -> bool:
    denied = not isinstance(topic.operations, Missing) and operation not in topic.operations
    return denied and not _covered(reading, kind)


def _unhealthy(topic: TopicState, reading: TouchedReading) -> Iterator[str]:
    if topic.leaderless:
        yield f"topic {topic.name}: {_partitions(topic.leaderless)} without a leader; start its brokers first"
    if topic.under_replicated:
        which = _partitions(topic.under_replicated)
        yield f"topic {topic.name}: {which} with fewer replicas in sync than assigned; wait until all are in sync"
    if not isinstance(reading.reassigned, Missing):
        moving = [one for one in reading.reassigned if one.rpartition("-")[0] == topic.name]
        if moving:
            which = first_of(moving, _SHOWN)
            yield f"topic {topic.name}: replicas of {which} are being moved; wait until that has ended"


def _unread(reading: TouchedReading, writes: tuple[PlannedWrite, ...]) -> Iterator[str]:
    topics, groups = _topics(reading), _groups(reading)
    for write in writes:
        for name in write.topics:
            needed = _NEEDS[write.kind].topic and not _covered(reading, write.kind)
            yield from _unread_topic(name, topics.get(name), needed=bool(needed))
        if _NEEDS[write.kind].group:
            yield from _unread_group(write.group, groups.get(write.group))
        if write.kind == "delete_topics" and isinstance(reading.deletes_topics, Missing):
            yield f"whether brokers delete topics: {reading.deletes_topics.missing}"
        if write.kind == "delete_groups" and reading.hidden:
            yield _unsaved(write.group, reading.hidden)
    if isinstance(reading.reassigned, Missing) and _touched(writes):
        yield reading.reassigned.missing


def _unsaved(group_id: str, hidden: tuple[str, ...] | Missing) -> str:
    """A deleted group loses its offsets on every topic, and those on hidden topics cannot be saved first."""
    what = f"group {group_id}: whether it has offsets on topics that are not visible to this login is not known"
    if isinstance(hidden, Missing):
        return f"{what}: {hidden.missing}"
    return f"{what}: {first_of(hidden, _SHOWN)}; grant it Describe on them, or delete its offsets by topic"


def _unread_topic(name: str, topic: TopicState | HiddenTopic | None, *, needed: bool) -> Iterator[str]:
    if topic is None:
        yield f"topic {name} was not read"
    elif isinstance(topic, HiddenTopic):
        yield topic.missing
    elif isinstance(topic.operations, Missing) and needed:
        yield f"rights on topic {name}: {topic.operations.missing}"


def _unread_group(group_id: str, group: GroupRights | None) -> Iterator[str]:
    if group is None:
        yield f"group {group_id} was not read"
    elif isinstance(group.operations, Missing):
        yield f"rights on group {group_id}: {group.operations.missing}"


def _covered(reading: TouchedReading, kind: WriteKind) -> bool:
    """Whether the right on the cluster is enough."""
    return kind == "create_topics" and allow_create(reading.cluster)


def _touched(writes: tuple[PlannedWrite, ...]) -> tuple[str, ...]:
    """The topics that exist before the writes."""
    return tuple(dict.fromkeys(name for one in writes if one.kind != "create_topics" for name in one.topics))


def _topics(reading: TouchedReading) -> dict[str, TopicState | HiddenTopic]:
    return {one.name: one for one in reading.topics}


def _groups(reading: TouchedReading) -> dict[str, GroupRights]:
    return {one.group_id: one for one in reading.groups}


def _right(operation: str) -> str:
    """`Read`, as a person grants it."""
    return operation.title()


def _partitions(numbers: tuple[int, ...]) -> str:
    return f"partition{'s' if len(numbers) > 1 else ''} {first_of([str(one) for one in numbers], _SHOWN)}"
