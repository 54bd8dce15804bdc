"""Records of repartition topics without a committed offset, before a start that would read them."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.errors import BadInput, RunbookError
from kstreams_runbooks.fleet import Application
from kstreams_runbooks.model.readings.lag import PartitionLag
from kstreams_runbooks.model.readings.readings import GroupReading, InstanceReading, Missing, StreamsReading
from kstreams_runbooks.model.readings.states import is_stable
from kstreams_runbooks.model.readings.topics_seen import RepartitionsSeen
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.lag.partition_rows import read_partitions
from kstreams_runbooks.observe.lag.topology_topics import read_by
from kstreams_runbooks.observe.lag.unread_counts import UnreadCounts
from kstreams_runbooks.watch.drain.unread import count_and_first


def read_repartitions(
    entry: Application,
    kafka: Mapping[str, Any],
    names: Collection[str],
    instances: Iterable[InstanceReading] = (),
) -> RepartitionsSeen:
    """What the group of `entry` has not committed on these topics (full names); `kafka` is a librdkafka configuration.

    `instances` show which partitions a streams group has assigned: it reports tasks instead. Unreachable if no broker
    answers, Inconclusive if the brokers do not describe the topics.
    """
    group_id = entry.application_id
    with ClusterReader(kafka) as reader:
        hidden = reader.names().unseen(names)
        topics = reader.topics(set(names) - hidden.keys())
        rows = read_partitions(reader, group_id, dict.fromkeys((one.name for one in topics), "repartition"), topics)
        # After the offsets: a member that is assigned a partition now has committed what it read before.
        group = reader.group(group_id)
    ids = {topic.name: topic.topic_id for topic in topics}
    state = group if isinstance(group, Missing) else group.state
    if isinstance(rows, Missing):
        return RepartitionsSeen(ids, (), state, unknown=(*hidden.values(), rows.missing))
    unknown = (*hidden.values(), *dict.fromkeys(f"{one.name}: {one.why}" for one in rows if one.state == "unknown"))
    uncommitted = tuple(one for one in rows if one.state == "never_committed")
    held = {f"{topic}-{number}" for topic, number in _held(group, instances, ids)}
    try:
        counted = _counted(entry, kafka, uncommitted)
    except RunbookError as error:
        counted, unknown = uncommitted, (*unknown, f"unread records are not counted: {error}")
    return RepartitionsSeen(ids, counted, state, frozenset(held & {one.name for one in counted}), unknown)


def _counted(entry: Application, kafka: Mapping[str, Any], rows: tuple[PartitionLag, ...]) -> tuple[PartitionLag, ...]:
    """The rows with readable records; of too many offsets to count, whether there is one."""
    counts = UnreadCounts(*count_and_first(entry, kafka))
    # Many offsets are searched once they are at rest: the same in a second call.
    counts.of(rows)
    return counts.of(rows)


def _held(
    group: GroupReading | Missing, instances: Iterable[InstanceReading], topics: Collection[str]
) -> Iterator[tuple[str, str]]:
    """Topic and number of each partition that a member of the stable group is assigned."""
    if isinstance(group, Missing) or not is_stable(group.state):
        return
    for member in group.members:
        for place in member.partitions:
            topic, _, number = place.rpartition("-")
            yield topic, number
    tasks = [task.rpartition("_") for member in group.members for task in member.tasks]
    if not tasks:
        return
    # The members of a streams group have one topology.
    texts = {one.streams.topology for one in instances if isinstance(one.streams, StreamsReading)}
    for text in texts:
        if isinstance(text, str):
            with suppress(BadInput):
                reads = read_by(parse_topology(text), group.group_id)
                yield from ((topic, number) for topic in topics for sub, _, number in tasks if reads.get(topic) == sub)
