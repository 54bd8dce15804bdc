"""The generator: sends the events of the schedule, at its pace, until it is stopped.

Keyed records need `partitioner=murmur2_random`: librdkafka's own default puts keys elsewhere than Kafka's, and a
foreign-key join or a table then looks in the wrong partition. At most `QUEUE` records are buffered: while a broker
does not answer the generator waits, and then sends the events that are due; event times stay those of the schedule.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from confluent_kafka import KafkaError, Message, Producer
from confluent_kafka.admin import AdminClient

from kstreams_runbooks.demo.traffic.records import Record
from kstreams_runbooks.demo.traffic.schedule import Schedule
from kstreams_runbooks.demo.traffic.topics import INPUTS, TopicRole
from kstreams_runbooks.demo.traffic.wire import QUIET, partition_counts
from kstreams_runbooks.errors import Unreachable

QUEUE: Final = 20_000
"""Records that may wait for the broker: 50 s at 400 records/s, a few MB."""
FLUSH_S: Final = 30.0
"""How long the last records may take on stop: a broker restart fits in."""
PROGRESS_S: Final = 5.0
_TICK_S: Final = 0.01

PRODUCER: Final[Mapping[str, str | int | bool]] = {
    "enable.idempotence": True,
    "acks": "all",
    "partitioner": "murmur2_random",
    "linger.ms": 5,
    "queue.buffering.max.messages": QUEUE,
    # 0: never give up a record, because a long outage must not leave a hole in the sequence
    "message.timeout.ms": 0,
    "delivery.report.only.error": True,
}


@dataclass(frozen=True, slots=True)
class Produced:
    """The records that a run of the generator sent and the broker acknowledged; `seconds` of wall time."""

    run: str
    orders: int
    customers: int
    seconds: float


def generate(
    config: Mapping[str, str],
    names: Mapping[TopicRole, str],
    schedule: Schedule,
    *,
    stop: Callable[[], bool],
    seconds: float | None = None,
    records: int | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Produced:
    """Send the customers, then the events as they become due; return when all of it is acknowledged.

    `config` is a librdkafka config with at least `bootstrap.servers`. Ends after `seconds` of wall time, after
    `records` events, or as soon as `stop()` is true. Raises Unreachable if no broker answers at the start or the
    last records are not acknowledged within `FLUSH_S`, BadInput for topics that do not exist.
    """
    inputs = {role: names[role] for role in INPUTS}
    partition_counts(AdminClient({**QUIET, **config}), inputs, config["bootstrap.servers"])
    sender = _Sender(config, inputs, stop)
    for index in range(schedule.customers):
        sender.send(TopicRole.CUSTOMERS, schedule.preload(index))
    began = spoke = time.monotonic()
    n = 0
    while not stop() and (records is None or n < records) and (seconds is None or time.monotonic() < began + seconds):
        now = time.monotonic()
        if now < began + schedule.due(n):
            sender.wait(min(_TICK_S, began + schedule.due(n) - now))
        else:
            sender.send(TopicRole.ORDERS, schedule.order(n))
            customer = schedule.customer_after(n)
            if customer is not None:
                sender.send(TopicRole.CUSTOMERS, customer)
            n += 1
        if now >= spoke + PROGRESS_S:
            rate = n / (now - began)
            progress(f"{n:,} orders sent, {rate:,.0f}/s, {sender.waiting():,} waiting for the broker")
            spoke = now
    sender.finish()
    return Produced(
        schedule.run, sender.sent[TopicRole.ORDERS], sender.sent[TopicRole.CUSTOMERS], time.monotonic() - began
    )


class _Sender:
    """A producer that waits when its queue is full, and counts."""

    def __init__(self, config: Mapping[str, str], names: Mapping[TopicRole, str], stop: Callable[[], bool]) -> None:
        self._names = names
        self._stop = stop
        self._failures: list[str] = []
        self._producer = Producer({**QUIET, **config, **PRODUCER, "error_cb": self._on_error})
        self.sent = dict.fromkeys(names, 0)

    def send(self, role: TopicRole, record: Record) -> None:
        """Hand one record over; while the queue is full, wait for room or for the order to stop."""
        key, value = record.key.encode(), record.encode()
        while not self._failures:
            try:
                self._producer.produce(self._names[role], key=key, value=value, on_delivery=self._on_failure)
            except BufferError:
                if self._stop():
                    return
                self._producer.poll(0.1)
            else:
                self.sent[role] += 1
                return
        self._raise()

    def wait(self, seconds: float) -> None:
        """Let time pass, serving the producer meanwhile."""
        self._producer.poll(seconds)
        if self._failures:
            self._raise()

    def waiting(self) -> int:
        """Records not acknowledged yet."""
        return len(self._producer)

    def finish(self) -> None:
        """Wait for the acknowledgement of everything sent."""
        left = self._producer.flush(FLUSH_S)
        if self._failures:
            self._raise()
        if left:
            raise Unreachable(f"{left:,} records not acknowledged {FLUSH_S:.0f} s after the stop; is the broker up?")

    def _raise(self) -> None:
        raise Unreachable(f"{len(self._failures)} records not delivered, the first because: {self._failures[0]}")

    def _on_failure(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self._failures.append(f"{message.topic()}: {error.str()}")

    def _on_error(self, error: KafkaError) -> None:
        # anything but a fatal error, such as a broker that does not answer, librdkafka retries by itself
        if error.fatal():
            self._failures.append(error.str())
