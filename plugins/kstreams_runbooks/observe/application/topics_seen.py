"""The topics that a topology needs, as the cluster has them now."""

from kstreams_runbooks.decide.fitting.needed import NeededTopics
from kstreams_runbooks.decide.topology.java_pattern import matched
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.matching import PatternTooSlow
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.topics_seen import TopicsSeen
from kstreams_runbooks.observe.kafka.cluster import ClusterReader
from kstreams_runbooks.observe.kafka.topic_names import TopicNames, not_visible
from kstreams_runbooks.observe.lag.topology_topics import try_pattern


def read_topics_seen(reader: ClusterReader, needed: NeededTopics) -> TopicsSeen:
    """The needed topics that exist, those that this login may not see, and what each source pattern matches.

    A pattern that cannot be read here has no entry. Unreachable if no broker answers, Inconclusive if the brokers do
    not describe the topics.
    """
    names = reader.names()
    matching = {
        pattern: tuple(sorted(name for name in names.visible if matched(pattern, name)))
        for pattern in sorted(needed.patterns)
        if _is_readable(pattern, names)
    }
    own = {*needed.external, *needed.internal}
    hidden = names.unseen(own)
    for pattern in matching:
        if why := _hidden_match(names, pattern):
            hidden[pattern] = why
    wanted = own | {name for found in matching.values() for name in found}
    counts = {topic.name: topic.partitions for topic in reader.topics(wanted & names.visible)}
    return TopicsSeen(counts, hidden, matching)


def _hidden_match(names: TopicNames, pattern: str) -> str:
    """Why a pattern may match topics that are not visible, empty if it matches none of them."""
    if isinstance(names.hidden, Missing):
        return names.hidden.missing
    found = sorted(name for name in names.hidden if matched(pattern, name))
    return not_visible(found[0]) if found else ""


def _is_readable(pattern: str, names: TopicNames) -> bool:
    """Whether the pattern is understood, and quick enough for all names."""
    try:
        try_pattern(pattern, names)
    except (BadInput, PatternTooSlow):
        return False
    return True
