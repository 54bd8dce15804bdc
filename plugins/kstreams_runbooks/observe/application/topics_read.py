"""Which topics each application reads, from the topologies that run: the input of a lag reading."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.readings.buffers import PolledBuffers
from kstreams_runbooks.model.readings.lag import LagRole
from kstreams_runbooks.model.readings.readings import Missing, NoClient, NotListening, StreamsReading, polled_buffers
from kstreams_runbooks.model.readings.states import CLIENT_DUE_MS, is_in_error
from kstreams_runbooks.model.readings.status import KnownTopology
from kstreams_runbooks.observe.application.agent import LIMITS
from kstreams_runbooks.observe.application.application import ObservedApplication
from kstreams_runbooks.observe.application.metrics import read_streams
from kstreams_runbooks.observe.application.polling import poll_all
from kstreams_runbooks.observe.kafka.topic_names import TopicNames
from kstreams_runbooks.observe.lag.lag import LagAsked
from kstreams_runbooks.observe.lag.topology_topics import TopologyTopics, readable_topics
from kstreams_runbooks.wire.limits import ExchangeLimits

# How many instances one sentence quotes.
_SHOWN = 3

NO_TOPOLOGY_REPORTED = (
    "no running instance reports its topology, so a topic without a committed offset would be missed; start an "
    "instance, or declare a topology command of its deployer"
)


@dataclass(frozen=True, slots=True)
class PolledTopics:
    """What the instances of one application report; `reads` is None if they do not report all that it reads.

    `reads` are topics by role, `keeps` changelogs that it may have, `failed` instances in ERROR or dead. If `reads` is
    None, `lacking` is the reason, and `partly` has the topics that are known all the same. `heard`: some instance
    reported a topology, and an earlier one may be out of date; `silent` are the instances that reported none.
    `patterns` are the sources by pattern, whose topics are among `reads`. `buffers` are the suppress buffers of each
    instance that answered.
    """

    reads: Mapping[str, LagRole] | None
    keeps: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    lacking: str = ""
    partly: Mapping[str, LagRole] = field(default_factory=dict)
    heard: bool = False
    silent: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    buffers: tuple[PolledBuffers, ...] = ()


def topics_to_read(entry: ObservedApplication, polled: PolledTopics | None) -> LagAsked:
    """The input of a lag reading of an application, by what its instances report now."""
    asked = _nothing_known(entry)
    if polled is None:
        return replace(asked, lacking=NO_TOPOLOGY_REPORTED)
    return replace(asked, reads=polled.reads or polled.partly or None, lacking=polled.lacking, keeps=polled.keeps)


def topics_to_read_again(entry: ObservedApplication, known: KnownTopology, names: TopicNames) -> LagAsked:
    """The same by a topology that was reported earlier; its patterns are matched again with the cluster's topics."""
    patterns = TopologyTopics(frozenset(), frozenset(), frozenset(known.patterns), frozenset())
    try:
        found, lacking = patterns.read_on(names)
    except BadInput as error:
        found, lacking = frozenset(), str(error)
    reads: dict[str, LagRole] = {**dict.fromkeys(found, "source"), **known.reads}
    return replace(_nothing_known(entry), reads=reads, lacking=lacking, keeps=known.keeps)


def _nothing_known(entry: ObservedApplication) -> LagAsked:
    return LagAsked(entry.name, entry.application_id, exactly_once=entry.reads_committed)


