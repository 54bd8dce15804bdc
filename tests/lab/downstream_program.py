"""A consumer and producer downstream of an application: it writes down each record that it reads, exactly once.

    python downstream_program.py DIRECTORY

DIRECTORY has base.properties (bootstrap.servers, group.id, client.id, log.topic) and deployment.properties, whose
`billing.topic` names the topic that it reads. Each record becomes one JSON record of the log topic: topic, partition,
offset, key and value. Records and offsets are in one transaction. A partition without an offset ends it: nothing begins
by auto.offset.reset. SIGTERM ends it cleanly.
"""

import base64
import json
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from confluent_kafka import Consumer, KafkaException, Message, Producer, TopicPartition
from kstreams_runbooks.properties import parse

_BATCH = 200
_WAIT_S = 0.1
_CALL_S = 30
# What a kill leaves behind is gone after that: a member, and an open transaction.
_FORGOTTEN_MS = 10_000


class Downstream:
    """One consumer and one producer, both in the main thread."""

    def __init__(self, directory: Path) -> None:
        given = _settings(directory, "base") | _settings(directory, "deployment")
        servers, self._log = given["bootstrap.servers"], given["log.topic"]
        self._consumer = Consumer(
            {
                "bootstrap.servers": servers,
                "group.id": given["group.id"],
                "client.id": given["client.id"],
                "enable.auto.commit": False,
                "auto.offset.reset": "error",
                "isolation.level": "read_committed",
                "session.timeout.ms": _FORGOTTEN_MS,
            }
        )
        self._producer = Producer(
            {
                "bootstrap.servers": servers,
                "transactional.id": given["client.id"],
                "transaction.timeout.ms": _FORGOTTEN_MS,
            }
        )
        self._producer.init_transactions(_CALL_S)
        self._consumer.subscribe([given["billing.topic"]])

    def run(self, stop: threading.Event) -> None:
        """Read and write down until `stop`, then leave the group."""
        while not stop.is_set():
            batch = self._consumer.consume(_BATCH, timeout=_WAIT_S)
            if failed := [one.error() for one in batch if one.error() is not None]:
                raise KafkaException(failed[0])
            if batch:
                self._write_down(batch)
        self._consumer.close()

    def _write_down(self, records: Sequence[Message]) -> None:
        self._producer.begin_transaction()
        try:
            for one in records:
                self._producer.produce(self._log, value=json.dumps(_row(one)), key=one.key())
            self._producer.send_offsets_to_transaction(
                _after(records), self._consumer.consumer_group_metadata(), _CALL_S
            )
            self._producer.commit_transaction(_CALL_S)
        except KafkaException as error:
            if error.args[0].fatal():
                raise
            self._producer.abort_transaction(_CALL_S)
            for place in self._consumer.committed(self._consumer.assignment(), timeout=_CALL_S):
                self._consumer.seek(place)


def _row(record: Message) -> dict[str, object]:
    return {
        "topic": record.topic(),
        "partition": record.partition(),
        "offset": record.offset(),
        "key": _text(record.key()),
        "value": _text(record.value()),
    }


def _text(data: bytes | str | None) -> str | None:
    return None if data is None else base64.b64encode(data if isinstance(data, bytes) else data.encode()).decode()


def _after(records: Sequence[Message]) -> list[TopicPartition]:
    """The offset after the last record of each partition."""
    ends = {(str(one.topic()), one.partition() or 0): (one.offset() or 0) + 1 for one in records}
    return [TopicPartition(topic, number, end) for (topic, number), end in ends.items()]


def _settings(directory: Path, name: str) -> dict[str, str]:
    return parse((directory / f"{name}.properties").read_text(encoding="latin-1"))


def main(arguments: Sequence[str]) -> None:
    """Read until SIGTERM or SIGINT."""
    [directory] = arguments
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    Downstream(Path(directory)).run(stop)


if __name__ == "__main__":
    main(sys.argv[1:])
