"""Why a growth stops everything: three shortcuts that show no error, or one too late, on a real broker.

docs/partition_increase.md names each of them next to the stage that prevents it.
"""

import subprocess
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]
from kstreams_runbooks.act.topics import TopicWriter
from kstreams_runbooks.decide.growth.proven import growth_is_proven
from kstreams_runbooks.demo.traffic.partitioner import partition_of
from kstreams_runbooks.model.readings.readings import GroupReading, Missing, StreamsReading
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.model.writes import Growth
from kstreams_runbooks.observe import ClusterReader
from lab import kafka
from lab.afresh import afresh, empty_group
from lab.application import TO_RELEASE, Deployed, streams, wait_running
from lab.settings import CHECKOUT
from lab.stack import TRAFFIC, Stack
from lab.supervise import until

pytestmark = pytest.mark.long

BEFORE, AFTER = kafka.PARTITIONS, 12
_DEPLOYED = Deployed(release=TO_RELEASE)
_REPARTITION = "orders-orders-by-customer-repartition"
_KEYS = [f"customer-{number}".encode() for number in range(1_000)]
# Long enough to be taken for an arrival, and shorter than metadata.max.age.ms (5 min): then it would rebalance.
_WATCHED_S = 40
_ERROR_S = 120
_JAVA_PRODUCER = CHECKOUT / "tests" / "integration" / "java" / "KeepsProducing.java"
_BROKER_JARS = CHECKOUT / "tests" / "apps" / "broker" / "target" / "libs"
# Sends one record for each key; the partition to which each went.
Places = Callable[[], dict[bytes, int]]


@pytest.fixture
def running(stack: Stack) -> Stack:
    """Two instances that have counted ten seconds of traffic, which has ended."""
    afresh(stack, _DEPLOYED)
    stack.start_traffic()
    time.sleep(10)
    stack.stop_traffic()
    kafka.wait_drained(stack.lab.bootstrap, "orders")
    return stack


def own_topics(stack: Stack) -> tuple[str, ...]:
    """The internal topics of the application."""
    names = AdminClient({"bootstrap.servers": stack.lab.bootstrap}).list_topics(timeout=10).topics
    own = (one for one in names if one.startswith("orders-") and one.endswith(("-changelog", "-repartition", "-topic")))
    return tuple(sorted(own))


def grow(bootstrap: str, *topics: str) -> None:
    """Add their partitions in one call."""
    config = {"bootstrap.servers": bootstrap}
    with ClusterReader(config) as reader:
        there = reader.topics(topics)
    TopicWriter(config, dry_run=False).grow([Growth(one.name, one.topic_id, one.partitions, AFTER) for one in there])


def states(stack: Stack) -> list[str]:
    """What each instance reports of itself."""
    readings = [streams(stack.lab, number) for number in (1, 2)]
    return [one.state if isinstance(one, StreamsReading) else "unread" for one in readings]


def group(stack: Stack) -> GroupReading:
    """The application's group with its members."""
    with ClusterReader({"bootstrap.servers": stack.lab.bootstrap}) as reader:
        found = reader.group("orders")
    assert not isinstance(found, Missing), found.missing
    return found


def records_of(stack: Stack, topic: str) -> dict[int, int]:
    """Records of each partition that can be read."""
    filled: dict[int, int] = dict.fromkeys(range(AFTER), 0)
    for record in kafka.records(stack.lab.bootstrap, topic):
        filled[record.partition() or 0] += 1
    return filled


def restart(stack: Stack, *, emptied: bool = True) -> None:
    """All instances down, then up; `emptied`: their static members are removed in between, as runbooks do."""
    stack.supervisor.stop(*_DEPLOYED.names)
    if emptied:
        empty_group(stack.lab.bootstrap, "orders")
    stack.supervisor.start(*_DEPLOYED.names)


def held(stack: Stack) -> set[str]:
    """Partitions of an input and of a repartition topic that have a member."""
    names = {name for member in group(stack).members for name in member.partitions}
    return {name for name in names if name.rpartition("-")[0] in {"orders", _REPARTITION}}


def numbered(count: int) -> set[str]:
    """The first partitions of both."""
    return {f"{topic}-{part}" for topic in ("orders", _REPARTITION) for part in range(count)}