def poll_instances(
    entries: Sequence[ObservedApplication], names: TopicNames, limits: ExchangeLimits = LIMITS
) -> dict[str, PolledTopics]:
    """What the instances of each application report, by its name; slow ones of one do not delay another.

    In the middle of a roll two topologies may run: what either reads is read. `names` are the cluster's topics: as long
    as a pattern may match a hidden one, not all that it reads is known. A copier is not polled: it reads its inputs.
    """
    copiers = {
        one.name: PolledTopics(dict.fromkeys(one.inputs, "source"), heard=True) for one in entries if one.as_deployed
    }
    entries = [one for one in entries if not one.as_deployed]
    texts: dict[str, set[str]] = {entry.name: set() for entry in entries}
    failed: dict[str, list[str]] = {entry.name: [] for entry in entries}
    unclear: dict[str, list[str]] = {entry.name: [] for entry in entries}
    silent: dict[str, list[str]] = {entry.name: [] for entry in entries}
    buffers: dict[str, list[PolledBuffers]] = {entry.name: [] for entry in entries}
    answers = poll_all(
        {
            entry.name: [
                partial(read_streams, one.metrics, application_id=entry.application_id, limits=limits)
                for one in entry.deployer.instances
            ]
            for entry in entries
        },
        Missing,
    )
    for entry in entries:
        for one, found in zip(entry.deployer.instances, answers[entry.name], strict=True):
            if isinstance(found, StreamsReading):
                buffers[entry.name].append(polled_buffers(one.name, found))
            if isinstance(found, StreamsReading) and isinstance(found.topology, str):
                texts[entry.name].add(found.topology)
            else:
                silent[entry.name].append(one.name)
                if isinstance(found, Missing) and not isinstance(found, NotListening):
                    unclear[entry.name].append(f"{one.name}: {found.missing}")
            if why := _failed(found):
                failed[entry.name].append(f"{one.name} ({why})")
    return copiers | {
        one.name: replace(
            _polled(one, texts[one.name], failed[one.name], unclear[one.name], names),
            silent=tuple(silent[one.name]),
            buffers=tuple(buffers[one.name]),
        )
        for one in entries
    }


def _failed(found: StreamsReading | Missing) -> str:
    """Why an instance is failed for good, empty if it is not or that is not known.

    Streams closes its client on the way into ERROR, and every metric with it (observe/application/metrics.py). A JVM
    that has other clients proves nothing about this one: it may be another application's, behind a wrong address.
    """
    if isinstance(found, StreamsReading):
        return found.state if is_in_error(found.state) else ""
    if isinstance(found, NoClient) and found.up_ms is not None and found.up_ms > CLIENT_DUE_MS:
        return f"no Kafka Streams client in its JVM, which is up for {found.up_ms / 1000:.0f} s"
    return ""


def _polled(
    entry: ObservedApplication,
    texts: Collection[str],
    failed: Sequence[str],
    unclear: Sequence[str],
    names: TopicNames,
) -> PolledTopics:
    reads: dict[str, LagRole] = {}
    keeps: set[str] = set()
    patterns: set[str] = set()
    lacking: list[str] = []
    partly: dict[str, LagRole] = {}
    for text in sorted(texts):
        try:
            topics, why = readable_topics(parse_topology(text), entry.application_id, names)
        except BadInput as error:
            # The others of the cluster are read all the same.
            lacking.append(f"the topology that an instance reports cannot be read: {error}")
            continue
        if why:
            lacking.append(why)
            # Its declared inputs are read, whether or not the pattern that cannot be read here matches them.
            partly |= dict.fromkeys(entry.inputs, "source")
        found, unproven = topics.read_on(names)
        if unproven:
            lacking.append(unproven)
            # The visible topics that the pattern matches are read as well.
            partly |= dict.fromkeys(found, "source")
        reads |= {topic: "repartition" if topic in topics.internal else "source" for topic in found}
        keeps |= topics.changelogs
        patterns |= topics.patterns
    kept = tuple(sorted(keeps))
    if reads and not lacking:
        return PolledTopics(reads, kept, tuple(failed), heard=True, patterns=tuple(sorted(patterns)))
    more = [f"and {len(unclear) - _SHOWN} more instances"] if len(unclear) > _SHOWN else []
    said = "; ".join(dict.fromkeys(lacking or [NO_TOPOLOGY_REPORTED, *unclear[:_SHOWN], *more]))
    return PolledTopics(None, kept, tuple(failed), said, {**partly, **reads} if partly else {}, heard=bool(texts))
