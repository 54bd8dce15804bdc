"""The producers that brokers list for partitions: those with idempotence that wrote within producer.id.expiration.ms.

The time of the last record is the record's own, which a producer may choose freely (KIP-664).
"""

from collections.abc import Collection

from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.reset_outputs import OutputProducer
from kstreams_runbooks.observe.kafka.cluster import ClusterReader
from kstreams_runbooks.observe.kafka.offsets import Place


def read_producers(reader: ClusterReader, places: Collection[Place]) -> tuple[OutputProducer, ...] | Missing:
    """Every listed producer of these partitions, with its transactional id if this login may see it.

    Needs Read on the topics, Describe on the transactional ids. Missing if a broker refuses.
    """

    def ask() -> tuple[OutputProducer, ...]:
        from kafka import TopicPartition

        answer = reader.admin.describe_producers([TopicPartition(*place) for place in sorted(places)])
        found = [(place, one) for place, state in answer.items() for one in state.active_producers]
        ids = sorted({one.producer_id for _, one in found})
        listed = reader.admin.list_transactions(producer_id_filters=ids) if ids else {}
        names = {row.producer_id: row.transactional_id for rows in listed.values() for row in rows}
        rows = (
            OutputProducer(
                place.topic,
                place.partition,
                one.producer_id,
                names.get(one.producer_id),
                one.last_timestamp,
                one.current_transaction_start_offset >= 0,
            )
            for place, one in found
        )
        return tuple(sorted(rows, key=lambda one: (one.topic, one.partition, one.producer_id)))

    return reader.ask("producers", ask) if places else ()