def test_without_a_restart_it_reads_four_of_twelve_partitions_while_running(running: Stack) -> None:
    """RUNNING, Stable; its own producers hash by the old number. Nor does a restart help before the group is EMPTY."""
    stack, bootstrap = running, running.lab.bootstrap
    grow(bootstrap, *kafka.INPUTS, *own_topics(stack))
    stack.start_traffic()
    time.sleep(_WATCHED_S)
    seen = group(stack)
    assert states(stack) == ["RUNNING", "RUNNING"]
    assert seen.state.upper() == "STABLE"
    assert held(stack) == numbered(BEFORE)
    verdict = growth_is_proven((("orders", AFTER), (_REPARTITION, AFTER)), seen, ())
    assert verdict.outcome is Outcome.REFUSE
    assert "16 of 24 partitions have no member" in verdict.text
    stack.supervisor.stop(TRAFFIC)
    waiting = records_of(stack, "orders")
    assert all(waiting[part] for part in range(BEFORE, AFTER)), waiting
    repartitioned = records_of(stack, _REPARTITION)
    assert not any(repartitioned[part] for part in range(BEFORE, AFTER)), repartitioned
    # A static member that comes back within its session gets what it had, and so does the leader (KIP-814).
    restart(stack, emptied=False)
    wait_running(stack.lab, stack.supervisor, _DEPLOYED.names)
    assert held(stack) == numbered(BEFORE)
    restart(stack)
    wait_running(stack.lab, stack.supervisor, _DEPLOYED.names)
    until(lambda: held(stack) == numbered(AFTER), _ERROR_S, "every partition has a member", poll_s=1)
    kafka.wait_drained(bootstrap, "orders", 240)


def test_inputs_that_grow_first_end_in_error(running: Stack) -> None:
    """The next assignment finds changelogs with the old number: no instance runs until every topic has grown."""
    stack = running
    logs = [stack.lab.logs / f"{name}.log" for name in _DEPLOYED.names]
    before = [len(log.read_text(encoding="utf-8")) for log in logs]
    grow(stack.lab.bootstrap, *kafka.INPUTS)
    restart(stack)

    def said() -> list[str]:
        return [log.read_text(encoding="utf-8")[at:] for log, at in zip(logs, before, strict=True)]

    # A client in ERROR has no metrics any more. The second one has its turn once the first has left the group.
    until(lambda: all("PENDING_ERROR -> ERROR" in text for text in said()), _ERROR_S, "both are in ERROR", poll_s=1)
    assert all("has invalid partitions: expected: 12; actual: 4" in text for text in said())
    grow(stack.lab.bootstrap, *own_topics(stack))
    restart(stack)
    wait_running(stack.lab, stack.supervisor, _DEPLOYED.names)


@contextmanager
def librdkafka(bootstrap: str, topic: str, _: Path) -> Iterator[Places]:
    """A producer with the partitioner of Java clients, else with its defaults."""
    yield partial(places, Producer({"bootstrap.servers": bootstrap, "partitioner": "murmur2_random"}), topic)


@contextmanager
def java(bootstrap: str, topic: str, folder: Path) -> Iterator[Places]:
    """A producer of Kafka's own client with its defaults."""
    keys = folder / "keys"
    keys.write_bytes(b"\n".join(_KEYS))
    words = ("java", "-Xmx128m", "-cp", f"{_BROKER_JARS}/*", str(_JAVA_PRODUCER), bootstrap, topic, str(keys))
    with (
        (folder / "producer.log").open("wb") as log,
        subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        asked, answers = process.stdin, process.stdout

        def sent() -> dict[bytes, int]:
            asked.write(b"\n")
            asked.flush()
            # Its logger prints to stdout too.
            line = next(line for line in answers if line.split()[:1] and line.split()[0].isdigit())
            return dict(zip(_KEYS, map(int, line.split()), strict=True))

        yield sent
        asked.close()
        assert process.wait(30) == 0


@pytest.mark.parametrize("producing", [librdkafka, java])
def test_a_producer_from_before_goes_on_with_the_old_number(
    broker: str, tmp_path: Path, producing: Callable[[str, str, Path], AbstractContextManager[Places]]
) -> None:
    """By default: each record of a moved key goes to its old partition, and no error tells."""
    topic = f"grown-{uuid.uuid4().hex[:8]}"
    admin = AdminClient({"bootstrap.servers": broker})
    admin.create_topics([NewTopic(topic, BEFORE, 1)])[topic].result()
    try:
        with producing(broker, topic, tmp_path) as earlier:
            assert earlier() == {key: partition_of(key, BEFORE) for key in _KEYS}
            grow(broker, topic)
            moved = {key for key in _KEYS if partition_of(key, BEFORE) != partition_of(key, AFTER)}
            assert 600 < len(moved) < 700
            for _ in range(5):
                found = earlier()
                assert {key for key in _KEYS if found[key] != partition_of(key, AFTER)} == moved
                time.sleep(2)
        with producing(broker, topic, tmp_path) as later:
            assert later() == {key: partition_of(key, AFTER) for key in _KEYS}
    finally:
        admin.delete_topics([topic])[topic].result()


def places(producer: Producer, topic: str) -> dict[bytes, int]:
    """One record for each key, and the partition to which each went."""
    found: dict[bytes, int] = {}

    def delivered(error: object, message: object) -> None:
        assert error is None, error
        found[message.key()] = message.partition()  # type: ignore[attr-defined]

    for key in _KEYS:
        producer.produce(topic, b"v", key=key, on_delivery=delivered)
    assert producer.flush(30) == 0
    return found
