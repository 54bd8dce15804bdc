"""One or more routes of the shipped copier on a real broker: their topics, their records, the offsets of its group."""

import random
import threading
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    ResourceType,
)
from kstreams_runbooks.model.readings.readings import GroupReading
from kstreams_runbooks.observe import ClusterReader
from lab import kafka
from lab.second_listener import SecondListener
from lab.stack import Stack
from lab.supervise import until
from lab.topic_copier import TopicCopier, seed

# A topic's own: the broker's defaults keep records for ever.
KEPT = {"retention.ms": "-1"}
COMPACTED = {
    "cleanup.policy": "compact",
    "min.cleanable.dirty.ratio": "0.01",
    "segment.ms": "100",
    "delete.retention.ms": "100",
}
_CALL_S = 30
_ANSWER_S = 10
_COPIED_S = 120
_BATCH_S = 0.1
# Of the transactions of a load.
_ABORTED = 0.1


class Copied(NamedTuple):
    """What has to be equal of a record, in the order of its partition."""

    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]
    at_ms: int


class Copy:
    """Topics and the group of a copier: `name` is its application.id, each route `name-a` -> `name-a-copy`."""

    def __init__(self, bootstrap: str, directory: Path, routes: Sequence[str] = ("a",)) -> None:
        self.bootstrap, self.directory = bootstrap, directory
        self.name = f"copier-{uuid.uuid4().hex[:8]}"
        self.routes = {f"{self.name}-{route}": f"{self.name}-{route}-copy" for route in routes}
        self.source, self.target = next(iter(self.routes.items()))
        self.processes: list[TopicCopier] = []
        self.admin = AdminClient({"bootstrap.servers": bootstrap})

    def create(
        self,
        partitions: int = 4,
        target_partitions: int | None = None,
        config: Mapping[str, str] = KEPT,
        target_config: Mapping[str, str] | None = None,
    ) -> "Copy":
        """Every topic of every route."""
        for source, target in self.routes.items():
            self.topic(source, partitions, config)
            self.topic(target, target_partitions or partitions, config if target_config is None else target_config)
        return self

    def topic(self, name: str, partitions: int, config: Mapping[str, str] = KEPT) -> None:
        """One topic, there when this returns."""
        self.admin.create_topics([NewTopic(name, partitions, 1, config=dict(config))])[name].result(_CALL_S)
        until(lambda: name in self.admin.list_topics(timeout=_CALL_S).topics, _CALL_S, f"{name} is there")

    def delete(self, name: str) -> None:
        """One topic, gone when this returns."""
        self.admin.delete_topics([name])[name].result(_CALL_S)
        until(lambda: name not in self.admin.list_topics(timeout=_CALL_S).topics, _CALL_S, f"{name} is gone")

    def grow(self, name: str, partitions: int) -> None:
        """Give a topic more partitions."""
        self.admin.create_partitions([NewPartitions(name, partitions)])[name].result(_CALL_S)

    def configure(self, name: str, **settings: str) -> None:
        """Set settings of a topic, `_` for `.`."""
        entries = [
            ConfigEntry(key.replace("_", "."), value, incremental_operation=AlterConfigOpType.SET)
            for key, value in settings.items()
        ]
        resource = ConfigResource(ResourceType.TOPIC, name, incremental_configs=entries)
        for future in self.admin.incremental_alter_configs([resource]).values():
            future.result(_CALL_S)

    def delete_records(self, name: str, before: Mapping[int, int]) -> None:
        """Move the log start of partitions."""
        places = [TopicPartition(name, partition, offset) for partition, offset in before.items()]
        for future in self.admin.delete_records(places).values():
            future.result(_CALL_S)

    def seed(self, offsets: Mapping[int, int] | None = None, topic: str = "") -> "Copy":
        """Commit the group's offsets: of all sources 0, or these of one."""
        if offsets is None:
            counts = {
                name: len(self.admin.list_topics(name, timeout=_CALL_S).topics[name].partitions) for name in self.routes
            }
            chosen = {(name, number): 0 for name, count in counts.items() for number in range(count)}
        else:
            chosen = {(topic or self.source, number): offset for number, offset in offsets.items()}
        seed(self.bootstrap, self.name, chosen, self.routes)
        return self

    def copier(self, name: str = "copier", *jvm: str, **settings: str) -> TopicCopier:
        """A process of its own, not started; settings with `_` for `.`."""
        base = {
            "application.id": self.name,
            "bootstrap.servers": self.bootstrap,
            "routes": ", ".join(f"{source} -> {target}" for source, target in self.routes.items()),
        }
        given = {key.replace("_", "."): value for key, value in settings.items()}
        self.processes.append(TopicCopier(self.directory, base | given, f"{self.name}-{name}", *jvm))
        return self.processes[-1]

    def producer(self, **settings: Any) -> Producer:
        """A producer whose records are in order, whatever is retried."""
        return Producer({"bootstrap.servers": self.bootstrap, "enable.idempotence": True, "linger.ms": 5, **settings})

    def send(self, count: int, partition: int = 0, topic: str = "", begin: int = 0, **settings: Any) -> None:
        """Plain records to one partition."""
        producer = self.producer(**settings)
        for number in range(begin, begin + count):
            produce(producer, topic or self.source, number, partition)
        assert producer.flush(_CALL_S) == 0

    @contextmanager
    def transaction(self, timeout_ms: int = 60_000) -> Iterator[Producer]:
        """A producer with an open transaction; the body commits or aborts it."""
        settings = {"transactional.id": uuid.uuid4().hex, "transaction.timeout.ms": timeout_ms}
        producer = self.producer(**settings)
        producer.init_transactions(_CALL_S)
        producer.begin_transaction()
        yield producer

    def aborted(self, count: int, partition: int = 0) -> None:
        """Records that no read_committed reader ever gets."""
        with self.transaction() as producer:
            for number in range(count):
                produce(producer, self.source, number, partition)
            producer.flush(_CALL_S)
            producer.abort_transaction(_CALL_S)

    def records(self, topic: str) -> dict[int, list[Copied]]:
        """The readable records of each partition, in order."""
        found: dict[int, list[Copied]] = defaultdict(list)
        for message in kafka.records(self.bootstrap, topic):
            pairs: Any = message.headers() or []
            headers = tuple((key, value) for key, value in pairs)
            found[message.partition() or 0].append(
                Copied(message.key(), message.value(), headers, message.timestamp()[1])
            )
        return dict(found)

    def ends(self, topic: str) -> dict[int, int]:
        """The offset after the last readable record of each partition that has one."""
        return {
            message.partition() or 0: (message.offset() or 0) + 1 for message in kafka.records(self.bootstrap, topic)
        }

    def committed(self, topic: str = "") -> dict[int, int]:
        """The group's offsets on a source; without those partitions that have none."""
        answer = self.admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(self.name)])[self.name]
        places = answer.result(_CALL_S).topic_partitions
        return {place.partition: place.offset for place in places if place.topic == (topic or self.source)}

    def wait_copied(self) -> None:
        """Return once every record that can be read now is committed."""
        for source in self.routes:
            ends = self.ends(source)

            def reached(source: str = source, ends: dict[int, int] = ends) -> bool:
                try:
                    committed = self.committed(source)
                except (KafkaException, TimeoutError):
                    # A broker that has just started loads the groups' offsets first.
                    return False
                return all(committed.get(partition, 0) >= end for partition, end in ends.items())

            until(reached, _COPIED_S, f"{source} is copied up to {ends}", poll_s=0.3)

    def require_equal(self) -> int:
        """Every record of every source is in its target, and nothing else; returns how many."""
        count = 0
        for source, target in self.routes.items():
            expected, found = self.records(source), self.records(target)
            assert {at: len(records) for at, records in found.items()} == {
                at: len(records) for at, records in expected.items()
            }
            for partition, records in expected.items():
                pairs = enumerate(zip(records, found[partition], strict=True))
                assert [(target, partition, at, *pair) for at, pair in pairs if pair[0] != pair[1]][:1] == []
                count += len(records)
        return count

    def require_nothing_copied(self) -> None:
        """No record was ever written to a target."""
        for target in self.routes.values():
            assert list(kafka.records(self.bootstrap, target, isolation="read_uncommitted")) == []

    def require_left(self, after_kill: bool = False) -> None:
        """The group is EMPTY, and none of its transactions is open; what a killed process left ends by its timeouts."""
        if after_kill:
            until(lambda: not self._ongoing(), _CALL_S, "the transaction of the killed one has ended", poll_s=0.5)
            until(lambda: not self._group().members, _CALL_S * 2, "the member of the killed one is gone", poll_s=0.5)
        group = self._group()
        assert (group.state.upper(), group.members) == ("EMPTY", ())
        assert self._ongoing() == []

    def _group(self) -> GroupReading:
        with ClusterReader({"bootstrap.servers": self.bootstrap}) as reader:
            group = reader.group(self.name)
        assert isinstance(group, GroupReading), group
        return group

    def _ongoing(self) -> list[str]:
        with ClusterReader({"bootstrap.servers": self.bootstrap}) as reader:
            ongoing = reader.ongoing_transactions()
        assert isinstance(ongoing, frozenset), ongoing
        return [name for name in ongoing if name.startswith(self.name)]

    def moved_while_suspended(self, copier: TopicCopier, offset: int) -> None:
        """Another client commits an offset of partition 0, while the copier is no member and does not know."""
        copier.suspend()
        until(lambda: not self._group().members, _CALL_S * 2, "the suspended one has left its group", poll_s=0.5)
        asked = [ConsumerGroupTopicPartitions(self.name, [TopicPartition(self.source, 0, offset)])]
        self.admin.alter_consumer_group_offsets(asked)[self.name].result(_CALL_S)
        copier.resume()

    def close(self) -> None:
        """End every process, delete every topic."""
        for process in self.processes:
            if process.runs:
                process.kill()
        topics = self.admin.list_topics(timeout=_CALL_S).topics
        names = [name for route in self.routes.items() for name in route if name in topics]
        if names:
            for future in self.admin.delete_topics(names).values():
                future.result(_CALL_S)


