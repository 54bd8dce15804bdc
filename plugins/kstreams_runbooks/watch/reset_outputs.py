"""Reads for the cleaning of outputs: their ends, who reads them and how far, who wrote them; nothing is changed."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from kstreams_runbooks.connections import kafka_config
from kstreams_runbooks.errors import RunbookError
from kstreams_runbooks.fleet import Application, load_fleet
from kstreams_runbooks.model.readings.readings import Missing, TopicReading
from kstreams_runbooks.model.readings.reset import TopicUser
from kstreams_runbooks.model.readings.reset_outputs import OutputFacts, OutputPartition, OutputProducer, UnreadBelow
from kstreams_runbooks.model.readings.states import is_empty
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.kafka.ends import ends_of
from kstreams_runbooks.observe.kafka.offsets import GroupOffsets, Place
from kstreams_runbooks.observe.kafka.producers import read_producers
from kstreams_runbooks.observe.kafka.topic_users import read_topic_users
from kstreams_runbooks.watch.drain.counter import Counter
from kstreams_runbooks.watch.reset_neighbours import read_running_uses

_POLICY = "cleanup.policy"


def read_outputs(
    entry: Application,
    topics: Collection[str],
    say: Callable[[str], None],
    *,
    shown: Mapping[Place, int] | None = None,
) -> OutputFacts:
    """What speaks for and against deleting the records of these outputs of an application now.

    `shown` are the cuts that a plan has shown, by topic and partition; without them the cuts are the present last
    stable offsets. `say` receives what takes long. Inconclusive if groups cannot be listed, Unreachable if no broker
    answers.
    """
    fleet = load_fleet()
    config = kafka_config(fleet.cluster(entry.cluster).connection)
    neighbours = [one for one in fleet.entries.values() if one.cluster == entry.cluster and one.name != entry.name]
    with ClusterReader(config) as reader:
        names, groups = reader.names(), reader.groups()
        hidden = names.unseen(topics)
        there = reader.topics(set(topics) & names.visible)
        absent = sorted(set(topics) - {one.name for one in there} - hidden.keys())
        partitions = _partitions(reader, there, shown)
        settings = reader.settings([one.name for one in there], (_POLICY,))
        users, unlisted = read_topic_users(reader, [one.name for one in there], entry.application_id)
        offsets = reader.committed(sorted({one.group_id for one in users}))
        working = {group for group, _, state in groups if not is_empty(state)}
        uses, unseen = read_running_uses(neighbours, names, working)
        producers = read_producers(reader, [(one.topic, one.partition) for one in partitions])
    problems = [
        *hidden.values(),
        *(f"output {name}: the topic does not exist on the cluster" for name in absent),
        *unlisted,
        *unseen,
        *fleet.not_looked_at,
        *([f"who wrote the outputs is not known: {producers.missing}"] if isinstance(producers, Missing) else []),
    ]
    found: tuple[OutputProducer, ...] = () if isinstance(producers, Missing) else producers
    wanted = frozenset(topics)
    return OutputFacts(
        partitions=partitions,
        policies={name: one[_POLICY] for name, one in settings.items() if _POLICY in one},
        users=users,
        others=tuple(one for one in uses if one.topic in wanted),
        unread=_unread(config, partitions, users, offsets, say),
        producers=found,
        owners={one.name: one.owner for one in fleet.entries.values() if one.cluster == entry.cluster},
        problems=tuple(dict.fromkeys(problems)),
    )


def _partitions(
    reader: ClusterReader, topics: Sequence[TopicReading], shown: Mapping[Place, int] | None
) -> tuple[OutputPartition, ...]:
    ids = {one.name: one.topic_id for one in topics}
    return tuple(
        OutputPartition(*place, ids[place[0]], each.start, _cut(place, each.stable, shown))
        for place, each in ends_of(reader, topics).items()
    )


def _cut(place: Place, stable: int | Missing, shown: Mapping[Place, int] | None) -> int | Missing:
    if shown is None:
        return stable
    # A partition that came after the plan: none of its records was shown.
    return shown.get(place, 0)


def _unread(
    config: Mapping[str, Any],
    partitions: Iterable[OutputPartition],
    users: Iterable[TopicUser],
    offsets: Mapping[str, GroupOffsets | Missing],
    say: Callable[[str], None],
) -> tuple[UnreadBelow, ...]:
    """The records below the cuts that each group has not read, on every partition of a topic that it uses.

    A group without an offset on a partition has read none of it: at which offset it would begin is not known.
    """
    topics: dict[str, set[str]] = {}
    for user in users:
        topics.setdefault(user.group_id, set()).add(user.topic)
    rows = tuple(partitions)
    found: list[UnreadBelow] = []
    with Counter(config, say=say) as counter:
        for group, its in sorted(topics.items()):
            known = offsets.get(group, Missing("its offsets were not read"))
            found += _unread_of(group, [one for one in rows if one.topic in its], known, counter)
    return tuple(found)


def _unread_of(
    group: str, rows: Sequence[OutputPartition], known: GroupOffsets | Missing, counter: Counter
) -> list[UnreadBelow]:
    if isinstance(known, Missing):
        return [UnreadBelow(group, one.topic, one.partition, None, known) for one in rows]
    ranges: dict[Place, tuple[int, int]] = {}
    offsets: dict[Place, int | None] = {}
    for one in rows:
        place = (one.topic, one.partition)
        at = known.get(place)
        offsets[place] = None if at is None else at.offset
        if isinstance(one.start, int) and isinstance(one.cut, int):
            begins = max(one.start, offsets[place] or 0)
            ranges |= {place: (begins, one.cut)} if begins < one.cut else {}
    try:
        counts = counter(ranges).readable if ranges else {}
    except RunbookError as error:
        lost = Missing(str(error))
        return [UnreadBelow(group, *place, offsets[place], lost) for place in ranges]
    found = []
    for place, count in counts.items():
        if count.records:
            found.append(UnreadBelow(group, *place, offsets[place], count.records, count.at_least))
        elif count.at_least:
            none = Missing("only a part of its log was scanned, without a record")
            found.append(UnreadBelow(group, *place, offsets[place], none))
    return found
