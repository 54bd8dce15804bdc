"""Partition counts of the internal topics of a topology, from those of its input topics."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet

from kstreams_runbooks.decide.topology.graph import internal_topics
from kstreams_runbooks.decide.topology.names import changelog_of, is_made, is_suppression
from kstreams_runbooks.model.readings.readings import MemberReading
from kstreams_runbooks.model.topology.topology import Node, Processor, Sink, Source, Subtopology, Topology


def repartition_topics(topology: Topology) -> frozenset[str]:
    """Topics between subtopologies that the library makes, by their names; a user topic between them is not one."""
    return frozenset(topic for topic in internal_topics(topology) if is_made(topic))


def partition_counts(
    topology: Topology, declared: Mapping[str, int], suppressions: Collection[str] = ()
) -> dict[str, int]:
    """Partitions by name as printed: of internal topics, and of each store's changelog under `<store>-changelog`.

    `declared` has those of external topics and of repartition topics that the program gives a number. An absent
    count is unknown. A repartition topic gets the largest count among the inputs where it is written, and then,
    if it is joined, the count of the topics it is joined with; topics behind it keep to the first number.

    A join behind a suppress operator leaves out the topics in front of that operator: `KTableImpl#suppress` takes the
    operator itself for the source of its table. `suppressions` are those with chosen names.

    Two facts are not in the text. Topics count as joined if operators behind different sources share a store: two
    custom processors that share one are taken for a join. And if a topic depends on others with different numbers, the
    library takes those that it has counted by then: the order of hashes decides, and the result is unknown.
    Source: `RepartitionTopics`, `CopartitionedTopicsEnforcer`, `ChangelogTopics` (Apache Kafka 4.3);
    tests/integration/test_predicted_change.py.
    """
    internal = repartition_topics(topology)
    tasks = [sub for sub in topology.subtopologies if not sub.is_global]
    counts = {**declared, **_as_written(tasks, internal, declared)}
    for group in _joined(tasks, suppressions):
        number = _decided(group, internal, declared, counts)
        for topic in group & internal - declared.keys():
            counts.pop(topic, None)
            if number is not None:
                counts[topic] = number
    numbers = task_counts(topology, counts)
    return counts | {name: numbers[sub.id] for name, sub in possible_changelogs(topology).items() if sub.id in numbers}


def possible_changelogs(topology: Topology) -> dict[str, Subtopology]:
    """The changelog that each store has if it has one of its own, and the subtopology of the store; global ones apart.

    A text does not show which stores have one: `decide/comparison/content.py` decides that.
    """
    return {changelog_of(store): sub for sub in topology.subtopologies if not sub.is_global for store in sub.stores}


def task_counts(topology: Topology, counts: Mapping[str, int]) -> dict[str, int]:
    """Tasks of each subtopology by its id: the largest count of its inputs, none if a part is unknown."""
    return {
        sub.id: max(counts[topic] for topic in read)
        for sub in topology.subtopologies
        if not sub.is_global and (read := _read(sub)) and read <= counts.keys()
    }


def joined_topics(topology: Topology, suppressions: Collection[str] = ()) -> list[set[str]]:
    """Groups of topics that are joined, as `partition_counts` takes it; names as printed, a pattern as `<pattern>*`."""
    return _joined([sub for sub in topology.subtopologies if not sub.is_global], suppressions)


def joins(topology: Topology, suppressions: Collection[str] = ()) -> list[set[str]]:
    """Topics of each join, as the library checks them: two joins that share a topic are two groups."""
    return [group for sub in topology.subtopologies if not sub.is_global for group in _joins(sub, suppressions)]


def undetermined(topology: Topology, counts: Mapping[str, int]) -> frozenset[str]:
    """Repartition topics without a number although every external topic has one; names as printed.

    They depend on topics with different numbers, and the order in which the library counts them decides. `counts` are
    those of `partition_counts`.
    """
    internal = repartition_topics(topology)
    external = {name for sub in topology.subtopologies if not sub.is_global for name in _read(sub)} - internal
    return internal - counts.keys() if external <= counts.keys() else frozenset()


def uncounted_inputs(topology: Topology, topic: str, counts: Mapping[str, int]) -> frozenset[str]:
    """External topics without a number from which that of a repartition topic follows; a pattern as `<pattern>*`."""
    flow = _Flow([sub for sub in topology.subtopologies if not sub.is_global])
    internal = repartition_topics(topology)
    unknown = flow.readers.keys() - internal - counts.keys()
    return frozenset(one for one in unknown if topic in flow.behind([one], internal))


def uncountable(topology: Topology, counted: Collection[str]) -> frozenset[str]:
    """Repartition topics without a number: no topic in front of them is `counted`, nor behind one that is.

    Names are as printed, a pattern is `<pattern>*`. The library ends in ERROR then (`RepartitionTopics`, Apache Kafka
    4.3); one counted topic in front is enough for it.
    """
    tasks = [sub for sub in topology.subtopologies if not sub.is_global]
    internal = repartition_topics(topology)
    return internal - _Flow(tasks).behind(counted, internal)


def _as_written(tasks: list[Subtopology], internal: frozenset[str], counts: Mapping[str, int]) -> dict[str, int]:
    """Repartition topics as if none was joined: each gets the most of what is counted when its turn comes.

    Turns have no order: a number is only returned if no other order yields another one.
    """
    flow = _Flow(tasks)
    waiting = internal - counts.keys() - _unknown(flow, internal, counts)
    fixed: dict[str, int] = {}
    for sub in tasks:
        if written := _written(sub) & waiting:
            most_read = max((counts[name] for name in _read(sub) if name in counts), default=None)
            if most_read is not None:
                fixed |= {topic: max(most_read, fixed.get(topic, most_read)) for topic in written}
    fewest, most = dict(fixed), dict[str, int]()
    # From the smallest number and from the largest: the first that comes to a topic is the one that it gets.
    for number in sorted(set(fixed.values())):
        first = [topic for topic in fixed if fixed[topic] == number]
        fewest |= dict.fromkeys(flow.behind(first, waiting - fewest.keys()) - fewest.keys(), number)
    for number in sorted(set(fixed.values()), reverse=True):
        first = [topic for topic in fixed if fixed[topic] == number]
        most |= dict.fromkeys(flow.behind(first, waiting - most.keys()) - most.keys(), number)
    return {topic: number for topic, number in fewest.items() if number == most[topic]}


def _unknown(flow: "_Flow", internal: frozenset[str], counts: Mapping[str, int]) -> set[str]:
    """Internal topics behind an external topic that is not declared, or behind a pattern."""
    return flow.behind(flow.readers.keys() - internal - counts.keys(), internal - counts.keys())


def _decided(
    group: set[str], internal: frozenset[str], declared: Mapping[str, int], counts: Mapping[str, int]
) -> int | None:
    """Partitions of joined topics: those of external ones, else a number that the program gives, else the most.

    None if one is unknown, and if those that decide differ: the application does not start.
    """
    given = group - internal or group & declared.keys()
    deciding = given or group
    if not deciding <= counts.keys():
        return None
    numbers = {counts[topic] for topic in deciding}
    return None if given and len(numbers) > 1 else max(numbers)


def _joined(tasks: list[Subtopology], suppressions: Collection[str]) -> list[set[str]]:
    """Topics that are joined with each other; no topic is in two groups."""
    groups: list[set[str]] = []
    for sub in tasks:
        for joined in _joins(sub, suppressions):
            apart = [group for group in groups if not group & joined]
            groups = [*apart, joined.union(*(group for group in groups if group & joined))]
    return groups


def _joins(sub: Subtopology, suppressions: Collection[str]) -> Iterator[set[str]]:
    """Topics behind the operators that share a store, where they are not the same for all of them."""
    held = _held_back(sub, suppressions)
    users_of: dict[str, list[str]] = {}
    for node in sub.nodes:
        for store in node.stores if isinstance(node, Processor) else ():
            if store not in held.get(node.name, ()):
                users_of.setdefault(store, []).append(node.name)
    if all(len(users) == 1 for users in users_of.values()):
        return
    successors = {
        node.name: () if _is_suppression(node, suppressions) else node.successors
        for node in sub.nodes
        if not isinstance(node, Sink)
    }
    behind = {source: _behind(source, successors) for source in sub.sources}
    for users in users_of.values():
        topics = [
            {topic for source, names in behind.items() if user in names for topic in _topics(source)} for user in users
        ]
        if any(one != topics[0] for one in topics):
            yield set().union(*topics)


def _held_back(sub: Subtopology, suppressions: Collection[str]) -> dict[str, set[str]]:
    """Stores that an operator looks into through a suppression: the buffer, and what is in front of it."""
    users = Counter(store for node in sub.nodes for store in _stores(node))
    suppress = [
        node
        for node in sub.nodes
        if isinstance(node, Processor)
        and any(users[store] > 1 for store in node.stores)
        and _is_suppression(node, suppressions)
    ]
    held: dict[str, set[str]] = {}
    for one in suppress:
        before = set(_before(sub, one.name))
        stores = {store for node in sub.nodes if node.name in before for store in _stores(node)} | one.stores
        for node in sub.nodes:
            if node.name != one.name and node.name not in before and _stores(node) & one.stores:
                held.setdefault(node.name, set()).update(stores)
    return held


def _is_suppression(node: Node, suppressions: Collection[str]) -> bool:
    return isinstance(node, Processor) and (is_suppression(node.name) or node.name in suppressions)


def _stores(node: Node) -> frozenset[str]:
    return node.stores if isinstance(node, Processor) else frozenset()


def _before(sub: Subtopology, name: str) -> set[str]:
    """Operators that lead to one, in its own subtopology."""
    predecessors: dict[str, list[str]] = {}
    for node in sub.nodes:
        for after in () if isinstance(node, Sink) else node.successors:
            predecessors.setdefault(after, []).append(node.name)
    found: set[str] = set()
    waiting = [*predecessors.get(name, ())]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting += predecessors.get(one, ())
    return found


def _behind(source: Source, successors: Mapping[str, Collection[str]]) -> set[str]:
    found: set[str] = set()
    ahead = [*source.successors]
    while ahead:
        name = ahead.pop()
        if name not in found:
            found.add(name)
            ahead += successors.get(name, ())
    return found


class _Flow:
    """Which topics the subtopologies read and write."""

    def __init__(self, tasks: list[Subtopology]) -> None:
        self._written = [_written(sub) for sub in tasks]
        self.readers: dict[str, list[int]] = {}
        for place, sub in enumerate(tasks):
            for topic in _read(sub):
                self.readers.setdefault(topic, []).append(place)

    def behind(self, topics: Iterable[str], among: AbstractSet[str]) -> set[str]:
        """`topics`, and those of `among` that are written behind them through topics of `among` alone."""
        found = set(topics)
        ahead = [*found]
        passed: set[int] = set()
        while ahead:
            for place in self.readers.get(ahead.pop(), ()):
                if place not in passed:
                    passed.add(place)
                    new = (self._written[place] & among) - found
                    found |= new
                    ahead += new
        return found


def _read(sub: Subtopology) -> set[str]:
    return {topic for source in sub.sources for topic in _topics(source)}


def _topics(source: Source) -> set[str]:
    """Topics of a source; a pattern represents itself, and is never declared with one number."""
    return set(source.topics) if source.pattern is None else {f"{source.pattern}*"}


def _written(sub: Subtopology) -> set[str]:
    return {node.topic for node in sub.nodes if isinstance(node, Sink) and node.topic is not None}


def all_tasks(read_by: Mapping[str, str], partitions: Mapping[str, int]) -> frozenset[str] | None:
    """`SUBTOPOLOGY_PARTITION` of every task; None while the partitions of a source topic are unknown.

    `read_by` is the subtopology of each source topic. A subtopology has as many tasks as the largest of its topics has
    partitions (Kafka Streams architecture, "Stream partitions and tasks").
    """
    if not read_by or not read_by.keys() <= partitions.keys():
        return None
    return frozenset(f"{sub}_{number}" for topic, sub in read_by.items() for number in range(partitions[topic]))


def tasks_of(
    members: Collection[MemberReading], read_by: Mapping[str, str], partitions: Mapping[str, int]
) -> frozenset[str]:
    """Active tasks of these members: as a streams group reports them, else those all of whose partitions they hold.

    A task lacks a partition if its member kept an assignment from before its subtopology got another topic.
    """
    held = {name for member in members for name in member.partitions}
    needed: dict[str, set[str]] = {}
    for topic, sub in read_by.items():
        for number in range(partitions.get(topic, 0)):
            needed.setdefault(f"{sub}_{number}", set()).add(f"{topic}-{number}")
    whole = frozenset(task for task, names in needed.items() if names <= held)
    return whole | frozenset(task for member in members for task in member.tasks)
