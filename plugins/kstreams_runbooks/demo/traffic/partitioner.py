"""Kafka's default partitioner: murmur2 of the serialized key, positive, modulo the number of partitions.

Source: `BuiltInPartitioner.partitionForKey` and `Utils.murmur2` in Kafka's Java client; librdkafka's
`partitioner=murmur2_random` is the same for every key that is not null. `test_traffic_partitioner.py` compares all
three over 10,000 keys.
"""

from kafka.partitioner.default import murmur2


def key_hash(key: bytes) -> int:
    """Hash a serialized key to 0 .. 2^31-1, as `Utils.toPositive(Utils.murmur2(key))` does."""
    return int(murmur2(key)) & 0x7FFFFFFF


def partition_of(key: bytes, partitions: int) -> int:
    """Return the partition, 0-based, that a record with this key belongs to in a topic of `partitions`."""
    return key_hash(key) % partitions
