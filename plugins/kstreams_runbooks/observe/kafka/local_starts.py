"""The first offset of the part of a tiered log that is on the brokers' own disks.

A tiered topic has two earliest offsets (KIP-405): that of the whole log, which a consumer gets, and that of the local
part. Before it, records are fetched from the remote storage, more slowly. librdkafka has no name for it.
"""

from collections.abc import Collection

from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.observe.kafka.cluster import ClusterReader
from kstreams_runbooks.observe.kafka.offsets import Place


def read_local_starts(reader: ClusterReader, places: Collection[Place]) -> dict[Place, int | Missing]:
    """The local start of each partition; Missing for all if a broker refuses one, or is older than 3.4."""
    from kafka import TopicPartition
    from kafka.admin import OffsetSpec

    if not places:
        return {}

    def ask() -> dict[Place, int | Missing]:
        asked = {TopicPartition(*place): OffsetSpec.EARLIEST_LOCAL for place in places}
        answer = reader.admin.list_partition_offsets(asked)
        return {(one.topic, one.partition): found.offset for one, found in answer.items()}

    found = reader.ask("local log starts", ask)
    return dict.fromkeys(places, found) if isinstance(found, Missing) else found
