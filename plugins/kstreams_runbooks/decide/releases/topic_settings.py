"""The settings that a topic can have, which an application gives to its internal topics with the prefix `topic.`."""

from typing import Final

TOPIC: Final = "topic."
# `TopicConfig`, Apache Kafka 3.4 to 4.4.
OF_TOPICS: Final = frozenset(
    [
        "cleanup.policy",
        "compression.gzip.level",
        "compression.lz4.level",
        "compression.type",
        "compression.zstd.level",
        "delete.retention.ms",
        "errors.deadletterqueue.group.enable",
        "file.delete.delay.ms",
        "flush.messages",
        "flush.ms",
        "follower.replication.throttled.replicas",
        "index.interval.bytes",
        "leader.replication.throttled.replicas",
        "local.retention.bytes",
        "local.retention.ms",
        "max.compaction.lag.ms",
        "max.decompressed.message.bytes",
        "max.message.bytes",
        "message.downconversion.enable",
        "message.format.version",
        "message.timestamp.after.max.ms",
        "message.timestamp.before.max.ms",
        "message.timestamp.difference.max.ms",
        "message.timestamp.type",
        "min.cleanable.dirty.ratio",
        "min.compaction.lag.ms",
        "min.insync.replicas",
        "preallocate",
        "remote.copy.lag.bytes",
        "remote.copy.lag.ms",
        "remote.log.copy.disable",
        "remote.log.delete.on.disable",
        "remote.storage.enable",
        "retention.bytes",
        "retention.ms",
        "segment.bytes",
        "segment.index.bytes",
        "segment.jitter.ms",
        "segment.ms",
        "unclean.leader.election.enable",
    ]
)


def is_of_no_topic(name: str) -> bool:
    """Whether a setting begins with `topic.` and is none of a topic: brokers up to 4.4 create no topic with it.

    The library gives every setting with that prefix to the topics that it creates. Source: InternalTopicManager;
    tests/long/test_new_internal_topics.py.
    """
    return name.startswith(TOPIC) and name.removeprefix(TOPIC) not in OF_TOPICS
