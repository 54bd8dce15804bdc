"""What a change costs on the cluster: sizes of topics that restore stores, and records that the inputs still hold."""

from collections import defaultdict
from collections.abc import Collection, Iterable

from kstreams_runbooks.errors import Inconclusive
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.topology.change import ChangeFigures
from kstreams_runbooks.observe.kafka.cluster import ClusterReader
from kstreams_runbooks.observe.kafka.ends import held_of
from kstreams_runbooks.observe.kafka.offsets import HeldPartition


def read_change_figures(
    reader: ClusterReader, *, restored: Collection[str], inputs: Collection[str], others: Collection[str] = ()
) -> ChangeFigures:
    """Figures of these topics by full name; without those that do not exist, or that no broker reports.

    Bytes are read of `restored`, the topics that stores are restored from, records and the oldest of them of `inputs`,
    partitions of all three. Unreachable if no broker answers.
    """
    names = {*restored, *inputs, *others} & reader.topic_names()
    try:
        topics = reader.topics(names)
    except Inconclusive:
        topics = ()
    sizes = reader.bytes_of(sorted(names & set(restored)))
    held = held_of(reader, [topic for topic in topics if topic.name in inputs])
    return ChangeFigures(
        bytes_on_disk={} if isinstance(sizes, Missing) else sizes,
        records={} if isinstance(held, Missing) else _records(held),
        oldest_ms={} if isinstance(held, Missing) else _oldest(held),
        partitions={topic.name: topic.partitions for topic in topics},
        inputs=tuple(sorted(inputs)),
    )


def _records(held: Iterable[HeldPartition]) -> dict[str, int]:
    """Offsets that an input holds, over all of its partitions; none for an input with an unknown partition."""
    found: defaultdict[str, int] = defaultdict(int)
    unknown = set()
    for one in held:
        if isinstance(one.start, Missing) or isinstance(one.end, Missing):
            unknown.add(one.topic)
        else:
            found[one.topic] += one.end - one.start
    return {name: records for name, records in found.items() if name not in unknown}


def _oldest(held: Iterable[HeldPartition]) -> dict[str, int]:
    """How far back an input reaches; none for an empty input, or one with an unknown partition."""
    found: defaultdict[str, list[int | Missing]] = defaultdict(list)
    for one in held:
        found[one.topic].append(one.oldest_ms)
    oldest = {}
    for name, times in found.items():
        known = [time for time in times if not isinstance(time, Missing)]
        if len(known) == len(times) and (written := [time for time in known if time >= 0]):
            oldest[name] = min(written)
    return oldest
