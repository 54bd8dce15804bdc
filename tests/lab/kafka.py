"""The broker of a stack, its topics, and the records in them afterwards."""

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, KafkaException, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]
from kstreams_runbooks.errors import Unreachable
from kstreams_runbooks.properties import dump

from lab import brokers
from lab.settings import Lab
from lab.supervise import Program, Supervisor, Waiting, unheard, until

PARTITIONS = 4
INPUTS = ("orders", "customers")
OUTPUTS = ("orders-running", "orders-windowed", "orders-enriched", "orders-per-customer")
# An output of the releases of the flush alone.
COUNTED = "customers-counted"

_READY_S = 180
_CALL_S = 30
_BATCH = 5_000
# Outputs have event times; a gap in processing shows in the times at which the broker appended them.
_CONFIG = {"retention.ms": "-1"}
_OUTPUT_CONFIG = {**_CONFIG, "message.timestamp.type": "LogAppendTime"}
_QUIET: dict[str, Any] = {"log_level": 0, "error_cb": lambda _: None}


@dataclass(frozen=True)
class Appended:
    """One record for the measurement of a gap: its partition, and its Kafka timestamp in Unix ms."""

    partition: int
    at_ms: int


def broker_programs(lab: Lab, settings: Mapping[str, str]) -> list[Program]:
    """The brokers under supervisord, with settings that are not those of their launcher."""
    if lab.brokers > 1:
        return brokers.programs(lab, settings)
    launcher = lab.apps / "broker" / "bin" / "run-broker"
    own, here = write_broker_settings(lab, settings), (str(lab.ports.broker), str(lab.ports.controller))
    return [Program("broker", (str(launcher), str(lab.broker_data), *here, str(own)))]


def broker_names(lab: Lab) -> tuple[str, ...]:
    """The programs of the brokers."""
    return tuple(brokers.program_name(node) for node in lab.nodes)


def write_broker_settings(lab: Lab, settings: Mapping[str, str]) -> Path:
    """The file that the broker reads at its next start."""
    lab.run_dir.mkdir(parents=True, exist_ok=True)
    file = lab.run_dir / "broker.properties"
    file.write_text(dump(settings), encoding="latin-1")
    return file


def restart_broker(lab: Lab, supervisor: Supervisor, settings: Mapping[str, str] | None = None) -> None:
    """Stop the broker and start it again, with other settings if some are given; return when it answers."""
    supervisor.stop("broker")
    if settings is not None:
        write_broker_settings(lab, settings)
    supervisor.start("broker")
    wait_for_broker(lab, supervisor)


def wait_for_broker(lab: Lab, supervisor: Supervisor, say: Callable[[str], None] = unheard) -> None:
    """Return when the broker answers, or all of them; Unreachable if one ended or it takes too long.

    `say` counts the seconds, as in the other waits.
    """
    admin = AdminClient({"bootstrap.servers": lab.bootstrap, **_QUIET})
    waiting = Waiting(_READY_S, say)

    def ready() -> bool:
        waiting.count(lambda: f"the broker does not answer yet: {lab.bootstrap}")
        supervisor.require_running(*broker_names(lab))
        try:
            return len(admin.list_topics(timeout=1).brokers) == lab.brokers
        except KafkaException:
            return False

    until(ready, _READY_S, f"the broker answers at {lab.bootstrap}; read {lab.logs}/broker.log")


def create_topics(
    bootstrap: str,
    names: Iterable[str] = (*INPUTS, *OUTPUTS),
    partitions: int = PARTITIONS,
    sent_with_times: Collection[str] = INPUTS,
) -> None:
    """Create the application's topics; their records are never deleted by time.

    The producer's times are those of the records of `sent_with_times`, and the broker's those of all others.
    """
    admin = AdminClient({"bootstrap.servers": bootstrap, **_QUIET})
    topics = [
        NewTopic(name, num_partitions=partitions, config=_CONFIG if name in sent_with_times else _OUTPUT_CONFIG)
        for name in names
    ]
    for future in admin.create_topics(topics, request_timeout=_CALL_S).values():
        future.result()
    wanted = {topic.topic for topic in topics}
    until(lambda: wanted <= set(admin.list_topics(timeout=_CALL_S).topics), _CALL_S, "the topics are there")


