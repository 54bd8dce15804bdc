"""What a cluster and the instances on it show of applications that are not declared; only reads."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from kstreams_runbooks.decide.change.library import aggregates_tables, joins_by_foreign_key
from kstreams_runbooks.decide.comparison.compared import Side
from kstreams_runbooks.decide.discovery.instances import found_instances
from kstreams_runbooks.decide.topology.java_pattern import KAFKAS_OWN
from kstreams_runbooks.decide.topology.names import internal_by_id
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.address import metrics_url
from kstreams_runbooks.model.discovery.discovery import Found, FoundTopology, Signs
from kstreams_runbooks.model.readings.copying import CopierFigures
from kstreams_runbooks.model.readings.readings import GroupReading, Missing, StreamsReading
from kstreams_runbooks.model.topology.facts import FactsReading
from kstreams_runbooks.model.topology.topology import Sink
from kstreams_runbooks.observe.application.copier_figures import read_copier_figures
from kstreams_runbooks.observe.application.facts import read_client_facts
from kstreams_runbooks.observe.application.metrics import read_streams
from kstreams_runbooks.observe.kafka.cluster import ClusterReader, ListedGroup
from kstreams_runbooks.observe.kafka.offsets import GroupOffsets
from kstreams_runbooks.observe.kafka.partition_time import left_by_streams
from kstreams_runbooks.observe.kafka.topic_names import TopicNames
from kstreams_runbooks.observe.lag.topology_topics import readable_topics
from kstreams_runbooks.wire.limits import ExchangeLimits
from kstreams_runbooks.wording import first_of

# Most of the time is waiting for hosts on which no agent listens.
_THREADS = 32
_LIMITS = ExchangeLimits(connect_s=2.0, silence_s=2.0)
_READS_TOPICS = frozenset({"consumer", "streams", ""})


def read_signs(reader: ClusterReader) -> tuple[Signs, ...]:
    """What every group on the cluster shows; Unreachable if no broker answers, Inconclusive if none lists groups."""
    listed = reader.listed()
    asked = [one for one in listed if one.protocol_type in _READS_TOPICS and one.type != "share"]
    committed = reader.committed([one.group_id for one in asked])
    names = reader.names()
    # The name of an internal topic is a sign even if nothing else of its application is visible.
    internal = internal_by_id(names.every(), {one.group_id for one in listed})
    unseen = _unseen(names)
    return tuple(
        _signs(
            one,
            reader.group_of(one.group_id, one.type) if one in asked else Missing("not asked"),
            committed.get(one.group_id, {}),
            internal.get(one.group_id, ()),
            unseen,
        )
        for one in listed
    )


def read_not_seen(reader: ClusterReader) -> tuple[str, ...]:
    """Whether groups may not be visible to this login, with the right that shows them; topics are reported by group."""
    every = reader.lists_every_group()
    if isinstance(every, Missing):
        return (f"whether the list has every group is not known ({every.missing})",)
    if not every:
        return (
            "groups that are not visible to this login are not in the list; grant it Describe on Cluster, which lists "
            "every group",
        )
    return ()


def _unseen(names: TopicNames) -> str:
    """Why a group may have offsets and internal topics that are not visible here, empty if it has none.

    Kafka's own topics count for nothing: no application of Kafka Streams reads them.
    """
    if isinstance(names.hidden, Missing):
        return (
            "it may have offsets and internal topics that are not visible to this login, which is not known; "
            f"{names.hidden.missing}"
        )
    if not (hidden := tuple(sorted(names.hidden - KAFKAS_OWN))):
        return ""
    are = "topic is" if len(hidden) == 1 else "topics are"
    return (
        f"{len(hidden):,} {are} not visible to this login, and it may have offsets there: {first_of(hidden)}; grant "
        "this login Describe on them"
    )


def _signs(
    one: ListedGroup,
    group: GroupReading | Missing,
    committed: GroupOffsets | Missing,
    internal: tuple[str, ...],
    unseen: str,
) -> Signs:
    state = one.state if isinstance(group, Missing) else group.state
    if isinstance(committed, Missing):
        return Signs(one.group_id, one.type, state, one.protocol_type, group, committed, 0, internal, unseen)
    topics = Counter(topic for topic, _ in committed)
    stamped = sum(left_by_streams(each.metadata) for each in committed.values())
    return Signs(one.group_id, one.type, state, one.protocol_type, group, dict(topics), stamped, internal, unseen)


def read_found(reader: ClusterReader, signs: Sequence[Signs], ports: Sequence[int]) -> tuple[Found, ...]:
    """What the instances of each application report: Jolokia is tried on its members' hosts, at each of `ports`."""
    names = reader.names()
    ids = reader.transactional_ids()
    answers = jolokia_answers(signs, ports)
    found = []
    for one in signs:
        said = answers.get(one.group_id, {})
        texts = sorted({reading.topology for reading in said.values() if isinstance(reading.topology, str)})
        topologies = tuple(each for text in texts if (each := found_topology(text, one.group_id, names)) is not None)
        own = ids if isinstance(ids, Missing) else frozenset(each for each in ids if each.startswith(one.group_id))
        routes = _routes(one.group_id, [url for _, url in said])
        found.append(Found(one, found_instances(one.group, said), topologies, own, _facts(said), routes))
    return tuple(found)


