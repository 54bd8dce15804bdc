"""Whether the topics of a growth may grow where they are, and what moved keys leave behind there.

A producer takes up to metadata.max.age.ms (five minutes by default) to see new partitions, and nothing on a broker
shows which number it hashes by: for that time, records of moved keys go to their old partitions. In place grow
internal topics, whose producers are the instances, and control topics that one shipped copier alone writes: all of them
are down meanwhile. State stays where it is, so a key that moves begins from nothing.

Source: Apache Kafka documentation, Producer Configs (metadata.max.age.ms); KAFKA-20030 (new partitions and latest);
KIP-1071 (streams groups).
"""

from collections.abc import Iterator

from kstreams_runbooks.decide.comparison.compared import Side
from kstreams_runbooks.decide.growth.closure import Closure, GrownTopic
from kstreams_runbooks.decide.runbooks import ADOPT
from kstreams_runbooks.decide.topology.described import parsed
from kstreams_runbooks.decide.topology.graph import reach_of
from kstreams_runbooks.decide.topology.names import is_made_of_foreign_keys
from kstreams_runbooks.decide.topology.partitions import repartition_topics
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.topology.growth import GrowthSeen
from kstreams_runbooks.model.topology.topology import Processor, Sink
from kstreams_runbooks.model.verdicts import Finding
from kstreams_runbooks.wording import first_of

# Kafka's controller refuses a request with more (`ReplicationControlManager`, Apache Kafka 4.3).
MOST_NEW_PARTITIONS = 10_000
_SOURCE = "docs/partition_increase.md"
_STREAMS = "streams"


def obstacles(seen: GrowthSeen, closed: Closure) -> tuple[str, ...]:
    """Why these topics may not grow in place, the state apart; empty if they may. A missing fact is one."""
    return tuple(dict.fromkeys(_obstacles(seen, closed)))


def copier_of(seen: GrowthSeen, closed: Closure) -> str:
    """The shipped copier that alone writes every grown input; empty without one."""
    found = {_copier(seen, one) for one in closed.inputs}
    return next(iter(found)) if len(found) == 1 else ""


def _obstacles(seen: GrowthSeen, closed: Closure) -> Iterator[str]:
    if isinstance(seen.group_type, Missing):
        yield f"group {seen.application_id}: {seen.group_type.missing}"
    elif seen.group_type.lower() == _STREAMS:
        yield (
            f"group {seen.application_id}: a streams group (expected classic): its brokers decide the numbers of "
            "internal topics themselves (KIP-1071), and a growth of its topics is not tried"
        )
    for topic in closed.inputs:
        yield from _written_by_others(seen, topic)
    yield from _other_routes(seen, closed)
    yield from _other_readers(seen, closed)
    new = sum(one.after - one.before for one in closed.grown)
    if new > MOST_NEW_PARTITIONS:
        yield (
            f"{new:,} new partitions in one call (limit {MOST_NEW_PARTITIONS:,}, of Kafka's controller): topics that "
            "grow one after another end instances meanwhile; give another one (partitions)"
        )


def _copier(seen: GrowthSeen, topic: GrownTopic) -> str:
    writers = seen.writers.get(topic.name, ())
    is_its = len(writers) == 1 and topic.name in {to for _, to in writers[0].routes}
    return writers[0].name if is_its and topic.name in seen.control else ""


def _written_by_others(seen: GrowthSeen, topic: GrownTopic) -> Iterator[str]:
    if _copier(seen, topic):
        return
    writers = [one.name for one in seen.writers.get(topic.name, ())]
    who = first_of(writers) if writers else "producers that the fleet does not have"
    yield (
        f"input {topic.name}: written by {who} (expected: a control topic that one shipped copier alone writes); a "
        "producer hashes by the old number for up to metadata.max.age.ms (5 min by default), and nothing on a broker "
        "shows it: records of moved keys would go to their old partitions; put the copier in front first: trigger "
        f"{ADOPT} with --param copier=COPIER"
    )


def _other_routes(seen: GrowthSeen, closed: Closure) -> Iterator[str]:
    """By key the copier chooses the partitions of all its routes."""
    names = {one.name for one in closed.inputs}
    copiers = {name for one in closed.inputs if (name := _copier(seen, one))}
    if len(copiers) > 1:
        yield (
            f"copiers {first_of(sorted(copiers))} write the inputs (expected one): their copies would start at other "
            "times; give one copier all routes"
        )
    for one in {writer for name in names for writer in seen.writers.get(name, ()) if writer.name in copiers}:
        if others := sorted(to for _, to in one.routes if to not in names):
            yield (
                f"copier {one.name}: also writes {first_of(others)}, which does not grow (expected: the grown inputs "
                "alone); by key it would choose the partitions of that too; give it a copier of its own"
            )


def _other_readers(seen: GrowthSeen, closed: Closure) -> Iterator[str]:
    for topic in closed.grown:
        if readers := seen.readers.get(topic.name):
            yield (
                f"topic {topic.name}: {first_of(readers)} reads it too (expected: {seen.application} alone): its keys "
                "would move away from their state as well; give it an input of its own"
            )
        groups = () if isinstance(seen.groups, Missing) else seen.groups.get(topic.name, ())
        if groups and not readers:
            yield (
                f"topic {topic.name}: group {first_of(groups)} reads it too (expected: {seen.application_id} alone); "
                "with auto.offset.reset=latest it never reads the first records of a new partition (KAFKA-20030); stop "
                "it and delete its offsets, or give it a topic of its own"
            )
    if isinstance(seen.groups, Missing):
        yield f"groups that read the grown topics: {seen.groups.missing}"


def forgotten(seen: GrowthSeen, closed: Closure) -> tuple[Finding, ...]:
    """What a growth in place costs beyond empty stores, for the approver."""
    merges = (
        Finding("growth-merges-partitions", "danger", seen.application, sentence, _SOURCE) for sentence in closed.merged
    )
    return (*merges, *_begin_empty(closed), *_earlier_values(seen, closed))


def _begin_empty(closed: Closure) -> Iterator[Finding]:
    for store in closed.stores:
        yield Finding(
            "growth-moved-keys",
            "danger",
            store.name,
            f"store {store.name}: keys that move begin from nothing, and their rows stay in the old partition, where "
            "nothing updates them; its declaration accepts that (loss_acceptable), and no undo brings it back",
            _SOURCE,
        )


def _earlier_values(seen: GrowthSeen, closed: Closure) -> Iterator[Finding]:
    """A task that does not know an earlier value of a key cannot take it back from what is behind a topic."""
    side = Side(parsed(seen.described).topology, seen.described.declaration)
    topology, reach = side.topology, reach_of(side.topology)
    moved = {one.name for one in closed.stores}
    own = repartition_topics(topology)
    for sub in topology.subtopologies:
        keepers = [
            (sub.topology, node.name) for node in sub.nodes if isinstance(node, Processor) and node.stores & moved
        ]
        for node in sub.nodes:
            if not isinstance(node, Sink) or node.topic is None or node.topic not in own or sub.is_global:
                continue
            if not reach.before([(sub.topology, node.name)]) & reach.bits(keepers):
                continue
            why = (
                "a foreign-key join keeps the partition of each key in its subscriptions: until a moved key is "
                "updated, its results may come from the row in its old partition"
                if is_made_of_foreign_keys(node.topic)
                else "a moved key's first update is sent without its earlier value: an aggregation behind adds it and "
                "does not subtract, also for keys that do not move"
            )
            yield Finding("growth-earlier-values", "danger", node.topic, f"internal topic {node.topic}: {why}", _SOURCE)