def exists(bootstrap: str, topic: str) -> bool:
    """Whether a cluster has a topic."""
    return topic in AdminClient({"bootstrap.servers": bootstrap, **_QUIET}).list_topics(timeout=_CALL_S).topics


def topic_of_ten(config: Mapping[str, Any], name: str) -> None:
    """Create a topic of two partitions, with ten records in its first one."""
    admin = AdminClient(dict(config))
    admin.create_topics([NewTopic(name, 2, 1)])[name].result()
    producer = Producer(dict(config))
    for number in range(10):
        producer.produce(name, str(number), partition=0)
    assert producer.flush(10) == 0


def records(bootstrap: str, topic: str, *, isolation: str = "read_committed") -> Iterator[Message]:
    """Every record of a topic from its start to its end at the time of the call."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "lab-reads-only",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": isolation,
            **_QUIET,
        }
    )
    try:
        partitions = sorted(consumer.list_topics(topic, timeout=_CALL_S).topics[topic].partitions)
        ends, starts = {}, []
        for partition in partitions:
            low, high = consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=_CALL_S)
            if high > low:
                ends[partition] = high
                starts.append(TopicPartition(topic, partition, low))
        consumer.assign(starts)
        yield from _until_ends(consumer, topic, ends)
    finally:
        consumer.close()


def _until_ends(consumer: Consumer, topic: str, ends: dict[int, int]) -> Iterator[Message]:
    silent_since = time.monotonic()
    while ends:
        batch = consumer.consume(_BATCH, timeout=0.5)
        for message in batch:
            error, partition, offset = message.error(), message.partition(), message.offset()
            if partition is None or offset is None or partition not in ends:
                continue
            if error is None and offset < ends[partition]:
                yield message
            # Transaction markers at the end take offsets and are never delivered: only the end itself is reported.
            if error is not None or offset >= ends[partition] - 1:
                del ends[partition]
        if batch:
            silent_since = time.monotonic()
        elif time.monotonic() - silent_since > 2 * _CALL_S:
            raise Unreachable(f"{topic}: nothing read for {2 * _CALL_S} s, before the end of partitions {sorted(ends)}")


def appended(bootstrap: str, topic: str) -> list[Appended]:
    """Partition and Kafka timestamp of every record of a topic."""
    return [Appended(one.partition() or 0, one.timestamp()[1]) for one in records(bootstrap, topic)]


def per_second(stamps: Sequence[Appended]) -> Counter[int]:
    """Records per second since 1970."""
    return Counter(one.at_ms // 1000 for one in stamps)


def lag(bootstrap: str, group: str) -> dict[str, int]:
    """Records between what the group has committed and the last stable offset, by partition; empty when none is left.

    Partitions that the group has never committed do not show here.
    """
    admin = AdminClient({"bootstrap.servers": bootstrap, **_QUIET})
    answer = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)], request_timeout=_CALL_S)
    committed = answer[group].result().topic_partitions
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "lab-reads-only",
            "isolation.level": "read_committed",
            **_QUIET,
        }
    )
    try:
        left = {}
        for place in committed:
            _, end = consumer.get_watermark_offsets(TopicPartition(place.topic, place.partition), timeout=_CALL_S)
            if end > max(place.offset, 0):
                left[f"{place.topic}-{place.partition}"] = end - max(place.offset, 0)
        return left
    finally:
        consumer.close()


def wait_drained(
    bootstrap: str,
    group: str,
    limit_s: float = 120,
    orphan: str | None = None,
    say: Callable[[str], None] = unheard,
) -> float:
    """Wait until the group has committed everything that can be read, twice in a row; returns seconds.

    `orphan` is a topic that the group has offsets on and no longer reads.
    """
    seen: dict[str, int] = {}
    good = 0
    waiting = Waiting(limit_s, say)

    def drained() -> bool:
        nonlocal seen, good
        waiting.count(lambda: f"group {group} has {sum(seen.values()):,} records left: {bootstrap}")
        seen = {place: left for place, left in lag(bootstrap, group).items() if place.rpartition("-")[0] != orphan}
        good = 0 if seen else good + 1
        return good > 1

    try:
        return until(drained, limit_s, "drained", poll_s=0.5)
    except Unreachable:
        where = ", ".join(f"{count} on {name}" for name, count in seen.items())
        raise Unreachable(f"group {group}: records left after {limit_s:.0f} s: {where}") from None