def _routes(group_id: str, urls: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """The routes of the shipped copier, by the first agent of this application that has its bean."""
    for url in urls:
        if isinstance(figures := read_copier_figures(url, group_id, limits=_LIMITS), CopierFigures):
            return tuple((source, target) for source, _, target in (one.partition(" -> ") for one in figures.routes))
    return ()


def _facts(answers: Mapping[tuple[str, str], StreamsReading]) -> dict[str, FactsReading | Missing]:
    """The topology facts of the clients that answered."""
    with ThreadPoolExecutor(max_workers=_THREADS, thread_name_prefix="facts") as pool:
        asked = {
            client.client_id: pool.submit(read_client_facts, url, client, _LIMITS)
            for (_, url), client in answers.items()
        }
        return {client: future.result() for client, future in asked.items()}


def jolokia_answers(signs: Sequence[Signs], ports: Sequence[int]) -> dict[str, dict[tuple[str, str], StreamsReading]]:
    """By application, what its clients report by (host, URL).

    Each address is polled once without an application id: if nothing answers, it is not polled for any application.
    """
    hosts = {one.group_id: _hosts(one.group) for one in signs}
    urls = sorted({(host, url) for each in hosts.values() for host in each for url in _urls(host, ports)})
    with ThreadPoolExecutor(max_workers=_THREADS, thread_name_prefix="discover") as pool:
        asked = {url: pool.submit(read_streams, url, limits=_LIMITS) for _, url in urls}
        first = {url: future.result() for url, future in asked.items()}
        # A JVM with several clients reports none of them until it is polled for one.
        again = {
            (group_id, host, url): pool.submit(read_streams, url, application_id=group_id, limits=_LIMITS)
            for group_id, each in hosts.items()
            for host, url in urls
            if host in each and isinstance(first[url], Missing) and first[url].start is not None
        }
    found: dict[str, dict[tuple[str, str], StreamsReading]] = {}
    for host, url in urls:
        if isinstance(reading := first[url], StreamsReading):
            found.setdefault(reading.application_id, {})[host, url] = reading
    for (group_id, host, url), future in again.items():
        if isinstance(answer := future.result(), StreamsReading):
            found.setdefault(group_id, {})[host, url] = answer
    return found


def found_topology(text: str, application_id: str, names: TopicNames) -> FoundTopology | None:
    """The topics that a description names, None for one that cannot be read; `names` are the cluster's topics."""
    try:
        topology = parse_topology(text)
        topics, unreadable = readable_topics(topology, application_id, names)
        sources, unproven = topics.read_on(names)
    except BadInput:
        return None
    sinks = [node for _, node in topology.nodes() if isinstance(node, Sink)]
    return FoundTopology(
        inputs=tuple(sorted(sources - topics.internal)),
        outputs=tuple(sorted(_written(sinks, topics.internal, application_id))),
        open_sinks=tuple(sorted(sink.name for sink in sinks if sink.topic is None)),
        table_aggregations=aggregates_tables(Side(topology)),
        foreign_key_joins=joins_by_foreign_key(Side(topology)),
        unreadable="; ".join(filter(None, (unreadable, unproven))),
    )


def _written(sinks: Iterable[Sink], internal: Collection[str], application_id: str) -> set[str]:
    topics = {sink.topic for sink in sinks if sink.topic is not None}
    return {topic for topic in topics if f"{application_id}-{topic}" not in internal}


def _hosts(group: GroupReading | Missing) -> list[str]:
    return [] if isinstance(group, Missing) else sorted({member.host for member in group.members if member.host})


def _urls(host: str, ports: Sequence[int]) -> list[str]:
    return [metrics_url(host, port) for port in ports]
