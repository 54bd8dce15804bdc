"""A pass-through copier: key, value, headers, time and partition of every record, from each topic to another.

    python copier_program.py --bootstrap HOST:PORT --group ID --client-id ID --delivery exactly_once FROM=TO ...

With `exactly_once` the copies and the group's offsets are one transaction; with `at_least_once` offsets are committed
after the copies are acknowledged. SIGTERM ends it cleanly: it leaves its group, and no transaction stays open. With
`--hold-s` it waits that long before it commits a batch: a kill is then sure to meet an open transaction.
"""

import argparse
import signal
import sys
import threading
import time
from collections.abc import Sequence

from confluent_kafka import Consumer, KafkaException, Message, Producer, TopicPartition

_BATCH = 500
_WAIT_S = 0.1
_CALL_S = 30
# What a kill leaves behind is gone after that: a member, and an open transaction.
_FORGOTTEN_MS = 10_000


class Copier:
    """One consumer and one producer, both in the main thread."""

    def __init__(self, given: argparse.Namespace) -> None:
        self._to = dict(pair.split("=", 1) for pair in given.topics)
        self._exactly_once = given.delivery == "exactly_once"
        self._hold_s = given.hold_s
        self._consumer = Consumer(
            {
                "bootstrap.servers": given.bootstrap,
                "group.id": given.group,
                "client.id": given.client_id,
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                "isolation.level": "read_committed",
                "session.timeout.ms": _FORGOTTEN_MS,
            }
        )
        settings = {"bootstrap.servers": given.bootstrap, "enable.idempotence": True}
        if self._exactly_once:
            settings |= {"transactional.id": given.client_id, "transaction.timeout.ms": _FORGOTTEN_MS}
        self._producer = Producer(settings)
        if self._exactly_once:
            self._producer.init_transactions(_CALL_S)
        self._consumer.subscribe(list(self._to))

    def run(self, stop: threading.Event) -> None:
        """Copy until `stop`, then leave the group."""
        while not stop.is_set():
            batch = self._consumer.consume(_BATCH, timeout=_WAIT_S)
            records = [one for one in batch if one.error() is None]
            if records and self._exactly_once:
                self._in_a_transaction(records)
            elif records:
                self._copy(records)
                self._producer.flush()
                time.sleep(self._hold_s)
                self._consumer.commit(offsets=_after(records), asynchronous=False)
        self._consumer.close()

    def _in_a_transaction(self, records: Sequence[Message]) -> None:
        self._producer.begin_transaction()
        try:
            self._copy(records)
            self._producer.send_offsets_to_transaction(
                _after(records), self._consumer.consumer_group_metadata(), _CALL_S
            )
            self._producer.flush()
            time.sleep(self._hold_s)
            self._producer.commit_transaction(_CALL_S)
        except KafkaException as error:
            if error.args[0].fatal():
                raise
            # As after a rebalance in between: what was copied is aborted, and read again from the committed offsets.
            self._producer.abort_transaction(_CALL_S)
            for place in self._consumer.committed(self._consumer.assignment(), timeout=_CALL_S):
                place.offset = max(place.offset, 0)
                self._consumer.seek(place)

    def _copy(self, records: Sequence[Message]) -> None:
        for one in records:
            while True:
                try:
                    self._producer.produce(
                        self._to[str(one.topic())],
                        value=one.value(),
                        key=one.key(),
                        partition=one.partition() or 0,
                        timestamp=one.timestamp()[1],
                        headers=one.headers() or [],
                    )
                except BufferError:
                    self._producer.poll(_WAIT_S)
                else:
                    break
        self._producer.poll(0)


def _after(records: Sequence[Message]) -> list[TopicPartition]:
    """The offset after the last record of each partition."""
    ends = {(str(one.topic()), one.partition() or 0): (one.offset() or 0) + 1 for one in records}
    return [TopicPartition(topic, number, end) for (topic, number), end in ends.items()]


def main(arguments: Sequence[str]) -> None:
    """Copy until SIGTERM or SIGINT."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--bootstrap", required=True)
    parser.add_argument("--group", required=True)
    parser.add_argument("--client-id", required=True)
    parser.add_argument("--delivery", choices=("exactly_once", "at_least_once"), required=True)
    parser.add_argument("--hold-s", type=float, default=0.0)
    parser.add_argument("topics", nargs="+", metavar="FROM=TO")
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    Copier(parser.parse_args(arguments)).run(stop)


if __name__ == "__main__":
    main(sys.argv[1:])
