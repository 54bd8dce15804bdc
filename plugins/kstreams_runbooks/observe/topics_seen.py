"""The topics that a topology needs, as the cluster has them now."""

from kstreams_runbooks.decide.java_pattern import matched, matcher
from kstreams_runbooks.decide.topics_needed import NeededTopics
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.topics_seen import TopicsSeen
from kstreams_runbooks.observe.cluster import ClusterReader


def read_topics_seen(reader: ClusterReader, needed: NeededTopics) -> TopicsSeen:
    """The needed topics that exist, those that this login may not see, and what each source pattern matches.

    A pattern that cannot be read here has no entry. Unreachable where no broker answers, Inconclusive where the brokers
    do not describe the topics.
    """
    names = reader.topic_names()
    matching = {
        pattern: tuple(sorted(name for name in names if matched(pattern, name)))
        for pattern in sorted(needed.patterns)
        if _readable(pattern)
    }
    wanted = {*needed.external, *needed.internal, *(name for found in matching.values() for name in found)}
    counts = {topic.name: topic.partitions for topic in reader.topics(wanted & names)}
    return TopicsSeen(counts, reader.hidden(needed.external.keys() - names), matching)


def _readable(pattern: str) -> bool:
    try:
        matcher(pattern)
    except BadInput:
        return False
    return True