Begin = Callable[..., Copy]


@dataclass(frozen=True)
class OwnBroker:
    """A broker that may be killed, forgets the offsets of an empty group after a minute, and has logins."""

    stack: Stack
    logins: SecondListener


class Load(threading.Thread):
    """Records to every partition of sources until it is stopped, some of them in transactions that are aborted."""

    def __init__(self, copy: Copy, rate: int, partitions: int, transactional: bool = True, seed: int = 1) -> None:
        super().__init__(daemon=True)
        self._transactional = transactional
        self._copy, self._rate, self._partitions = copy, rate, partitions
        self._random = random.Random(seed)
        self._end = threading.Event()
        self._failed: BaseException | None = None
        self.sent = 0

    def run(self) -> None:
        """In batches of a tenth of a second."""
        try:
            self._run()
        except BaseException as error:
            self._failed = error
            raise

    def _run(self) -> None:
        settings = {"transactional.id": uuid.uuid4().hex} if self._transactional else {}
        producer = self._copy.producer(**settings)
        if self._transactional:
            producer.init_transactions(_CALL_S)
        while not self._end.wait(_BATCH_S):
            if self._transactional:
                producer.begin_transaction()
            for topic in self._copy.routes:
                for _ in range(int(self._rate * _BATCH_S) // len(self._copy.routes)):
                    produce(producer, topic, self.sent, self._random.randrange(self._partitions))
                    self.sent += 1
            # A broker that is away comes back.
            assert producer.flush(_COPIED_S) == 0
            if self._transactional and self._random.random() < _ABORTED:
                producer.abort_transaction(_CALL_S)
            elif self._transactional:
                producer.commit_transaction(_CALL_S)

    def stop(self) -> None:
        """Return when every record is acknowledged; what made it fail is raised."""
        self._end.set()
        self.join(_CALL_S * 2)
        assert not self.is_alive()
        if self._failed:
            raise self._failed


@contextmanager
def load(copy: Copy, rate: int = 1000, partitions: int = 4, transactional: bool = True) -> Iterator[Load]:
    """Records come in while the body runs."""
    thread = Load(copy, rate, partitions, transactional)
    thread.start()
    try:
        yield thread
    finally:
        thread.stop()


def produce(producer: Producer, topic: str, number: int, partition: int, **fields: Any) -> None:
    """A record that is like no other, with two headers; its time goes back every seventh time."""
    at_ms = 1_700_000_000_000 + number * 10 - (number % 7 == 0) * 5_000
    given: dict[str, Any] = {
        "key": f"key-{number % 97}",
        "value": f"value {number} of {topic}-{partition}",
        "timestamp": at_ms,
        "headers": [("number", str(number).encode()), ("trace", None)],
        **fields,
    }
    while True:
        try:
            producer.produce(topic, partition=partition, **given)
        except BufferError:
            producer.poll(0.05)
        else:
            producer.poll(0)
            return


def until_setting(ends: Mapping[int, int], topic: str) -> str:
    """The setting `until` of one source."""
    return ", ".join(f"{topic}:{partition}:{offset}" for partition, offset in sorted(ends.items()))


def per_key(records: Mapping[int, Iterable[Copied]]) -> dict[bytes | None, list[Copied]]:
    """The records of each key in order; a key in two partitions would be mixed."""
    keys: dict[bytes | None, list[Copied]] = defaultdict(list)
    for partition in sorted(records):
        for record in records[partition]:
            keys[record.key].append(record)
    return dict(keys)
