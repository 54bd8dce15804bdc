"""Which producer keeps a transaction open on a partition, since when, and for how long it may.

The partition's leader knows the producer, the transaction's coordinator its name and its timeout (KIP-664). If no
coordinator names a transaction, two facts remain: no broker allows a timeout above its transaction.max.timeout.ms,
and how long this process has seen it. The time of its first record proves nothing: a record may have any time.
"""

import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from typing import Any, Final

from kstreams_runbooks.model.readings.drain import OpenTransaction
from kstreams_runbooks.observe.kafka.configs import broker_down, read_broker_config
from kstreams_runbooks.observe.kafka.offsets import Place
from kstreams_runbooks.observe.kafka.read_only import ReadOnly

# States in which a transaction may still write a marker, or commit offsets (TransactionState, Apache Kafka).
NOT_ENDED: Final = ("Ongoing", "PrepareCommit", "PrepareAbort", "PrepareEpochFence")

_UNNAMED = "no coordinator lists it: it hangs, or this login may not Describe its transactional id"
_LONGEST = "transaction.max.timeout.ms"
_UNLIMITED = f"{_UNNAMED}; its {_LONGEST} is not visible either: grant this login DescribeConfigs on Cluster"


def read_open(admin: ReadOnly, places: Collection[Place], at_ms: int) -> tuple[OpenTransaction, ...]:
    """One row for each producer that has a transaction open on one of `places`; raises kafka-python's errors.

    A partition whose transaction has just ended has no row.
    """
    from kafka import TopicPartition

    if not places:
        return ()
    answer = admin.describe_producers([TopicPartition(*place) for place in sorted(places)])
    found = [
        (f"{partition.topic}-{partition.partition}", producer)
        for partition, state in answer.items()
        for producer in state.active_producers
        # -1 if the producer wrote here before and has no transaction open now.
        if producer.current_transaction_start_offset >= 0
    ]
    known = _described(admin, {producer.producer_id for _, producer in found})
    named = all(producer.producer_id in known for _, producer in found)
    longest_ms = None if named else longest_timeout_ms(admin)
    rows = (_row(place, producer, known, at_ms, longest_ms) for place, producer in found)
    return tuple(sorted(rows, key=lambda row: row.name))


def read_ids(admin: ReadOnly, states: Collection[str] = ()) -> frozenset[str]:
    """The transactional ids that this login may see, only those in one of `states` if given."""
    listed = admin.list_transactions(state_filters=list(states) or None)
    return frozenset(one.transactional_id for each in listed.values() for one in each)


class Sightings:
    """How long each open transaction has been seen, by a monotonic clock; `now` gives its seconds."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._first: dict[tuple[str, int | None, int | None], float] = {}

    def of(self, found: Iterable[OpenTransaction]) -> tuple[OpenTransaction, ...]:
        """The same rows with the time that each has been seen; forgets all others, which have ended."""
        now = self._now()
        keys = {(one.name, one.producer_id, one.start_offset): one for one in found}
        self._first = {key: self._first.get(key, now) for key in keys}
        return tuple(replace(one, seen_ms=round((now - self._first[key]) * 1000)) for key, one in keys.items())


def _described(admin: ReadOnly, producer_ids: Collection[int]) -> dict[int, tuple[str, Any]]:
    """Transactional id and description by producer id.

    A hanging transaction is absent, because no coordinator has it any more; so is one that this user may not describe.
    """
    if not producer_ids:
        return {}
    listed = admin.list_transactions(producer_id_filters=sorted(producer_ids))
    names = sorted({row.transactional_id for rows in listed.values() for row in rows})
    return {one.producer_id: (name, one) for name, one in admin.describe_transactions(names).items()}


def longest_timeout_ms(admin: ReadOnly) -> int | None:
    """The longest timeout that any broker allows a producer; None if one of them is down or does not report its own."""
    from kafka.errors import BrokerResponseError

    listed = admin.describe_cluster()["brokers"]
    if broker_down(listed):
        return None
    nodes = [int(node["broker_id"]) for node in listed]
    try:
        values = read_broker_config(admin, nodes, _LONGEST)
    except BrokerResponseError:
        return None
    known = [int(value) for value in values if value is not None]
    return max(known) if len(known) == len(values) else None


def _row(
    place: str, producer: Any, known: dict[int, tuple[str, Any]], at_ms: int, longest_ms: int | None
) -> OpenTransaction:
    name, described = known.get(producer.producer_id, (None, None))
    start = producer.current_transaction_start_offset
    if described is None:
        why = _UNLIMITED if longest_ms is None else _UNNAMED
        return OpenTransaction(place, None, producer.producer_id, None, longest_ms, start, why)
    # -1 once it has ended: a record may have any time, which proves nothing about the transaction.
    began = described.transaction_start_time_ms
    age = max(0, at_ms - began) if began >= 0 else None
    return OpenTransaction(place, name, producer.producer_id, age, described.transaction_timeout_ms, start)
