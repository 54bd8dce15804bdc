"""Who keeps a transaction open on a partition, since when, and for how long it may.

The partition's leader knows the producer, the transaction's coordinator its name and its timeout (KIP-664).
"""

from collections.abc import Collection
from typing import Any

from kstreams_runbooks.model.drain import OpenTransaction
from kstreams_runbooks.observe.offsets import Place
from kstreams_runbooks.observe.read_only import ReadOnly

_UNNAMED = "no coordinator tells of it: it hangs, or this user may not describe its transactional id"


def read_open(admin: ReadOnly, places: Collection[Place], at_ms: int) -> tuple[OpenTransaction, ...]:
    """One row for each producer that has a transaction open on one of `places`; kafka-python's errors.

    A partition on which none is found any more, because it has just ended, has no row.
    """
    from kafka import TopicPartition

    if not places:
        return ()
    answer = admin.describe_producers([TopicPartition(*place) for place in sorted(places)])
    found = [
        (f"{partition.topic}-{partition.partition}", producer)
        for partition, state in answer.items()
        for producer in state.active_producers
        # -1 where the producer wrote here before and has no transaction open now.
        if producer.current_transaction_start_offset >= 0
    ]
    known = _described(admin, {producer.producer_id for _, producer in found})
    return tuple(sorted((_row(place, producer, known, at_ms) for place, producer in found), key=lambda row: row.name))


def _described(admin: ReadOnly, producer_ids: Collection[int]) -> dict[int, tuple[str, Any]]:
    """Transactional id and description by producer id.

    One that hangs is absent, because no coordinator has it any more; so is one that this user may not describe.
    """
    if not producer_ids:
        return {}
    listed = admin.list_transactions(producer_id_filters=sorted(producer_ids))
    names = sorted({row.transactional_id for rows in listed.values() for row in rows})
    return {one.producer_id: (name, one) for name, one in admin.describe_transactions(names).items()}


def _row(place: str, producer: Any, known: dict[int, tuple[str, Any]], at_ms: int) -> OpenTransaction:
    name, described = known.get(producer.producer_id, (None, None))
    start = producer.current_transaction_start_offset
    if described is None:
        return OpenTransaction(place, None, producer.producer_id, None, None, start, _UNNAMED)
    # -1 once it has ended: a record's own time may be of any day, and says nothing of the transaction.
    began = described.transaction_start_time_ms
    age = max(0, at_ms - began) if began >= 0 else None
    return OpenTransaction(place, name, producer.producer_id, age, described.transaction_timeout_ms, start)
